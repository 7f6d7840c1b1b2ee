#!/usr/bin/env bash
# Cross-builds the core libraries and their unit tests for arm64 and runs them under qemu-user.
# By hand and nightly, not in CI. Usage: deploy/arm64/build.sh [target ...]; without arguments
# the unit tests of transport, S7 and OPC UA. Compiler and emulator are installed when missing
# (that needs root); the libraries are unpacked into build/arm64-sysroot and the machine's own
# packages stay as they are.
set -euo pipefail
cd "$(dirname "$0")/../.."

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(unit_transport unit_s7 unit_opcua)
fi
sysroot=$PWD/build/arm64-sysroot
packages=(
    libboost1.81-dev libssl-dev libssl3 libgtest-dev libgmock-dev googletest
    nlohmann-json3-dev libcli11-dev libspdlog-dev libspdlog1.10 libfmt-dev libfmt9
    prometheus-cpp-dev libprometheus-cpp-core1.0 libprometheus-cpp-pull1.0
    libprometheus-cpp-push1.0 libcivetweb-dev libcivetweb1 civetweb zlib1g-dev zlib1g
    libcurl4-openssl-dev libcurl4
)

install_tools() {
    local missing=() as_root=()
    command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(g++-aarch64-linux-gnu)
    command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static)
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "${missing[@]}" >/dev/null
}

# apt with lists and cache of its own, for arm64 only.
foreign_apt() {
    local state=$sysroot.apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    touch "$state/status"
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
        -o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" \
        -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root "$@"
}

make_sysroot() {
    if [ -e "$sysroot/.complete" ]; then
        return
    fi
    rm -rf "$sysroot"
    mkdir -p "$sysroot" "$sysroot.packages"
    foreign_apt update >/dev/null
    (cd "$sysroot.packages" && foreign_apt download "${packages[@]}" >/dev/null)
    for package in "$sysroot.packages"/*.deb; do
        dpkg -x "$package" "$sysroot"
    done
    touch "$sysroot/.complete"
}

install_tools
make_sysroot
cmake -S . -B build/arm64 -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g1" \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/deploy/arm64/toolchain.cmake" -DTAGFERRY_SYSROOT="$sysroot" \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DTAGFERRY_COUNT_ALLOCATIONS=OFF >/dev/null
ninja -C build/arm64 "${targets[@]}"
failed=0
for target in "${targets[@]}"; do
    case $target in
        unit_*)
            qemu-aarch64-static -L /usr/aarch64-linux-gnu \
                -E LD_LIBRARY_PATH="$sysroot/usr/lib/aarch64-linux-gnu:$sysroot/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib" \
                "build/arm64/tests/$target" --gtest_brief=1 || failed=1
            ;;
    esac
done
exit $failed
