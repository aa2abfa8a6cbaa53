# toile drape: two panels become a skirt around a trunk; stages are taken up after a break with the same bytes.
. "${REPO:?}/tests/cli/lib.sh"

# a trunk of 1.7 m: rings of twelve points, wide at the hips
awk 'BEGIN {
    rings = 18; n = 12
    for (i = 0; i < rings; i++) {
        y = 0.1 * i; r = 0.09 + 0.08 * exp(-(y - 0.9) * (y - 0.9) / 0.03)
        if (i == 0 || i == rings - 1) r = 0.03
        for (k = 0; k < n; k++) printf "v %.6f %.6f %.6f\n", r * cos(6.2831853 * k / n), y, r * sin(6.2831853 * k / n)
    }
    printf "v 0 0 0\nv 0 1.7 0\n"
    for (i = 0; i + 1 < rings; i++) for (k = 0; k < n; k++) {
        a = i * n + k + 1; b = i * n + (k + 1) % n + 1
        printf "f %d %d %d\nf %d %d %d\n", a, a + n, b, b, a + n, b + n
    }
    for (k = 0; k < n; k++) {
        printf "f %d %d %d\n", rings * n + 1, k + 1, (k + 1) % n + 1
        printf "f %d %d %d\n", rings * n + 2, (rings - 1) * n + (k + 1) % n + 1, (rings - 1) * n + k + 1
    }
}' > trunk.obj

# $1: name, $2: half the width at the waist
skirt() {
    cat > "$1.json" <<END
{"format": "toile-pattern-1", "name": "$1", "panels": [
  {"name": "front", "start": [-0.35, 0], "placement": {"origin": [0, 0.6, 0.3]},
   "edges": [{"to": [0.35, 0]}, {"to": [$2, 0.45]}, {"to": [-$2, 0.45]}, {"to": [-0.35, 0]}]},
  {"name": "back", "start": [-0.35, 0], "placement": {"origin": [0, 0.6, -0.3], "rotation": [0, 180, 0]},
   "edges": [{"to": [0.35, 0]}, {"to": [$2, 0.45]}, {"to": [-$2, 0.45]}, {"to": [-0.35, 0]}]}],
 "seams": [{"sides": [{"panel": "front", "edge": 1}, {"panel": "back", "edge": 3, "from": 1, "to": 0}]},
           {"sides": [{"panel": "front", "edge": 3}, {"panel": "back", "edge": 1, "from": 1, "to": 0}]}]}
END
}
skirt skirt 0.22

expect 0 drape skirt.json --body trunk.obj --edge 0.05 -o one --threads 1 --json
json garments.0.crossings 0
json garments.0.fault ''
json garments.0.rested true
json resumed_stages 0
[ "$("$JSON_GET" garments.0.held < "$WORK/stdout")" -gt 10 ] || fail "the rim is not held"
for file in skirt.obj scene.json drape.json frames/000000_skirt.obj obstacles/000000_body.obj; do
    [ -s "one/$file" ] || fail "one/$file is missing"
done
expect 0 check one --quiet
# a closed tube: two outlines, so as many edges as an annulus has (V - E + F = 0)
awk '$1 == "v" {v++} $1 == "f" {f++; for (i = 2; i <= 4; i++) {split($i, p, "/"); n[i] = p[1]}
     for (i = 2; i <= 4; i++) {a = n[i]; b = n[i == 4 ? 2 : i + 1]; if (a > b) {t = a; a = b; b = t} e[a " " b] = 1}}
     END {c = 0; for (k in e) c++; exit v - c + f != 0}' one/skirt.obj || fail "the skirt is no tube"

# the rim is held by the body, unless told otherwise; labels are held or elastic on request
grep -q '"label": 100' one/scene.json || fail "no ties in the scene"
sed 's/{"to": \[-0.22, 0.45\]}/{"to": [-0.22, 0.45], "label": "waist"}/' skirt.json > waist.json
expect 0 drape waist.json --body trunk.obj --edge 0.05 -o waist --no-hold --hold Waist=300 --elastic waist=0.9 --json
grep -q '"elastic": 0.9' waist/scene.json || fail "no band in the scene"
grep -q '"label": 100' waist/scene.json && fail "a rim is held with --no-hold"
expect 2 drape waist.json --body trunk.obj --edge 0.05 -o x --hold collar
says stderr "no edge has 'collar' in its label: it has 'waist'"
expect 1 drape waist.json --body trunk.obj -o x --elastic waist
says stderr 'LABEL=FRACTION'

