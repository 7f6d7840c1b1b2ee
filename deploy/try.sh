#!/usr/bin/env bash
# Installs what is missing, builds Tagferry and starts the demo. Arguments go to `tagferry demo`.
set -euo pipefail
cd "$(dirname "$0")/.."

deploy/install-build-packages.sh
cmake --preset release -DTAGFERRY_TESTS=OFF >/dev/null
cmake --build --preset release --target tagferry
exec build/release/tagferry demo "$@"
