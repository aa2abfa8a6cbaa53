#!/bin/sh
# tests/headers/conformance.sh: every test that a table in docs/conformance names exists and is run. A name is `PROGRAM: CASE` for a case of
# tests/unit/PROGRAM.c or tests/validation/PROGRAM.c, or `cli: NAME` for tests/cli/test_NAME.sh; every row of a checklist names at least one.
set -eu
cd "$(dirname "$0")/../.."
faults=0
for page in docs/conformance/*.md; do
    names=$(grep '^|' "$page" | grep -o '`[a-z0-9_]*: [a-z0-9_]*`' | tr -d '`' | tr ' ' '@')
    [ -n "$names" ] || { echo "$page names no test"; faults=1; }
    for name in $names; do
        program=${name%%:*} case=${name#*@}
        if [ "$program" = cli ]; then
            [ -f "tests/cli/test_$case.sh" ] || { echo "$page: no tests/cli/test_$case.sh"; faults=1; }
        elif ! grep -q "cmocka_unit_test.*($case" "tests/unit/$program.c" "tests/validation/$program.c" 2>/dev/null; then
            echo "$page: $program runs no case $case"
            faults=1
        fi
    done
    rows=$(grep -c '^| [GK][0-9][0-9] ' "$page" || true)
    with=$(grep '^| [GK][0-9][0-9] ' "$page" | grep -c '`[a-z0-9_]*: [a-z0-9_]*`' || true)
    [ "$rows" = "$with" ] || { echo "$page: $((rows - with)) lines of the checklist name no test"; faults=1; }
done
for line in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15; do
    grep -q "^| G$line " docs/conformance/planar-grids.md || { echo "docs/conformance/planar-grids.md: no line G$line"; faults=1; }
done
line=1
while [ "$line" -le 60 ]; do  # in the table, or told to be open
    grep -q "K$(printf %02d "$line")\b" docs/conformance/kimmerle.md || { echo "docs/conformance/kimmerle.md: no line K$line"; faults=1; }
    line=$((line + 1))
done
exit $faults
