#!/bin/sh
# The page has its own jansson (web/wasm/json.c), with the part of the interface that our readers use: what they use has to be there.
set -eu
cd "$(dirname "$0")/../.."
faults=0
for name in $(grep -rhoE '\bjson_[a-z_]+\b' src/io src/scene | sort -u); do
    grep -qsE "\b$name\b" /usr/include/jansson.h || continue # a name of our own
    grep -qE "\b$name\b" web/wasm/jansson.h && continue
    echo "$name is used in src/, but web/wasm/jansson.h does not have it: add it there and to json.c (make web would fail)"
    faults=1
done
exit $faults
