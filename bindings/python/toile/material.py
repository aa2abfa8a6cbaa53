"""Fabrics."""

from __future__ import annotations

import os
from typing import Any

from ._core import BadArgument, BadInput, Callbacks, Keep, Record, call, ffi, fill, lib, record, text_of


class Material:
    """What a fabric is made of, in SI units.

    Start from a name of the library, a file, a sheet of measured values, or stiffness:

    >>> Material("denim").density
    0.4
    >>> m = Material.orthotropic(stretch_warp=1000, stretch_weft=800, shear=50, bend_warp=1e-5, bend_weft=8e-6,
    ...                          density=0.15)

    All fields of `tl_material` are attributes that can be set; `check` (called where a material is used) says what is
    wrong with them.

    Parameters
    ----------
    source : str or path-like, optional
        Name of a fabric of the library, or a path with a '/' or the ending .json. None: a plain cotton.
    """

    def __init__(self, source: str | os.PathLike | None = None):
        object.__setattr__(self, "_struct", ffi.new("tl_material *", lib.tl_material_default()))
        if source is None:
            return
        text = os.fspath(source)
        if "/" in text or text.endswith(".json"):
            keep = Keep()
            call(lib.tl_material_load, keep.text(text), self._struct)
            return
        found = _find(text)
        if found is None:
            import difflib

            names = list(fabrics())
            near = difflib.get_close_matches(text, names, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}"
            raise BadInput(f"material '{text}' is not in the library ({hint})")
        self._struct[0] = found

    def __getattr__(self, name: str) -> Any:
        fields = record(object.__getattribute__(self, "_struct"))
        if name in fields:
            return fields[name]
        raise AttributeError(f"a material has no '{name}' (it has {', '.join(fields)})")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "name":
            value = os.fsencode(value)
            if len(value) > 63:
                raise BadArgument("name of a material: at most 63 bytes")
            self._struct.name = value
        elif name in ("stretch", "bend"):
            rows = [[float(x) for x in row] for row in value]
            want = (6, 4) if name == "stretch" else (3, 5)
            if len(rows) != want[0] or any(len(row) != want[1] for row in rows):
                raise BadArgument(f"{name} of a material: {want[0]} rows of {want[1]} numbers")
            setattr(self._struct, name, rows)
        else:
            fill(self._struct, {name: value}, Keep(), "material")

    def __repr__(self) -> str:
        return f"<Material {self.name or 'unnamed'}: {self.density:g} kg/m^2>"

    def replace(self, **changes: Any) -> "Material":
        """The same with some fields changed."""
        out = Material()
        out._struct[0] = self._struct[0]
        for name, value in changes.items():
            setattr(out, name, value)
        return out

    def check(self) -> "Material":
        """Raises BadInput if a number is out of range."""
        call(lib.tl_material_check, self._struct)
        return self

    def to_dict(self) -> Record:
        """All fields."""
        return record(self._struct)

    @classmethod
    def _made(cls, function, struct_name: str | None, *args, **values):
        out = cls()
        if struct_name:
            sheet = ffi.new(struct_name + " *")
            fill(sheet, values, Keep(), struct_name)
            args = (sheet,)
        call(function, *args, out._struct)
        return out

    @classmethod
    def isotropic(cls, young: float, poisson: float, thickness: float, density: float) -> "Material":
        """A homogeneous sheet: Young's modulus [Pa], Poisson's ratio, thickness [m], density [kg/m^2]."""
        return cls._made(lib.tl_material_isotropic, None, young, poisson, thickness, density)

    @classmethod
    def orthotropic(cls, *, bend_bias: float = -1, **values: float) -> "Material":
        """Linear, warp and weft of their own: the fields of `tl_orthotropic`."""
        return cls._made(lib.tl_material_orthotropic, "tl_orthotropic", bend_bias=bend_bias, **values)

    @classmethod
    def kesf(cls, **sheet: float) -> "Material":
        """A Kawabata sheet in its customary units: the fields of `tl_kesf`."""
        return cls._made(lib.tl_material_kesf, "tl_kesf", **sheet)

    @classmethod
    def fast(cls, **sheet: float) -> "Material":
        """A FAST sheet in its customary units: the fields of `tl_fast`."""
        return cls._made(lib.tl_material_fast, "tl_fast", **sheet)


def _find(name: str):
    found = []

    def visit(entry):
        if text_of(entry.name) == name:
            found.append(ffi.new("tl_material *", entry.material[0]))  # the entry is borrowed for the visit only
            return True
        return False

    calls = Callbacks(fabric=visit)
    calls.checked(lib.tl_fabrics_visit, lib.toile_on_fabric, calls.handle)
    return found[0][0] if found else None


def fabrics() -> dict[str, Record]:
    """Fabrics of the library by name, each with `use`, `path` and its numbers."""
    out: dict[str, Record] = {}

    def visit(entry):
        out[text_of(entry.name)] = Record(use=text_of(entry.use), path=text_of(entry.path), **record(entry.material))
        return False

    calls = Callbacks(fabric=visit)
    calls.checked(lib.tl_fabrics_visit, lib.toile_on_fabric, calls.handle)
    return out


def as_material(value) -> Material:
    """A material from what may stand for one: itself, a name, a path, a dict of orthotropic numbers."""
    if isinstance(value, Material):
        return value.check()
    if isinstance(value, dict):
        return Material.orthotropic(**value)
    return Material(value)
