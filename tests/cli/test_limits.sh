# Little stack, little memory, and the small slips of a first scene: a message that helps, never a crash.
. "${REPO:?}/tests/cli/lib.sh"

# 64 kB of stack, for the program and by default for its threads
cat > ball.json << 'END'
{"frames": 4, "remeshing": {"size_min": 0.05},
 "cloths": [{"mesh": {"rectangle": {"size": [0.8, 0.8], "edge": 0.1}}, "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.4, 0.21, 0.4]}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0, 0], "radius": 0.2}}]}
END
expect 0 run ball.json --out plain --quiet
for threads in 1 3; do
    code=0
    (ulimit -s 64; exec "$TOILE" run ball.json --out small$threads --threads $threads --quiet) > stdout 2> stderr || code=$?
    [ $code = 0 ] || fail "a stack of 64 kB, $threads threads: exit code $code"
    same_frames plain small$threads
done
for command in 'check plain' 'info plain' 'run ball.json --resume --out plain --frames 5 --quiet' 'render plain -o plain.png --frames 4 --size 160x90'; do
    code=0
    (ulimit -s 64; exec "$TOILE" $command) > stdout 2> stderr || code=$?
    [ $code = 0 ] || fail "a stack of 64 kB: toile $command: exit code $code"
done

# no memory: how much was asked for, in which frame, for how many faces, and what helps
sed 's/"edge": 0.1/"edge": 0.004/; s/0.05/0.004/' ball.json > large.json
code=0
(ulimit -v 150000; exec "$TOILE" run large.json --out large --threads 1 --quiet) > stdout 2> stderr || code=$?
if grep -q 'out of memory' stderr; then
    [ $code = 3 ] || fail "no memory: exit code $code, expected 3"
    says stderr 'MB more were asked for, .* MB are in use for [0-9]* faces'
    says stderr 'size_min'
elif [ $code != 0 ] && ! grep -q 'AddressSanitizer' stderr; then  # sanitizers cannot live in so little
    fail "no memory: exit code $code without 'out of memory'"
fi

# slips in scenes, with file and line
sed 's/"fps": 25/"fps": 1e-9/' "$DATA/tiny.json" > fps.json
expect 2 run fps.json --out no --quiet
says stderr '^toile: fps.json:5: fps 1e-9, gives time steps of 2.5e8 s, must be at most 1 s'
sed 's/"fps": 25/"fps": 25, "solver": {"linear": "cholmod"}/' "$DATA/tiny.json" > solver.json
got=0
"$TOILE" run solver.json --out yes --quiet > stdout 2> stderr || got=$?
[ $got = 0 ] || { [ $got = 2 ] && says stderr '^toile: solver.json:5: solver.linear "cholmod", is not part of this build'; }
! grep -q 'TL_' stderr || fail "the name of a flag in a message"

# meshes: the line of the scene and the line of the mesh
scene_with() { sed "s|{\"rectangle\": {\"size\": \[0.3, 0.3\], \"edge\": 0.1}}|\"$1\"|; s/\"corners.*}\]/\"nodes\": [0]}]/" "$DATA/tiny.json" > mesh.json; }
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 4/3\n' > bad.obj
scene_with bad.obj
expect 2 run mesh.json --out no --quiet
says stderr '^toile: mesh.json:10: cloths\[0\].mesh: bad.obj:7: '
expect 2 run ball.json --out no --quiet --set 'obstacles=[{"mesh": "bad.obj"}]'
says stderr 'obstacles\[0\].mesh: bad.obj:7: '
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\nf 1/1 2/2 3/3\nf 3/3 2/2 4/4\n' > flat.obj
scene_with flat.obj
expect 0 run mesh.json --out flat --quiet --frames 0
sed 's/^v 0 1 0$/v 0.5 0 0/' flat.obj > line.obj
scene_with line.obj
expect 2 run mesh.json --out no --quiet
says stderr '^toile: mesh.json:9: cloths\[0\]: .*line.obj: face 0 has no area in space: its nodes 0, 1, 2 '
[ ! -e no ] || fail "a folder was left behind"
# steps of a tenth of a second: what is good enough in them is a length, not a speed, and no face is drawn to twice its size
cat > long.json << 'END'
{"frames": 9, "fps": 10, "steps_per_frame": 1, "remeshing": {"size_min": 0.04, "size_max": 0.2},
 "cloths": [{"mesh": {"rectangle": {"size": [1, 1], "edge": 0.2}}, "material": "cotton", "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.5, 0.5, 0.5]}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0.2, 0], "radius": 0.2}}, {"name": "floor", "plane": {}}]}
END
expect 0 run long.json --out long --quiet
expect 0 check long --strain 0.5
finish
