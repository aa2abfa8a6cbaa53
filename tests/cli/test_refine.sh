#!/bin/sh
# toile refine: counts, clear of the ball, bad input.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cat > "$dir/s.json" <<'END'
{"frames": 14, "fps": 25, "remeshing": {"kind": "none"},
 "cloths": [{"name": "sheet", "mesh": {"rectangle": {"size": [0.6, 0.6], "edge": 0.06}}, "material": "cotton",
             "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.3, 0.27, 0.3]}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0.1, 0], "radius": 0.15}}]}
END
"$TOILE" run "$dir/s.json" --out "$dir/run" --quiet
for scheme in modified-loop loop butterfly; do
    "$TOILE" refine "$dir/run" -o "$dir/$scheme" --levels 2 --scheme $scheme --json > "$dir/report.json"
    [ "$("$JSON_GET" frames < "$dir/report.json")" = 15 ] || { echo "$scheme: not all frames"; exit 1; }
    in=$("$JSON_GET" faces_in < "$dir/report.json"); out=$("$JSON_GET" faces_out < "$dir/report.json")
    [ "$out" = $((16 * in)) ] || { echo "$scheme: $in faces became $out"; exit 1; }
    "$TOILE" check "$dir/$scheme" --json > "$dir/check.json" || true  # strains of a smoothed surface mean nothing
    for kind in cloth_cloth cloth_body missing_obstacles unreadable; do
        [ "$("$JSON_GET" $kind < "$dir/check.json")" = 0 ] || { echo "$scheme: $kind in the finer frames"; exit 1; }
    done
done
[ "$("$JSON_GET" corrected < "$dir/report.json")" -gt 0 ] || { echo "nothing was in the way: no test"; exit 1; }
"$TOILE" refine "$dir/run/frames/000014_sheet.obj" -o "$dir/one.obj" --levels 1 --quiet
[ "$(grep -c '^f ' "$dir/one.obj")" = $((4 * $(grep -c '^f ' "$dir/run/frames/000014_sheet.obj"))) ]
# the same bytes on any number of threads
"$TOILE" refine "$dir/run" -o "$dir/t1" --threads 1 --first 14 --quiet
"$TOILE" refine "$dir/run" -o "$dir/t3" --threads 3 --first 14 --quiet
cmp "$dir/t1/frames/000014_sheet.obj" "$dir/t3/frames/000014_sheet.obj"
# as an option of a run and of an export; the run itself never sees it
"$TOILE" run "$dir/s.json" --out "$dir/with" --frames 6 --refine 1:loop --quiet
"$TOILE" refine "$dir/run" -o "$dir/apart" --levels 1 --scheme loop --last 6 --quiet
for n in 0 3 6; do
    cmp "$dir/with/frames/00000${n}_sheet.obj" "$dir/run/frames/00000${n}_sheet.obj"
    cmp "$dir/with/refined/frames/00000${n}_sheet.obj" "$dir/apart/frames/00000${n}_sheet.obj"
done
"$TOILE" export "$dir/run" -o "$dir/fine.glb" --refine 1 --first 2 --last 5 --json > "$dir/export.json"
faces=$(grep -c '^f ' "$dir/run/frames/000002_sheet.obj")
[ "$("$JSON_GET" faces < "$dir/export.json")" = $((4 * faces)) ] || { echo "export --refine 1: not four times the faces"; exit 1; }
[ "$("$JSON_GET" frames < "$dir/export.json")" = 4 ]
code() { set +e; "$@" > "$dir/log" 2>&1; got=$?; set -e; }
code "$TOILE" refine "$dir/run" -o "$dir/run"; [ $got = 2 ] && grep -q "overwritten" "$dir/log"
code "$TOILE" refine "$dir/run" -o "$dir/x" --scheme catmull; [ $got = 1 ] && grep -q "butterfly" "$dir/log"
code "$TOILE" refine "$dir/none" -o "$dir/x"; [ $got = 2 ] && grep -q "no frames" "$dir/log"
code "$TOILE" refine "$dir/run"; [ $got = 1 ]
code "$TOILE" run "$dir/s.json" --out "$dir/y" --refine 2:catmull; [ $got = 1 ] && grep -q "catmull.*butterfly" "$dir/log" && [ ! -e "$dir/y" ]
code "$TOILE" export "$dir/run" -o "$dir/y.glb" --refine 9; [ $got = 1 ] && grep -q "0 to 5" "$dir/log"
echo "refine: all as it should be"
