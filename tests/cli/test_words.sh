# What a newcomer types: fabrics by name, keys at the wrong level, one word for quality, numbers that can be read.
. "${REPO:?}/tests/cli/lib.sh"

# fabrics
expect 0 fabrics
says stdout '^cotton  *150  *5,834/  3,713  *21 mm  medium  *shirts, bed sheets, tablecloths$'
[ "$(wc -l < stdout)" -ge 14 ] || fail "fewer than twelve fabrics and a head of two lines"
expect 0 fabrics --json
json 0.name cotton
json 0.density 0.15
json 0.feel medium
expect 1 fabrics silk
for name in $("$TOILE" fabrics | sed '1,2d; s/ .*//'); do
    expect 0 run "$DATA/tiny.json" --set cloths[0].material=$name --out f.$name --frames 0 --quiet
done
expect 0 fabrics --pictures pictures polyester-lining --quiet
[ -s pictures/polyester-lining.png ] || fail "no picture"
[ ! -e pictures/silk.png ] || fail "a picture that was not asked for"
expect 0 check pictures/polyester-lining
mkdir -p mine/materials && sed 's/"cotton"/"towel"/' "$REPO/materials/cotton.json" > mine/materials/towel.json
TOILE_DATA=mine expect 0 fabrics
says stdout '^towel '

# a fabric nobody knows: all there are, and no far-fetched guess
expect 2 run "$DATA/tiny.json" --set cloths[0].material=towel --out no
says stderr 'no fabric of this name; there are cotton, denim, .*silk.*wool'
! grep -q 'did you mean' stderr || fail "a towel is no wool"
expect 2 run "$DATA/tiny.json" --set cloths[0].material=demin --out no
says stderr "did you mean 'denim'? There are cotton, denim,"
expect 2 run "$DATA/tiny.json" --set cloths[0].material=flag --out no
says stderr "did you mean 'flag-nylon'?"

# a key at the wrong level
expect 2 run "$DATA/tiny.json" --set 'wind=[0,0,1]' --out no
says stderr "wind is not a known key here (did you mean 'air.wind'?)"
expect 2 run "$DATA/tiny.json" --set thickness=0.001 --out no
says stderr "did you mean 'cloths\[\].thickness' or 'obstacles\[\].thickness'?"
expect 2 run "$DATA/tiny.json" --set cloths[0].gravity=0 --out no
says stderr "did you mean 'gravity'?"
expect 2 run "$DATA/tiny.json" --set cloths[0].density=0.2 --out no
says stderr "density is not a known key (did you mean 'density_scale'?)"
sed 's/"cloths"/"obstacles": [{"sphere": {"center": [0, -5, 0], "radius": 1}, "translate": [0, 0, 1]}], "cloths"/' "$DATA/tiny.json" > level.json
expect 2 run level.json --out no
says stderr "obstacles\[0\].translate is not a known key here (did you mean 'transform.translate' or 'motion\[\].translate'?)"
expect 2 run "$DATA/tiny.json" --set cloths[0].thicknes=0.001 --out no
says stderr "did you mean 'thickness'?"

# quality: a word for sizes, tolerances and steps, written down; what is given wins
sed 's/"steps_per_frame": 4,//' "$DATA/tiny.json" > plain.json
key() { "$JSON_GET" "$2" < "$1/scene.json"; }
for quality in draft normal final; do expect 0 run plain.json --quality $quality --out $quality --quiet; done
[ "$(key draft quality) $(key draft steps_per_frame) $(key draft remeshing.size_min)" = "draft 4 0.03" ] || fail "draft: $(cat draft/scene.json)"
[ "$(key final quality) $(key final steps_per_frame) $(key final solver.newton_tolerance)" = "final 12 0.015" ] || fail "final"
expect 0 run plain.json --out none --quiet
same_frames none normal
expect 0 run plain.json --quality draft --set remeshing.size_min=0.02 --set steps_per_frame=5 --out given --quiet
[ "$(key given steps_per_frame) $(key given remeshing.size_min) $(key given remeshing.curvature)" = "5 0.02 0.25" ] || fail "given keys do not win"
sed 's/"fps": 25/"fps": 25, "quality": "draft", "remeshing": {"size_max": 0.025}/' plain.json > word.json
expect 0 run word.json --out word --quiet
[ "$(key word steps_per_frame) $(key word remeshing.size_min)" = "4 0.025" ] || fail "the key of the scene"
expect 0 resume draft --frames 4 --quiet
expect 0 run plain.json --quality draft --out draft --resume --frames 5 --quiet
expect 2 run plain.json --quality drft --out no
says stderr "must be one of \"draft\", \"normal\", \"final\" (did you mean 'draft'?)"

# numbers for people
expect 2 run "$DATA/tiny.json" --set fps=0 --out no
says stderr 'fps 0, must be in (0, 1e6\]'
expect 0 info "$REPO/materials/cotton.json"
says stdout '^  5834.14, 1113.79, 3712.63, 240$'
says stdout '^stretch_sample: 0.166667$'
expect 0 info "$DATA/tiny.json"
says stdout '^    0.3, 0.3, 0$'
says stdout '^obstacles: none$'
finish
