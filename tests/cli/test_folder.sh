# The folder of a run: one run at a time, checkpoints before the first frame and by the clock, and advice that is true
# wherever the disk fills up.
. "${REPO:?}/tests/cli/lib.sh"

# checkpoints as often as can be change no bit of the frames, with remeshing, contact and bodies that move
cat > body.json << 'END'
{"frames": 8, "steps_per_frame": 5, "remeshing": {"size_min": 0.05, "size_max": 0.3},
 "cloths": [{"mesh": {"rectangle": {"size": [0.6, 0.6], "edge": 0.1}}, "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.3, 0.22, 0.3]}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0, 0], "radius": 0.2}, "motion": [{"time": 0}, {"time": 0.4, "translate": [0.1, 0.1, 0]}]}]}
END
for scene in "$DATA/waving.json" body.json; do
    rm -rf plain often
    expect 0 run "$scene" --out plain --quiet --threads 1
    expect 0 run "$scene" --out often --quiet --threads 1 --checkpoint-seconds 0
    same_frames plain often
done
expect 1 run body.json --out often --checkpoint-seconds -1

# killed outright with checkpoints by the clock alone: what is lost is less than the frames between checkpoints
expect 0 run "$DATA/long.json" --threads 1 --out straight --quiet
"$TOILE" run "$DATA/long.json" --threads 1 --out cut --checkpoint-seconds 0 --checkpoint-every 1000 --quiet > stdout 2> stderr < /dev/null &
pid=$!
wait_for 60 cut/frames/000006_cloth.obj || fail "kill: frame 6 did not come"

# meanwhile nobody else writes there
expect 2 run "$DATA/long.json" --out cut --quiet
says stderr "cut: another run writes into this folder: process $pid"
expect 2 run "$DATA/long.json" --out cut --quiet --resume
says stderr 'another run writes into this folder'
expect 2 resume cut --json
json exit_code 2
kill -s KILL $pid || fail "kill: the run was over before it could be killed"
wait $pid 2> /dev/null
[ -e cut/run.lock ] || fail "kill: the lock of the killed run is gone"
expect 0 info cut/checkpoint.bin --json
frame=$("$JSON_GET" frame < stdout)
[ "$frame" -ge 3 ] || fail "kill: the checkpoint is of frame $frame, 3 or later expected (an epoch has 8 steps, a frame 5)"
expect 0 run "$DATA/long.json" --out cut --resume --quiet   # the lock of a killed run is taken over
same_frames straight cut
[ ! -e cut/run.lock ] || fail "the lock is left behind"

# no room, at every size at which something else does not fit: what the message says must be so
expect 0 run "$DATA/waving.json" --out reference --quiet
resumed=0 again=0 began=0
for blocks in 1 4 8 24 32 40 64 90 120; do
    rm -rf full
    got=0
    (ulimit -f $blocks; exec "$TOILE" run "$DATA/waving.json" --out full --quiet) > stdout 2> stderr || got=$?
    [ $got = 0 ] && continue
    cp stderr why
    if grep -q 'To resume' why; then
        command=$(sed -n '/To resume/{n;s/^ *//;p;}' why)
        eval "$command" --quiet > stdout 2> stderr || fail "no room ($blocks): the printed command failed: $command"
        resumed=1
        [ $got = 3 ] || fail "no room ($blocks): exit code $got, expected 3"
        ! grep -q 'the start is saved' why || began=1
    else
        grep -q 'run again from the start' why || fail "no room ($blocks): no advice: $(cat why)"
        expect 0 run "$DATA/waving.json" --out full --quiet
        again=1
    fi
    same_frames reference full
    [ "$(wc -l < full/stats.jsonl)" = 11 ] || fail "no room ($blocks): not one line of statistics per frame"
done
[ $resumed = 1 ] || fail "no run was resumed: are the sizes still right?"
[ $again = 1 ] || fail "no run failed before its first checkpoint: are the sizes still right?"
[ $began = 1 ] || fail "no run failed at its first frame: are the sizes still right?"

# half way, after frames that no checkpoint knows of
expect 0 run "$DATA/waving.json" --out half --frames 1 --quiet
mkdir half/frames/000004_cloth.obj
expect 3 run "$DATA/waving.json" --out half --resume --quiet --json
json status 'input/output error'
says stderr 'frames up to 3 are complete'
command=$("$JSON_GET" resume < stdout)
rmdir half/frames/000004_cloth.obj
eval "$command" --quiet > stdout 2> stderr || fail "half way: the command to resume failed: $command"
same_frames reference half

# a run that cannot begin leaves no folder behind
sed 's/"top-left", "top-right"/"top-left"], "start": 5, "box": {"min": [9, 9, 9], "max": [9.1, 9.1, 9.1]}, "nodes": [0/' "$DATA/tiny.json" > nothing.json
expect 2 run nothing.json --out nothing --quiet
[ ! -e nothing ] || fail "a folder was left behind"
finish
