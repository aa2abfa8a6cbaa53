# check finds crossings of cloths and obstacles exactly, reports them frame by frame, and shows them in colour.
. "${REPO:?}/tests/cli/lib.sh"

# mesh FILE X Y Z [LINE]...: a quad of side 1 in the plane of height Y whose corner is (X, Y, Z); more lines may follow
mesh() {
    out=$1 x=$2 y=$3 z=$4
    shift 4
    awk -v x="$x" -v y="$y" -v z="$z" 'BEGIN {
        print "v", x, y, z; print "v", x + 1, y, z; print "v", x + 1, y, z + 1; print "v", x, y, z + 1
        print "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1" }' > "$out"
    for line; do echo "$line"; done >> "$out"
    printf 'f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n' >> "$out"
}
# wall FILE X: a small triangle in the plane x = X; two of its edges pass through the plane y = 0
wall() { printf 'v %s -0.2 0.5\nv %s 0.2 0.5\nv %s -0.1 0.9\nf 1 2 3\n' "$2" "$2" "$2" > "$1"; }
fresh() { rm -rf run && mkdir -p run/frames run/obstacles; }

# two cloths, one above the other, and an obstacle that stands beside them and is written once
fresh
for f in 0 1 2; do
    mesh run/frames/00000${f}_a.obj 0 0 0
    mesh run/frames/00000${f}_b.obj 0 0.5 0
done
wall run/obstacles/000000_wall.obj 2
expect 0 check run
says stdout '2 cloths, 1 obstacle'
expect 0 check run --json
json obstacles 1
json cloth_cloth 0
json findings 0
json per_frame.2.frame 2
json per_frame.2.faces 4

# the smallest distance there is, and none
mesh run/frames/000001_b.obj 0 5e-324 0
expect 0 check run
mesh run/frames/000001_b.obj 0 0 0
expect 4 check run
says stdout 'cloth with cloth'
mesh run/frames/000001_b.obj 1 0 1  # one corner on the corner of the other
expect 4 check run --json
json exit_code 4
json per_frame.0.findings 0
json per_frame.1.list.0.kind cloth_cloth
json per_frame.1.list.0.first a
json per_frame.1.list.0.second b
mesh run/frames/000001_b.obj 0 0.5 0

# the obstacle moves into the lower cloth in frame 1 and stays there
wall run/obstacles/000001_wall.obj 0.25
wall run/obstacles/000002_wall.obj 0.25
expect 4 check run --json -
json cloth_body 4
json cloth_cloth 0
json per_frame.0.cloth_body 0
json per_frame.1.cloth_body 2
json per_frame.2.cloth_body 2
json per_frame.2.list.0.first wall
json per_frame.2.list.0.second a
json per_frame.2.list.0.second_face 1
json per_frame.2.list.0.position.1 0
expect 4 check run --json report.json --threads 3
says stdout 'cloth with obstacles'
cp report.json three.json
expect 4 check --json=report.json -j 1 run
cmp -s report.json three.json || fail "the report depends on the number of threads"
"$JSON_GET" cloth_body < report.json > number
[ "$(cat number)" = 4 ] || fail "the report in the file differs"

# pinched nodes and crossings with an obstacle at them are faults unless they are allowed
for f in 1 2; do mesh run/frames/00000${f}_a.obj 0 0 0 'np 3'; done
expect 4 check run --json
json pinched 4
json pinched_nodes 2
json findings 6
json per_frame.1.list.0.kind pinched_nodes
json per_frame.1.list.0.node 3
expect 4 check run
says stdout 'no room, the first at'
says stdout '2 nodes pinched'
expect 0 check run --allow-pinched
says stdout '2 nodes pinched'
says stdout 'nothing wrong found'
expect 0 check run --json --allow-pinched
json pinched 4
json pinched_nodes 2
json findings 0
json cloth_body 0
says stdout '"kind": "pinched"'
mesh run/frames/000002_b.obj 0 0.1 0  # near enough that the wall goes through it as well
expect 4 check run --json --allow-pinched
json pinched 4
json cloth_body 2

# in colour
expect 4 check run --overlay faults
says stdout 'faults'
[ ! -e faults/000000.obj ] || fail "an overlay without findings"
grep -q '^v .* 1 0.5 0$' faults/000002.obj || fail "no orange corner"
grep -q '^v .* 1 0.9 0$' faults/000002.obj || fail "no yellow corner"

# a face that is pulled out absurdly, and with it half of the cloth
fresh
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 0 0\nv 9 0 0\nv 5 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 3 3\nvt 4 3\nvt 3 4\n' \
    > run/frames/000000_c.obj
