# Read by requests.sh and ideas.sh: starts what they need in $folder, from the programs in $build.
# shellcheck shell=sh disable=SC2034,SC2154
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
# configure FILE [moving]: a gateway's configuration over that PLC, with the tags that change too.
configure() {
    awk -v port="$s7" -v folder="$folder" -v moving="${2:-}" 'BEGIN {
        printf "{\"state_directory\":\"%s\",\"opcua\":{\"listen\":[\"127.0.0.1:0\"],\"allow_none_policy\":true},\"web\":{\"listen\":[\"127.0.0.1:0\"]},", folder
        printf "\"connections\":[{\"name\":\"plant\",\"protocol\":\"s7\",\"host\":\"127.0.0.1\",\"port\":%d,\"family\":\"s7-1500\",\"slot\":1,", port
        printf "\"scan_classes\":[{\"name\":\"slow\",\"interval_ms\":10000},{\"name\":\"fast\",\"interval_ms\":100}],\"tags\":["
        for (i = 0; i < 1000; ++i) printf "%s{\"path\":\"static/t%d\",\"address\":\"DB1.DBD%d\",\"type\":\"REAL\"}", i ? "," : "", i, i * 4
        if (moving != "") for (i = 0; i < 1000; ++i) printf ",{\"path\":\"moving/t%d\",\"address\":\"DB2.DBD%d\",\"type\":\"REAL\",\"scan_class\":\"fast\"}", i, i * 4
        print "]}]}" }' > "$1"
}
# serve NAME PROGRAM [CONFIGURATION]: a gateway on $cpu; leaves its ports and pid in $opcua, $http,
# $pid.
serve() {
    start "$1" taskset -c "$cpu" "$2" run -c "${3:-$folder/tagferry.json}" --json
    opcua=$(port opcua)
    http=$(port http)
}
configure "$folder/tagferry.json"
