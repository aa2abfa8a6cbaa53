# The stress benchmark: every contact scene for half a second without a crossing; the same figures again; slips are named.
. "${REPO:?}/tests/cli/lib.sh"

TOILE_DATA=$REPO
export TOILE_DATA
# The wall clock bounds what a busy machine can take; the whole form is `toile bench stress --runs 1 --seconds 0.5 --short`.
expect 0 bench stress --runs 1 --seconds 0.5 --short --dt 1/100 --wall 6
for scene in sphere rotating-sphere torus ribbon curtain table bowl spot twist stack funnel pinch needles knot blade; do
    says stdout "^$scene  *100  *[0-9]*  *[1-9][0-9]*  *1  *0  *[1-9]"
done

# A jittered start depends on its seed alone; names, folders and files mean the same scene; threads change nothing.
expect 0 bench stress table --dt 1/100 --steps 5 --short --seed 0 --runs 3 --json all.json
expect 0 bench stress table --dt 0.01 --steps 5 --short --seed 2 --runs 1 --threads 2 --json one.json
value() { "$JSON_GET" "$2" < "$1"; }
[ "$(value all.json faults)" = 0 ] || fail "faults in all.json"
[ "$(value all.json cases.0.runs.2.seed)" = 2 ] || fail "the third run has another seed"
[ "$(value all.json cases.0.runs.2.state_hash)" = "$(value one.json cases.0.runs.0.state_hash)" ] || fail "seed 2 gives two states"
[ "$(value all.json cases.0.runs.0.state_hash)" != "$(value all.json cases.0.runs.1.state_hash)" ] || fail "nothing was shaken"

# Cloth that starts through a body breaks the bar, and the command that shows it again is given.
mkdir bad
printf '{"cloths": [{"mesh": {"rectangle": {"size": [1, 1], "edge": 0.2}}}], "obstacles": [{"sphere": {"center": [0.5, 0.5, 0], "radius": 0.3}}]}' > bad/scene.json
expect 4 bench stress ./bad --dt 1/100 --runs 2 --steps 2
says stdout 'seed 0: starts crossed: .* with bodies'
says stdout 'toile bench stress ./bad --dt 1/100 --seed 0 --runs 1 --steps 2'

# Layers of triangles let nothing through either.
expect 0 bench stress table funnel --dt 1/100 --steps 30 --short --runs 1 --remeshing sqrt3

# Meshes follow the cloth or stay as they are.
expect 0 bench stress table --dt 1/100 --steps 2 --short --runs 1 --remeshing none --json none.json
[ "$(value none.json cases.0.faces)" = "$(value none.json cases.0.runs.0.mean_faces | sed 's/\.0*$//')" ] || fail "a fixed mesh has changed"
expect 0 bench stress table --dt 1/100 --steps 2 --short --runs 1 --remeshing isotropic
expect 1 bench stress table --remeshing sometimes
says stderr "must be anisotropic, isotropic, sqrt3 or none"

expect 1 bench stress spere
says stderr "no scene 'spere', did you mean 'sphere'"
expect 2 bench stress no-such-scene-at-all
says stderr "no scene 'no-such-scene-at-all'"
expect 2 bench stress ./nowhere/scene.json
expect 2 bench stress table --dt 0.0123 --steps 1
says stderr 'no whole part of a frame'
expect 1 bench stress table --dt soon
says stderr "dt 'soon', must be"
expect 2 bench stress table --steps 1 --runs 1 --json no-such-folder/x.json
says stderr 'no-such-folder/x.json'

expect 0 bench contact table --seconds 0.05 --sizes 400 --threads 1,2 --steps 2 --warmup 1 --json cost.json
expect 0 bench contact table --seconds 0.05 --sizes 400 --threads 1 --steps 2 --warmup 1 --zones
says stdout '^table  *[0-9]'
says stdout "^stack at rest  *[0-9]"
[ "$(value cost.json results.1.state_hash)" = "$(value cost.json results.2.state_hash)" ] || fail "one and two threads disagree"
expect 0 bench contact --help
says stdout 'faces of the stack'
# Bodies that are fast: nothing crosses, nothing is pinched. The whole form is `toile bench stress --fast`.
expect 0 bench stress --fast --runs 1 --dt 1/200 --steps 5 --wall 2
says stdout '^fast/needle  *200 '
expect 0 bench stress fast/block --runs 1 --dt 1/200 --steps 12 --json fast.json
[ "$(value fast.json cases.0.runs.0.pinched)" = 0 ] || fail "a block pinches a sheet that has room"
finish
