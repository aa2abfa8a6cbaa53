#!/bin/sh
# tests/install/installed.sh BUILD: what is installed is enough for others. Installs the build into a folder of its own, builds the examples against toile-core
# alone with cc -std=c17 and with a C++ compiler, static and shared, by pkg-config and by the CMake package, and looks at symbols and needs.
set -eu
build=$1
repo=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAIL: $*"; exit 1; }

cmake --install "$build" --prefix "$dir/usr" > "$dir/log" || { cat "$dir/log"; fail "install"; }
PKG_CONFIG_PATH=$(dirname "$(find "$dir/usr" -name toile-core.pc)")
lib=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH="$lib"

# symbols: ours only; needs: no library of files
for name in toile-core toile; do
    others=$(nm -D --defined-only "$lib/lib$name.so" | awk '{print $3}' | grep -v '^tl_' || true)
    [ -z "$others" ] || fail "lib$name.so shows $others"
    nm -D --defined-only "$lib/lib$name.so" | grep -q ' tl_sim_step$' || fail "lib$name.so lacks tl_sim_step"
done
nm -D --defined-only "$lib/libtoile-core.so" | grep -q ' tl_scene_load$' && fail "the core reads scenes"
readelf -d "$lib/libtoile-core.so" | grep NEEDED | grep -Ev 'libc\.|libm\.|libmetis|libpthread|ld-linux' && fail "the core needs more than libc, libm and METIS"
nm "$lib/libtoile-core.a" | grep -E ' U (fopen|open|popen|fork|execv|posix_spawn|system|json_|ZSTD_|png_)' && fail "the core opens files or starts processes"
cc -std=c17 -D_GNU_SOURCE -DTL_NO_METIS -Werror -fsyntax-only -I "$repo/include" -I "$repo/src" "$repo/src/math/order.c" || fail "order.c without METIS"

flags=$(pkg-config --cflags --libs toile-core)
static=$(pkg-config --cflags toile-core)" $lib/libtoile-core.a "$(pkg-config --static --libs-only-other --libs-only-l toile-core | sed 's/-ltoile-core//')
for name in $(sed -n 's/^set(TL_CORE_EXAMPLES \(.*\))/\1/p' "$repo/examples/CMakeLists.txt"); do
    # shellcheck disable=SC2086  # flags are several words
    cc -std=c17 -O1 -Wall -Wextra -Werror "$repo/examples/$name.c" -o "$dir/c_$name" $flags -lm || fail "$name in C"
    # shellcheck disable=SC2086
    c++ -std=c++17 -x c++ -Wall -Werror "$repo/examples/$name.c" -x none -o "$dir/cpp_$name" $static || fail "$name in C++, static"
done
(cd "$dir" && ./c_minimal && ./cpp_minimal) || fail "minimal does not run"
# shellcheck disable=SC2046
cc -std=c17 "$repo/examples/scene_run.c" -o "$dir/scene_run" $(pkg-config --cflags --libs toile) || fail "scene_run"

mkdir "$dir/package"
cat > "$dir/package/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(mine C)
find_package(toile 0.1 REQUIRED)
add_executable(shared $repo/examples/minimal.c)
target_link_libraries(shared PRIVATE toile::core)
add_executable(static $repo/examples/minimal.c)
target_link_libraries(static PRIVATE toile::core_static)
add_executable(whole $repo/examples/scene_run.c)
target_link_libraries(whole PRIVATE toile::toile_static)
END
cmake -S "$dir/package" -B "$dir/package/build" -DCMAKE_PREFIX_PATH="$dir/usr" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "find_package"; }
cmake --build "$dir/package/build" > "$dir/log" 2>&1 || { cat "$dir/log"; fail "building against the package"; }
"$dir/package/build/static" || fail "static against the package"

# manual page and completion, and the packages
[ -s "$dir/usr/share/man/man1/toile.1" ] && [ -s "$dir/usr/share/bash-completion/completions/toile" ] && [ -s "$dir/usr/share/zsh/site-functions/_toile" ] || fail "manual page or completion"
(cd "$build" && cpack -B "$dir/packages" > "$dir/log" 2>&1) || { tail -5 "$dir/log"; fail "cpack"; }
mkdir "$dir/unpacked"
tar -xzf "$dir"/packages/toile-*.tar.gz -C "$dir/unpacked" --strip-components 1 || fail "no .tar.gz"
(cd "$dir" && env -u TOILE_DATA "$dir/unpacked/bin/toile" fabrics | grep -q denim) || fail "the program of the .tar.gz does not find its fabrics"
if command -v dpkg-deb > /dev/null 2>&1; then
    dpkg-deb -I "$dir"/packages/toile_*.deb | grep -q 'Depends:.*libjansson4' || fail "the .deb does not say what it needs"
    dpkg-deb -x "$dir"/packages/toile_*.deb "$dir/deb" && (cd "$dir" && env -u TOILE_DATA "$dir/deb/usr/bin/toile" info "$dir/deb/usr/share/toile/scenes/sphere/scene.json" > /dev/null) || fail "the program of the .deb"
fi
echo "installed: ok"
