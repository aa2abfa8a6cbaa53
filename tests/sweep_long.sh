#!/bin/sh
# tests/sweep_long.sh TOILE [SAMPLES]: a sweep of 200 small runs on two cores, killed three times (the program alone, then with all
# that it started) and taken up, against one that was left alone: the same bytes, and nothing done twice. `make test-sweep`.
# cli.sweep is the short form.
set -eu
toile=$1
samples=${2:-200}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "FAIL: $*"; exit 1; }

cat > sheet.json <<'END'
{"frames": 2, "fps": 25, "steps_per_frame": 4,
 "cloths": [{"name": "sheet", "mesh": {"rectangle": {"size": [0.4, 0.4], "edge": 0.1}}, "material": "cotton",
             "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.2, 0.202, 0.2]}, "remeshing": {"size_min": 0.05}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0, 0], "radius": 0.2}, "friction": 0.3}]}
END
cat > spec.json <<END
{"scene": "sheet.json",
 "random": {"count": $samples, "seed": 7, "keys": {"obstacles[0].friction": {"uniform": [0.1, 0.6]}, "cloths[0].material": {"choice": ["cotton", "silk"]},
                                                   "cloths[0].thickness": {"log_uniform": [5e-4, 2e-3]}, "fps": {"choice": [25, 50]}}}}
END
finished() { find killed/runs -name sample.json 2> /dev/null | wc -l; }
stamps() { find killed/runs -name sample.json -exec stat -c '%n %i %Y %Z' {} + 2> /dev/null | sort; }

begin=$(date +%s)
"$toile" sweep spec.json --out straight --jobs 2 --quiet
echo "left alone: $samples samples in $(($(date +%s) - begin)) s"
for part in 1 2 3; do
    setsid "$toile" sweep spec.json --out killed --jobs 2 --quiet > /dev/null 2>&1 &
    victim=$!
    while [ "$(finished)" -lt $((part * samples / 4)) ]; do sleep 0.05; done
    if [ $part = 2 ]; then kill -9 "$victim"; else env kill -KILL -- "-$victim"; fi
    wait "$victim" 2> /dev/null || true
    sleep 1  # what outlives the program ends on its own
    stamps > before
    echo "killed after $(wc -l < before) samples"
done
"$toile" sweep spec.json --out killed --jobs 2 --quiet
stamps > after
[ "$(wc -l < after)" = "$samples" ] || fail "$(wc -l < after) samples of $samples are done"
comm -23 before after | grep . && fail "samples that were done were done again"
[ "$(wc -l < killed/dataset.jsonl)" = "$samples" ] || fail "dataset.jsonl has $(wc -l < killed/dataset.jsonl) lines"
cmp straight/dataset.jsonl killed/dataset.jsonl || fail "another data set"
for side in straight killed; do
    (cd $side && find runs \( -name '*.npz' -o -name '*.obj' -o -name sample.json \) -exec sha256sum {} + | sort -k 2) > $side.sums
done
cmp straight.sums killed.sums || fail "other bytes"
echo "ok: $samples samples, $(wc -l < straight.sums) files with the same bytes"
