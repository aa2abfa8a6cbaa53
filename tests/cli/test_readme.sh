# The scene in the README is a scene, and the commands after it work as printed.
. "${REPO:?}/tests/cli/lib.sh"

awk '/^```json/ {on = 1; next} /^```/ {on = 0} on' "$REPO/README.md" > curtain.json
[ -s curtain.json ] || fail "no scene in the README"
expect 0 run curtain.json --frames 1
says stdout 'out/curtain/frames'
expect 0 check out/curtain
expect 0 info curtain.json
for link in $(sed -n 's/.*](\([^)#:]*\)).*/\1/p' "$REPO/README.md" "$REPO/CONTRIBUTING.md"); do
    [ -e "$REPO/$link" ] || fail "the README links to $link, which is not there"
done
for scene in "$REPO"/scenes/*/scene.json; do   # every scene that we ship starts
    expect 0 run "$scene" --out "scene-$(basename "$(dirname "$scene")")" --frames 1 --quiet
done
finish
