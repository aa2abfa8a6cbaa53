#!/bin/sh
# tools/function_sizes.sh [--list] [ROOT]: functions over 80 lines or with more than 8 arguments, files over 600 lines.
#
# A function's lines go from its name to its closing brace. clang-format sets the braces of functions alone into the first
# column, which is what this looks for. Fails when there is one that is not in tools/function_sizes.txt, and says which of
# those that are listed there have become small enough: the list only gets shorter. --list prints what there is, in the form
# of that file.
set -eu
list=0
if [ "${1:-}" = --list ]; then list=1; shift; fi
root=${1:-$(dirname "$0")/..}
cd "$root"
found=$(find $(ls -d src app bench include viewer examples 2>/dev/null) -name '*.[ch]' | LC_ALL=C sort | xargs awk '
function finish() { if (FNR0 > 600) print file " file " FNR0 " lines" }
FNR == 1 { if (file) finish(); file = FILENAME; head = ""; inside = 0 }
{ FNR0 = FNR }
inside && /^}/ {
    lines = FNR - first + 1
    if (lines > 80) print file " " name " " lines " lines"
    if (args > 8) print file " " name " " args " arguments"
    inside = 0; head = ""; next
}
inside { next }
/^{[ \t]*$/ && head ~ /\)[ \t]*$/ {
    inside = 1
    name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
    rest = head; sub(/^[^(]*\(/, "", rest)
    depth = 1; args = 1; n = length(rest)
    for (i = 1; i <= n && depth > 0; i++) {
        c = substr(rest, i, 1)
        if (c == "(") depth++
        else if (c == ")") depth--
        else if (c == "," && depth == 1) args++
    }
    next
}
/^[ \t]*$/ || /^}/ || /;[ \t]*$/ || /^[ \t]*\/\// || /^#/ { head = ""; next }
{ if (head == "") first = FNR; line = $0; sub(/\/\/.*/, "", line); head = head " " line }
END { finish() }')
if [ $list = 1 ]; then echo "$found"; exit 0; fi
known=$(sed 's/#.*//; /^[ ]*$/d' tools/function_sizes.txt 2>/dev/null | awk '{print $1, $2, $4}' || true)
now=$(echo "$found" | awk 'NF {print $1, $2, $4}')
new=$(printf '%s\n%s\n%s\n' "$known" "$known" "$now" | LC_ALL=C sort | uniq -u)
gone=$(printf '%s\n%s\n%s\n' "$now" "$now" "$known" | LC_ALL=C sort | uniq -u)
fault=0
if [ -n "$(echo $new)" ]; then echo "too long, or with too many arguments (80 lines, 8 arguments, files of 600 lines):" >&2; echo "$new" >&2; fault=1; fi
if [ -n "$(echo $gone)" ]; then echo "no longer so; take it out of tools/function_sizes.txt:"; echo "$gone"; fi
[ $fault = 0 ] && echo "function sizes: $(echo "$now" | grep -c . || true) listed as too long, none new"
exit $fault
