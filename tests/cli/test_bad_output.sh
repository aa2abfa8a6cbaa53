# Folders that cannot be used and disks that fill up: an error that says which path, and nothing half-written.
. "${REPO:?}/tests/cli/lib.sh"

echo "mine" > file
expect 2 run "$DATA/tiny.json" --out file --quiet
says stderr 'file'
[ "$(cat file)" = mine ] || fail "a file in the place of the folder was overwritten"
expect 2 run "$DATA/tiny.json" --out file/below --quiet
says stderr 'file/below'
expect 2 run "$DATA/tiny.json" --out /proc/toile-test --quiet
says stderr '/proc/toile-test'
expect 2 run "$DATA/tiny.json" --out file --json
json exit_code 2
if [ "$(id -u)" != 0 ]; then  # root writes everywhere
    mkdir locked && chmod 555 locked
    expect 2 run "$DATA/tiny.json" --out locked/below --quiet
    says stderr 'locked/below'
fi

# a folder with the frames of another scene is not overwritten
expect 0 run "$DATA/tiny.json" --out taken --quiet
sum=$(frames_sum taken)
expect 2 run "$DATA/waving.json" --out taken --quiet
says stderr 'taken'
[ "$(frames_sum taken)" = "$sum" ] || fail "frames of another scene were overwritten"

# no room: a limit on the size of files stands in for a full disk. The first frames of `waving` are larger than 4 kB,
# the resolved scene is smaller, so the run begins and then cannot write.
expect 0 run "$DATA/waving.json" --out reference --quiet
got=0
(ulimit -f 8; exec "$TOILE" run "$DATA/waving.json" --out full --quiet) > stdout 2> stderr || got=$?
[ $got = 2 ] || [ $got = 3 ] || fail "no room: exit code $got, expected 2 or 3"
says stderr 'full'
for file in full/frames/*; do
    [ -e "$file" ] || continue
    cmp -s "$file" "reference/frames/$(basename "$file")" || fail "no room: $file was left half-written"
done

# output nobody reads, or that does not fit, is no crash
"$TOILE" run --help | head -1 > first
[ "$(wc -l < first)" = 1 ] || fail "help cut off by head"
if [ -w /dev/full ]; then
    got=0
    "$TOILE" run --help > /dev/full 2> stderr || got=$?
    [ $got = 3 ] || fail "stdout full: exit code $got, expected 3"
fi
finish