# made to measure: grades of the pattern, PANEL.length of any
sed 's/"name": "skirt", "panels"/"name": "skirt", "measures": [{"name": "waist", "value": 0.88, "grade": [{"along": "x"}]}], "panels"/' skirt.json > sized.json
expect 0 convert sized.json again.json
grep -q '"grade": \[{"panels": "", "along": "x", "keep": "middle"}\]' again.json || fail "the grade is lost"
expect 0 drape again.json --body trunk.obj --edge 0.05 -o sized --measure waist=0.92 --measure front.length=0.5 --quiet --no-fit
cmp -s sized/again.obj one/skirt.obj && fail "measures change nothing"
expect 2 drape sized.json --body trunk.obj --edge 0.05 -o x --measure bust=0.9
says stderr "no measure 'bust': there is 'waist'"
expect 1 drape sized.json --body trunk.obj -o x --measure waist
says stderr 'NAME=VALUE'

# both panels before the trunk: sewn beside it, which the openings tell; placed anew it is right
sed 's/"origin": .0, 0.6, -0.3./"origin": [0, 0.6, 0.4]/' skirt.json > before.json
expect 0 drape before.json --body trunk.obj --edge 0.05 -o before --no-fit
says stderr 'its panels were placed anew: where the pattern puts them, it is not sewn around this body'
says stdout '0 crossings, at rest'
grep -q '"sewn_wrong": ""' before/drape.json || fail "sewn wrong"
grep -q '"placed": 2' before/drape.json || fail "not placed anew"

# another body beside the first: both in the page, with their ease
awk '$1 == "v" {$2 *= 1.1; $4 *= 1.1} {print}' trunk.obj > wide.obj
expect 0 drape skirt.json --body trunk.obj --beside wide.obj --edge 0.08 -o pair --threads 1 --quiet
[ "$(grep -c 'girth of cloth' pair/fit.html)" = 2 ] || fail "not two fits in fit.html"
grep -q 'beside/fit/tension-front.png' pair/fit.html || fail "no picture of the second body"
"$JSON_GET" bodies.1.body < pair/fit.json > stdout || fail "no second body in fit.json"
says stdout 'wide.obj'
for figure in tension.95 pressure.max room.mean strain.max_99; do
    here=$("$JSON_GET" bodies.0.garments.0.$figure < pair/fit.json)
    there=$("$JSON_GET" bodies.1.garments.0.$figure < pair/fit.json)
    [ -n "$here" ] && [ "$here" != "$there" ] || fail "fit.json has $figure of $here and $there"
done
[ -s pair/beside/skirt.obj ] && [ -s pair/beside/fit/room-back.png ] || fail "the second body was not dressed"

# the same scene by toile run
expect 0 run one/scene.json --out again --threads 2 --quiet
same_frames one again

