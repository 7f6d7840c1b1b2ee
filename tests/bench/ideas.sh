#!/bin/sh
# What each idea brings: the product against the product without it, under the same requests in
# alternating rounds, everything on one core. Takes under three minutes.
#
#   ninja -C build/bench ideas         (all of the product is compiled once more)
#   tests/bench/ideas.sh [BUILD_FOLDER [SCENARIO...]]      (default build/bench, all)
#
# ROUNDS (30) and CPU (1) may be set in the environment. Variants that were not built are left out.
set -eu
build=${1:-build/bench}
[ $# -gt 0 ] && shift
scenarios=${*:-read1 read1_20_sessions read100 read100_20_sessions channel_20x1 channel_20x4 channel_20x8 get publish}
programs=$build/tests/bench
rounds=${ROUNDS:-30}
cpu=${CPU:-1}
folder=$(mktemp -d)
running=
trap 'kill $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# shellcheck source=tests/bench/plant.sh
. "$(dirname "$0")/plant.sh"
configure "$folder/tagferry.json" moving

# add NAME PROGRAM: serves it, and puts it among the variants.
variants=
add() {
    if [ -x "$2" ]; then
        serve "$1" "$2"
        variants="$variants $1:$opcua:$http:$pid"
    fi
}
add product "$build/tagferry"
for idea in header_then_body write_each_message malloc_pool message_objects; do
    add $idea "$programs/$idea"
done
sleep 1

# variants_for SCENARIO: the product and those of its variants that the scenario has to do with.
variants_for() {
    for each in $variants; do
        case "$1:$each" in
            get:header_then_body:* | get:write_each_message:*) ;;
            get:* | *:product:* | *:malloc_pool:*) echo "$each" ;;
            *:message_objects:*) ;;
            *) echo "$each" ;;
        esac
    done
}
echo "| scenario | variant | requests/s | p50 us | p90 us | server CPU us | of the product's | bytes |"
echo "|---|---|---|---|---|---|---|---|"
for scenario in $scenarios; do
    if [ "$scenario" = publish ]; then
        for each in $(variants_for publish); do
            echo "${each%%:*}:"
            rest=${each#*:}
            taskset -c "$cpu" "$programs/publish_client" 10 1000 100 5 "${rest%%:*}" "${each##*:}"
        done
        continue
    fi
    # shellcheck disable=SC2046
    taskset -c "$cpu" "$programs/ideas_client" "$scenario" "$rounds" $(variants_for "$scenario")
done
