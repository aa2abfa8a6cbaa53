# Scenes of ARCSim's run as they are, and as what `toile convert` makes of them: the same frames.
. "${REPO:?}/tests/cli/lib.sh"
CONF=$REPO/tests/data/arcsim/conf

# sphere: a sheet held by two corners, let go; a ball that moves. One key has no effect.
expect 0 run "$CONF/sphere.json" --out sphere --frames 10
says stderr 'warning: .*/sphere.json:21: magic.collision_stiffness has no effect'
[ "$(grep -c warning stderr)" = 1 ] || fail "more than one warning"
[ -e sphere/frames/000010_cloth.obj ] || fail "the last frame is missing"
expect 0 check sphere
head -1 sphere/scene.json | grep -q '^{' || fail "scene.json of the run is missing"
# z up has become y up: gravity, and the sheet that lay at z = 0.5
grep -q '"gravity": \[0, -9.8, 0\]' sphere/scene.json || fail "gravity is not along -y"
awk '$1 == "v" && ($3 < 0.499 || $3 > 0.501) { bad = 1 } END { exit bad }' sphere/frames/000000_cloth.obj || fail "frame 0 is not level at y = 0.5"

# flag (wind, limits, a label), sleeve (two poles that turn), body (three parts, a motion file)
for scene in flag:2 sleeve:6 body:5; do
    name=${scene%:*}
    expect 0 run "$CONF/$name.json" --out "$name" --frames "${scene#*:}" --quiet
    expect 0 check "$name"
done
says stdout '3 obstacles'

# an obstacle that comes and goes; its place in the frames says so
sed 's/"motion": 0}/"motion": 0, "start_time": 0.1, "end_time": 0.2}/; s#meshes/#'"$CONF"'/../meshes/#; s#materials/#'"$CONF"'/../materials/#' "$CONF/sphere.json" > comes.json
expect 0 run comes.json --out comes --frames 7 --quiet
expect 0 check comes
for frame in 000000 000002 000007; do grep -q '^na$' comes/obstacles/${frame}_obstacle.obj || fail "the ball is there at $frame"; done
for frame in 000003 000005; do grep -q '^f ' comes/obstacles/${frame}_obstacle.obj || fail "the ball is not there at $frame"; done
expect 0 render comes -o comes.png --frames 7

# converted, they give the same frames
for scene in sphere:3 flag:2 sleeve:3 body:3; do
    name=${scene%:*}
    expect 0 convert "$CONF/$name.json" "new/$name.json"
    expect 0 run "new/$name.json" --out "own-$name" --frames "${scene#*:}" --quiet --json
    hash=$("$JSON_GET" state_hash < stdout)
    silent stderr
    expect 0 run "$CONF/$name.json" --out "old-$name" --frames "${scene#*:}" --quiet --json
    json state_hash "$hash"
    same_frames "own-$name" "old-$name"
done
expect 2 convert "$CONF/sphere.json" new/sphere.json
says stderr 'new/sphere.json: is there already'
expect 0 convert "$CONF/sphere.json" new/sphere.json --force --json --set frames=3
json arcsim true
json to new/sphere.json
expect 1 convert "$CONF/sphere.json"
expect 2 convert missing.json new.json

# resumed like any other
expect 0 run "$CONF/sphere.json" --out part --frames 1 --quiet
expect 0 resume part --frames 3 --quiet
same_frames part old-sphere

# info and render know them
expect 0 info "$CONF/body.json" --json
json kind scene
json format ARCSim
expect 0 render "$CONF/sphere.json" -o start.png
[ -s start.png ] || fail "no picture"

# missing files, broken and ambiguous scenes
sed 's/sheet.obj/no-such.obj/' "$CONF/sphere.json" > bad.json
expect 2 run bad.json --out bad
says stderr 'bad.json:7: cloths\[0\].mesh "meshes/no-such.obj", no such file (looked for in'
printf '{"frame_time": 0.04, "cloths": [' > bad.json
expect 2 run bad.json --out bad
says stderr 'bad.json:1: not valid JSON'
printf '{"frame_time": 0.04, "fps": 25, "cloths": [{"mesh": "a.obj"}]}' > bad.json
expect 2 run bad.json --out bad
says stderr 'is neither a Toile scene nor one of ARCSim'
[ ! -e bad ] || fail "something was written"
finish
