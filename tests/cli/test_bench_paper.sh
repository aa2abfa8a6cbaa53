# The examples of Narain et al. 2012: every scene runs, the rows are as promised, threads change nothing, slips are named.
. "${REPO:?}/tests/cli/lib.sh"

TOILE_DATA=$REPO
export TOILE_DATA
expect 0 bench paper --frames 1 --out rows.csv --plots plots
for scene in sphere sphere-isotropic sphere-fine sphere-average flag sleeve dress yellow-dress kick; do
    says stdout "^$scene  *1  *[1-9]"
    [ -s "plots/$scene.svg" ] && [ -s "plots/$scene.jsonl" ] || fail "no plot of $scene"
done
says stdout '^  paper (2012, 4 cores)  *4  *11313  *128  *25400  *9.030'
says stdout 'ARCSim / ours: '
says stdout '^fixed fine / anisotropic: '
says stdout '^isotropic / anisotropic: '
[ "$(wc -l < rows.csv)" = 10 ] || fail "expected a head and 9 rows: $(wc -l < rows.csv)"
[ "$(awk -F, '{print NF}' rows.csv | sort -u | wc -l)" = 1 ] || fail "rows of different length"

# column NAME FILE: the values of a column
column() { awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i; next} {print $c}' "$2"; }
[ "$(column crossings rows.csv | sort -u)" = 0 ] || fail "crossings: $(column crossings rows.csv)"
[ "$(column faces_in rows.csv | head -n 1)" = 4 ] || fail "the sheet does not start with four faces"

# Looking at every step, and a second thread, change no bit.
expect 0 bench paper sphere --frames 2 --threads 1,2 --check --out threads.csv
[ "$(column state_hash threads.csv | sort -u | wc -l)" = 1 ] || fail "one and two threads disagree"
[ "$(column looks threads.csv | sort -u)" = 16 ] || fail "not every step was looked at"
says stdout 'threads are .* times as fast as one'
expect 0 bench paper --scaling --frames 1
says stdout 'time per face and step varies by'

# Fabrics from a folder, by the names of the measured ones.
mkdir fabrics
cp "$REPO/materials/jersey.json" fabrics/gray-interlock.json
expect 0 bench paper sphere --frames 2 --fabrics fabrics --out fabrics.csv
[ "$(column state_hash fabrics.csv)" = "$(column state_hash threads.csv | head -n 1)" ] || fail "the same fabric gives another state"
[ "$(column fabrics fabrics.csv)" = measured ] || fail "the row does not tell the fabrics"
expect 2 bench paper flag --frames 1 --fabrics fabrics
says stderr 'camel-ponte-roma.json'

expect 1 bench paper spere
says stderr "no scene 'spere', did you mean 'sphere'"
expect 1 bench paper --short --full
expect 1 bench paper --threads none
expect 2 bench paper sphere --frames 1 --out no-such-folder/x.csv
says stderr 'no-such-folder/x.csv'
expect 2 bench paper sphere --frames 1 --plots no-such-folder/plots
expect 0 bench paper --help
says stdout 'measured fabrics'
expect 0 bench
says stdout '^  paper '
finish
