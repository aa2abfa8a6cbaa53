# Every test that docs/conformance names exists.
. "${REPO:?}/tests/cli/lib.sh"

# `FILE: NAME` is a test of tests/unit/FILE.c, `cli: NAME` one of tests/cli
for page in "$REPO"/docs/conformance/*.md; do
    grep -o '`[a-z_0-9]*: [a-z_0-9]*`' "$page" | tr -d '`' | sort -u > named
    [ "$(wc -l < named)" -gt 10 ] || fail "$page names hardly any test"
    while IFS=': ' read -r file name; do
        if [ "$file" = cli ]; then
            [ -e "$REPO/tests/cli/test_$name.sh" ] || fail "$page: no tests/cli/test_$name.sh"
        else
            grep -q "cmocka_unit_test($name)" "$REPO/tests/unit/$file.c" || fail "$page: no '$name' in tests/unit/$file.c"
        fi
    done < named
done
finish
