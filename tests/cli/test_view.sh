# The window of `toile view`, driven as a person would: keys, pointer, panel, screenshots. Needs Xvfb and xdotool.
. "${REPO:?}/tests/cli/lib.sh"

expect 1 view a.obj b.obj
says stderr 'give one run folder'
expect 1 view a.obj --mode colourful
expect 1 view a.obj --screenshot a.png
expect 2 view missing.obj
if ! command -v Xvfb > /dev/null || ! command -v xdotool > /dev/null; then
    echo "no Xvfb or no xdotool here: the window itself is not tried"
    finish
fi
DISPLAY='' "$TOILE" view "$REPO/scenes/bowl/bowl.obj" --frames 1 > stdout 2> stderr && fail "a window without a display"
if grep -q 'built without its window' stderr; then
    echo "built without its window"
    finish
fi
says stderr 'no display'

Xvfb -displayfd 3 -screen 0 900x700x24 3> display > /dev/null 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$WORK"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s display ] && break; sleep 0.3; done
[ -s display ] || fail "Xvfb did not start"
DISPLAY=:$(cat display)
export DISPLAY LIBGL_ALWAYS_SOFTWARE=1

# shoot N: the key for a picture, until it is there; a window without a graphics card on a busy machine takes its time
shoot() {
    xdotool key c
    for _ in $(seq 80); do [ -s "toile-view-00$1.png" ] && break; sleep 0.25; done
    sleep 0.2
}

# pictures of a mesh, a pattern and a scene: larger than an empty page is
expect 0 view "$REPO/scenes/bowl/bowl.obj" --frames 2 --screenshot mesh.png --size 600x400
expect 0 view "$REPO/scenes/hanging/scene.json" --paused --frames 4 --screenshot scene.png --size 600x400 --mode strain
for picture in mesh.png scene.png; do
    [ "$(wc -c < $picture)" -gt 12000 ] || fail "$picture is blank"
done
cmp -s mesh.png scene.png && fail "two pictures are the same"
pattern=$(find "$REPO/tests/data/patterns" -name '*.json' | LC_ALL=C sort | head -1)
expect 0 view "$pattern" --frames 2 --screenshot pattern.png --size 600x400
[ "$(wc -c < pattern.png)" -gt 4000 ] || fail "the pattern is blank"

# colour maps that need more than the mesh: what is not known shows the plain cloth, no map is refused
for mode in velocity force stress intersections; do
    expect 0 view "$REPO/scenes/hanging/scene.json" --frames 3 --screenshot $mode.png --size 300x200 --mode $mode
    [ -s $mode.png ] || fail "no picture of $mode"
done

# without a file: the gallery; a click goes on to the next scene, levels as layers, a film of what is seen
TOILE_DATA=$WORK/nowhere "$TOILE" view --size 800x600 > gallery.out 2> gallery.err &
window=$!
for _ in $(seq 120); do xdotool search --name '^Toile: ' > /dev/null 2>&1 && break; sleep 0.25; done
sleep 1
xdotool mousemove 500 500
shoot 1
xdotool key l; sleep 0.3
shoot 2
xdotool key l
xdotool key v; sleep 1.2; xdotool key v; sleep 0.8
xdotool mousemove 240 48; sleep 0.3; xdotool mousedown 1; sleep 0.3; xdotool mouseup 1; sleep 1.5
xdotool mousemove 500 500
shoot 3
xdotool key q
for _ in $(seq 120); do kill -0 $window 2> /dev/null || break; sleep 0.25; done
if kill -0 $window 2> /dev/null; then kill -9 $window; fail "q did not close the gallery"; fi
wait $window || fail "the gallery ended with $?: $(cat gallery.err)"
for i in 1 2 3; do
    [ -s toile-view-00$i.png ] && [ "$(wc -c < toile-view-00$i.png)" -gt 12000 ] || fail "picture $i of the gallery is blank"
done
cmp -s toile-view-001.png toile-view-002.png && fail "levels as layers show nothing"
cmp -s toile-view-001.png toile-view-003.png && fail "the gallery did not go on"
if command -v ffmpeg > /dev/null; then [ -s toile-view.mp4 ] || fail "no film"; fi
if [ -n "${KEEP:-}" ]; then cp toile-view-00?.png "$KEEP"; fi
rm -f toile-view-00?.png toile-view.mp4