printf 'f 1/1 2/2 3/3\nf 4/4 5/5 6/6\n' >> run/frames/000000_c.obj
expect 4 check run --json
json absurd_faces 1
json absurd_cloths 1

# a cloth through itself: the last face comes back through the first
fresh
printf 'v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0.2 -1 0.2\nv 0.2 1 0.2\nv 2 0 2\nvt 0 0\nvt 1 0\nvt 0 1\nvt 3 3\nvt 5 3\nvt 4 5.5456\n' \
    > run/frames/000000_c.obj
printf 'f 1/1 2/2 3/3\nf 4/4 5/5 6/6\n' >> run/frames/000000_c.obj
expect 4 check run --json
json per_frame.0.cloth_cloth 2
json per_frame.0.list.0.first_edge.0 1
json per_frame.0.list.1.first_edge.0 3
json per_frame.0.list.1.second_face 0
expect 4 check run --strain 0.0001 --overlay faults2
grep -q '^v .* 1 0 0$' faults2/000000.obj || fail "no red corner"

# --strain allows what a run promises of its limits: 0.1 % beyond
for by in 1.1008 1.1012; do
    fresh
    printf 'v 0 0 0\nv %s 0 0\nv %s 0 1\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n' $by $by > run/frames/000000_c.obj
    if [ $by = 1.1008 ]; then expect 0 check run --strain 0.1; else expect 4 check run --strain 0.1; fi
done

# files of obstacles that are missing: never an older one in their place, never a pass
fresh
for f in 0 1 2; do mesh run/frames/00000${f}_a.obj 0 0 0; done
wall run/obstacles/000000_wall.obj 0.25   # through the cloth at frame 0, beside it later
wall run/obstacles/000002_wall.obj 2
expect 4 check run --json
json missing_obstacles 1
json cloth_body 2
json per_frame.1.missing_obstacles 1
json per_frame.1.cloth_body 0
json per_frame.1.list.0.kind missing_obstacles
rm run/obstacles/000000_wall.obj
expect 4 check run
says stdout '2 files of obstacles missing'
says stdout 'obstacles/000000_wall.obj: missing'
rm -r run/obstacles                       # nothing left: the scene says what should be there
expect 0 check run
echo '{"cloths": [{"name": "a"}], "obstacles": [{"name": "wall"}]}' > run/scene.json
expect 4 check run
says stdout 'obstacles/000000_wall.obj: missing'
mkdir run/obstacles && wall run/obstacles/000000_wall.obj 2
expect 0 check run                        # stands still
echo nm >> run/obstacles/000000_wall.obj  # moves, says its first file
expect 4 check run --json
json missing_obstacles 2
echo '{"cloths": [{"name": "a"}, {"name": "lost"}], "obstacles": []}' > run/scene.json
rm -r run/obstacles
expect 4 check run --json
json missing_frames 3
echo '{"cloths": [' > run/scene.json
expect 4 check run --json
json unreadable 1

# of a run: bodies that move have a file at every frame, those that stand at the first
cat > bodies.json << 'END'
{"frames": 2, "remeshing": {"kind": "none"},
 "cloths": [{"mesh": {"rectangle": {"size": [1, 1], "edge": 0.5}}}],
 "obstacles": [{"name": "moving", "sphere": {"center": [5, 0, 0], "radius": 0.1}, "motion": [{"time": 0}, {"time": 1, "translate": [1, 0, 0]}]},
               {"name": "still", "sphere": {"center": [5, 3, 0], "radius": 0.1}}]}
END
expect 0 run bodies.json --out bodies --quiet
expect 0 check bodies
rm bodies/obstacles/000001_moving.obj
expect 4 check bodies
says stdout 'obstacles/000001_moving.obj: missing'
rm bodies/obstacles/000002_moving.obj
expect 4 check bodies --json
json missing_obstacles 2
rm -r bodies/obstacles
expect 4 check bodies --json
json missing_obstacles 2

# obstacles may cross themselves; what cannot be read is a finding, once
fresh
for f in 0 1; do mesh run/frames/00000${f}_a.obj 0 0 0; done
wall run/obstacles/000000_u.obj 3
printf 'v 2.5 0 1\nv 3.5 0 1\nv 3.5 0 2\nf 4 5 6\n' >> run/obstacles/000000_u.obj
expect 0 check run
echo 'f 1 2 3' > run/obstacles/000000_v.obj
expect 4 check run --json
json unreadable 1
echo 'v nan 0 0
v 1 9 0
v 0 9 1
f 1 2 3' > run/obstacles/000000_v.obj
expect 4 check run --json
json not_finite 1

expect 1 check
expect 1 check run more and more
expect 1 check run --json a b
expect 2 check nowhere --json
json exit_code 2
expect 2 check run --json nowhere/report.json
finish
