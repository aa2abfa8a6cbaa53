#!/bin/sh
# tools/docs_pictures.sh [--all] [NAME...]: makes the pictures of README.md and docs/ again, in docs/images.
#
# Without names: those of README.md and docs/rendering.md, some ten minutes of processor time. --all: those of docs/paper.md
# and docs/remeshing.md too, whose runs take hours. Runs are kept in out/docs and go on where they were stopped.
# TOILE names another program, DOCS_RUNS another folder for the runs, DOCS_IMAGES another one for the pictures.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
toile=${TOILE:-$top/build/release/toile}
runs=${DOCS_RUNS:-$top/out/docs}
images=${DOCS_IMAGES:-$top/docs/images}
quick="buckling curtain tablecloth silk sleeve sphere-sheet adaptive flag-sheet flag-plot render-modes resampled subdivision levels folds two-bodies"
slow="paper-sphere paper-flag paper-sleeve paper-dress fidelity pattern-dress"
mkdir -p "$runs" "$images"

# simulate NAME SCENE [OPTION...]: once; a run that was stopped goes on.
simulate()
{
    name=$1 scene=$2
    shift 2
    [ ! -e "$runs/$name/done" ] || return 0
    resume=
    [ ! -e "$runs/$name/checkpoint.bin" ] || resume=--resume
    file=$top/scenes/$scene/scene.json
    [ -e "$file" ] || file=$top/scenes/$scene.json
    "$toile" run "$file" --out "$runs/$name" --quiet $resume "$@"
    touch "$runs/$name/done"
}

# picture RUN FILE FRAME [OPTION...]
picture()
{
    run=$1 file=$2 frame=$3
    shift 3
    "$toile" render "$runs/$run" -o "$images/$file.png" --frames "$frame" --quiet "$@"
}

# sheet RUN FILE COUNT [OPTION...]
sheet()
{
    run=$1 file=$2 count=$3
    shift 3
    "$toile" render "$runs/$run" -o "$images/$file.png" --sheet "$count" --quiet "$@"
}

# few_colours FROM TO: a third of the size, no difference to be seen
few_colours()
{
    "${FFMPEG:-ffmpeg}" -loglevel error -y -i "$1" -vf "split[a][b];[a]palettegen=max_colors=200[p];[b][p]paletteuse=dither=bayer:bayer_scale=5" "$2"
}

fidelity()
{
    # the benchmark draws its own pages; docs/remeshing.md says which frames are shown
    "$toile" bench fidelity --keep "$runs/fidelity" --pictures "$runs/fidelity-pictures"
    echo "fidelity: pages are in $runs/fidelity-pictures; choose frames 185, 20, 48 and 200" >&2
}

