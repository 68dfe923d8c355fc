#!/bin/bash
# Runs what `cargo xtask pack` packed, on a machine with an NVIDIA GPU, nvcc and PyTorch.
#
#   ./run.sh OUT [units] [tests PART…] [peers PART…]
#
# units      the GPU tests of the CUDA backend, each in a process of its own
# tests      tests/cuda/run.py with its parts, or all of them
# peers      bench/peers/run.py with its parts, or all of them
#
# OUT gets units.log, tests.log, and peers.jsonl with raw.log; without a word of these three all is run. Exits with 1 where a
# unit or a program failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: run.sh OUT [units] [tests PART…] [peers PART…]}
shift
mkdir -p "$out"
[ $# -gt 0 ] || set -- units tests peers
export KREPLAY="$here/kreplay" KREPLAY_UNITS="$here/units" COMMIT
COMMIT=$(cat "$here/COMMIT")
declare -A parts
for word in "$@"; do
    case $word in
        units | tests | peers) what=$word parts[$word]="" ;;
        *) parts[${what:?the first word is units, tests or peers}]+="$word " ;;
    esac
done
failed=0

units() {
    # Those that need no GPU run in CI.
    "$here/units" --list --format terse 2>/dev/null | sed -n 's/: test$//p' | grep gpu |
        while read -r test; do
            if KREPLAY_NO_SKIP_GPU=1 timeout 120 "$here/units" --exact "$test" --nocapture >"$out/unit.txt" 2>&1; then
                echo "ok $test"
            else
                echo "FAILED $test"
                cat "$out/unit.txt"
            fi
            grep '^{' "$out/unit.txt"
        done
    rm -f "$out/unit.txt"
}

begin=$SECONDS
if [ -v "parts[units]" ]; then
    units >"$out/units.log"
    grep -q '^FAILED' "$out/units.log" && failed=1
    echo "units: $(grep -c '^ok' "$out/units.log") ok, $(grep -c '^FAILED' "$out/units.log") failed, $((SECONDS - begin)) s"
fi
if [ -v "parts[tests]" ]; then
    # shellcheck disable=SC2086 # parts are words
    BUILD="$here/programs" python3 "$here/tests/cuda/run.py" ${parts[tests]} >"$out/tests.log" 2>&1 || failed=1
    grep -E '^(FAIL|--|[0-9]+ passed)' "$out/tests.log"
fi
if [ -v "parts[peers]" ]; then
    # shellcheck disable=SC2086
    BUILD="$here/peers" python3 "$here/bench/peers/run.py" "$out" ${parts[peers]} 2>&1
fi
exit $failed
