#!/bin/sh
# The echo engine against the raw loop, both ends on one core, in alternating rounds.
#
#   tests/bench/echo.sh [BUILD_FOLDER]      (default build/bench)
#
# Prints, for each load, both servers' rate and CPU time for a request and the ratios; then the
# system calls for a reply (strace) and the instructions for a request (callgrind), where those
# programs are installed. ROUNDS (100), CPU (1) and STRACE, CALLGRIND (0 leaves them out) may be
# set in the environment.
set -eu
programs=${1:-build/bench}/tests/bench
rounds=${ROUNDS:-100}
cpu=${CPU:-1}
folder=$(mktemp -d)
running=
trap 'kill $running 2>/dev/null || true; rm -rf "$folder"' EXIT

# start NAME COMMAND...: runs it in the background and waits for the port it prints.
start() {
    name=$1
    shift
    : > "$folder/$name.port"
    "$@" > "$folder/$name.port" 2> "$folder/$name.log" &
    pid=$!
    running="$running $pid"
    until [ -s "$folder/$name.port" ]; do sleep 0.1; done
    port=$(cat "$folder/$name.port")
}
pinned() { taskset -c "$cpu" "$@"; }

start raw taskset -c "$cpu" "$programs/raw_echo_server"
raw=$port:$pid
start ours taskset -c "$cpu" "$programs/echo_server"
ours=$port:$pid

# connections, requests in one write, request size, requests of a round
for load in "1 1 64 1000" "1 1 256 1000" "1 8 64 4000" "1 8 256 4000" "20 1 64 2000" "20 1 256 2000"
do
    echo "== $load (connections, requests a write, bytes, requests a round): raw, then ours"
    # shellcheck disable=SC2086
    pinned "$programs/echo_client" $load "$rounds" "$raw" "$ours"
done

if [ "${STRACE:-1}" != 0 ] && command -v strace > /dev/null; then
    for load in "1 1 64 8000" "1 8 64 8000" "20 1 64 8000"; do
        strace -f -c -o "$folder/calls" -p "${ours#*:}" 2> /dev/null &
        tracer=$!
        sleep 0.5
        # shellcheck disable=SC2086
        pinned "$programs/echo_client" $load 1 "$ours" > /dev/null
        kill "$tracer"
        wait "$tracer" 2> /dev/null || true
        # Two rounds: the one that warms up is not printed but made.
        echo "== $load: system calls of ours for a reply"
        awk '$NF == "total" { printf "%.3f\n", $4 / 16000 }' \
            "$folder/calls"
    done
fi

# instructions SERVER LOAD: what 16,000 more requests add, divided by them.
instructions() {
    server=$1
    shift
    for requests in 2000 10000; do
        start counted valgrind --tool=callgrind --callgrind-out-file="$folder/out.$requests" \
            "$programs/$server"
        sleep 1
        "$programs/echo_client" "$@" "$requests" 1 "$port:$pid" > /dev/null
        kill "$pid"
        wait "$pid" 2> /dev/null || true
    done
    low=$(awk '/^(totals|summary):/ { print $2; exit }' "$folder/out.2000")
    high=$(awk '/^(totals|summary):/ { print $2; exit }' "$folder/out.10000")
    echo "$server $*: $(((high - low) / 16000)) instructions a request"
}
if [ "${CALLGRIND:-1}" != 0 ] && command -v valgrind > /dev/null; then
    echo "== instructions in user space"
    for load in "1 1 64" "1 8 64" "20 1 64"; do
        # shellcheck disable=SC2086
        instructions echo_server $load
    done
    instructions raw_echo_server 1 1 64
fi
