# Two builds in turn on scene files: the same build twice, and with another key; nothing is left behind.
. "${REPO:?}/tests/cli/lib.sh"

cat > small.json <<'END'
{"frames": 4, "fps": 50, "steps_per_frame": 2,
 "cloths": [{"mesh": {"rectangle": {"size": [0.3, 0.3], "edge": 0.05}}, "material": "cotton", "remeshing": {"size_min": 0.05}}],
 "handles": [{"corners": ["top-left", "top-right"]}]}
END
mkdir tmp
TMPDIR=$PWD/tmp
export TMPDIR
expect 0 bench scenes small.json --frames 2 --quiet --out rows.csv
says stdout "^start"
says stdout '^2  .* 0.0 *0.0 *1.00$'
says stdout '^all  .* 0.0 *0.0 *1.00$'
says stdout 'crossings 0/0'
[ "$(wc -l < rows.csv)" = 4 ] || fail "the table has $(wc -l < rows.csv) lines, not 4"
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"

expect 0 bench scenes small.json --frames 2 --turn 2 --quiet --keep kept --with gravity=[0,-5,0]
says stdout '^1-2  '
[ -d kept/0-this/frames ] || fail "runs were not kept"
grep -q -- '-5' kept/0-this/scene.json || fail "--with did not reach this build"
if grep -q -- '"gravity": *\[ *0, *-5' kept/0-other/scene.json; then fail "--with reached the other build"; fi

expect 1 bench scenes
expect 1 bench scenes small.json --against no-such-program
expect 3 bench scenes none.json --quiet
