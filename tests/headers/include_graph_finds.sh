#!/bin/sh
# The include-graph check must object to what it is there for: small trees, each with one fault.
set -eu
tool=$(cd "$(dirname "$0")/../.." && pwd)/tools/include_graph.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# tree NAME: starts an empty tree; put FILE TEXT...: adds a file with these include lines
tree() { name=$1; rm -rf "$dir/t"; mkdir -p "$dir/t/include/toile"; }
put() { file=$dir/t/$1; shift; mkdir -p "$(dirname "$file")"; for path; do echo "#include \"$path\""; done > "$file"; }
expect() {  # expect CODE [PATTERN]
    code=0
    "$tool" "$dir/t" > "$dir/out" 2> "$dir/err" || code=$?
    if [ "$code" != "$1" ] || { [ $# -gt 1 ] && ! grep -q "$2" "$dir/err"; }; then
        echo "FAIL: $name: exit code $code, expected $1 ${2:+and '$2'}"; cat "$dir/err"; failed=1
    fi
}

tree "a good tree"
put src/base/a.h toile/base.h; put src/math/b.c base/a.h math/b.h; put src/math/b.h; put src/io/c.c sim/s.h math/b.h
put src/sim/s.h base/a.h; put app/main.c app.h toile/base.h; put app/app.h; put include/toile/base.h
expect 0

tree "against the direction"; put src/base/a.h math/b.h; put src/math/b.h
expect 1 'math comes after base'

tree "within one group"; put src/physics/a.c detect/b.h; put src/detect/b.h
expect 1 'one group'

tree "a circle of headers"; put src/mesh/a.h mesh/b.h; put src/mesh/b.h mesh/c.h; put src/mesh/c.h mesh/a.h
expect 1 'circle'

tree "app looks inside"; put app/main.c sim/sim.h; put src/sim/sim.h
expect 1 'toile/\*.h and its own folder'

tree "example looks inside"; put examples/x.c ../src/sim/sim.h; put src/sim/sim.h
expect 1 'toile/\*.h and its own folder'

tree "public header looks inside"; put include/toile/a.h base/a.h; put src/base/a.h
expect 1 'public header'

tree "unknown module"; put src/other/a.c base/a.h; put src/base/a.h
expect 1 'no place in the order'

tree "a stage includes the top header"; put src/adapt/a.h toile/body.h; put include/toile/body.h toile/sim.h; put include/toile/sim.h
expect 1 'knows the whole simulation'

tree "a module includes the header for hosts"; put src/run/a.h toile/core.h; put include/toile/core.h
expect 1 'is for hosts'

tree "a benchmark looks inside"; put bench/x.c math/b.h; put src/math/b.h
expect 1 'toile/\*.h and its own folder'
exit $failed
