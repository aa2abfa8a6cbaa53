# Figure 5 of Narain et al. 2012: with the compression term a flat sheet is fine before it buckles; without it the mesh
# stays coarse until it has buckled along its own edges.
. "${REPO:?}/tests/cli/lib.sh"

at() { sed -n "$(($2 + 1))p" "$1/stats.jsonl" > stdout; }
faces() { at "$1" "$2"; "$JSON_GET" faces < stdout; }

for s in scene without; do
    expect 0 run "$REPO/scenes/buckling/$s.json" --out $s --frames 8 --threads 1 --quiet
    expect 0 check $s
done
with=$(faces scene 4) without=$(faces without 4)
[ "$with" -gt 2000 ] || fail "with the term: $with faces in frame 4, before anything has buckled"
[ "$without" -lt 300 ] || fail "without the term: $without faces in frame 4"
finish
