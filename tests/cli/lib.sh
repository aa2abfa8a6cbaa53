# tests/cli/lib.sh: what the command line tests share; each sources it first.
#
# TOILE is the program, JSON_GET reads a value out of JSON, REPO is the source tree (ctest sets them). Every test
# works in a folder of its own, which goes away at the end. A test that failed ends with exit code 1.
set -u
: "${TOILE:?path of the program}" "${JSON_GET:?path of json_get}" "${REPO:?path of the source tree}"
case $TOILE in /*) ;; *) TOILE=$PWD/$TOILE ;; esac
case $JSON_GET in /*) ;; *) JSON_GET=$PWD/$JSON_GET ;; esac
DATA=$(cd "$REPO/tests/cli/data" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
FAILED=0

# fail TEXT: notes a failure with the output of the last command and goes on
fail() {
    echo "FAIL: $*"
    [ -s "$WORK/stdout" ] && sed 's/^/  stdout: /' "$WORK/stdout" | head -20
    [ -s "$WORK/stderr" ] && sed 's/^/  stderr: /' "$WORK/stderr" | head -20
    FAILED=1
}

# expect CODE ARGUMENT...: runs the program, output in stdout and stderr, and compares its exit code
expect() {
    want=$1
    shift
    got=0
    "$TOILE" "$@" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null || got=$?
    [ "$got" = "$want" ] || fail "toile $*: exit code $got, expected $want"
}

# says stdout|stderr PATTERN: the last output has a line that matches
says() { grep -q -e "$2" "$WORK/$1" || fail "no '$2' on $1"; }

# silent stdout|stderr: nothing came there
silent() { [ ! -s "$WORK/$1" ] || fail "something on $1"; }

# json PATH VALUE: stdout is one JSON value that holds VALUE at PATH (a.b.c)
json() {
    value=$("$JSON_GET" "$1" < "$WORK/stdout" 2>&1) || { fail "stdout is not JSON with '$1': $value"; return; }
    [ "$value" = "$2" ] || fail "JSON $1 is '$value', expected '$2'"
}

# frames_sum DIR: one SHA-256 over names and bytes of all frames
frames_sum() { (cd "$1/frames" && sha256sum -- *.obj | sha256sum | cut -c 1-64); }

# same_frames A B: both have frames, and the same ones
same_frames() {
    ls "$1"/frames/*.obj > /dev/null 2>&1 || { fail "$1 has no frames"; return; }
    [ "$(frames_sum "$1")" = "$(frames_sum "$2")" ] || fail "the frames of $1 and $2 differ"
}

# wait_for SECONDS FILE: until the file is there
wait_for() {
    tries=$(($1 * 20))
    while [ ! -e "$2" ] && [ $tries -gt 0 ]; do
        sleep 0.05
        tries=$((tries - 1))
    done
    [ -e "$2" ]
}

finish() {
    [ $FAILED = 0 ] && echo "passed"
    exit $FAILED
}
