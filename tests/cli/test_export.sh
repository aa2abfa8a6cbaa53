# Frames of a run as files of other programs.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 run "$DATA/waving.json" --out run --frames 3 --set remeshing.kind=none --quiet
for kind in glb pc2 mdd ply; do expect 0 export run -o cloth.$kind --quiet; done
expect 0 info cloth.glb --json
json kind character
json clips.0.name simulation
expect 0 info cloth.pc2 --json
json samples 4
expect 0 info cloth.mdd --json
json samples 4
for f in 0 1 2 3; do [ -s cloth.00000$f.ply ] || fail "no PLY of frame $f"; done
expect 0 info cloth.000003.ply
expect 0 export run -o part.pc2 --first 1 --last 2 --scale 100 --z-up --json
json frames 2
expect 1 export run
expect 1 export run -o cloth.fbx
expect 2 export run -o cloth.glb --cloth none
expect 2 export nowhere -o cloth.glb
# an adaptive run: its meshes change
expect 0 run "$DATA/waving.json" --out free --frames 6 --quiet
expect 2 export free -o free.glb
says stderr 'resample'
for kind in usda toile ply obj; do expect 0 export free -o free.$kind --quiet; done
grep -q 'points.timeSamples' free.usda || fail "no time samples"
grep -q 'faceVertexIndices.timeSamples' free.usda || fail "the mesh does not change"
expect 0 export free -o one.glb --resample --json
json resampled true
expect 0 export free -o one.usda --resample --attributes all --cm --z-up --quiet
grep -q 'metersPerUnit = 0.01' one.usda || fail "no centimetres"
grep -q 'faceVertexIndices.timeSamples' one.usda && fail "the mesh changes in spite of --resample"
# a recording is as good as the run
expect 0 export free -o r.toile --attributes strain,level --quiet
expect 0 info r.toile --json
json kind recording
json frames 7
expect 0 export r.toile -o two.pc2 --resample --quiet
expect 0 export free -o three.pc2 --resample --quiet
[ "$(wc -c < two.pc2)" = "$(wc -c < three.pc2)" ] || fail "a recording gives another PC2"
expect 0 export free -o s.toile --stored --first 2 --last 4 --json
json frames 3
head -c 300 r.toile > cut.toile
expect 2 export cut.toile -o cut.usda
says stderr 'damaged'
[ ! -e cut.usda ] || fail "a file in spite of an error"
expect 1 export free -o a.usda --attributes strain,nonsense
expect 1 export free -o a.pc2 --attributes strain
expect 1 export free -o a.obj --bodies
# bodies
expect 0 run "$DATA/resting.json" --out rest --frames 2 --quiet
expect 0 export rest -o rest.usda --bodies --attributes contact --json
json bodies 1
sed '$d' run/frames/000002_cloth.obj > torn && mv torn run/frames/000002_cloth.obj
expect 2 export run -o bad.glb
says stderr 'frame 2'
[ ! -e bad.glb ] || fail "a file in spite of an error"
finish
