#!/bin/sh
# The product against a raw loop that moves the same bytes: both servers and the load on one core,
# in alternating rounds. Takes about a minute.
#
#   tests/bench/requests.sh [BUILD_FOLDER [SCENARIO...]]      (default build/bench, all)
#
# ROUNDS (60) and CPU (1) may be set in the environment.
set -eu
build=${1:-build/bench}
[ $# -gt 0 ] && shift
scenarios=${*:-read1 read1x8 read1x20 read100 read100_registered get connect publish}
programs=$build/tests/bench
rounds=${ROUNDS:-60}
cpu=${CPU:-1}
folder=$(mktemp -d)
running=
trap 'kill $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# shellcheck source=tests/bench/plant.sh
. "$(dirname "$0")/plant.sh"
start raw taskset -c "$cpu" "$programs/raw_reply_server"
raw="$line $pid"
serve ours "$build/tagferry"
ours="$opcua $http $pid"
sleep 1
for scenario in $scenarios; do
    if [ "$scenario" = publish ]; then
        configure "$folder/moving.json" moving
        serve moving "$build/tagferry" "$folder/moving.json"
        sleep 1
        taskset -c "$cpu" "$programs/publish_client" 10 1000 100 5 "$opcua" "$pid"
        continue
    fi
    # shellcheck disable=SC2086
    taskset -c "$cpu" "$programs/request_client" "$scenario" "$rounds" $ours $raw
done
