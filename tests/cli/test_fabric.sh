# A fabric's report agrees with closed forms, a fit gives back what was measured, and bad input is told.
. "${REPO:?}/tests/cli/lib.sh"

# near PATH VALUE PERCENT: the number at PATH of the JSON on stdout
near() {
    value=$("$JSON_GET" "$1" < "$WORK/stdout" 2>&1) || { fail "no '$1': $value"; return; }
    awk -v a="$value" -v b="$2" -v p="$3" 'BEGIN { d = a / b - 1; exit !(d * d <= p * p * 1e-4) }' || fail "$1 is $value, expected $2 within $3 %"
}

# bending length of denim as its file has it, twice of which is the overhang but for the half angle of 41.5 degrees: by the elastica
expect 0 fabric denim --no-drape --json -o denim.html
near cantilever_warp.overhang "$("$JSON_GET" cantilever_warp.elastica < stdout)" 1
near cantilever_weft.overhang "$("$JSON_GET" cantilever_weft.elastica < stdout)" 1
near cantilever_warp.overhang 0.0641 1       # 2 (B / (rho g))^(1/3), as ASTM D1388 has it
near tension_warp.force 645.75 0.1           # E (1 + e) e (2 + e) / 2 with 12000 N/m and e = 0.05
near tension_weft.force 430.5 0.1
grep -q '<svg' denim.html && grep -q 'ASTM D1388' denim.html || fail "no plots in the report"
grep -q '70 to 90 %' denim.html || fail "no published band in the report"
[ ! -e denim.html.part ] || fail "something was left behind"

# measured on a fabric of known stiffness, it is found again
cat > known.json <<'END'
{"name": "known", "kind": "orthotropic", "source": "made up", "density": 0.15, "stretch_warp": 900, "stretch_weft": 700,
 "shear": 40, "poisson": 0.2, "bend_warp": 1.5e-5, "bend_weft": 8e-6}
END
cat > tests.json <<'END'
{"name": "found", "density": 0.15, "poisson": 0.2, "bending_length_warp": 0.021683, "overhang_weft": 0.035169,
 "tension_warp": [[0.02, 18.5436], [0.05, 48.43125]], "tension_weft": [[0.05, 37.66875]], "shear": [[0.1, 3.97995], [0.2, 7.83837]]}
END
expect 0 fit-fabric tests.json -o found.json
says stdout '900 / 700 N/m, shear 40 N/m, rigidity 1.5e-05 / 8e-06'
expect 0 fabric known.json --no-drape --json
cp stdout known.out
expect 0 fabric ./found.json --no-drape --json
for key in cantilever_warp.overhang cantilever_weft.overhang heart_loop_warp heart_loop_weft tension_warp.force tension_weft.force; do
    near $key "$("$JSON_GET" $key < known.out)" 0.1
done
expect 0 info found.json

expect 2 fabric denin
says stderr 'toile fabrics'
expect 2 fabric nothing.json
expect 2 fabric denim --no-drape -o no/such/folder.html
expect 1 fabric
expect 1 fit-fabric tests.json
expect 1 fit-fabric tests.json -o tests.json
for wrong in '{}' '{"density": -1}' '{"density": 0.2, "overhang_warp": 0.04}' '{"density": 0.2, "overhang_warp": 0.04, "bending_length_warp": 0.02, "overhang_weft": 0.04, "tension_warp": [[0.1, 5]]}' \
    '{"density": 0.2, "overhang_warp": 0.04, "overhang_weft": 0.04}' '{"density": 0.2, "overhang_warp": 0.04, "overhang_weft": 0.04, "tension_warp": [[0.1]]}' \
    '{"density": 0.2, "overhang_warp": 0.04, "overhang_weft": 0.04, "tension_warp": [[0, 1]]}' '{"densty": 0.2}'; do
    echo "$wrong" > wrong.json
    expect 2 fit-fabric wrong.json -o wrong.out
    says stderr 'wrong.json:1'
    [ ! -e wrong.out ] || fail "a fabric from $wrong"
done
finish
