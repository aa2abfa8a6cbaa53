# scenes/kimmerle: every scene is read; the table cloth, the ribbon, the ball and the torus end without crossings in the modes that promise
# it, coarser and shorter than they are shipped.
. "${REPO:?}/tests/cli/lib.sh"
scenes=$REPO/scenes/kimmerle

for scene in "$scenes"/*.json; do
    case $scene in *layer-second.json) continue ;; esac  # wants the frames of layer-first
    expect 0 info "$scene"
done

# run NAME FRAMES [OPTION...]: and no crossing in any frame
run()
{
    name=$1 frames=$2
    shift 2
    expect 0 run "$scenes/$name.json" --out "$name" --frames "$frames" -j 1 --quiet "$@"
    expect 0 check "$name" -j 1
}
last() { tail -1 "$1/stats.jsonl" | "$JSON_GET" "$2"; }

# SC10: the cloth comes to rest on the table; finer, it would go through the edge of the table
run table-cloth 25
expect 0 refine table-cloth -o fine --levels 2 --scheme loop -j 1 --json
cut=$("$JSON_GET" corrected < stdout)
[ "$cut" -gt 10 ] || fail "the table is in nobody's way: $cut"
expect 0 check fine -j 1

# SC6: layers at rest, by impulses and by constraints
for kind in ribbon ribbon-constraint; do
    run $kind 45 --set 'cloths[0].mesh.rectangle={"size": [0.06, 0.6], "edge": 0.02}' \
        --set 'handles[0].motion=[{"time": 0}, {"time": 0.6, "translate": [0, -0.5, 0], "release": true}]'
    awk "BEGIN { exit !($(last $kind energies.kinetic) < 1e-5) }" || fail "$kind: moves at the end: $(last $kind energies.kinetic) J"
    top=$(awk '$1 == "v" { if ($3 > top) top = $3 } END { print top }' $kind/frames/000045_*.obj)
    awk "BEGIN { exit !($top < 0.1) }" || fail "$kind: still $top m high"
done

# SC7: friction takes the sheet along, without friction the ball turns below it
turned() # degrees that the corner furthest from the axis at the start has turned about it
{
    awk 'FNR == 1 { file++ } $1 == "v" { n[file]++; x[file, n[file]] = $2; z[file, n[file]] = $4 }
        END { for (i = 1; i <= n[1]; i++) { a = atan2(-z[1, i], x[1, i]); b = atan2(-z[2, i], x[2, i]); d = b - a; s += sin(d); c += cos(d) }
            d = atan2(s, c) * 57.29578; print d < 0 ? d + 360 : d }' "$1/frames/000020_sheet.obj" "$1/frames/000042_sheet.obj"
}
run sphere 42 --set cloths[0].mesh.rectangle.edge=0.09
mv sphere dragged
run sphere 42 --set cloths[0].mesh.rectangle.edge=0.09 --set 'obstacles[0].friction=0'
with=$(turned dragged) without=$(turned sphere)  # the ball itself: 102 degrees; hanging corners swing without it
awk "BEGIN { exit !($with > 60 && $with < 120) }" || fail "the ball does not take the sheet along: $with degrees"
awk "BEGIN { exit !($without < 0.5 * $with || $without > 330) }" || fail "a ball without friction turns the sheet by $without degrees"

# SC5: drawn through the ring with a third to two thirds of the pairs found; the net stops the rest. Single faces may be crushed on the way
expect 0 run "$scenes/torus.json" --out torus --frames 40 -j 1 --quiet --set cloths[0].mesh.rectangle.edge=0.05 --set collisions.new_pairs=6 \
    --set 'handles[0].motion=[{"time": 0.2}, {"time": 1.4, "translate": [0, -0.9, 0]}]'
"$TOILE" check torus -j 1 --json > checked.json || true
for kind in cloth_cloth cloth_body not_finite; do
    [ "$("$JSON_GET" $kind < checked.json)" = 0 ] || fail "torus: $kind"
done
top=$(awk '$1 == "v" { if ($3 > top) top = $3 } END { print top }' torus/frames/000040_cloth.obj)
awk "BEGIN { exit !($top < 0.9) }" || fail "the cloth is not through: $top m"
finish
