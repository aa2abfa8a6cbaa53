"""Builds the extension `toile._toile`: the public headers, as cffi reads them, over the static library.

    python3 toile_build.py --library build/release --out build/release/python

writes an importable package to OUT/toile. `pip install .` and `pip wheel .` go through setup.py, which calls this file.
Environment: TOILE_BUILD, folder with libtoile.a (else setup.py builds one with CMake).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
INCLUDE = os.path.join(REPO, "include")

# Callbacks that Python code answers; each gets a handle of ffi.new_handle as its `user`.
CALLBACKS = """
extern "Python" void toile_on_log(void *user, tl_log_level level, const char *message);
extern "Python" int toile_on_ask(void *user);
extern "Python" void toile_on_run(void *user, const tl_run_progress *progress);
extern "Python" void toile_on_render(void *user, const tl_render_progress *progress);
extern "Python" void toile_on_drape(void *user, int32_t garment, tl_drape_stage stage, double part);
extern "Python" void toile_on_refine(void *user, int32_t done, int32_t count);
extern "Python" void toile_on_text(void *user, const char *text);
extern "Python" int toile_on_fabric(void *user, const tl_fabric_entry *entry);
extern "Python" double toile_on_size(void *user, tl_vec2 at);
"""


def public_headers():
    """All public headers, each after those it includes."""
    order = []

    def visit(name):
        if name in order:
            return
        with open(os.path.join(INCLUDE, name), encoding="utf-8") as f:
            text = f.read()
        for other in re.findall(r'#include "(toile/[a-z_]+\.h)"', text):
            visit(other)
        order.append(name)

    for file in sorted(os.listdir(os.path.join(INCLUDE, "toile"))):
        visit("toile/" + file)
    return order


def declarations(text):
    """A header as cffi's parser takes it: no comments, no preprocessor, inline functions as declarations."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^#if(?:.|\n)*?^#define TL_VERSION_MAJOR", "#define TL_VERSION_MAJOR", text, flags=re.M) \
        if "TL_VERSION_MAJOR" in text else text
    text = re.sub(r"^#ifdef __cplusplus\n[^#]*#endif$", "", text, flags=re.M)
    text = re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)
    text = re.sub(r"static inline ([^{;]*\))\s*\{.*?^\}", r"\1;", text, flags=re.S | re.M)
    text = re.sub(r"\bTL_API\b", "", text)
    # Three shapes that cffi 1.15 parses but writes wrongly: functions that return pointers to arrays, callbacks that
    # take them (Python casts these itself), and pointers to constant arrays as fields.
    text = re.sub(r"const \w+ \(\*(\w+)\(([^()]*)\)\)\[\d+\]", r"const void *\1(\2)", text)
    text = re.sub(r"(\(void \*user, )const \w+ \(\*(\w+)\)\[\d+\]", r"\1const void *\2", text)
    text = re.sub(r"const (\w+) (\(\*\w+\)\[\d+\])", r"\1 \2", text)
    return text


def cdef():
    text = []
    for name in public_headers():
        with open(os.path.join(INCLUDE, name), encoding="utf-8") as f:
            text.append(declarations(f.read()))
    with open(os.path.join(HERE, "csrc", "keeper.h"), encoding="utf-8") as f:
        text.append(declarations(f.read()))
    return "\n".join(text) + CALLBACKS + "\nvoid free(void *);\n"


def pkg_config(*words):
    out = subprocess.run(["pkg-config", *words], capture_output=True, text=True, check=False)
    return out.stdout.split() if out.returncode == 0 else []


def builder(library_dir):
    """The cffi builder of `toile._toile` over LIBRARY_DIR/libtoile.a."""
    from cffi import FFI

    library = os.path.join(library_dir, "libtoile.a")
    if not os.path.exists(library):
        raise SystemExit(f"{library} is missing (build it: cmake --build build/release --target toile_lib)")
    links = [library]
    for module in ("jansson", "libzstd", "libpng"):
        links += pkg_config("--libs", module)
    cache = os.path.join(library_dir, "CMakeCache.txt")
    with open(cache, encoding="utf-8") as f:
        metis = re.search(r"^METIS_LIBRARY:\w+=(\S+)$", f.read(), flags=re.M)
    if metis and not metis.group(1).endswith("NOTFOUND"):
        links.append(metis.group(1))
    headers = "".join(f'#include "{name}"\n' for name in public_headers())
    ffi = FFI()
    ffi.cdef(cdef())
    ffi.set_source(
        "toile._toile", headers + '#include <stdlib.h>\n#include "keeper.h"\n',
        include_dirs=[INCLUDE, os.path.join(HERE, "csrc")],
        sources=[os.path.join(HERE, "csrc", "keeper.c")],
        depends=[library],
        extra_compile_args=["-O1", "-std=gnu17", "-Wno-unused-function", "-Wno-incompatible-pointer-types",
                            "-Wno-discarded-array-qualifiers", "-pthread"],
        extra_link_args=links + ["-lm", "-pthread"],
    )
    return ffi


def build(library_dir, out):
    """Compiles into OUT/toile and copies the Python files beside it."""
    os.makedirs(out, exist_ok=True)
    package = os.path.join(out, "toile")
    os.makedirs(package, exist_ok=True)
    for file in os.listdir(os.path.join(HERE, "toile")):
        if file.endswith((".py", ".pyi", ".typed")):
            shutil.copy2(os.path.join(HERE, "toile", file), package)
    return builder(os.path.abspath(library_dir)).compile(tmpdir=out, verbose=bool(os.environ.get("V")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="folder with libtoile.a")
    parser.add_argument("--out", required=True, help="where toile/ is written")
    given = parser.parse_args()
    print(build(given.library, given.out))
    sys.exit(0)
