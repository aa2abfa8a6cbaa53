#!/bin/sh
# tools/function_sizes.sh sees what is too long, what takes too many arguments, and what is listed.
set -eu
script=$(cd "$(dirname "$0")/../../tools" && pwd)/function_sizes.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/a" "$work/tools"
expect() {  # expect CODE TEXT
    got=0
    "$script" "$work" > "$work/out" 2>&1 || got=$?
    [ "$got" = "$1" ] && grep -q "$2" "$work/out" || { echo "expected $1 with '$2', got $got:"; cat "$work/out"; exit 1; }
}
lines() { i=0; while [ $i -lt "$1" ]; do echo "    x++;"; i=$((i + 1)); done; }

{ printf 'static int fine(int a, int (*b)(int, int), int c, int d, int e, int f, int g,\n                int h)\n{\n    int x = 0;\n'; lines 74; printf '    return x;\n}\n'; } > "$work/src/a/fine.c"
expect 0 'none new'
{ printf '// a comment (that, holds, commas)\nstatic int nine(int a, int b, int c, int d, int e, int f, int g, int h,\n                int i)\n{\n    return a;\n}\n'; } > "$work/src/a/nine.c"
expect 1 'src/a/nine.c nine arguments'
echo 'src/a/nine.c nine 9 arguments' > "$work/tools/function_sizes.txt"
expect 0 '1 listed'
{ printf 'int tall(void)\n{\n    int x = 0;\n'; lines 76; printf '    return x;\n}\n'; } > "$work/src/a/tall.c"
expect 1 'src/a/tall.c tall lines'
rm "$work/src/a/tall.c"
lines 601 | sed 's/^    x++;/int y;/' > "$work/src/a/long.c"
expect 1 'src/a/long.c file lines'
rm "$work/src/a/long.c" "$work/src/a/nine.c"
expect 0 'no longer so'
