#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test. See README.md for which suite
# runs in which build. Usage: tests/run.sh [suite ...], suites: release asan-ubsan tsan fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then
    suites=(release asan-ubsan fuzz tsan)
fi
jobs=$(nproc)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

step() { printf '\n=== %s (%s s)\n' "$*" "$SECONDS"; }

install_foreign_software() {
    # Real counterparts: OPC UA and S7 software nobody here wrote, and what drives a browser.
    if [ -d /usr/include/node ]; then
        export npm_config_nodedir=/usr
    fi
    local folder
    for folder in tests/interop tests/browser; do
        if ! cmp -s $folder/package-lock.json $folder/node_modules/.installed-lock; then
            npm ci --prefix $folder --no-audit --no-fund --loglevel=error
            cp $folder/package-lock.json $folder/node_modules/.installed-lock
        fi
    done
}

# run_suite PRESET [ctest argument ...]; builds `targets` only, where there are any.
run_suite() {
    local preset=$1
    shift
    step "$preset: build"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset" ${targets[@]+--target "${targets[@]}"}
    step "$preset: test"
    ctest --test-dir "build/$preset" --parallel "$jobs" --output-on-failure --no-tests=error "$@"
}

step "packages"
deploy/install-build-packages.sh tests
install_foreign_software

for suite in "${suites[@]}"; do
    targets=()
    case $suite in
        # The shipped build runs everything, allocation gates and foreign software included.
        release) run_suite release ;;
        asan-ubsan) run_suite asan-ubsan --label-regex 'unit|system' ;;
        tsan)
            targets=(unit_transport unit_gateway tagferry)
            run_suite tsan --tests-regex '^(transport|gateway|system)[.]'
            ;;
        # The same build as asan-ubsan: one compilation serves both.
        fuzz) run_suite asan-ubsan --label-regex 'fuzz' ;;
        # By hand: the same compiler as release with debug checks, and the programs of tests/bench.
        dev) run_suite dev --label-regex 'unit' ;;
        *)
            echo "unknown suite '$suite'; there are release, asan-ubsan, tsan, fuzz, dev" >&2
            exit 64
            ;;
    esac
done
step "all suites passed: ${suites[*]}"
