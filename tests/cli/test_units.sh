# First meshes: units, texture coordinates, meshes without any, and files that are no OBJ.
. "${REPO:?}/tests/cli/lib.sh"

# sheet FILE SIZE_X SIZE_Z U V PLANE: a sheet of 4 x 4 quads in the plane xz, xy or yz, with vt from 0 to U, V ("-": none)
sheet() {
    awk -v sx="$2" -v sy="$3" -v U="$4" -v V="$5" -v plane="$6" 'BEGIN {
        n = 4
        for (j = 0; j <= n; j++) for (i = 0; i <= n; i++) {
            x = sx * i / n; y = sy * j / n
            if (plane == "xz") print "v", x, 0, -y; else if (plane == "xy") print "v", x, y, 0; else print "v", 0, y, -x }
        if (U != "-") for (j = 0; j <= n; j++) for (i = 0; i <= n; i++) print "vt", U * i / n, V * j / n
        for (j = 0; j < n; j++) for (i = 0; i < n; i++) {
            a = j * (n + 1) + i + 1; b = a + 1; c = b + n + 1; d = a + n + 1
            if (U != "-") print "f", a "/" a, b "/" b, c "/" c, d "/" d; else print "f", a, b, c, d } }' > "$1"
}
scene() { printf '{"frames": 1, "remeshing": {"kind": "none"}, "cloths": [{"name": "c", "mesh": "%s"%s}]%s}\n' "$1" "${2:-}" "${3:-}" > scene.json; }
# starts_within PERCENT: frame 0 of the last run (folder o) is strained by no more
starts_within() {
    "$TOILE" check o --strain "$1" --json > stdout 2> stderr
    json per_frame.0.over_strain 0
}
go() { rm -rf o; expect 0 run scene.json --out o --quiet; }

# vt in metres: not a word
sheet m.obj 2 1 2 1 xz
scene m.obj; go
silent stderr
# Blender's default: vt from 0 to 1 on a sheet of 2 x 1 m
sheet blender.obj 2 1 1 1 xz
scene blender.obj; go
says stderr 'warning: cloth c starts strained by +0 % to +100 %, more than 10 % in 100 % of its area.*uv-scaled.*world'
scene blender.obj ', "rest": "uv"'; go
silent stderr
for rest in uv-scaled world; do
    scene blender.obj ", \"rest\": \"$rest\""; go
    silent stderr
    starts_within 0.000001
    cp -r o o.$rest
    expect 0 run scene.json --out o --resume --quiet --frames 2    # the run's own scene knows, and so does the first
    expect 0 resume o --quiet --frames 3
done
scene blender.obj ', "rest": "uvs"'
expect 2 run scene.json --out o
says stderr 'must be one of "world", "uv", "uv-scaled"'

# no vt: lengths in space, whichever way the sheet stands
for plane in xy xz yz; do
    sheet bare.obj 2 1 - - $plane
    scene bare.obj; go
    silent stderr
    starts_within 0.000001
done
scene bare.obj ', "rest": "uv"'
expect 2 run scene.json --out o
says stderr 'cloths\[0\].mesh: bare.obj: has no vt'

# a closed surface without vt: a ball of 12 x 8, peeled with a word about it, and it runs with remeshing too
awk 'BEGIN { n = 12; m = 8; pi = 3.14159265358979
    print "v 0 0.2 0"
    for (j = 1; j < m; j++) for (i = 0; i < n; i++) { t = pi * j / m; p = 2 * pi * i / n
        print "v", 0.2 * sin(t) * cos(p), 0.2 * cos(t), -0.2 * sin(t) * sin(p) }
    print "v 0 -0.2 0"
    for (i = 0; i < n; i++) print "f", 1, 2 + i, 2 + (i + 1) % n
    for (j = 0; j < m - 2; j++) for (i = 0; i < n; i++) { a = 2 + j * n + i; b = 2 + j * n + (i + 1) % n; print "f", a, a + n, b + n, b }
    for (i = 0; i < n; i++) print "f", 2 + (m - 2) * n + (i + 1) % n, 2 + (m - 2) * n + i, 2 + (m - 1) * n }' > ball.obj
scene ball.obj; go
says stderr 'ball.obj: cannot be laid flat in one piece, [0-9]* edges become seams and lengths are kept to'
starts_within 0.026
sed -i 's/"none"/"anisotropic", "size_min": 0.03/' scene.json; go

# units: centimetres, millimetres, and something tiny; bodies too
sheet cm.obj 180 90 180 90 xz
scene cm.obj; rm -rf o; expect 0 run scene.json --out o --quiet --frames 0
says stderr 'warning: cloth c is 180 m large, and lengths are in metres: for a model in centimetres set its transform.scale to 0.01'
sed -i 's/"none"/"anisotropic"/' scene.json; expect 2 run scene.json --out no --quiet --frames 0
says stderr 'cloth c is 180 m large and would have .* triangles at least (remeshing.size_max 0.2 m): for a model in centimetres set its transform.scale to 0.01'
expect 0 run scene.json --out limited --quiet --frames 0 --set remeshing.max_faces=3000
scene cm.obj ', "transform": {"scale": 0.01}'; rm -rf o; expect 0 run scene.json --out o --quiet --frames 0
silent stderr
sheet tiny.obj 0.005 0.005 0.005 0.005 xz
scene tiny.obj; rm -rf o; expect 0 run scene.json --out o --quiet --frames 0
says stderr 'warning: cloth c is only 5 mm large'
scene m.obj '' ', "obstacles": [{"name": "man", "mesh": "body.obj"}, {"name": "floor", "plane": {"point": [0, -500, 0], "normal": [0, 1, 0]}}]'
printf 'v 0 -200 0\nv 170 -200 0\nv 0 -30 0\nf 1 2 3\n' > body.obj
rm -rf o; expect 0 run scene.json --out o --quiet --frames 0
says stderr 'warning: obstacle man is 170 m large'
[ "$(wc -l < stderr)" = 1 ] || fail "more than one warning"

# files that are no OBJ are called by their name
printf 'glTF\002\000\000\000' > cloth.obj
printf 'ply\nformat ascii 1.0\n' > cloth.ply
awk 'BEGIN { printf "solid x\nfacet normal 0 0 1\n" }' > cloth.stl
{ head -c 80 /dev/zero; printf '\001\000\000\000'; head -c 50 /dev/zero; } > binary.obj
printf '\000\001\002\003' > what.obj
for pair in 'cloth.obj:a glTF file' 'cloth.ply:a PLY file' 'cloth.stl:an STL file' 'binary.obj:an STL file' 'what.obj:a binary file'; do
    scene "${pair%%:*}"
    expect 2 run scene.json --out o2
    says stderr "scene.json:1: cloths\[0\].mesh: ${pair%%:*}: is ${pair#*:}.* OBJ file is needed"
    [ "$(wc -c < stderr)" -lt 300 ] || fail "a long message for ${pair%%:*}"
done
finish
