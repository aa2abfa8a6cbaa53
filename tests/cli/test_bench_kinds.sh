# `toile bench sqrt3` and `toile bench adaptivity`: tables with a row per case.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 bench sqrt3 --frames 1
says stdout '^hierarchy of 472 triangles, 5 layers, 38232 at the finest'
for row in 'make all' 'remove all' 'extract'; do says stdout "^$row"; done
[ "$(grep -c ' %  ' stdout)" = 3 ] || fail "expected three runs of the garment"
expect 1 bench sqrt3 --frames 0
expect 2 bench sqrt3 --scene no-such-scene
says stderr 'no scene'

expect 0 bench adaptivity --scene drape --scale 8
says stdout '^drape, 12 frames; fixed fine'
for kind in uniform isotropic anisotropic 'sqrt3, curvature' 'sqrt3, all'; do says stdout "^$kind  *"; done
says stdout '^at an error of'
expect 1 bench adaptivity --scene shirt
says stderr 'must be drape, flag or dress'
finish
