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
scenarios=${*:-read1 read1x8 read1x20 read100 read100_registered get connect}
programs=$build/tests/bench
rounds=${ROUNDS:-60}
cpu=${CPU:-1}
folder=$(mktemp -d)
running=
trap 'kill $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# start NAME COMMAND...: runs it in the background and waits for the line it prints.
start() {
    name=$1
    shift
    : > "$folder/$name.line"
    "$@" > "$folder/$name.line" 2> "$folder/$name.log" &
    pid=$!
    running="$running $pid"
    tries=0
    until [ -s "$folder/$name.line" ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { cat "$folder/$name.log" >&2; exit 1; }
        sleep 0.1
    done
    line=$(cat "$folder/$name.line")
}
# port KEY: of an endpoint in the line of JSON.
port() { echo "$line" | sed "s/.*\"$1\":[^0-9]*127\.0\.0\.1:\([0-9]*\).*/\1/"; }

# 1,000 tags that stand still, 1,000 that change every 100 ms.
awk 'BEGIN {
    printf "{\"profile\":\"s7-1500\",\"data_blocks\":[{\"number\":1,\"size\":4000},{\"number\":2,\"size\":4000}],\"signals\":["
    for (i = 0; i < 1000; ++i) printf "%s{\"address\":\"DB2.DBD%d\",\"type\":\"REAL\",\"kind\":\"counter\",\"minimum\":0,\"maximum\":1000000,\"period_ms\":50}", i ? "," : "", i * 4
    print "]}" }' > "$folder/plc.json"
start plc "$build/tagferry" sim --plc "$folder/plc.json" --port 0 --json
s7=$(port s7)
awk -v port="$s7" -v folder="$folder" 'BEGIN {
    printf "{\"state_directory\":\"%s\",\"opcua\":{\"listen\":[\"127.0.0.1:0\"],\"allow_none_policy\":true},\"web\":{\"listen\":[\"127.0.0.1:0\"]},", folder
    printf "\"connections\":[{\"name\":\"plant\",\"protocol\":\"s7\",\"host\":\"127.0.0.1\",\"port\":%d,\"family\":\"s7-1500\",\"slot\":1,", port
    printf "\"scan_classes\":[{\"name\":\"slow\",\"interval_ms\":10000},{\"name\":\"fast\",\"interval_ms\":100}],\"tags\":["
    for (i = 0; i < 1000; ++i) printf "%s{\"path\":\"static/t%d\",\"address\":\"DB1.DBD%d\",\"type\":\"REAL\"}", i ? "," : "", i, i * 4
    if (ENVIRON["MOVING"] != "") for (i = 0; i < 1000; ++i) printf ",{\"path\":\"moving/t%d\",\"address\":\"DB2.DBD%d\",\"type\":\"REAL\",\"scan_class\":\"fast\"}", i, i * 4
    print "]}]}" }' > "$folder/tagferry.json"
start raw taskset -c "$cpu" "$programs/raw_reply_server"
raw="$line $pid"
start ours taskset -c "$cpu" "$build/tagferry" run -c "$folder/tagferry.json" --json
ours="$(port opcua) $(port http) $pid"
sleep 1
for scenario in $scenarios; do
    # shellcheck disable=SC2086
    taskset -c "$cpu" "$programs/request_client" "$scenario" "$rounds" $ours $raw
done
