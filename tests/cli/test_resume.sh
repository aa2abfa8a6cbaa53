# A run that was stopped half way and resumed gives the frames of one that went straight through.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 run "$DATA/waving.json" --out straight --threads 1 --quiet
expect 0 run "$DATA/waving.json" --out parts --frames 4 --threads 1 --quiet
[ ! -e parts/frames/000005_cloth.obj ] || fail "--frames 4 wrote frame 5"
expect 0 run "$DATA/waving.json" --out parts --resume --frames 7 --threads 2 --json
json status ok
json last_frame 7
json out parts
expect 0 resume parts --frames 10 --threads 3 --quiet           # the short form, with the scene saved next to the frames
same_frames straight parts
[ "$(wc -l < straight/stats.jsonl)" = 11 ] || fail "straight: not one line of statistics per frame"
[ "$(wc -l < parts/stats.jsonl)" = 11 ] || fail "parts: not one line of statistics per frame"
while read -r line; do
    echo "$line" | "$JSON_GET" frame > /dev/null || fail "not JSON in stats.jsonl: $line"
done < parts/stats.jsonl
expect 0 run "$DATA/waving.json" --out parts --resume --quiet   # nothing left to do is no fault
same_frames straight parts
expect 0 resume parts frames=10 --quiet                         # values without --set, as the help says
expect 1 resume parts straight

# every solver forgets what it learned (factors, levels) at a checkpoint in a way that leaves no trace in the frames
for linear in pcg multilevel direct stale; do
    expect 0 run "$DATA/waving.json" --out $linear --set solver.linear=$linear --threads 1 --quiet
    expect 0 run "$DATA/waving.json" --out $linear.2 --set solver.linear=$linear --threads 1 --quiet --frames 3
    expect 0 run "$DATA/waving.json" --out $linear.2 --set solver.linear=$linear --quiet --resume --threads 2
    same_frames $linear $linear.2
done

# meshes that follow the motion, in contact with bodies: what a pass may do depends on no more than what was saved
for scene in sleeve dress; do
    expect 0 run "$REPO/scenes/paper-$scene/scene.json" --out $scene --frames 4 --threads 1 --quiet
    expect 0 run "$REPO/scenes/paper-$scene/scene.json" --out $scene.2 --frames 3 --threads 1 --quiet
    expect 0 run "$REPO/scenes/paper-$scene/scene.json" --out $scene.2 --frames 4 --threads 2 --quiet --resume
    same_frames $scene $scene.2
done

# layers, which remember more than the mesh: where they come and go, and on a body, by another solver
layers="$REPO/scenes/layers/scene.json" walk="$REPO/scenes/walk/sqrt3.json"
expect 0 run "$layers" --out layers --frames 14 --threads 1 --quiet
expect 0 run "$layers" --out layers.2 --frames 9 --threads 1 --quiet
expect 0 run "$layers" --out layers.2 --frames 14 --threads 2 --quiet --resume
same_frames layers layers.2
[ "$(grep -c '^f ' layers/frames/000014_sheet.obj)" -gt "$(grep -c '^f ' layers/frames/000000_sheet.obj)" ] || fail "no layers came"
solver="--set dynamics.kind=baraff-witkin --set collisions.response=impulse --set remeshing.error=0.009"
expect 0 run "$walk" --out walk --frames 6 --threads 1 --quiet $solver
expect 0 run "$walk" --out walk.2 --frames 3 --threads 1 --quiet $solver
expect 0 run "$walk" --out walk.2 --frames 6 --threads 2 --quiet --resume $solver
same_frames walk walk.2

# a checkpoint of another scene, a damaged one, none at all
expect 2 run "$DATA/waving.json" --out empty --resume --quiet
says stderr 'checkpoint'
expect 2 run "$DATA/tiny.json" --out parts --resume --quiet
same_frames straight parts
head -c 200 straight/checkpoint.bin > short.bin
cp -r straight damaged && cp short.bin damaged/checkpoint.bin
expect 2 run "$DATA/waving.json" --out damaged --resume --quiet
says stderr 'checkpoint'
same_frames straight damaged
finish
