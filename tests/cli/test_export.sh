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
sed '$d' run/frames/000002_cloth.obj > torn && mv torn run/frames/000002_cloth.obj
expect 2 export run -o bad.glb
says stderr 'frame 2'
[ ! -e bad.glb ] || fail "a file in spite of an error"
finish
