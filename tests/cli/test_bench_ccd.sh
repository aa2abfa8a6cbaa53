# The collision benchmark: no contact missed, on queries of its own and on published ones; bad files are named with their line.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 bench ccd --passes 1
says stdout '^on a border  *vf '
says stdout '^total  *ee '
expect 0 bench ccd --queries "$REPO/tests/data/ccd" --passes 1 --json
json faults 0
json total.0.misses 0
json total.1.misses 0
json total.0.queries 250
json total.1.queries 304
expect 0 bench ccd --queries "$REPO/tests/data/ccd/unit-tests/edge-edge/data_0_0.csv" --passes 1
says stdout '^unit-tests  *ee  *54 '

mkdir -p bad/edge-edge empty scene/queries scene/mma_bool scene/toi
printf '1,1,2,1,3,1,0\n1,1,2,0,3,1,0\n' > bad/edge-edge/q.csv
expect 2 bench ccd --queries bad
says stderr 'bad/edge-edge/q.csv:2: .*denominator'
printf '1,1,2,1,x,1,0\n' > bad/edge-edge/q.csv
expect 2 bench ccd --queries bad/edge-edge/q.csv
says stderr "q.csv:1: found 'x', expected a whole number"
printf '1,1,2,1,3,1,0\n' > bad/edge-edge/q.csv
expect 2 bench ccd --queries bad
says stderr '1 rows, must be 8'
expect 2 bench ccd --queries empty
says stderr 'no queries found'
expect 2 bench ccd --queries no-such
says stderr 'no-such: cannot be opened'
expect 2 bench ccd --queries bad/edge-edge/../../stdout
says stderr 'not a file of queries'

# A vertex that falls on a face at half of the step; a truth that claims a contact earlier must be reported as late.
for y in 1 -1; do printf '1,4,%d,1,1,4\n0,1,0,1,0,1\n0,1,0,1,1,1\n1,1,0,1,0,1\n' $y; done > scene/queries/0vf.csv
echo '[true]' > scene/mma_bool/0vf_mma_bool.json
printf 'query,toi,solutions\n0,0.5,1\n' > scene/toi/0vf_toi.csv
expect 0 bench ccd --queries scene --json
json total.0.hits 1
json total.0.late 0
printf 'query,toi,solutions\n0,0.25,1\n' > scene/toi/0vf_toi.csv
expect 4 bench ccd --queries scene --json
json total.0.late 1
echo '[true, false]' > scene/mma_bool/0vf_mma_bool.json
expect 2 bench ccd --queries scene
says stderr 'more answers than the 1 queries'
finish
