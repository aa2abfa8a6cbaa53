#!/bin/sh
# tools/ci_web.sh SECONDS: `make test-web` where there is what it needs, and time for it. Fails only if the build or a check
# does: a machine without a way to Emscripten, Chromium or the npm packages, or without time, is told so and passes.
set -u
end=$(($(date +%s) + $1))
not_tried() {
    echo "ci_web: the page is not tried: $*"
    exit 0
}
left() { echo $((end - $(date +%s))); }

[ "$(left)" -gt 300 ] || not_tried "no more than $(left) s are left"
timeout 240 tools/setup.sh --web || not_tried "packages are missing"
(cd web && timeout 120 npm ci --no-audit --no-fund --loglevel=error) || not_tried "the packages of web/package-lock.json cannot be had here"
timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom about:blank > /dev/null 2>&1 ||
    not_tried "Chromium does not start here"
timeout "$(left)" make test-web
code=$?
[ $code != 124 ] || not_tried "to its end, there was no time left"
exit $code