# the same bytes on other threads, and from any stage on
expect 0 drape skirt.json --body trunk.obj --edge 0.05 -o two --threads 2 --quiet
cmp one/skirt.obj two/skirt.obj || fail "another garment on two threads"
for stage in refine settle grow sew; do
    rm -f two/dress/*-$stage-* two/skirt.obj
    expect 0 drape skirt.json --body trunk.obj --edge 0.05 -o two --threads 2 --quiet
    cmp one/skirt.obj two/skirt.obj || fail "another garment after stage $stage was lost"
    cmp one/drape.json two/drape.json || fail "another report after stage $stage was lost"
done

# another motion in the same folder: stages are taken up, frames are not; numbered meshes, a rebuilt body of another axis
for k in 1 2 3; do awk -v d=$k '$1 == "v" {$2 += 0.02 * (d - 1)} {print}' trunk.obj > moved$k.obj; done
expect 0 drape skirt.json --body trunk.obj --edge 0.05 -o two --threads 1 --motion 'moved%d.obj' --motion-fps 10 --json --no-fit
json resumed_stages 4
json frames 6
[ -s two/frames/000006_skirt.obj ] || fail "no frames of the motion"
cmp -s two/obstacles/000000_body.obj two/obstacles/000006_body.obj && fail "the body does not move"
expect 0 drape skirt.json --body trunk.obj --edge 0.05 -o two --threads 2 --json --no-fit
json frames 0
same_frames one two
[ ! -e two/frames/000001_skirt.obj ] || fail "frames of the other motion are left"
awk '$1 == "v" {print "v", $2, -$4, $3; next} {print}' trunk.obj > lying.obj
expect 0 drape skirt.json --body lying.obj --up z --edge 0.05 -o up --threads 2 --quiet --no-fit
expect 1 drape skirt.json --body trunk.obj --up w -o x
says stderr 'auto, y, z or x'
expect 2 drape skirt.json --body trunk.obj -o x --motion 'none%d.obj'
says stderr 'there is no none1.obj'

# killed outright in a stage, and in the run: the same command goes on, to the same bytes
moving="drape skirt.json --body trunk.obj --edge 0.05 --threads 1 --motion moved%d.obj --motion-fps 4 --quiet --no-fit"
mkdir -p straight/dress && cp one/dress/skirt-* straight/dress/
expect 0 $moving -o straight
"$TOILE" $moving -o killed & pid=$!
tries=2000
until ls killed/dress/skirt-sew-*.obj > /dev/null 2>&1 || [ $tries = 0 ]; do sleep 0.02; tries=$((tries - 1)); done
kill -s KILL $pid || fail "the drape was over before it could be killed"
wait $pid 2> /dev/null
[ -e killed/frames ] && fail "killed too late: the run has begun"
"$TOILE" $moving -o killed & pid=$!
wait_for 60 killed/frames/000003_skirt.obj || fail "no frames after the first kill"
kill -s KILL $pid || fail "the run was over before it could be killed"
wait $pid 2> /dev/null
expect 0 $moving -o killed
same_frames straight killed
for file in skirt.obj drape.json scene.json skirt.glb; do cmp straight/$file killed/$file || fail "another $file after two kills"; done

# a folder goes on after what is no good, and says so
mkdir patterns && cp skirt.json patterns/b.json
sed 's/"edge": 3, /"edge": 7, /' skirt.json > patterns/a.json
expect 3 drape patterns --body trunk.obj --edge 0.05 -o all --quiet
says stdout 'failed .*a.json'
says stdout '1 of 2 patterns draped without fault'
[ -s all/b/b.obj ] || fail "the second pattern was not draped"

# what is refused, and how
expect 1 drape skirt.json -o x
says stderr 'body'
expect 1 drape --body trunk.obj -o x
expect 1 drape skirt.json --body trunk.obj
expect 1 drape skirt.json --body trunk.obj -o x --quality best
says stderr 'draft, normal or final'
# panels without a place get one by what they are called; without words they are refused
sed 's/"placement": {"origin": .0, 0.6, -*0.3.[^}]*},//' skirt.json > flat.json
grep -q placement flat.json && fail "flat.json still has places"
expect 0 drape flat.json --body trunk.obj --edge 0.05 -o flat --no-fit --json
json garments.0.crossings 0
json garments.0.fault ''
grep -q '"placed": 2' flat/drape.json || fail "not both panels were placed"
[ -s flat/flat.placed.json ] || fail "no pattern with the places"
expect 0 drape skirt.json --body trunk.obj --edge 0.05 -o anew --no-fit --quiet --place
grep -q '"placed": 2' anew/drape.json || fail "--place kept the places"
sed 's/front/x1/g; s/back/x2/g; s/"name": "skirt"/"name": "thing"/' flat.json > words.json
expect 2 drape words.json --body trunk.obj --edge 0.05 -o x
says stderr "panel 'x1' cannot be placed: neither its name or label"
expect 2 drape none.json --body trunk.obj -o x
expect 2 drape skirt.json --body none.obj -o x
expect 2 drape skirt.json --body trunk.obj -o x --motion walk
says stderr "'walk' is no clip"
expect 2 drape skirt.json --body trunk.obj -o x --material nosuch
finish
