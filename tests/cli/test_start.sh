# A start in which surfaces cross: exit code 2, the places, a picture; or pulled apart. Nothing of an earlier run is lost.
. "${REPO:?}/tests/cli/lib.sh"

cat > cross.json <<'END'
{
    "frames": 2, "fps": 50, "steps_per_frame": 2,
    "cloths": [
        {"name": "low", "mesh": {"rectangle": {"size": [0.3, 0.3], "edge": 0.03}}, "material": "cotton",
         "transform": {"rotate": [-90, 1, 0, 0]}},
        {"name": "high", "mesh": {"rectangle": {"size": [0.3, 0.3], "edge": 0.03}}, "material": "cotton",
         "transform": {"rotate": [-93, 1, 0, 0], "translate": [0.01, 0.01, 0.01]}}
    ],
    "obstacles": [{"name": "floor", "plane": {"point": [0, -0.2, 0], "normal": [0, 1, 0]}}]
}
END

expect 2 run cross.json --out out
silent stdout
says stderr 'cloth with cloth, 0 of cloth with bodies; the first: edge [0-9]*-[0-9]* of cloth .* meets face [0-9]* of cloth .* at ('
says stderr '"collisions": {"on_intersection": "heal"}'
says stderr 'out/intersections.obj shows where'
[ "$(ls out)" = intersections.obj ] || fail "more than the overlay was written: $(ls out)"
grep -q '^o high$' out/intersections.obj || fail "the overlay lacks a cloth"
grep -q ' 1 0 0$' out/intersections.obj || fail "nothing is red in the overlay"

expect 2 run cross.json --out out --json --quiet
json exit_code 2
json start.nodes_moved 0

# pulled apart: frame 0 is free of crossings, and the overlay of the attempt before is gone
expect 0 run cross.json --out out --set collisions.on_intersection=heal
says stdout 'the start was pulled apart: [0-9]* crossings, [0-9]* nodes moved, at most [0-9.]* mm'
[ ! -e out/intersections.obj ] || fail "the overlay of an earlier attempt is still there"
expect 0 check out
expect 0 run cross.json --out more --set collisions.on_intersection=heal --json --quiet --threads 3
json start.crossings_after 0
same_frames out more

# resumed: not pulled apart again, the same bytes
expect 0 run cross.json --out more --set collisions.on_intersection=heal --frames 1 --quiet
expect 0 run cross.json --out more --set collisions.on_intersection=heal --resume --json --quiet
json start.nodes_moved 0
same_frames out more

# an earlier run in the folder is left as it is
before=$(frames_sum out)
cp out/stats.jsonl stats.before
expect 2 run cross.json --out out
[ "$(frames_sum out)" = "$before" ] || fail "frames of the earlier run were touched"
cmp -s out/stats.jsonl stats.before || fail "statistics of the earlier run were touched"
[ -e out/checkpoint.bin ] || fail "the checkpoint of the earlier run is gone"

# behind a plane
cat > behind.json <<'END'
{
    "frames": 1,
    "cloths": [{"mesh": {"rectangle": {"size": [0.3, 0.3], "edge": 0.03}}, "material": "cotton", "transform": {"rotate": [-90, 1, 0, 0]}}],
    "obstacles": [{"name": "floor", "plane": {"point": [0, 0, 0], "normal": [0, 1, 0]}}]
}
END
expect 2 run behind.json --out behind
says stderr "is on or behind plane 'floor'"
grep -q ' 1 0.5 0$' behind/intersections.obj || fail "nothing is orange in the overlay"

# a cloth that is held in the wrong place cannot be helped
sed 's/"obstacles"/"handles": [{"cloth": "low", "box": BOX}, {"cloth": "high", "box": BOX}],\n    "obstacles"/; s/BOX/{"min": [-1, -1, -1], "max": [1, 1, 1]}/g' cross.json > held.json
expect 2 run held.json --out held --set collisions.on_intersection=heal
says stderr 'left [0-9]* after [0-9]* iterations (nodes that handles hold stay where they are)'
finish

# cloth that is drawn three times as large as its fabric is relaxed before frame 0, unless told not to
cat > large.obj <<'END'
v 0 0 0
v 0.6 0 0
v 0.6 0 -0.6
v 0 0 -0.6
vt 0 0
vt 0.2 0
vt 0.2 0.2
vt 0 0.2
f 1/1 2/2 3/3
f 1/1 3/3 4/4
END
cat > large.json <<'END'
{"frames": 1, "cloths": [{"mesh": "large.obj", "rest": "uv", "material": "cotton", "remeshing": {"size_min": 0.05}}]}
END
expect 0 run large.json --out large
says stdout 'the start was relaxed: strain [+]200.0 % to [+]200.0 % became'
expect 0 check large
expect 0 run large.json --out relaxed --json --quiet --threads 2
json start.relax.faces_before 2
same_frames large relaxed
expect 0 run large.json --out raw --relax off --quiet --frames 0
expect 4 check raw
expect 2 run large.json --out no --relax maybe
says stderr 'start.relax'
expect 0 run large.json --out relaxed --frames 0 --quiet
expect 0 run large.json --out relaxed --resume --quiet
same_frames large relaxed
