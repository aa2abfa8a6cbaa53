# Help teaches: synopsis, options, two examples and exit codes for every command, on stdout, with exit code 0.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 --version
says stdout '^toile [0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$'
silent stderr
expect 0 --help
for command in run resume check info bench; do says stdout "^  $command "; done
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p' stdout)
says stdout '0 ok, 1 usage, 2 invalid input, 3 simulation failed'
expect 0 help

for command in $commands simulate simulateoffline; do
    for ask in --help -h; do
        expect 0 $command $ask
        silent stderr
        says stdout '^usage: toile '
        says stdout '^options:$'
        says stdout '^examples:$'
        says stdout '^exit codes:$'
        [ "$(sed -n '/^examples:/,/^$/p' stdout | grep -c '^  toile ')" -ge 2 ] || fail "$command: fewer than two examples"
        [ "$(awk 'length > 120' stdout)" = "" ] || fail "$command: help wider than 120 columns"
    done
    cp stdout first
    expect 0 help $command
    cmp -s first stdout || fail "'help $command' and '$command --help' differ"
done
expect 0 run --help
for option in out frames threads set resume checkpoint-every quiet json; do says stdout "--$option"; done
for file in frames/ obstacles/ stats.jsonl scene.json checkpoint.bin; do says stdout "^  $file"; done
for scene in $(sed -n 's/^  toile run \(scenes[^ ]*\).*/\1/p' stdout); do [ -f "$REPO/$scene" ] || fail "help names $scene"; done
says stdout 'scenes/.*collisions\.'  # an example with contact
expect 0 run no-such-scene.json --frames 3 --help   # asking for help is never wrong
expect 0 bench                                      # lists what there is
says stdout dynamics
benches=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' stdout)
expect 0 bench --help
for bench in $benches; do says stdout "^  $bench  "; done
expect 0 resume --help
! grep -q '^ *--resume ' stdout || fail "resume --help offers --resume"
finish
