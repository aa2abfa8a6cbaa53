#!/bin/sh
# tools/demo_pictures.sh RUN_DIR [OUT_DIR [TOILE]]: a film, a page of small pictures and a diagram of a run.
#
# Prints the paths of what it made. Without FFmpeg the film becomes numbered PNG files; with one that cannot make MP4
# (built without x264) it becomes a GIF.
set -eu
if [ $# -lt 1 ] || [ $# -gt 3 ]; then
    echo "usage: tools/demo_pictures.sh RUN_DIR [OUT_DIR [TOILE]]" >&2
    exit 1
fi
run=$1
out=${2:-$run}
toile=${3:-$(dirname "$0")/../build/release/toile}
mkdir -p "$out"
rm -f "$out/film.mp4" "$out/film.gif"
film=
if "$toile" render "$run" -o "$out/film.mp4" --caption; then
    film=$out/film.mp4
elif "$toile" render "$run" -o "$out/film.gif" --caption --size 640x360; then
    film=$out/film.gif
fi
[ -z "$film" ] || [ -e "$film" ] || film="$out/film_NNNNNN.png (no ffmpeg)"
"$toile" render "$run" -o "$out/sheet.png" --sheet 12
"$toile" plot "$run" -o "$out/plot.png" --quiet
"$toile" plot "$run" -o "$out/plot.svg" --quiet
echo
echo "film:    ${film:-none, see above}"
echo "sheet:   $out/sheet.png"
echo "diagram: $out/plot.png, $out/plot.svg"
[ -n "$film" ]
