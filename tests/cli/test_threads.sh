# The same bytes on 1, 2, 3 and 8 threads, in every frame.
. "${REPO:?}/tests/cli/lib.sh"

for threads in 1 2 3 8; do
    expect 0 run "$DATA/waving.json" --out t$threads --threads $threads --quiet
    silent stdout
    silent stderr
    same_frames t1 t$threads
done
[ "$(ls t1/frames | wc -l)" = 11 ] || fail "expected 11 frames: $(ls t1/frames | tr '\n' ' ')"
cmp -s t1/frames/000000_cloth.obj t1/frames/000010_cloth.obj && fail "the cloth did not move"
expect 0 run "$DATA/waving.json" --out again --threads 1 --quiet
same_frames t1 again
finish
