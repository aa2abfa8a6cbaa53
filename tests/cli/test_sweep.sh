# A sweep that is killed in the middle and started again is the sweep that was not; failures are told and cost no other sample.
. "${REPO:?}/tests/cli/lib.sh"

cat > sheet.json <<'END'
{"frames": 3, "fps": 25, "steps_per_frame": 4,
 "cloths": [{"name": "sheet", "mesh": {"rectangle": {"size": [0.4, 0.4], "edge": 0.1}}, "material": "cotton",
             "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.2, 0.202, 0.2]}, "remeshing": {"size_min": 0.05}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0, 0], "radius": 0.2}, "friction": 0.3}]}
END
cat > spec.json <<'END'
// 12 samples
{
    "scene": "sheet.json",
    "grid": {"cloths[0].material": ["cotton", "silk", "denim"], "gravity": [[0, -9.81, 0], [0, -1.62, 0]]},
    "random": {"count": 2, "seed": 7, "keys": {"obstacles[0].friction": {"uniform": [0.1, 0.6]}, "cloths[0].thickness": {"log_uniform": [5e-4, 2e-3]},
                                               "seed": {"integer": [1, 9]}, "fps": {"choice": [25, 50]}}}
}
END
# same SWEEP1 SWEEP2: data set, arrays, frames, byte for byte
same() {
    cmp -s "$1/dataset.jsonl" "$2/dataset.jsonl" || fail "$1 and $2: other data sets"
    (cd "$1" && find runs -name '*.npz' -o -name '*.obj' -o -name sample.json) | sort > list
    (cd "$2" && find runs -name '*.npz' -o -name '*.obj' -o -name sample.json) | sort | cmp -s - list || fail "$1 and $2: other files"
    while read -r file; do cmp -s "$1/$file" "$2/$file" || fail "$file differs"; done < list
}

expect 0 sweep spec.json --out straight --json --jobs 2
json samples 12
json done 12
json pending 0
[ "$(wc -l < straight/dataset.jsonl)" = 12 ] || fail "not a line per sample"
sed -n 3p straight/dataset.jsonl > stdout
json sample 2
grep -q '"gravity": \[0, -1.62, 0\]' stdout || fail "the grid's last key is not the faster one"
cut -d, -f3- straight/dataset.jsonl | sort | uniq -d | grep . && fail "two samples are the same"

# killed in the middle, by surprise
"$TOILE" sweep spec.json --out killed --jobs 2 --quiet > /dev/null 2>&1 &
victim=$!
tries=0
while [ "$(find killed/runs -name sample.json 2> /dev/null | wc -l)" -lt 4 ] && [ $tries -lt 600 ]; do sleep 0.02; tries=$((tries + 1)); done
kill -9 $victim 2> /dev/null
wait $victim 2> /dev/null
sleep 0.3
find killed/runs -name sample.json -exec ls -i --time-style=full-iso -l {} + | sort > before
done=$(wc -l < before)
[ "$done" -lt 12 ] || echo "note: it had ended before the signal came"
"$TOILE" sweep spec.json --out killed --list > todo || fail "--list"
[ "$(wc -l < todo)" = $((12 - done)) ] || fail "--list names $(wc -l < todo) samples, $((12 - done)) are to do"
expect 0 sweep spec.json --out killed --jobs 3 --threads 2 --json
json done 12
find killed/runs -name sample.json -exec ls -i --time-style=full-iso -l {} + | sort > after
[ -z "$(comm -23 before after)" ] || fail "samples that were done were done again"
same straight killed

# one by one, as a cluster's tasks or GNU parallel do it
"$TOILE" sweep spec.json --out apart --list > tasks
[ "$(wc -l < tasks)" = 12 ] || fail "--list: not a command per sample"
tac tasks | while read -r line; do sh -c "$line" || echo "$line" >> broken; done
[ ! -e broken ] || fail "a listed command failed: $(head -1 broken)"
expect 0 sweep spec.json --out apart --quiet
silent stdout
same straight apart
expect 0 sweep spec.json --out script --slurm-script --quiet
grep -q '^#SBATCH --array=0-11$' script/sweep.sbatch || fail "no array in sweep.sbatch"
SLURM_ARRAY_TASK_ID=5 sh script/sweep.sbatch || fail "the batch script does not run"
cmp -s script/runs/000005/arrays.npz straight/runs/000005/arrays.npz || fail "a task's arrays differ"

# failures: told by sample, others go on, kept until they are asked for again
sed 's/"denim"/"denin"/' spec.json > bad.json
expect 3 sweep bad.json --out bad --json
json failed 4
json done 8
[ "$(wc -l < bad/failures.tsv)" = 5 ] || fail "failures.tsv: not a line per failure"
grep -q "did you mean 'denim'" bad/failures.tsv || fail "failures.tsv does not say why"
expect 3 sweep bad.json --out bad --json --retry
json failed 4

# what cannot be a sweep
expect 2 sweep spec.json --out bad
says stderr 'another sweep'
expect 2 sweep nothing.json --out x
for wrong in '{"scen": "sheet.json"}' '{"scene": []}' '{"scene": "sheet.json", "grid": {"fps": 25}}' '{"scene": "sheet.json", "random": {"count": 3}}' \
    '{"scene": "sheet.json", "random": {"count": 3, "keys": {"fps": {"uniform": [3, 1]}}}}' '{"scene": "sheet.json", "frames": -2}' \
    '{"scene": "sheet.json", "random": {"count": 2000000, "keys": {"fps": {"uniform": [1, 3]}}}}' '{"scene": "sheet.json", "list": [1]}'; do
    echo "$wrong" > wrong.json
    expect 2 sweep wrong.json --out wrong
    says stderr 'wrong.json:1'
    [ ! -e wrong ] || fail "a folder for $wrong"
done
expect 1 sweep spec.json
expect 1 sweep spec.json --out straight --only 12
expect 1 sweep spec.json --out straight --jobs 0
finish
