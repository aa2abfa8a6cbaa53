# Bad input: exit code 2, a message that names the file (and the line and the field), no results, no crash.
. "${REPO:?}/tests/cli/lib.sh"

bad() {  # bad PATTERN FILE [ARGUMENT...]: the message matches, and nothing was written
    pattern=$1
    file=$2
    shift 2
    expect 2 run "$file" --out out "$@"
    silent stdout
    says stderr "$pattern"
    [ ! -e out/frames ] || fail "$file: frames were written"
    rm -rf out
}
# edit NAME SED: the good scene with one edit, checked to have changed something
edit() {
    sed "$2" "$DATA/tiny.json" > "$1"
    ! cmp -s "$1" "$DATA/tiny.json" || fail "the edit of $1 changed nothing: $2"
}

bad 'nowhere.json' nowhere.json
mkdir folder
bad 'folder' folder
: > empty.json
bad 'empty.json' empty.json
printf ' \n\n' > blank.json
bad 'blank.json' blank.json
echo 'hello' > words.json
bad 'words.json:1' words.json
echo '[1, 2]' > list.json
bad 'list.json' list.json
head -c 150 "$DATA/tiny.json" > truncated.json
bad 'truncated.json:[0-9]' truncated.json
(cat "$DATA/tiny.json"; echo '}') > twice.json
bad 'twice.json:[0-9]' twice.json
printf '{"name": "a\377b"}' > bytes.json
bad 'bytes.json' bytes.json
head -c 100000 /dev/zero > zeros.json
bad 'zeros.json' zeros.json
head -c 200000 /dev/zero | tr '\0' '[' > deep.json
bad 'deep.json' deep.json

# keys and values: file, line, field and value are in the message
edit unknown.json 's/"frames"/"framse"/'
bad 'unknown.json:4: .*framse.*did you mean.*frames' unknown.json
edit inner.json 's/"rectangle"/"rectangel"/'
bad 'inner.json:10: .*rectangel' inner.json
edit negative.json 's/"density": 0.2/"density": -0.2/'
bad 'negative.json:11: .*density.*-0.2' negative.json
edit nan.json 's/"density": 0.2/"density": NaN/'
bad 'nan.json:11' nan.json
edit huge.json 's/-9.81/-1e308/'
bad 'huge.json:7' huge.json
edit infinite.json 's/-9.81/-1e999/'
bad 'infinite.json:7' infinite.json
edit text.json 's/"frames": 3/"frames": "three"/'
bad 'text.json:4: .*frames' text.json
edit zero.json 's/"fps": 25/"fps": 0/'
bad 'zero.json:5: .*fps.* 0' zero.json
edit steps.json 's/"steps_per_frame": 4/"steps_per_frame": 0/'
bad 'steps.json:6' steps.json
edit short.json 's/\[0, 0, 2\]/[0, 2]/'
bad 'short.json:8' short.json
edit duplicate.json 's/"fps": 25/"fps": 25, "fps": 30/'
bad 'duplicate.json:5' duplicate.json
edit pins.json 's/"corners": \["top-left", "top-right"\]/"nodes": [0, 100000]/'
bad 'pins.json:1[34]: .*100000' pins.json
edit corner.json 's/"top-left"/"topleft"/'
bad 'corner.json:1[34]: .*topleft' corner.json
edit nothing.json 's/"corners": \["top-left", "top-right"\]/"sphere": {"center": [9, 9, 9], "radius": 0.1}/'
bad 'nothing.json:1[34]' nothing.json
edit many.json 's/"edge": 0.1/"edge": 1e-7/'
bad 'many.json:10' many.json
edit fabric.json 's/"material": {.*}/"material": "no-such-fabric"/'
bad 'no-such-fabric' fabric.json
edit mesh.json 's/"mesh": {.*},/"mesh": "missing.obj",/'
bad 'missing.obj' mesh.json
edit cloth.json 's/"cloths"/"clothes"/'
bad 'cloths' cloth.json
sed 's/"name": "tiny",/"name": "tiny", "include": "cycle.json",/' "$DATA/tiny.json" > cycle.json
bad 'cycle.json' cycle.json
edit name.json 's/"name": "tiny"/"name": "..\/..\/escape"/'
expect 2 run name.json                                 # a name must not lead out of the folder
says stderr 'escape'
[ ! -e out ] && [ ! -e ../escape ] || fail "the name of a scene led out of the folder"

# --set
bad 'frmaes.*did you mean' "$DATA/tiny.json" --set frmaes=3
bad 'fps' "$DATA/tiny.json" --set fps=-1
bad 'cloths' "$DATA/tiny.json" --set cloths.7.density_scale=2
bad 'novalue' "$DATA/tiny.json" --set novalue
expect 2 run negative.json --out out --json
json exit_code 2
json status "$("$JSON_GET" status < stdout)"
"$JSON_GET" error < stdout | grep -q 'density' || fail "the JSON error does not name the field"

# meshes: the scene takes its cloth from an OBJ file
sed 's/"mesh": {.*},/"mesh": "cloth.obj",/; /"handles"/d; s/}\],$/}]/' "$DATA/tiny.json" > obj.json
mesh() { cat > cloth.obj; }
square='v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0'
uvs='vt 0 0
vt 1 0
vt 1 1
vt 0 1'
printf '%s\n%s\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n' "$square" "$uvs" | mesh
expect 0 run obj.json --out good --quiet               # the good one, to know that what follows fails for its own reason
: | mesh
bad 'cloth.obj' obj.json
printf '%s\n%s\nf 1/1 2/2 3/3\nf 1/1 3/3 4\n' "$square" "$uvs" | mesh
bad 'cloth.obj:10.*vt' obj.json
printf '%s\n%s\nf 1/1 2/2 9/3\n' "$square" "$uvs" | mesh
bad 'cloth.obj:9' obj.json
printf '%s\n%s\nf 1/1 2/2 3/3\nf 1/1 2/2 3/3\n' "$square" "$uvs" | mesh
bad 'cloth.obj' obj.json                               # the same face twice
printf '%s\n%s\nf 1/1 2/2 3/3\nf 1/1 4/4 3/3\n' "$square" "$uvs" | mesh
bad 'cloth.obj' obj.json                               # neighbours of opposite orientation
printf '%s\n%s\nf 1/1 2/2 2/2\n' "$square" "$uvs" | mesh
bad 'cloth.obj' obj.json                               # a corner twice
printf '%s\nv 0 0 1\n%s\nvt 1 -1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\nf 1/1 2/2 5/5\nf 2/2 1/1 5/5\n' "$square" "$uvs" | mesh
bad 'cloth.obj' obj.json                               # an edge with more than two faces
printf 'v nan 0 0\nv 1 0 0\nv 1 1 0\n%s\nf 1/1 2/2 3/3\n' "$uvs" | mesh
bad 'cloth.obj:1' obj.json
printf '%s\nvt 0 0\nvt 1 0\nvt 2 0\nf 1/1 2/2 3/3\n' "$square" | mesh
bad 'cloth.obj' obj.json                               # no area in the material
head -c 5000 /dev/urandom | mesh
bad 'cloth.obj' obj.json
bad 'detail goes with dynamics.kind springs' "$REPO/scenes/sphere/scene.json" --set 'detail={"hidden":true}'
bad 'lacks .eye., which cull' "$REPO/scenes/realtime-sphere/scene.json" --set 'detail={"cull":true}'
finish
