# What a run leaves behind, and what it says: the layout, the summary, JSON, the default folder.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 run "$DATA/tiny.json"
says stdout 'out/tiny/frames'
says stdout 'check out/tiny'
says stderr '100%'
for file in frames/000000_cloth.obj frames/000003_cloth.obj stats.jsonl scene.json checkpoint.bin; do
    [ -s out/tiny/$file ] || fail "no $file"
done
[ "$(ls out/tiny/frames | wc -l)" = 4 ] || fail "not 4 frames: $(ls out/tiny/frames)"
grep -q '^v ' out/tiny/frames/000000_cloth.obj || fail "no v in the frame"
grep -q '^vt ' out/tiny/frames/000000_cloth.obj || fail "no vt in the frame"
grep -q '^f [0-9]*/[0-9]* ' out/tiny/frames/000000_cloth.obj || fail "no f V/VT in the frame"

# one object per frame, with everything the contract lists
[ "$(wc -l < out/tiny/stats.jsonl)" = 4 ] || fail "not one line per frame in stats.jsonl"
number=0
while read -r line; do
    echo "$line" > stdout
    json frame $number
    for key in time faces vertices nodes seconds.physics seconds.strain seconds.collision seconds.remesh \
        seconds.other seconds.total newton_iterations linear_iterations strain_max strain_min energies contacts \
        intersections rejected_steps; do
        "$JSON_GET" $key < stdout > /dev/null || fail "stats.jsonl line $number has no $key"
    done
    number=$((number + 1))
done < out/tiny/stats.jsonl

# the resolved scene is a scene, and gives the same frames
expect 0 run out/tiny/scene.json --out again --quiet
same_frames out/tiny again
cmp -s out/tiny/scene.json again/scene.json || fail "resolving a resolved scene changed it"

expect 0 run "$DATA/tiny.json" --out summary --frames 2 --json
json command run
json status ok
json exit_code 0
json first_frame 0
json last_frame 2
json name tiny
json out summary
for key in faces nodes steps newton_iterations linear_iterations seconds stages.physics stages.total strain_max \
    state_hash peak_bytes threads; do
    "$JSON_GET" $key < stdout > /dev/null || fail "no $key in the summary"
done

json threads 1                                                 # a small scene, however many cores there are
expect 0 run "$DATA/tiny.json" --out three --frames 1 --threads 3 --json
json threads 3

expect 0 run "$DATA/tiny.json" --out=quiet --quiet --frames=1
silent stdout
silent stderr
expect 0 run "$DATA/tiny.json" --out zero --frames 0 --quiet
[ "$(ls zero/frames)" = 000000_cloth.obj ] || fail "--frames 0 is frame 0 alone: $(ls zero/frames)"

# names and flags of other cloth programs
expect 0 simulate "$DATA/tiny.json" --output-path s1 --num-frames 3 --headless --quiet
same_frames out/tiny s1
expect 0 simulateoffline "$DATA/tiny.json" s2 --quiet
same_frames out/tiny s2

# --set changes the scene, in either spelling, and says so in the resolved scene
expect 0 run "$DATA/tiny.json" --out set1 --quiet --set name=renamed --set 'gravity=[0, -1.62, 0]'
expect 0 run "$DATA/tiny.json" 'gravity=[0, -1.62, 0]' --out set2 --quiet
same_frames set1 set2
[ "$(frames_sum set1)" != "$(frames_sum out/tiny)" ] || fail "--set gravity changed nothing"
[ "$("$JSON_GET" name < set1/scene.json)" = renamed ] || fail "--set name is not in the resolved scene"
finish
