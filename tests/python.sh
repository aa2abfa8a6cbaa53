#!/bin/sh
# tests/python.sh BUILD: the Python package over the library of BUILD, and its tests. 77: Python, cffi, numpy or pytest is missing.
set -eu
build=$(cd "$1" && pwd)
repo=$(cd "$(dirname "$0")/.." && pwd)
python=
for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import cffi, numpy, pytest' 2> /dev/null; then python=$candidate && break; fi
done
[ -n "$python" ] || { echo "skipped: python3 with cffi, numpy and pytest is needed (tools/setup.sh installs them)"; exit 77; }
"$python" "$repo/bindings/python/toile_build.py" --library "$build" --out "$build/python" > "$build/python.log" 2>&1 || { cat "$build/python.log"; exit 1; }
[ ! -x "$build/toile" ] || export TOILE="$build/toile"  # tests compare with it
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$build/python" "$python" -m pytest -q -p no:cacheprovider --durations=5 "${2:-$repo/bindings/python/tests}"
