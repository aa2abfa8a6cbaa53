# `toile bench grids`: a row per size, a column per method, cost per cell, a plot and rows of a table.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 bench grids --sizes 6,12 --seconds 0.001 --svg plot.svg --out rows.csv
says stdout '^time of 1,000 runs'
says stdout '^time per cell'
for method in tfi length diagonal Cholesky strips equal-area delaunay; do says stdout "^ size.* $method"; done
[ "$(grep -c '^ *6 ' stdout)" = 2 ] || fail "size 6 is not in both tables"
[ "$(wc -l < rows.csv)" = 25 ] || fail "expected a head and 2 x 12 rows: $(wc -l < rows.csv)"
[ "$(grep -c '<polyline' plot.svg)" = 12 ] || fail "expected 12 lines in the plot"
expect 1 bench grids --sizes 0
says stderr 'sizes from 1 to 5000'
expect 1 bench grids more
expect 2 bench grids --sizes 4 --seconds 0.001 --svg no-such-folder/plot.svg
finish
