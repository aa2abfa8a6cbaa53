# SIGINT and SIGTERM: the step is finished, a checkpoint written, the command to resume printed, exit code 3. That
# command, run as printed, leads to the frames of a run that nobody interrupted. A second signal ends at once.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 run "$DATA/long.json" --threads 1 --out straight --quiet

for signal in INT TERM; do
    "$TOILE" run "$DATA/long.json" --threads 1 --out cut > out.$signal 2> err.$signal < /dev/null &
    pid=$!
    wait_for 60 cut/frames/000003_cloth.obj || fail "$signal: frame 3 did not come"
    kill -s $signal $pid || fail "$signal: the run was over before it could be interrupted"
    code=0
    wait $pid || code=$?
    cp err.$signal stderr
    [ $code = 3 ] || fail "$signal: exit code $code, expected 3"
    [ -s cut/checkpoint.bin ] || fail "$signal: no checkpoint"
    [ ! -e cut/frames/000040_cloth.obj ] || fail "$signal: the run went on to the end"
    says stderr 'To resume'
    command=$(sed -n '/To resume/{n;s/^ *//;p;}' stderr)
    case $command in *--resume*) ;; *) fail "$signal: no command to resume: '$command'" ;; esac
    eval "$command" --quiet > stdout 2> stderr || fail "$signal: the printed command failed: $command"
    same_frames straight cut
    [ "$(wc -l < cut/stats.jsonl)" = 41 ] || fail "$signal: $(wc -l < cut/stats.jsonl) lines of statistics, expected 41"
    [ -z "$(find cut -name '*tmp*' -o -name '*part*' -o -name '*~')" ] || fail "$signal: temporary files left behind"
    rm -rf cut
done

# the same through JSON
"$TOILE" run "$DATA/long.json" --threads 1 --out cut --quiet --json > stdout 2> stderr < /dev/null &
pid=$!
wait_for 60 cut/frames/000002_cloth.obj || fail "json: frame 2 did not come"
kill -s INT $pid
code=0
wait $pid || code=$?
[ $code = 3 ] || fail "json: exit code $code, expected 3"
json exit_code 3
json status cancelled
command=$("$JSON_GET" resume < stdout)
eval "$command" --quiet > stdout 2> stderr || fail "json: the command to resume failed: $command"
same_frames straight cut

# killed outright, as by a power cut: what is there is whole, and the last checkpoint leads on to the same frames
rm -rf cut
"$TOILE" run "$DATA/long.json" --threads 1 --out cut --checkpoint-every 2 --quiet > stdout 2> stderr < /dev/null &
pid=$!
wait_for 60 cut/frames/000007_cloth.obj || fail "kill: frame 7 did not come"
kill -s KILL $pid
wait $pid 2> /dev/null
for frame in cut/frames/*.obj; do
    cmp -s "$frame" "straight/frames/$(basename "$frame")" || fail "kill: $frame is not whole"
done
expect 0 run "$DATA/long.json" --out cut --resume --quiet
same_frames straight cut
finish