make_one()
{
    case $1 in
    resampled)  # a run's folder whose frames are the resampled ones
        simulate resampled sphere --frames 40 --set remeshing.size_min=0.02
        rm -rf "$runs/resampled-even" && cp -r "$runs/resampled" "$runs/resampled-even"
        "$toile" export "$runs/resampled" -o "$runs/resampled-even/f.obj" --resample --quiet
        for file in "$runs"/resampled-even/f.*.obj; do
            number=${file%.obj}
            mv "$file" "$runs/resampled-even/frames/${number##*.}_sheet.obj"
        done
        picture resampled resampled 30 --compare "resampled=$runs/resampled-even" --mode wire --size 800x600
        ;;
    curtain) simulate curtain gathered-curtain && picture curtain curtain 44 --size 640x480 ;;
    buckling)
        simulate buckling buckling && simulate buckling-without buckling/without
        for frame in 4 12; do
            "$toile" render "$runs/buckling" --compare "without the term=$runs/buckling-without" -o "$runs/buckling-$frame.png" --frames $frame -w \
                --size 800x274 --quiet
        done
        "${FFMPEG:-ffmpeg}" -loglevel error -y -i "$runs/buckling-4.png" -i "$runs/buckling-12.png" -frames:v 1 -filter_complex vstack "$images/buckling.png"
        ;;
    tablecloth) simulate tablecloth tablecloth && picture tablecloth tablecloth 46 --size 640x480 ;;
    silk) simulate silk silk && picture silk silk 50 --size 640x480 ;;
    sleeve) simulate sleeve paper-sleeve --frames 42 && picture sleeve sleeve 41 --size 640x480 ;;
    sphere-sheet) simulate sphere sphere && sheet sphere sphere-sheet 4 --frames 0:36:12 --size 1000x200 ;;
    adaptive) simulate adaptive sphere --set remeshing.size_min=0.015 && picture adaptive adaptive 75 --mode mesh --wire --size 800x560 ;;
    flag-sheet) simulate flag flag && sheet flag flag-sheet 12 --size 1200x700 ;;
    flag-plot) simulate flag flag && "$toile" plot "$runs/flag" -o "$images/flag-plot.png" --quiet ;;
    render-modes)
        simulate sphere sphere
        for mode in shaded wire mesh strain velocity curvature; do
            "$toile" render "$runs/sphere" -o "$runs/mode-$mode.png" --frames 40 --mode $mode --size 250x188 --quiet
        done
        "${FFMPEG:-ffmpeg}" -loglevel error -y -i "$runs/mode-shaded.png" -i "$runs/mode-wire.png" -i "$runs/mode-mesh.png" \
            -i "$runs/mode-strain.png" -i "$runs/mode-velocity.png" -i "$runs/mode-curvature.png" -frames:v 1 -filter_complex \
            "xstack=inputs=6:layout=0_0|w0_0|w0+w0_0|0_h0|w0_h0|w0+w0_h0" "$images/render-modes.png"
        ;;
    subdivision)
        files= layout= y=0
        for scheme in butterfly loop modified-loop; do
            x=0
            for level in 0 1 2 4; do
                "$toile" refine "$top/scenes/kimmerle/tetrahedron.obj" -o "$runs/tet.obj" --levels $level --scheme $scheme --quiet
                wire=--wire
                [ $level -lt 4 ] || wire=
                "$toile" render "$runs/tet.obj" -o "$runs/tet-$scheme-$level.png" --size 220x180 --camera 30,20 --white --quiet $wire
                files="$files -i $runs/tet-$scheme-$level.png" layout="$layout|${x}_$y" x=$((x + 220))
            done
            y=$((y + 180))
        done
        "${FFMPEG:-ffmpeg}" -loglevel error -y $files -filter_complex "xstack=inputs=12:layout=${layout#|}" "$runs/subdivision.png"
        few_colours "$runs/subdivision.png" "$images/subdivision.png"
        ;;
    levels | folds)
        simulate shirt-trousers shirt-trousers
        files= count=0 size=250x330 last=3
        [ "$1" = levels ] || size=500x420 last=1
        while [ $count -le $last ]; do
            how="--levels $count"
            [ "$1" = levels ] || how="--levels 2"
            [ "$1$count" != folds1 ] || how="--levels 2 --wrinkles directional --wavelength 40 --variation 2 --rate 0"
            "$toile" refine "$runs/shirt-trousers" -o "$runs/$1-$count" --first 38 --last 40 --quiet $how
            sed -i '/"camera": {/,/}/c\  "camera": {"eye": [0.75, 0.85, 0.95], "target": [0.03, 0.62, 0.02]},' "$runs/$1-$count/scene.json"
            "$toile" render "$runs/$1-$count" -o "$runs/$1-$count.png" --frames 40 --size $size --quiet
            files="$files -i $runs/$1-$count.png" count=$((count + 1))
        done
        "${FFMPEG:-ffmpeg}" -loglevel error -y $files -filter_complex "hstack=inputs=$count" "$runs/$1.png"
        few_colours "$runs/$1.png" "$images/$1.png"
        ;;
    two-bodies)
        simulate two-bodies kimmerle/two-bodies
        "$toile" render "$runs/two-bodies" -o "$runs/two-bodies.png" --frames 39 --mode stress --size 620x420 --camera 0,5 --quiet
        few_colours "$runs/two-bodies.png" "$images/two-bodies.png"
        ;;
    paper-sphere) simulate paper-sphere paper-sphere && sheet paper-sphere paper-sphere 15 ;;
    paper-flag) simulate paper-flag paper-flag && sheet paper-flag paper-flag 12 ;;
    paper-sleeve) simulate paper-sleeve paper-sleeve && sheet paper-sleeve paper-sleeve 12 ;;
    paper-dress) simulate dress paper-dress && sheet dress paper-dress 12 ;;
    fidelity) fidelity ;;
    pattern-dress) echo "pattern-dress: docs/patterns.md has its commands" >&2 ;;
    *) echo "docs_pictures: there is no picture '$1'; there are $quick $slow" >&2 && exit 1 ;;
    esac
    echo "$1"
}

names=
for word in "$@"; do
    case $word in
    --all) names="$quick $slow" ;;
    -*) echo "usage: tools/docs_pictures.sh [--all] [NAME...]" >&2 && exit 1 ;;
    *) names="$names $word" ;;
    esac
done
for name in ${names:-$quick}; do make_one "$name"; done
