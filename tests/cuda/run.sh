#!/bin/bash
# Builds every program here with nvcc and runs it under kreplay; needs an NVIDIA GPU.
#   KREPLAY=/path/to/kreplay tests/cuda/run.sh [FOLDER FOR BUILDS]
# Each program checks its own results: a line says what it found, how its dispatches ended, and how many have values.
# With the restore left out, the in-place and accumulating ones must fail.
cd "$(dirname "$0")" || exit 2
KREPLAY=${KREPLAY:-kreplay}
B=${1:-/tmp/kreplay-cuda-tests}
mkdir -p "$B"
programs="in_place accumulate atomics append pointer_tables structures module_variables dynamic_parallelism cooperative
clusters many_allocations streams threads contexts pools host_memory graphs printing fault two_devices"
for n in $programs spinning; do
    x=""
    [ "$n" = dynamic_parallelism ] && x="-rdc=true -lcudadevrt"
    # shellcheck disable=SC2086
    nvcc -O2 -arch=native -std=c++17 $x -o "$B/$n" "$n.cu" -lcuda || exit 2 &
done
wait
failed=0
one() { # expected window set passes program
    timeout 60 "$KREPLAY" profile --device cuda --window "$2" --set "$3" --passes "$4" -q --overwrite -o "$B/run.kreplay" -- "$B/$5" >"$B/out" 2>&1
    r=$?
    ends=$("$KREPLAY" report "$B/run.kreplay" --format json 2>/dev/null | python3 -c "
import collections, json, sys
d = json.load(sys.stdin)['dispatches']
print(dict(collections.Counter((x['outcome'], x['reason']) for x in d)), 'divergent', sum(bool(x['divergent']) for x in d), 'with values', sum(bool(x['counters']) for x in d))")
    echo "$2 $3 x$4 $5: exit $r, $(tail -1 "$B/out") $ends"
    { [ "$1" = right ] && [ $r = 0 ]; } || { [ "$1" = wrong ] && [ $r = 1 ]; } || { failed=1; head -5 "$B/out"; }
}
for n in $programs; do
    for passes in 1 2 5 9; do one right kernel none $passes "$n"; one right auto none $passes "$n"; done
    one right kernel memory 1 "$n"
    one right auto memory 1 "$n"
done
timeout 60 "$KREPLAY" profile --device cuda --set none --passes 3 --pass-deadline 500 --drain-deadline 1000 -q --overwrite -o "$B/run.kreplay" -- "$B/spinning" || failed=1
export KREPLAY_TEST_SKIP_RESTORE=1
for n in in_place accumulate module_variables; do one wrong kernel none 3 "$n"; done
exit $failed
