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
if [ -z "${PICTURE_DIFF:-}" ]; then
    echo "no libpng here: the window itself is not tried"
    finish
fi
DISPLAY='' "$TOILE" view "$REPO/scenes/bowl/bowl.obj" --frames 1 > stdout 2> stderr && fail "a window without a display"
if grep -q 'built without its window' stderr; then
    echo "built without its window"
    finish
fi
says stderr 'no display'

Xvfb -noreset -displayfd 3 -screen 0 900x700x24 3> display > /dev/null 2>&1 &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$WORK"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s display ] && break; sleep 0.3; done
[ -s display ] || fail "Xvfb did not start"
DISPLAY=:$(cat display)
export DISPLAY LIBGL_ALWAYS_SOFTWARE=1

# Nothing here waits for a time and hopes: every step waits for what it asks for, and a window that stands still gives the
# same picture twice (its panel says no frame rate then), so that a picture that differs means something. Pictures are the
# same if no pixel differs by more than rounding.

# show ARGUMENT...: a window, up to its first picture, before.png
show() {
    rm -f toile-view-*.png
    "$TOILE" view --size "${SIZE:-700x560}" "$@" > window.out 2> window.err &
    window=$!
    for _ in $(seq 400); do
        xdotool search --name '^Toile: ' > /dev/null 2>&1 && break
        kill -0 $window 2> /dev/null || break
        sleep 0.1
    done
    xdotool mousemove 690 550
    picture before.png || fail "no picture of toile view $*: $(cat window.err)"
}

# picture NAME: what the window shows, by its key
picture() {
    rm -f toile-view-*.png "$1"
    for _ in $(seq 12); do
        xdotool key c
        for _ in $(seq 100); do
            for shot in toile-view-*.png; do
                [ -s "$shot" ] && mv "$shot" "$1" && return 0
            done
            kill -0 $window 2> /dev/null || return 1
            sleep 0.1
        done
    done
    return 1
}

# press KEY...: and the picture after it
press() {
    for key in "$@"; do xdotool key "$key"; done
}

click() { xdotool mousemove "$1" "$2" mousedown 1 mouseup 1 mousemove 690 550; }

# differs NAME OTHER WHAT: the window comes to show something else than the picture OTHER, kept as NAME
differs() {
    for _ in $(seq 40); do
        picture "$1" || break
        "$PICTURE_DIFF" "$1" "$2" > /dev/null && return 0
    done
    fail "$3: nothing shows"
}

# becomes OTHER WHAT: the window comes to show the picture OTHER again
becomes() {
    for _ in $(seq 40); do
        picture again.png || break
        "$PICTURE_DIFF" again.png "$1" > /dev/null
        [ $? = 1 ] && return 0
    done
    fail "$2: not the same picture"
}

# leave WHAT: the key that closes the window
leave() {
    xdotool key q
    for _ in $(seq 600); do kill -0 $window 2> /dev/null || break; sleep 0.1; done
    if kill -0 $window 2> /dev/null; then kill -9 $window; fail "q did not close $1"; fi
    wait $window || fail "$1 ended with $?: $(cat window.err)"
    if [ -n "${KEEP:-}" ]; then for shot in *.png; do cp "$shot" "$KEEP/$(echo "$1" | tr ' ' -)-$shot"; done; fi
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
TOILE_DATA=$WORK/nowhere show --paused
press l
differs layers.png before.png "levels as layers"
press l
becomes before.png "the cloth instead of its layers"
if command -v ffmpeg > /dev/null; then
    press v
    differs filming.png before.png "filming"
    press v
    becomes before.png "the end of the film"  # once its message is gone
    [ -s toile-view.mp4 ] || fail "no film"
fi
click 250 59
differs next.png before.png "the next scene of the gallery"
leave "the gallery"

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
SIZE=800x680
show skirt.json --body post.obj --paused
click 98 534              # the front
differs chosen.png before.png "a panel that is clicked on"
xdotool mousemove 26 594  # a seam of it: the sheet begins lower when a panel is chosen
differs seam.png chosen.png "a seam that is pointed at"
leave "a worn pattern"
SIZE=700x560
[ -z "$(ls scratch)" ] || fail "the scene of a worn pattern was left behind"

# a scene that is run live, in which nothing moves by itself: no weight
cat > still.json << 'END'
{"frames": 50, "fps": 50, "gravity": [0, 0, 0],
 "cloths": [{"mesh": {"rectangle": {"size": [0.6, 0.6], "edge": 0.12}}, "material": "cotton", "remeshing": {"kind": "none"},
             "transform": {"translate": [-0.5, 0, 0]}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0.35, 0.3, 0], "radius": 0.12}}],
 "handles": [{"sides": "top"}]}
END
show still.json --paused
picture again.png
"$PICTURE_DIFF" before.png again.png > /dev/null && fail "a window that stands still gives two pictures"
press m
differs map.png before.png "the next colour map"
press M
press question
differs help.png before.png "the list of keys"
press question
becomes before.png "the list of keys goes away"
click 250 215
differs fabric.png before.png "another fabric"
click 40 215
becomes before.png "the first fabric again"
click 250 267
differs engine.png before.png "another engine"
click 40 267
press t
differs alone.png before.png "without the panel"
cp alone.png floor.png
press f  # in the shadows on it the last bits of running cloth are seen
differs alone.png floor.png "without the floor"
press w
differs edges.png alone.png "edges"
press w d
differs dark.png alone.png "dark"
press d
becomes alone.png "light again"
press Right plus
differs near.png alone.png "nearer"
press Home
becomes alone.png "the first view"
press space
becomes alone.png "cloth without weight"
xdotool mousemove 300 280 mousedown 1
for x in 320 350 380; do xdotool mousemove $x 240; picture pulled.png; done
press p
xdotool mouseup 1 mousemove 690 550
differs pinned.png alone.png "cloth that is pulled and pinned"
press u r
becomes alone.png "started again"
xdotool mousemove 510 280 mousedown 1
for y in 250 220 190; do xdotool mousemove 510 $y; picture pushed.png; done
xdotool mouseup 1 mousemove 690 550
differs ball.png alone.png "a ball that is pulled"
press r t
differs panel.png alone.png "the panel"
click 200 293
differs blown.png panel.png "the slider of the wind"
press t
differs wind.png alone.png "wind"
press space t
picture stopped.png
mv still.json gone.json
press r
differs error.png stopped.png "a message in the window"
leave "a live scene"
mv gone.json still.json

# a run is played: frames by key
expect 0 run still.json --set 'gravity=[0,-9.81,0]' --frames 12 --out run --quiet
show run --paused
press Right
differs one.png before.png "the next frame"
press shift+Right
differs eleven.png one.png "ten frames"
press Home
becomes before.png "the first frame"
press s
becomes one.png "the next frame by s"
press End space
differs playing.png one.png "playing"
leave "a run"
finish
