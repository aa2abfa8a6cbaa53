#!/bin/sh
# tools/demo_pictures.sh RUN_DIR [OUT_DIR [TOILE]]: a film, a page of small pictures and a diagram of a run.
#
# Prints the paths of what it made. Without FFmpeg the film becomes numbered PNG files, and the command says so.
set -eu
if [ $# -lt 1 ] || [ $# -gt 3 ]; then
    echo "usage: tools/demo_pictures.sh RUN_DIR [OUT_DIR [TOILE]]" >&2
    exit 1
fi
run=$1
out=${2:-$run}
toile=${3:-$(dirname "$0")/../build/release/toile}
mkdir -p "$out"
"$toile" render "$run" -o "$out/film.mp4" --caption
"$toile" render "$run" -o "$out/sheet.png" --sheet 12 --size 1200x680
"$toile" plot "$run" -o "$out/plot.png"
"$toile" plot "$run" -o "$out/plot.svg" --quiet
echo "film:    $out/film.mp4"
echo "sheet:   $out/sheet.png"
echo "diagram: $out/plot.png, $out/plot.svg"
