# `toile bench realtime`: a row per level and set of criteria, published figures beside, the same hashes on two threads.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 bench realtime --steps 3
says stdout '^level 4 '
says stdout '^ABC .*times faster'
[ "$(grep -cE '^(level|[ABC]+ )' stdout)" = 12 ] || fail "expected 12 rows"
hashes() { grep -oE ' [0-9a-f]{16}' stdout; }
one=$(hashes)
expect 0 bench realtime --steps 3 --threads 2
[ "$(hashes)" = "$one" ] || fail "two threads, other hashes"
expect 1 bench realtime --steps 0
expect 1 bench realtime more
finish
