# A character as an obstacle: described, drawn, run, resumed and run again from the folder of the run with the same bytes.
. "${REPO:?}/tests/cli/lib.sh"

BODIES="$REPO/tests/data/bodies"
cat > figure.json <<'END'
{"frames": 6, "fps": 30, "steps_per_frame": 2, "remeshing": {"size_min": 0.06},
 "cloths": [{"mesh": {"rectangle": {"size": [0.8, 0.8], "edge": 0.1}}, "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.4, 1.5, 0.4]}}],
 "obstacles": [{"name": "body", "character": {"file": "RiggedFigure.glb", "motion": "walk.bvh", "lead_in": 0.1}}]}
END
cp "$BODIES/RiggedFigure.glb" "$BODIES/walk.bvh" .

expect 0 info RiggedFigure.glb --json
json kind character
json joints 19
json vertices 130
expect 0 info walk.bvh --json
json kind motion
json frames 61
expect 0 info "$BODIES/figure.pc2" --json
json points 370
expect 0 info "$BODIES/figure.mdd" --json
json samples 3
expect 0 render RiggedFigure.glb -o pose.png --size 60x60 --quiet
[ -s pose.png ] || fail "no picture of a pose"

expect 0 run figure.json --out straight --threads 1 --quiet
expect 0 run figure.json --out parts --frames 3 --threads 2 --quiet
expect 0 resume parts --frames 6 --threads 3 --quiet            # from the copies in parts/meshes
same_frames straight parts
cmp -s straight/obstacles/000000_body.obj straight/obstacles/000006_body.obj && fail "the body did not move"
cmp -s straight/obstacles/000006_body.obj parts/obstacles/000006_body.obj || fail "the body moved otherwise after resuming"
expect 0 run straight/scene.json --out again --threads 2 --quiet
same_frames straight again
expect 0 check straight

# two bodies that close on cloth until they cross: the run goes on, and says where
printf 'v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n' > wedge.obj
cat > press.json <<'END'
{"frames": 6, "fps": 30, "remeshing": {"kind": "none"}, "gravity": [0, 0, 0],
 "cloths": [{"mesh": {"rectangle": {"size": [0.4, 0.4], "edge": 0.1}}, "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.2, 0, 0.2]}}],
 "obstacles": [{"name": "lower", "box": {"min": [-1, -0.2, -1], "max": [1, -0.01, 1]}},
               {"name": "upper", "character": {"file": "wedge.obj", "units": "m", "up": "y"}, "transform": {"translate": [0, 0.02, 0]},
                "motion": [{"time": 0}, {"time": 0.2, "translate": [0, -0.1, 0]}]}]}
END
expect 0 run press.json --out press --quiet
says stderr 'no room, the first at .*next to'
grep -q '"pinched_at": \[{"cloth": "cloth", "body": "' press/stats.jsonl || fail "stats.jsonl does not say where cloth is pinched"
while read -r line; do echo "$line" | "$JSON_GET" frame > /dev/null || fail "not JSON in stats.jsonl: $line"; done < press/stats.jsonl

# what does not fit is named
expect 2 run figure.json --out bad --set obstacles[0].character.clip=fly --quiet
says stderr "is no clip of"
expect 2 run figure.json --out bad --set obstacles[0].character.motion=none.bvh --quiet
says stderr "none.bvh"
expect 2 run figure.json --out bad --set obstacles[0].character.units=parsec --quiet
head -c 30000 RiggedFigure.glb > short.glb
expect 2 info short.glb
says stderr "cut short"
expect 0 run figure.json --out small --set obstacles[0].character.units=mm --frames 0 --quiet
finish
