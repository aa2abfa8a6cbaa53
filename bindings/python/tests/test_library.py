"""The binding against the headers, and errors."""

import os
import re

import numpy as np
import pytest

import toile
from toile.raw import ffi, lib


def declared(repo):
    """Names of public functions, read from the headers without the binding's own parser."""
    names = set()
    folder = os.path.join(repo, "include", "toile")
    for file in os.listdir(folder):
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            text = re.sub(r"//[^\n]*", "", f.read())
        for statement in re.findall(r"^TL_API\b([^;{]*);", text, flags=re.M):
            names.add(re.search(r"(\w+)\s*\(", statement.replace("(*", " ")).group(1))
    return names


def test_every_public_function_is_reachable(repo):
    names = declared(repo)
    assert len(names) > 150  # the expression above still finds them
    missing = sorted(n for n in names if not hasattr(lib, n))
    assert not missing


def test_every_public_header_is_bound(repo):
    text = open(os.path.join(repo, "bindings", "python", "toile_build.py"), encoding="utf-8").read()
    assert "public_headers" in text
    for name in ("tl_sim_step", "tl_recording_open", "tl_refine", "tl_show_open", "tl_quad_grid_make"):
        assert callable(getattr(lib, name))


def test_errors_have_the_text_of_the_library(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"cloths": [{"mesh": {"rectangle": {"size": [1, 1], "edge": 0.5}},\n "density": -1}]}')
    err = ffi.new("tl_error *")
    out = ffi.new("tl_scene **")
    assert lib.tl_scene_load(str(bad).encode(), ffi.NULL, 0, out, err) == lib.TL_BAD_INPUT
    with pytest.raises(toile.BadInput) as e:
        toile.load(bad)
    assert str(e.value) == ffi.string(err.message).decode()
    assert "bad.json:2" in str(e.value)


@pytest.mark.parametrize("make, error, says", [
    (lambda: toile.Material("denin"), toile.BadInput, "did you mean 'denim'"),
    (lambda: toile.Scene(grvity=(0, 0, 0)).simulate(), toile.BadArgument, "did you mean 'gravity'"),
    (lambda: toile.Scene(dt=-1).simulate(), toile.BadArgument, "whole number"),
    (lambda: toile.Scene(integrator="bdf3").simulate(), toile.BadArgument, "bdf2"),
    (lambda: toile.Scene(fps=33).simulate(), toile.BadArgument, "whole number"),
    (lambda: toile.load("there-is-none.json"), toile.FileError, "no such file"),
    (lambda: toile.Recording("there-is-none.toile"), toile.Error, "there-is-none"),
    (lambda: toile.Scene().add_cloth([[0, 0, 0]], [[0, 1.5, 2]]), toile.BadArgument, "whole"),
    (lambda: toile.export("there-is-none", "x.glb"), toile.Error, "there-is-none"),
    (lambda: toile.export(".", "x.ply", attributes=["strian"]), toile.BadArgument, "strain"),
])
def test_bad_input_raises(make, error, says):
    with pytest.raises(error) as e:
        make()
    assert says in str(e.value)


def bad_cloth(**changes):
    v = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1.0]])
    values = {"positions": v, "faces": [[0, 2, 1]], **changes}
    s = toile.Scene()
    s.add_cloth(**values)
    return s


@pytest.mark.parametrize("changes, says", [
    ({"faces": [[0, 1, 3]], "uv": np.zeros((3, 2))}, "3"),
    ({"positions": [[0, 0, 0], [1, 0, float("nan")], [0, 0, 1]], "uv": [[0, 0], [1, 0], [0, 1]]}, "face 0"),
    ({"uv": [[0, 0], [1, 0]]}, "vert_node"),
    ({"uv": [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}, "n x 2"),
    ({"thickness": -1}, "thickness"),
    ({"remeshing": "anisotrop"}, "anisotropic"),
    ({"thicknes": 1}, "thickness"),
    ({"name": "a b"}, "a b"),
])
def test_bad_cloths_are_refused(changes, says):
    with pytest.raises(toile.Error) as e:
        bad_cloth(**changes).simulate()
    assert says in str(e.value)


def test_materials():
    denim = toile.Material("denim")
    assert denim.density == pytest.approx(0.4)
    light = denim.replace(density=0.1)
    assert (light.density, denim.density) == (0.1, 0.4)
    assert set(toile.fabrics()) >= {"cotton", "denim", "silk"}
    with pytest.raises(AttributeError):
        denim.weight
    with pytest.raises(toile.BadInput):
        denim.replace(density=-1).check()
    sheet = toile.Material.isotropic(young=1e6, poisson=0.3, thickness=1e-3, density=0.2)
    assert sheet.stretch[0][0] == pytest.approx(1e6 * 1e-3 / (1 - 0.09))


def test_structs_are_read_whole():
    play = lib.tl_playback_default()
    assert play.clip == -1 and play.speed == 1
    definition = lib.tl_sim_def_default()
    assert definition.struct_size == ffi.sizeof("tl_sim_def")
    assert toile.__version__ == "0.1.0"
