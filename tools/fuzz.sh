#!/bin/sh
# tools/fuzz.sh SECONDS [JOBS]: runs every fuzz target of build/fuzz for so long, starting from its seeds, JOBS (1) of them at a time.
# FUZZ_FLAGS goes to libFuzzer as it is: CI fixes the random seed and the number of runs, so that it sees the same inputs every time.
#
# A target is tests/fuzz/fuzz_NAME.c, its seeds are tests/fuzz/seeds/NAME/. What it learns stays in
# build/fuzz/corpus/NAME, a finding in build/fuzz/findings/NAME-*, and the exit code is 1 then.
set -eu
seconds=${1:?usage: tools/fuzz.sh SECONDS [JOBS]}
jobs=${2:-1}
cd "$(dirname "$0")/.."
mkdir -p build/fuzz/findings

# --one NAME SECONDS: one target. All it prints comes at its end, so that targets at a time do not mix theirs.
if [ "$seconds" = --one ]; then
    name=$2
    seconds=$3
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    seeds=
    [ -d "tests/fuzz/seeds/$name" ] && seeds=tests/fuzz/seeds/$name
    # shellcheck disable=SC2086  # no word when there are no seeds
    if ! "build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 ${FUZZ_FLAGS:-} \
        -artifact_prefix="build/fuzz/findings/$name-" "$corpus" $seeds > "build/fuzz/$name.log" 2>&1; then
        echo "fuzz: $name found something, see build/fuzz/$name.log and build/fuzz/findings/" >&2
        grep -E 'ERROR|SUMMARY|runtime error' "build/fuzz/$name.log" >&2 || tail -20 "build/fuzz/$name.log" >&2
        exit 1
    fi
    # shellcheck disable=SC2046  # on one line
    echo "fuzz: $name for $seconds s:" $(grep -E 'number_of_executed_units|peak_rss_mb' "build/fuzz/$name.log")
    exit 0
fi

names=$(for source in tests/fuzz/fuzz_*.c; do basename "$source" .c | sed 's/^fuzz_//'; done)
found=0
echo "$names" | xargs -P "$jobs" -I NAME tools/fuzz.sh --one NAME "$seconds" || found=1
echo "fuzz: $(echo "$names" | wc -l) targets"
exit $found
