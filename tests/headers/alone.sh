#!/bin/sh
# Every public header compiles on its own, twice over, in C17 and C++17, with gcc and with clang.
set -eu
include=$(cd "$(dirname "$0")/../.." && pwd)/include
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
count=0
for header in "$include"/toile/*.h; do
    name=toile/$(basename "$header")
    printf '#include "%s"\n#include "%s"\nint alone(void);\nint alone(void) { return 0; }\n' "$name" "$name" > "$dir/alone.c"
    cp "$dir/alone.c" "$dir/alone.cpp"
    for compiler in gcc clang g++ clang++; do
        case $compiler in *++) standard=c++17 source=alone.cpp ;; *) standard=c17 source=alone.c ;; esac
        # shellcheck disable=SC2086  # several words on purpose
        if ! $compiler -std=$standard $warnings -fsyntax-only -I "$include" "$dir/$source"; then
            echo "FAIL: $name with $compiler -std=$standard"
            failed=1
        fi
        count=$((count + 1))
    done
done
echo "$count compilations"
[ "$count" -ge 4 ] && exit $failed
