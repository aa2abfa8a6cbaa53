# `toile bench realtime`: a row per body, level and set of criteria, published figures beside, the same hashes on two threads; rows for garments.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 bench realtime --steps 3 --garment-steps 0 --no-inside
says stdout '^level 4 '
says stdout 'on a cylinder'
says stdout '^ABC .*times faster'
[ "$(grep -cE '^(level|[ABC]+ )' stdout)" = 24 ] || fail "expected 24 rows"
hashes() { grep -oE ' [0-9a-f]{16}' stdout; }
one=$(hashes)
expect 0 bench realtime --steps 3 --garment-steps 0 --no-inside --threads 2
[ "$(hashes)" = "$one" ] || fail "two threads, other hashes"
expect 0 bench realtime --steps 0 --garment-steps 1 --garment-level 1 --no-inside
says stdout '^T-shirt '
says stdout '^dress, coarse behind '
says stdout 'triangles .* (12.3), time .* (8.2)'
expect 1 bench realtime --steps -1
expect 1 bench realtime more
finish
