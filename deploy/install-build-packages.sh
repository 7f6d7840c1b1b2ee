#!/usr/bin/env bash
# Installs the Debian 12 packages that a build needs; with `tests`, also what the tests need.
# Does nothing, and needs no root, when everything is there. Node, which builds the page, is not
# among them: Debian 12 has an older one.
set -euo pipefail

if ! command -v npm >/dev/null || ! node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1);' 2>/dev/null; then
    echo "Node 20.19 or later and npm are needed and not here; found: node" \
        "$(node --version 2>/dev/null || echo none), npm $(npm --version 2>/dev/null || echo none)" >&2
    exit 69
fi

packages=(
    g++ cmake ninja-build ccache
    libboost1.81-dev libssl-dev nlohmann-json3-dev prometheus-cpp-dev libcli11-dev libspdlog-dev
    libfmt-dev
)
if [ "${1:-}" = tests ]; then
    packages+=(
        clang-19 lld libclang-rt-19-dev libgtest-dev libgmock-dev libbenchmark-dev
        python3 tshark prometheus curl strace chromium fonts-dejavu-core
    )
fi

missing=()
for package in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
        missing+=("$package")
    fi
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "These Debian packages are missing and need root to install: ${missing[*]}" >&2
        exit 77
    }
    as_root=(sudo)
fi
echo "Installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
for attempt in 1 2 3; do
    if "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
        exit 0
    fi
    echo "Installing failed (attempt $attempt of 3)" >&2
done
exit 1
