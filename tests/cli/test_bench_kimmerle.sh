# `toile bench kimmerle`: every table is there, and bad input is told. Times are not looked at.
. "${REPO:?}/tests/cli/lib.sh"

awk 'BEGIN {
    for (j = 0; j < 6; j++) for (i = 0; i < 6; i++) printf "v %g 0.253 %g\nvt %g %g\n", 0.08 * i - 0.2, 0.2 - 0.08 * j, 0.08 * i, 0.08 * j
    for (j = 0; j < 5; j++) for (i = 0; i < 5; i++) {
        a = 6 * j + i + 1; b = a + 1; c = a + 7; d = a + 6
        printf "f %d/%d %d/%d %d/%d\nf %d/%d %d/%d %d/%d\n", a, a, b, b, c, c, a, a, c, c, d, d
    } }' > sheet.obj
cat > walk.json <<'EOF'
{"frames": 4, "fps": 25, "steps_per_frame": 8, "remeshing": {"kind": "none"},
 "cloths": [{"name": "sheet", "mesh": "sheet.obj", "material": "cotton", "rest": "uv"}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0.1, 0], "radius": 0.15}}]}
EOF
"$TOILE" bench kimmerle --walk ./walk.json --garments ./walk.json --steps 30 --frames 3 > out.txt 2> err.txt; got=$?
[ $got = 0 ] || [ $got = 4 ] || fail "exit $got: $(cat err.txt)"  # a bar on times may be missed on so small a scene
for word in 'k-dop ' 'combined, 100 pairs' 'stochastic, 100' 'full (ours)' 'combined, 100 + net'; do
    grep -qF "$word" out.txt || fail "no row '$word'"
done
grep -q 'with the net: 0 crossings (bar kept)' out.txt || fail "crossings with the net"
for table in 'Tables 4.2, 4.3' 'Table 5.1' 'Table 5.2'; do grep -q "$table" out.txt || fail "no $table"; done
grep -q '^ *3 ' out.txt || fail "no third level"
expect 1 bench kimmerle more
expect 2 bench kimmerle --walk ./nowhere.json --steps 1 --frames 0
says stderr 'nowhere'
finish
