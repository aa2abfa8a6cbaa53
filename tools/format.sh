#!/bin/sh
# tools/format.sh [--check]: lays out all of our C as .clang-format says, or lists what is not.
#
# Debian 12's clang-format 14 decides: other versions lay out a few lines differently, so --check leaves them out.
set -eu
cd "$(dirname "$0")/.."
version=$(clang-format --version 2> /dev/null | sed 's/.*version \([0-9]*\).*/\1/') || version=
files=$(find app bench examples include src tests viewer bindings web/wasm -name '*.[ch]' -not -path '*/build/*' 2> /dev/null | LC_ALL=C sort)
if [ "${1:-}" = --check ]; then
    [ "$version" = 14 ] || { echo "format: clang-format 14 is not here (found '${version:-none}'): not checked"; exit 77; }
    # shellcheck disable=SC2086  # one word per file: our file names hold no blanks
    clang-format --dry-run -Werror $files || { echo "format: run 'make format'" >&2; exit 1; }
else
    # shellcheck disable=SC2086
    clang-format -i $files
fi
