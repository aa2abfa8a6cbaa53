# The benchmark runs, counts what it says, gives the same state on one and two threads, and appends its rows.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 bench dynamics --sizes 200,400 --steps 3 --warmup 1 --threads 1,2 --out rows.csv
says stdout '^hanging  *[0-9]'
says stdout '^flag  *[0-9]'
says stdout 'grows as faces^'
[ "$(wc -l < rows.csv)" = 9 ] || fail "expected a head and 8 rows: $(wc -l < rows.csv)"
expect 0 bench dynamics --sizes 300 --steps 2 --warmup 0 --threads 1,2 --scenes flag --json --out rows.csv
json different 0
json results.0.scene flag
json results.1.threads 2
[ "$("$JSON_GET" results.0.state_hash < stdout)" = "$("$JSON_GET" results.1.state_hash < stdout)" ] ||
    fail "one and two threads disagree"
[ "$(wc -l < rows.csv)" = 11 ] || fail "rows were not appended"
[ "$(awk -F, '{print NF}' rows.csv | sort -u | wc -l)" = 1 ] || fail "rows of different length"
for linear in pcg multilevel direct stale; do
    expect 0 bench dynamics --sizes 300 --steps 2 --warmup 0 --threads 1 --scenes hanging --linear $linear --json
    json results.0.linear $linear
done
expect 2 bench dynamics --sizes 200 --steps 1 --threads 1 --scenes flag --out no-such-folder/rows.csv
says stderr 'no-such-folder/rows.csv'
finish
