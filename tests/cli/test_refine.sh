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
# wrinkles: over the same frames, clear of the ball; none at rest; maps that can be read; the same bytes on any number of threads
"$TOILE" refine "$dir/run" -o "$dir/folds" --wrinkles directional --wavelength 40 --maps 64 --json > "$dir/report.json"
high=$("$JSON_GET" wrinkles.highest < "$dir/report.json")
awk "BEGIN { exit !($high > 1e-4) }" || { echo "no wrinkles: $high m"; exit 1; }
"$TOILE" check "$dir/folds" --json > "$dir/check.json" || true
for kind in cloth_cloth cloth_body; do
    [ "$("$JSON_GET" $kind < "$dir/check.json")" = 0 ] || { echo "wrinkles: $kind"; exit 1; }
done
cmp -s "$dir/folds/frames/000014_sheet.obj" "$dir/modified-loop/frames/000014_sheet.obj" && { echo "no wrinkles in the frame"; exit 1; }
cmp "$dir/folds/frames/000000_sheet.obj" "$dir/modified-loop/frames/000000_sheet.obj" || { echo "wrinkles at rest"; exit 1; }
[ -s "$dir/folds/wrinkles/000014_sheet.height.png" ] && [ -s "$dir/folds/wrinkles/000014_sheet.normal.png" ]
grep -q '"range"' "$dir/folds/wrinkles/000014_sheet.json"
"$TOILE" refine "$dir/run" -o "$dir/bump" --wrinkles directional --wavelength 40 --maps 64 --bump --quiet
cmp "$dir/bump/frames/000014_sheet.obj" "$dir/modified-loop/frames/000014_sheet.obj"
cmp "$dir/bump/wrinkles/000014_sheet.height.png" "$dir/folds/wrinkles/000014_sheet.height.png"
for j in 1 3; do "$TOILE" refine "$dir/run" -o "$dir/a$j" --levels 0 --wrinkles paper --adaptive 0.5 --first 13 -j $j --quiet; done
cmp "$dir/a1/frames/000014_sheet.obj" "$dir/a3/frames/000014_sheet.obj"
"$TOILE" run "$dir/s.json" --out "$dir/folded" --frames 3 --refine 1+wrinkles --quiet
[ -s "$dir/folded/refined/frames/000003_sheet.obj" ]
code "$TOILE" run "$dir/s.json" --out "$dir/y" --refine 1+creases; [ $got = 1 ] && grep -q "+wrinkles=paper" "$dir/log" && [ ! -e "$dir/y" ]
code "$TOILE" refine "$dir/run" -o "$dir/x" --wrinkles sideways; [ $got = 1 ] && grep -q "directional or paper" "$dir/log"
code "$TOILE" refine "$dir/run" -o "$dir/x" --maps 64; [ $got = 1 ] && grep -q -- "--wrinkles" "$dir/log"
grep -v '^vt' "$dir/run/frames/000014_sheet.obj" | sed 's,/[0-9]*,,g' > "$dir/bare.obj"
code "$TOILE" refine "$dir/bare.obj" -o "$dir/x.obj" --wrinkles directional; [ $got = 2 ] && grep -q "material coordinates" "$dir/log" && [ ! -e "$dir/x.obj" ]
# curved edges: finer only where it bends, clear of the ball, the same bytes on any number of threads
for j in 1 3; do "$TOILE" refine "$dir/run" -o "$dir/curved$j" --scheme curved --levels 2 -j $j --json > "$dir/report.json"; done
cmp "$dir/curved1/frames/000014_sheet.obj" "$dir/curved3/frames/000014_sheet.obj"
"$TOILE" check "$dir/curved1" --json > "$dir/check.json" || true
for kind in cloth_cloth cloth_body; do
    [ "$("$JSON_GET" $kind < "$dir/check.json")" = 0 ] || { echo "curved: $kind"; exit 1; }
done
faces() { grep -c '^f' "$1"; }
[ "$(faces "$dir/curved1/frames/000000_sheet.obj")" = "$(faces "$dir/run/frames/000000_sheet.obj")" ] || { echo "curved: refined at rest"; exit 1; }
"$TOILE" refine "$dir/run" -o "$dir/uniform" --scheme curved --levels 1 --uniform --bulge flat --quiet
[ "$(faces "$dir/uniform/frames/000014_sheet.obj")" = $((4 * $(faces "$dir/run/frames/000014_sheet.obj"))) ] || { echo "curved: not four faces of one"; exit 1; }
code "$TOILE" refine "$dir/bare.obj" -o "$dir/x.obj" --scheme curved; [ $got = 2 ] && grep -q "material coordinates" "$dir/log" && [ ! -e "$dir/x.obj" ]
code "$TOILE" refine "$dir/run" -o "$dir/x" --scheme curved --bulge round; [ $got = 1 ] && grep -q "quadratic" "$dir/log"
code "$TOILE" refine "$dir/run" -o "$dir/x" --bulge flat; [ $got = 1 ] && grep -q -- "--scheme curved" "$dir/log"
code "$TOILE" refine "$dir/run" -o "$dir/x" --scheme curved --wrinkles paper; [ $got = 1 ] && grep -q "modified-loop" "$dir/log"
echo "refine: all as it should be"
