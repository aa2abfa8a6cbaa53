# info, convert and mesh know sewing patterns; a scene takes one as the mesh of a cloth.
. "${REPO:?}/tests/cli/lib.sh"
P=$REPO/tests/data/patterns

expect 0 info "$P/tshirt_mean_all_specification.json"
says stdout 'panel right_ftorso (body): 1030.5 cm\^2'
says stdout 'seams: 16'
says stdout 'not sewn'
expect 0 info "$P/circle_skirt_dress_mean_all_specification.json" --json --svg dress.svg
json kind pattern
json panels.0.name right_btorso
[ -s dress.svg ] || fail "no drawing"
expect 0 info "$P/aama_r12.dxf"
says stdout 'notches: 2'
expect 2 info "$P/nothing.svg"
echo '<svg width="1mm"><path id="a" d="M0 0L1 0"/></svg>' > open.svg
expect 2 info open.svg
says stderr "open.svg:1: 'a' is open"

for ending in json svg dxf; do
    expect 0 convert "$P/jacket_hood.json" "jacket.$ending"
    says stderr 'Rz Ry Rx'
    expect 0 convert "jacket.$ending" "again-$ending.json" --quiet
done
cmp -s again-json.json again-svg.json || [ "$(grep -vc '"name"' again-json.json)" = "$(grep -vc '"name"' again-svg.json)" ] || fail "svg differs"
expect 2 convert "$P/tee.json" jacket.json
says stderr 'is there already'
expect 0 convert "$P/tee.json" jacket.json --force --turn-seam 3
expect 1 convert "$P/tee.json" other.json --turn-seam 99

expect 0 mesh "$P/tee.json" -o tee.obj --edge 0.05 --svg tee.svg --report tee.json --json
json exit_code 0
json panels 6
[ -s tee.seams.json ] && [ -s tee.svg ] && [ -s tee.json ] || fail "a file is missing"
expect 0 info tee.obj
expect 0 mesh "$P/tee.json" -o f.obj --method equal-area --cells 10x12 --panel front
says stdout '240 faces'
expect 1 mesh "$P/tee.json"
says stderr 'OUT.obj'
expect 1 mesh "$P/tee.json" -o x.obj --method delauny
says stderr 'did you mean delaunay'
expect 1 mesh "$P/tee.json" -o x.obj --panel nose
expect 2 mesh open.svg -o x.obj

# What is written never overwrites what it is made from, nor seams that somebody wrote for a drawing.
cp "$P/drawing.svg" d.svg
expect 1 info d.svg --svg d.svg
says stderr 'would overwrite'
expect 1 mesh d.svg -o d.obj --svg ./d.svg
says stderr 'would overwrite'
cmp d.svg "$P/drawing.svg" || fail "the drawing is lost"
expect 0 mesh d.svg -o d.obj
expect 0 info d.svg  # d.seams.json holds pairs of the mesh now: no seams of the drawing
expect 0 mesh d.svg -o d.obj --edge 0.03
rm d.seams.json
echo '{"seams": []}' > d.seams.json
expect 2 mesh d.svg -o d.obj
says stderr 'would be overwritten'
[ "$(cat d.seams.json)" = '{"seams": []}' ] || fail "seams are lost"

cat > scene.json << 'END'
{"frames": 1, "remeshing": {"kind": "none"}, "cloths": [{"name": "tee", "mesh": {"pattern": "tee-pattern.json", "edge": 0.06}}]}
END
cp "$P/tee.json" tee-pattern.json
expect 0 info scene.json --json
json cloths.0.name tee
says stdout 'left open'
expect 0 run scene.json --out run --quiet
expect 0 check run
sed -i 's/0.06/0.06, "weld": true/' scene.json
expect 0 info scene.json
sed -i 's/tee-pattern/no-pattern/' scene.json
expect 2 info scene.json
says stderr 'scene.json:1: cloths\[0\].mesh.pattern'
finish
