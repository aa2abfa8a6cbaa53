# The scene in the README is a scene, and the commands after it work as printed.
. "${REPO:?}/tests/cli/lib.sh"

awk '/^```json/ {on = 1; next} /^```/ {on = 0} on' "$REPO/README.md" > drape.json
[ -s drape.json ] || fail "no scene in the README"
expect 0 run drape.json --frames 1
says stdout 'out/drape/frames'
expect 0 check out/drape
expect 0 info drape.json
expect 0 render out/drape -o sheet.png --sheet 2 --size 200x100 --quiet
expect 0 plot out/drape -o plot.svg --quiet
for link in $(grep -o '](\([^)#:]*\))' "$REPO/README.md" "$REPO/CONTRIBUTING.md" -h | sed 's/](\(.*\))/\1/'); do
    [ -e "$REPO/$link" ] || fail "the README links to $link, which is not there"
done
for picture in "$REPO"/docs/images/*; do
    [ "$(wc -c < "$picture")" -lt 400000 ] || fail "$picture is larger than 400 kB"
done
for scene in "$REPO"/scenes/*/scene.json; do   # every scene that we ship starts
    expect 0 run "$scene" --out "scene-$(basename "$(dirname "$scene")")" --frames 1 --quiet
    [ -s "$(dirname "$scene")/README.md" ] || fail "no note on what to look for next to $scene"
done
finish