# a pattern sewn around a body: two panels around a post; a seam is pointed at, a panel is chosen, moved and sewn again
cat > post.obj << 'END'
v -0.08 0 -0.08
v 0.08 0 -0.08
v 0.08 0 0.08
v -0.08 0 0.08
v -0.08 1 -0.08
v 0.08 1 -0.08
v 0.08 1 0.08
v -0.08 1 0.08
f 1 2 3
f 1 3 4
f 5 7 6
f 5 8 7
f 1 5 6
f 1 6 2
f 2 6 7
f 2 7 3
f 3 7 8
f 3 8 4
f 4 8 5
f 4 5 1
END
panel='"start": [-0.24, 0], "edges": [{"to": [0.24, 0]}, {"to": [0.24, 0.3]}, {"to": [-0.24, 0.3]}, {"to": [-0.24, 0]}]'
cat > skirt.json << END
{"format": "toile-pattern-1", "name": "skirt", "panels": [
 {"name": "front", "placement": {"origin": [0, 0.6, 0.155], "bend": 6.5}, $panel},
 {"name": "back", "placement": {"origin": [0, 0.6, -0.155], "rotation": [0, 180, 0], "bend": 6.5}, $panel}],
 "seams": [{"sides": [{"panel": "front", "edge": 1}, {"panel": "back", "edge": 3, "from": 1, "to": 0}]},
           {"sides": [{"panel": "front", "edge": 3}, {"panel": "back", "edge": 1, "from": 1, "to": 0}]}]}
END
mkdir scratch
export TMPDIR=$WORK/scratch
expect 2 view skirt.json --body missing.glb --frames 1
says stderr 'missing.glb: no such body'
expect 2 view "$REPO/scenes/hanging/scene.json" --body post.obj --frames 1
says stderr 'goes with a sewing pattern'
sed 's/"placement": {[^}]*}, //' skirt.json > nowhere.json
expect 2 view nowhere.json --body post.obj --frames 1
says stderr "panel 'front' has no place around the body"
expect 0 view skirt.json --body post.obj --paused --size 800x680 --frames 8 --screenshot worn.png
[ "$(wc -c < worn.png)" -gt 12000 ] || fail "a worn pattern is blank"
worn() {  # worn X Y NAME: the picture with the pointer there, after a click
    "$TOILE" view skirt.json --body post.obj --paused --size 800x680 > worn.out 2> worn.err &
    window=$!
    for _ in $(seq 120); do xdotool search --name '^Toile: ' > /dev/null 2>&1 && break; sleep 0.25; done
    sleep 0.7
    xdotool mousemove "$1" "$2"; sleep 0.4
    xdotool mousedown 1; sleep 0.3; xdotool mouseup 1; sleep 0.5
    shoot 1
    xdotool key q
    for _ in $(seq 120); do kill -0 $window 2> /dev/null || break; sleep 0.25; done
    if kill -0 $window 2> /dev/null; then kill -9 $window; fail "q did not close the window of a worn pattern"; fi
    wait $window || fail "the window of a worn pattern ended with $?: $(cat worn.err)"
    mv toile-view-001.png "$3" || fail "no picture of a worn pattern"
    cmp -s worn.png "$3" && fail "$3: nothing shows"
}
worn 98 534 chosen.png   # the front
worn 26 534 seam.png     # a seam of it
cmp -s chosen.png seam.png && fail "panel and seam look alike"
[ -z "$(ls scratch)" ] || fail "the scene of a worn pattern was left behind"
if [ -n "${KEEP:-}" ]; then cp worn.png chosen.png seam.png "$KEEP"; fi

# a scene that is run live: steps, a colour map, a drag, a picture, and the end
"$TOILE" view "$REPO/scenes/hanging/scene.json" --paused --size 600x500 > live.out 2> live.err &
window=$!
for _ in $(seq 120); do xdotool search --name '^Toile: ' > /dev/null 2>&1 && break; sleep 0.25; done
xdotool search --name '^Toile: ' > /dev/null 2>&1 || fail "no window: $(cat live.err)"
sleep 0.5
xdotool mousemove 400 250
for key in s s s m; do xdotool key $key; sleep 0.4; done
shoot 1
xdotool key space
xdotool mousedown 1; sleep 0.4
for x in 420 440 460 480; do xdotool mousemove $x 220; sleep 0.2; done
xdotool mouseup 1; sleep 0.3
shoot 2
xdotool key q
for _ in $(seq 120); do kill -0 $window 2> /dev/null || break; sleep 0.25; done
if kill -0 $window 2> /dev/null; then kill -9 $window; fail "q did not close the window"; fi
wait $window || fail "the window ended with $?: $(cat live.err)"
for picture in toile-view-001.png toile-view-002.png; do
    [ -s $picture ] || fail "no $picture"
    [ "$(wc -c < $picture)" -gt 12000 ] || fail "$picture is blank"
done
cmp -s toile-view-001.png toile-view-002.png && fail "nothing moved between two pictures"
finish
