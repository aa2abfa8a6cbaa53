"""Toile: an adaptive cloth and garment simulator.

>>> import toile
>>> scene = toile.Scene()
>>> scene.add_rectangle(size=(1, 1), cells=(20, 20), material="denim").pin([0, 20])
>>> with scene.simulate(threads=2) as sim:
...     for frame in sim.run(100):
...         x = frame.cloths["cloth"].positions

Lengths are in metres, y is up, everything is SI. `toile.raw` has every function of the C library.
"""

import os as _os

_data = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "data")
if "TOILE_DATA" not in _os.environ and _os.path.isdir(_os.path.join(_data, "materials")):
    _os.environ["TOILE_DATA"] = _data  # where the library looks for fabrics; a wheel brings its own

from . import raw  # noqa: E402
from ._core import (  # noqa: E402
    BadArgument,
    BadInput,
    Cancelled,
    Closed,
    Error,
    Failed,
    FileError,
    OutOfMemory,
    Record,
)
from .files import (  # noqa: E402
    Character,
    Recording,
    Sweep,
    check,
    drape,
    export,
    info,
    plot,
    refine,
    render,
    render_image,
    run,
    save_png,
)
from .material import Material, fabrics  # noqa: E402
from .scene import BodyDef, ClothDef, Scene, SceneFile, load  # noqa: E402
from .shapes import Pattern, collide, nearest, quad_grid, triangulate  # noqa: E402
from .sim import Body, Cloth, Frame, Handle, Sim  # noqa: E402

__version__ = raw.ffi.string(raw.lib.tl_version()).decode()
__all__ = [
    "BadArgument", "BadInput", "Body", "BodyDef", "Cancelled", "Character", "Closed", "Cloth", "ClothDef", "Error",
    "Failed", "FileError", "Frame", "Handle", "Material", "OutOfMemory", "Pattern", "Record", "Recording", "Scene",
    "SceneFile", "Sim", "Sweep", "check", "collide", "drape", "export", "fabrics", "info", "load", "nearest", "plot", "quad_grid",
    "raw", "refine", "render", "render_image", "run", "save_png", "triangulate",
]
