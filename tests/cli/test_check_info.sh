# check finds what is wrong with frames and says it with exit code 4; info knows every kind of file.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 run "$DATA/waving.json" --out run --frames 3 --quiet
expect 0 check run
says stdout 'nothing wrong'
expect 0 check run --json
json exit_code 0
json frames 4
json findings 0
expect 4 check run --strain-limit 0.0000001
says stdout 'strain limit'
expect 0 check run --strain-limit 100 --quiet
silent stdout

found() {  # found WHAT: the copy in `bad` is wrong, and JSON counts it under WHAT
    expect 4 check bad
    says stdout 'found'
    expect 4 check bad --json
    json exit_code 4
    [ "$("$JSON_GET" "$1" < stdout)" -ge 1 ] || fail "nothing counted as $1"
    rm -rf bad
}
cp -r run bad && rm bad/frames/000001_cloth.obj
found missing_frames
cp -r run bad && head -c 1000 run/frames/000002_cloth.obj > bad/frames/000002_cloth.obj
found unreadable
cp -r run bad && sed '0,/^v /s/^v [^ ]*/v nan/' run/frames/000002_cloth.obj > bad/frames/000002_cloth.obj
expect 4 check bad
rm -rf bad
cp -r run bad && echo "not a mesh" > bad/frames/000003_cloth.obj
expect 4 check bad
rm -rf bad
cp -r run bad && sed 's/^f \([^ ]*\) \([^ ]*\) \([^ ]*\)/f \2 \1 \3/' run/frames/000003_cloth.obj > bad/frames/000003_cloth.obj
expect 4 check bad
rm -rf bad

expect 2 check nowhere
says stderr 'nowhere'
mkdir empty
expect 2 check empty
expect 2 check run/scene.json

for file in "$DATA/tiny.json" run/scene.json run/frames/000000_cloth.obj run/checkpoint.bin run; do
    expect 0 info "$file"
    [ -s stdout ] || fail "info $file: silent"
    expect 0 info "$file" --json
    "$JSON_GET" "" < stdout > /dev/null || fail "info $file --json is not JSON"
done
for file in "$REPO"/materials/*.json; do
    expect 0 info "$file"
done
expect 2 info nowhere
says stderr 'nowhere'
: > nothing
expect 2 info nothing
head -c 300 run/checkpoint.bin > cut.bin
expect 2 info cut.bin
head -c 4096 /dev/urandom > noise
expect 2 info noise
expect 2 info noise --json
json exit_code 2

# the kinds of every stage, and a scene that asks for two that do not go together
expect 0 info --kinds
says stdout '^collisions.response against collisions.detection'
says stdout '^  barrier  *yes  *-  '
expect 0 info --kinds --json
json together.0.1 implicit
expect 1 info --kinds run
expect 2 run "$DATA/tiny.json" --set collisions.detection=stochastic --out refused
says stderr "take collisions.detection 'full'"
[ ! -e refused ] || fail "a refused scene left a folder"
finish
