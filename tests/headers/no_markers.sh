#!/bin/sh
# tests/headers/no_markers.sh: no file holds the marks that git leaves where a merge was not finished.
set -eu
cd "$(dirname "$0")/../.."
marks='^(<{7}|>{7}) '
if grep -rnIE --exclude-dir=build --exclude-dir=out --exclude-dir=.git --exclude-dir=node_modules "$marks" .; then
    echo "an unfinished merge: edit the places above"
    exit 1
fi
