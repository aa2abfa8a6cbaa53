# The commands of the two long benchmarks, as little of each as there is: for sanitizers, which cli.bench_stress and cli.bench_fidelity would keep too long.
. "${REPO:?}/tests/cli/lib.sh"

TOILE_DATA=$REPO
export TOILE_DATA
expect 0 bench stress table --dt 1/100 --steps 2 --short --runs 2 --json all.json
says stdout '^table  *[0-9]'
[ "$("$JSON_GET" faults < all.json)" = 0 ] || fail "faults in all.json"
expect 0 bench contact table --seconds 0.02 --sizes 100 --threads 1 --steps 1 --warmup 1
says stdout '^stack at rest  *[0-9]'
expect 1 bench stress spere
expect 2 bench stress table --steps 1 --runs 1 --json no-such-folder/x.json

expect 0 bench fidelity --frames 1 --runs 2 --keep kept --pictures pages --out rows.csv
says stdout '^bar: anisotropic within the spread: [0-6] of 6'
[ -s pages/frame-000001.png ] || fail "no picture of frame 1"
[ "$(wc -l < rows.csv)" = 49 ] || fail "expected a head and 2 x 6 x 4 rows: $(wc -l < rows.csv)"
expect 2 bench fidelity --frames 1 --runs 2 --keep kept --set gravity=[0,-5,0]
says stderr 'of other settings'
expect 1 bench fidelity --frames 4,2
finish
