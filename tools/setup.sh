#!/bin/sh
# tools/setup.sh [--build] [--web] [--check]: installs the Debian packages that building and testing need, if any is missing.
#
# Does nothing when all are there. As root, or where sudo works without a password, it installs; otherwise it prints
# the command and fails. --build leaves out what only the tests need, which is most of it; --web adds what the page and
# its tests need to that (1.2 GB). --check never installs.
# On other systems it looks for the tools and libraries themselves.
set -eu

check=no
all=yes
web=no
for option in "$@"; do
    case $option in
    --check) check=yes ;;
    --build) all=no ;;
    --web) all=no web=yes ;;
    *) echo "usage: tools/setup.sh [--build] [--web] [--check]" >&2; exit 1 ;;
    esac
done

packages="gcc g++ cmake ninja-build make pkg-config
libmetis-dev libjansson-dev libzstd-dev libpng-dev libcmocka-dev ffmpeg libglfw3-dev libepoxy-dev"
tools="gcc g++ cmake ninja make pkg-config"
if [ $all = yes ]; then
    packages="$packages
clang clang-format libclang-rt-14-dev libsuitesparse-dev libopenblas-serial-dev locales xvfb xauth xdotool
python3-dev python3-cffi python3-numpy python3-pytest zsh"
    tools="$tools clang clang++"
fi
if [ $web = yes ]; then
    packages="$packages emscripten chromium"
    tools="$tools emcc node npm chromium"
    # node and npm may come from elsewhere than Debian
    command -v npm > /dev/null 2>&1 || packages="$packages nodejs npm"
fi

# What the packages are for, asked of the system itself.
tools_present() {
    missing=
    for tool in $tools; do
        command -v "$tool" > /dev/null 2>&1 || missing="$missing $tool"
    done
    if command -v pkg-config > /dev/null 2>&1; then
        for library in jansson libzstd libpng cmocka; do
            pkg-config --exists "$library" || missing="$missing $library"
        done
    fi
    if command -v gcc > /dev/null 2>&1; then
        echo '#include <metis.h>' | gcc -E -xc - > /dev/null 2>&1 || missing="$missing metis"
    fi
    [ -z "$missing" ]
}

if ! command -v dpkg-query > /dev/null 2>&1; then
    if tools_present; then
        echo "setup: not a Debian system, but everything needed is here"
        exit 0
    fi
    echo "setup: not a Debian system, and these are missing:$missing" >&2
    echo "setup: please install what your system calls these Debian packages:" >&2
    echo "$packages" >&2
    exit 1
fi

# On other releases than Debian 12 the sanitizer runtime carries another number, which libclang-rt-dev follows.
if [ $all = yes ] && ! apt-cache show libclang-rt-14-dev > /dev/null 2>&1 && apt-cache show libclang-rt-dev > /dev/null 2>&1; then
    packages=$(echo "$packages" | sed 's/libclang-rt-14-dev/libclang-rt-dev/')
fi

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    [ $check = no ] || echo "setup: everything needed is installed"
    exit 0
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    if command -v sudo > /dev/null 2>&1 && sudo -n true 2> /dev/null; then
        as_root=sudo
    else
        as_root=none
    fi
fi
if [ "$as_root" = none ] || [ $check = yes ]; then
    echo "setup: these packages are missing:$missing" >&2
    echo "setup: install them with" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi

echo "setup: installing$missing"
install_missing() {
    # shellcheck disable=SC2086  # one word per package
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
# Package lists may be absent (a fresh image) or old: refresh them only if the install fails without.
if ! install_missing > /dev/null 2>&1; then
    $as_root apt-get update -q
    install_missing
fi
echo "setup: done"
