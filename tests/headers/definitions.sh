#!/bin/sh
# tests/headers/definitions.sh [ROOT]: every definition in the public headers can grow (toile/base.h). One that is handed to a function
# starts with struct_size and has a _init; one that is a member of another (by value) ends with reserved fields.
set -eu
root=${1:-$(dirname "$0")/../..}
cd "$root/include/toile"
awk '
/^(typedef )?struct tl_[a-z0-9_]* \{/ { name = $0; sub(/.*struct /, "", name); sub(/ .*/, "", name); first = ""; reserved = 0; next }
name != "" && /^}/ {
    if (name ~ /_(def|options)$/) { seen++; if (first !~ /^uint32_t struct_size;/ && !reserved) { print FILENAME ": " name " can not grow: no struct_size, nothing reserved"; faults++ }
        sized[name] = first ~ /^uint32_t struct_size;/ }
    name = ""; next
}
name != "" { line = $0; sub(/^ */, "", line); if (first == "" && line !~ /^\/\//) first = line; if (line ~ / reserved\[/) reserved = 1 }
/_init\(tl_[a-z0-9_]*_def \*def/ { made = $0; sub(/_init\(.*/, "", made); sub(/.* /, "", made); init[made] = 1 }
END {
    for (n in sized) if (sized[n] && !init[n]) { print n " has no " n "_init(def, size)"; faults++ }
    if (seen < 15) { print "definitions: only " seen " found, is this the folder of the public headers?"; faults++ }
    if (faults) exit 1
    print "definitions: " seen " of them, all can grow"
}' *.h
