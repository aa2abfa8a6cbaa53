# Adaptive meshes against fixed ones by shape: runs, rows as promised, kept shapes give the same table, pictures, slips are named.
. "${REPO:?}/tests/cli/lib.sh"

TOILE_DATA=$REPO
export TOILE_DATA
expect 0 bench fidelity --frames 2,4 --runs 2 --keep kept --pictures pages --out rows.csv
for mesh in 'fixed fine' anisotropic isotropic 'fixed average'; do says stdout "^$mesh  *seed  *[1-5]: *4 frames"; done
says stdout '^4  *curvature  *1/m |'
says stdout '^all  *outline front  *cm2 |'
says stdout '^bar: anisotropic within the spread: [0-6] of 6'
grep -E 'CROSSINGS|FAILED|without a face|outside of' stdout && fail "a run is not as it should be"
[ "$(wc -l < rows.csv)" = 73 ] || fail "expected a head and 3 x 6 x 4 rows: $(wc -l < rows.csv)"
[ "$(awk -F, '{print NF}' rows.csv | sort -u | wc -l)" = 1 ] || fail "rows of different length"
for frame in 000002 000004; do
    [ -s "pages/frame-$frame.png" ] && [ -s "pages/frame-$frame-mesh.png" ] || fail "no picture of frame $frame"
done
grep '|' stdout > table

# What is kept is not run again: the same figures; a run that was cut goes on where it was.
expect 0 bench fidelity --frames 2,4 --runs 2 --keep kept
grep '|' stdout | cmp -s - table || fail "kept shapes give another table"
expect 0 bench fidelity --frames 2 --runs 2 --keep cut
expect 0 bench fidelity --frames 2,4 --runs 2 --keep cut
grep '|' stdout | cmp -s - table || fail "a run that was cut gives another table"
expect 2 bench fidelity --frames 2,4 --runs 2 --keep kept --set gravity=[0,-5,0]
says stderr 'kept/fixed-fine-1.state: of other settings'

# Settings of adaptive meshes alone: fixed ones are not run again, the others lie beside what is kept without.
expect 0 bench fidelity --frames 2,4 --runs 2 --keep kept --adapt remeshing.curvature=0.3 --adapt remeshing.size_min=0.08 --out rows.csv
[ "$(awk -F, '{print NF}' rows.csv | sort -u | wc -l)" = 1 ] && grep -q ',short remeshing.curvature=0.3 remeshing.size_min=0.08,' rows.csv || fail "rows do not tell of --adapt"
grep '|' stdout | cmp -s - table && fail "--adapt changes nothing"
[ "$(awk -F'|' '/^4  *curvature/ {print $2 $5}' stdout)" = "$(awk -F'|' '/^4  *curvature/ {print $2 $5}' table)" ] || fail "--adapt changes fixed meshes"
expect 0 bench fidelity --frames 2,4 --runs 2 --keep kept
grep '|' stdout | cmp -s - table || fail "--adapt has replaced what was kept"
expect 2 bench fidelity --frames 2 --runs 2 --adapt remeshing.no_such_key=1
says stderr 'no_such_key'
printf 'tlstate1' > kept/fixed-fine-1.state
expect 2 bench fidelity --frames 2,4 --runs 2 --keep kept

# Meshes of other kinds with about as many faces.
expect 0 bench fidelity --frames 1 --runs 2 --meshes
faces=$(awk '/^fixed fine  *seed  *2/ {print $7}' stdout)
[ "$faces" -gt 1440 ] && [ "$faces" -lt 1760 ] || fail "the other fine mesh has $faces faces, the first 1600"

expect 1 bench fidelity --frames 4,2
says stderr 'ascending'
expect 1 bench fidelity --short --full
expect 1 bench fidelity sphere
expect 1 bench fidelity --runs 1
expect 2 bench fidelity --frames 1 --runs 2 --keep no-such-folder/kept
expect 2 bench fidelity --frames 1 --runs 2 --out no-such-folder/rows.csv
says stderr 'no-such-folder/rows.csv'
expect 0 bench fidelity --help
says stdout 'earth mover'
expect 0 bench
says stdout '^  fidelity '
finish
