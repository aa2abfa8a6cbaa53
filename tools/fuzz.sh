#!/bin/sh
# tools/fuzz.sh SECONDS: runs every fuzz target of build/fuzz for so long, starting from its seeds.
#
# A target is tests/fuzz/fuzz_NAME.c, its seeds are tests/fuzz/seeds/NAME/. What it learns stays in
# build/fuzz/corpus/NAME, a finding in build/fuzz/findings/NAME-*, and the exit code is 1 then.
set -eu
seconds=${1:?usage: tools/fuzz.sh SECONDS}
cd "$(dirname "$0")/.."
mkdir -p build/fuzz/findings
found=0
count=0
for source in tests/fuzz/fuzz_*.c; do
    [ -e "$source" ] || continue
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    seeds=
    [ -d "tests/fuzz/seeds/$name" ] && seeds=tests/fuzz/seeds/$name
    echo "fuzz: $name for $seconds s"
    # shellcheck disable=SC2086  # no word when there are no seeds
    if ! "build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/findings/$name-" "$corpus" $seeds > "build/fuzz/$name.log" 2>&1; then
        echo "fuzz: $name found something, see build/fuzz/$name.log and build/fuzz/findings/" >&2
        grep -E 'ERROR|SUMMARY|runtime error' "build/fuzz/$name.log" >&2 || tail -20 "build/fuzz/$name.log" >&2
        found=1
    else
        grep -E 'number_of_executed_units|peak_rss_mb' "build/fuzz/$name.log" || true
    fi
    count=$((count + 1))
done
echo "fuzz: $count targets"
exit $found
