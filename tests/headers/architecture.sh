#!/bin/sh
# tests/headers/architecture.sh: docs/architecture.md is true of the tree: every file and folder that it names exists, and every
# function of its first diagram is defined in the file beside it.
set -eu
cd "$(dirname "$0")/../.."
page=docs/architecture.md
faults=0
fault() { echo "$page: $*"; faults=1; }

# files in backquotes, and links
for path in $(grep -oE '`(src|include|tests|tools|examples|app|docs|scenes)/[A-Za-z0-9_./-]*`' $page | tr -d '`' | sort -u); do
    [ -e "$path" ] || fault "$path does not exist"
done
for path in $(grep -oE '\]\([a-z][A-Za-z0-9_./-]*' $page | sed 's/^](//' | grep -v '^http' | sort -u); do
    [ -e "docs/$path" ] || fault "a link to $path, which does not exist"
done

# the diagram: lines with "function   src/file.c"
pairs=$(sed -n '/^## From scene/,/^## Modules/p' $page | grep -oE '[a-z_]+(\.[a-z]+)? +src/[a-z0-9_/]+\.c' | sed 's/  */ /')
count=$(echo "$pairs" | wc -l)
[ "$count" -ge 15 ] || fault "only $count arrows found, is the diagram there?"
echo "$pairs" | while read -r name file; do
    [ -f "$file" ] || { echo "$page: $file does not exist"; exit 1; }
    case $name in
        *.*) grep -qE "^ *\.?${name#*.} *=|\.${name#*.} = " "$file" || { echo "$page: $file has no table with .${name#*.}"; exit 1; } ;;
        *) grep -qE "^[a-z].*\b$name\(" "$file" || { echo "$page: $name is not defined in $file"; exit 1; } ;;
    esac
done || faults=1

# tables and functions named in the text: `tl_..` and `sim_..` exist
for name in $(grep -oE '`(tl|sim)_[a-z0-9_]+' $page | tr -d '`' | sort -u); do
    grep -rqE "\b$name\b" src include || fault "$name is nowhere in src and include"
done
for module in $(sed -n '/^| module /,/^$/p' $page | grep -oE '^\| `[a-z]+`' | tr -d '|` '); do
    [ -d "src/$module" ] || [ -d "$module" ] || fault "module $module has no folder"
done
for dir in src/*/; do
    grep -q "^| \`$(basename "$dir")\`" $page || fault "$dir has no line in the table of modules"
done
exit $faults
