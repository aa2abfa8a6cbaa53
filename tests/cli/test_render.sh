# Pictures and diagrams of a run; camera and appearance come from the scene and are no reason to start over.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 run "$DATA/tiny.json" --out plain --quiet
expect 0 run "$DATA/tiny.json" --out own --quiet --set 'camera={"azimuth": -40, "elevation": 30}' --frames 1
expect 0 render plain -o auto.png --frames 1 --size 160x120 --quiet
if grep -q 'libpng' stderr; then echo "built without libpng: skipped"; exit 0; fi
silent stdout
expect 0 render plain -o asked.png --frames 1 --size 160x120 --camera=-40,30 --quiet
expect 0 render own -o own.png --frames 1 --size 160x120 --quiet
cmp -s asked.png own.png || fail "the camera of the scene does not reach the picture"
! cmp -s asked.png auto.png || fail "--camera changes nothing"

# another camera, and going on with the run: the frames are the same, the picture is not
expect 0 run "$DATA/tiny.json" --out own --quiet --resume --set 'camera={"azimuth": 100}' \
    --set 'appearance={"cloth": {"color": "#aa3344"}}'
same_frames plain own
[ "$("$JSON_GET" camera.azimuth < own/scene.json | cut -c 1-3)" = 100 ] || fail "the camera is not in scene.json"
[ "$("$JSON_GET" appearance.cloth.color < own/scene.json)" = '#aa3344' ] || fail "the colour is not in scene.json"
expect 0 render own -o turned.png --frames 1 --size 160x120 --quiet
! cmp -s own.png turned.png || fail "the picture did not follow the camera"
expect 2 run "$DATA/tiny.json" --out bad --quiet --set 'camera={"azimut": 100}'
says stderr "did you mean 'azimuth'"

# the other kinds of pictures
expect 0 render plain -o sheet.png --sheet 4 --size 320x240 -j 1 --json
json pictures 4
expect 0 render plain --compare own -o both.png --frames 1 --size 320x120 -t 1 --json
json width 320
expect 0 render plain --compare second=own --compare own --compare last=plain -o four.png --frames 1 --size 320x200 -j 1 --json
json width 320
json height 200
[ -s four.png ] || fail "no four.png"
expect 0 render plain -o zoomed.png --frames 1 --size 96x72 --zoom 3@0.25,0.5 --quiet
expect 1 render plain -o zoomed.png --zoom 3@2,0
says stderr "expected X in"
# the hierarchy as layers: another picture than the cloth, the body left out; a mesh without a pattern has none
expect 0 render plain -o level.png --frames 1 --size 96x72 --mode level --quiet
expect 0 render plain -o layers.png --frames 1 --size 96x72 --mode level --layers --quiet
cmp -s level.png layers.png && fail "layers look like the cloth"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > bare.obj
expect 2 render bare.obj -o bare.png --layers
says stderr 'need material coordinates'
expect 0 plot plain -o plot.svg --quiet
grep -q '</svg>' plot.svg || fail "plot.svg is not whole"
expect 0 plot plain -o plot.png --quiet
expect 0 render "$DATA/tiny.json" -o start.png --size 96x72 --quiet --mode mesh
for file in sheet both plot start; do [ -s $file.png ] || fail "no $file.png"; done
FFMPEG=/no/such/program expect 0 render plain -o film.mp4 --size 64x48
says stderr 'ffmpeg'
[ -s film_000003.png ] || fail "no numbered pictures without ffmpeg"

# wrong calls
expect 1 render plain -o x.bmp
expect 1 render plain
expect 1 render plain -o x.png --mode shadd
says stderr "did you mean 'shaded'"
expect 2 render nowhere -o x.png
expect 2 plot nowhere -o x.svg
[ ! -e x.png ] || fail "something was written"

# what make demo shows
FFMPEG=/no/such/program sh "$REPO/tools/demo_pictures.sh" plain demo "$TOILE" > stdout 2> stderr || fail "demo_pictures.sh"
says stdout 'demo/sheet.png'
says stdout 'no ffmpeg'
[ -s demo/plot.svg ] || fail "no diagram"
finish
