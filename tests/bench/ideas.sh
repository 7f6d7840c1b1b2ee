#!/bin/sh
# What each idea brings: the product against the product without it, under the same requests in
# alternating rounds, everything on one core. Takes two minutes.
#
#   ninja -C build/bench ideas         (all of the product is compiled once more)
#   tests/bench/ideas.sh [BUILD_FOLDER [SCENARIO...]]      (default build/bench, all)
#
# ROUNDS (30) and CPU (1) may be set in the environment. Variants that were not built are left out.
set -eu
build=${1:-build/bench}
[ $# -gt 0 ] && shift
scenarios=${*:-read1 read1_20_sessions read100 read100_20_sessions channel_20x1 channel_20x4 channel_20x8 get}
programs=$build/tests/bench
rounds=${ROUNDS:-30}
cpu=${CPU:-1}
folder=$(mktemp -d)
running=
trap 'kill $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# shellcheck source=tests/bench/plant.sh
. "$(dirname "$0")/plant.sh"
serve product "$build/tagferry"
variants="product:$opcua:$http:$pid"
for idea in header_then_body write_each_message malloc_pool message_objects; do
    if [ -x "$programs/$idea" ]; then
        serve "$idea" "$programs/$idea"
        variants="$variants $idea:$opcua:$http:$pid"
    fi
done
sleep 1
echo "| scenario | variant | requests/s | p50 us | p90 us | server CPU us | of the product's | bytes |"
echo "|---|---|---|---|---|---|---|---|"
for scenario in $scenarios; do
    # shellcheck disable=SC2086
    taskset -c "$cpu" "$programs/ideas_client" "$scenario" "$rounds" $variants
done
