# toile bench drape: what is refused; the cases themselves take minutes (docs/drape.md has their figures).
. "${REPO:?}/tests/cli/lib.sh"

expect 1 bench drape swim
says stderr "no case 'swim', there are walk, dance and jump"
expect 1 bench drape --quality best
says stderr 'draft, normal or final'
TOILE_DATA=nowhere expect 2 bench drape walk --keep x
says stderr 'nowhere/scenes/'
expect 0 bench
says stdout 'drape  '
finish
