# Scenes by springs run without a display and write a line per step, which a resumed run goes on with.
. "${REPO:?}/tests/cli/lib.sh"

count=0
for scene in "$REPO"/scenes/realtime-*/scene.json "$REPO"/scenes/curved-*/scene.json; do
    name=$(basename "$(dirname "$scene")")
    expect 0 run "$scene" --out $name --frames 2 --quiet
    steps=$("$JSON_GET" steps_per_frame < $name/scene.json)
    [ "$(head -1 $name/steps.csv)" = step,time,triangles,adapt,simulate,collide,render ] || fail "$name: heading of steps.csv"
    awk -F, -v steps="$steps" '
        NR > 1 && (NF != 7 || $1 != NR - 1 || $2 <= last || $3 < 1 || $4 < 0 || $5 <= 0 || $6 < 0) { bad = NR }
        NR > 1 && ($7 > 0) != (($1 % steps) == 0) { bad = NR }
        NR > 1 { last = $2 }
        END { if (bad || NR != 1 + 2 * steps) { print "line " bad " of " NR; exit 1 } }' $name/steps.csv > stdout || fail "$name: steps.csv"
    count=$((count + 1))
done
[ $count -ge 10 ] || fail "only $count scenes"

# as many lines, once each, after a resume; triangles are those of a run that went straight through
expect 0 run "$REPO/scenes/realtime-cylinder/scene.json" --out straight --frames 8 --quiet
expect 0 run "$REPO/scenes/realtime-cylinder/scene.json" --out parts --frames 3 --quiet
echo '13,0.108333,99,0,0,0,0' >> parts/steps.csv  # a step that the checkpoint does not know
expect 0 run "$REPO/scenes/realtime-cylinder/scene.json" --out parts --frames 8 --resume --quiet
cut -d, -f1-3 straight/steps.csv > a
cut -d, -f1-3 parts/steps.csv > b
cmp -s a b || fail "steps.csv of a resumed run is another"
same_frames straight parts

# other dynamics have statistics per frame alone
expect 0 run "$DATA/waving.json" --out implicit --frames 1 --quiet
[ ! -e implicit/steps.csv ] || fail "steps.csv of an implicit run"
finish
