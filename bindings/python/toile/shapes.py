"""Flat shapes: sewing patterns, grids of quads, triangles; distances and collisions of small features."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np

from ._core import BadArgument, Callbacks, Keep, Record, call, copy, enum_value, ffi, fill, lib, record, text_of, vec


def _segment(values):
    """A `tl_segment *` from a dict of its fields, or from two points (a line)."""
    out = ffi.new("tl_segment *")
    if not isinstance(values, dict):
        from_, to = values
        values = {"kind": "line", "from": from_, "to": to}
    fill(out, values, Keep(), "segment")
    return out


class Pattern:
    """A sewing pattern: `Pattern("dress.json")`, or built with `panel` and `seam`."""

    def __init__(self, path: str | os.PathLike | None = None, name: str | None = None):
        out = ffi.new("tl_pattern **")
        if path is not None:
            call(lib.tl_pattern_load, Keep().text(path), out)
        else:
            call(lib.tl_pattern_create, ffi.NULL, out)
        self._pattern = ffi.gc(out[0], lib.tl_pattern_destroy)
        if name is not None:
            call(lib.tl_pattern_set_name, self._pattern, name.encode())

    @property
    def name(self) -> str:
        return text_of(lib.tl_pattern_name(self._pattern)) or ""

    @property
    def panels(self) -> list[Record]:
        """The panels, with `outline`: the corners around each."""
        out = []
        for i in range(lib.tl_pattern_panel_count(self._pattern)):
            p = lib.tl_pattern_panel(self._pattern, i)
            values = record(p)
            values["edges"] = [record(ffi.addressof(p.edges, k)) for k in range(p.edge_count)] if p.edge_count else []
            values["curves"] = [record(ffi.addressof(p.curves, k)) for k in range(p.curve_count)]
            values["outline"] = [c["from"] for c in values["curves"]]
            out.append(values)
        return out

    @property
    def seams(self) -> list[Record]:
        """The seams, with the length of both sides."""
        out = []
        for i in range(lib.tl_pattern_seam_count(self._pattern)):
            seam = lib.tl_pattern_seam(self._pattern, i)
            values = record(seam)
            values["length"] = tuple(lib.tl_seam_side_length(self._pattern, ffi.addressof(seam.side, k))
                                     for k in range(2))
            out.append(values)
        return out

    @property
    def measures(self) -> dict[str, Record]:
        n = lib.tl_pattern_measure_count(self._pattern)
        all_ = [record(lib.tl_pattern_measure(self._pattern, i)) for i in range(n)]
        return {m["name"]: m for m in all_}

    @property
    def notes(self) -> list[str]:
        """What the reader or `check` has to say."""
        n = lib.tl_pattern_note_count(self._pattern)
        return [text_of(lib.tl_pattern_note(self._pattern, i)) for i in range(n)]

    def find(self, panel: str) -> int:
        """Index of a panel by name, -1: none."""
        return lib.tl_pattern_find_panel(self._pattern, panel.encode())

    def panel(self, name: str, outline, label: str | None = None, edge_labels=None, layer: int = 0,
              grain=None, origin=None, rotation_deg=(0, 0, 0)) -> int:
        """Adds a panel.

        Parameters
        ----------
        outline : list
            Points (straight edges between them), or edges as dicts of the fields of `tl_segment`, around it.
        origin, rotation_deg : optional
            Where it starts in space.

        Returns
        -------
        int
            Its index.
        """
        out = ffi.new("int32_t *")
        keep = Keep()
        call(lib.tl_pattern_add_panel, self._pattern, keep.text(name), keep.text(label), out)
        index = out[0]
        if len(outline) and not isinstance(outline[0], dict):
            outline = [(outline[i], outline[(i + 1) % len(outline)]) for i in range(len(outline))]
        for i, edge in enumerate(outline):
            call(lib.tl_pattern_add_edge, self._pattern, index, _segment(edge), 1,
                 keep.text(edge_labels[i] if edge_labels else None), ffi.NULL)
        if layer:
            call(lib.tl_pattern_set_layer, self._pattern, index, layer)
        if grain is not None:
            call(lib.tl_pattern_set_grain, self._pattern, index, vec(grain[0], 2), vec(grain[1], 2))
        if origin is not None:
            place = ffi.new("tl_placement *")
            fill(place, {"origin": origin, "rotation_deg": rotation_deg}, keep)
            call(lib.tl_pattern_set_placement, self._pattern, index, place)
        return index

    def line(self, panel: int, kind: str, curves, label: str | None = None, angle_deg: float = 0.0) -> None:
        """An inner line: "internal", "fold", "hole", "cut" or "drill"."""
        pieces = [_segment(c) for c in curves]
        array = ffi.new("tl_segment[]", [p[0] for p in pieces])
        call(lib.tl_pattern_add_line, self._pattern, panel, enum_value("tl_line_kind", kind), angle_deg, array,
             len(pieces), Keep().text(label) if label else ffi.NULL)

    def notch(self, panel: int, edge: int, at: float, depth: float = 0.0) -> None:
        """A mark at the outline."""
        call(lib.tl_pattern_add_notch, self._pattern, panel,
             ffi.new("tl_notch *", {"edge": edge, "at": at, "depth": depth}))

    def dart(self, panel: int, **fields: Any) -> None:
        """A wedge that is sewn up (`tl_dart`)."""
        keep = Keep()
        d = ffi.new("tl_dart *")
        fill(d, fields, keep, "dart")
        call(lib.tl_pattern_add_dart, self._pattern, panel, d)

    def seam(self, a, b, turned: bool = False, label: str | None = None) -> int:
        """Sews two stretches: each (panel, edge), or a dict of the fields of `tl_seam_side`."""
        keep = Keep()
        seam = ffi.new("tl_seam *", {"turned": int(turned)})
        seam.label = keep.text(label)
        for side, values in zip(seam.side, (a, b)):
            if not isinstance(values, dict):
                values = {"panel": values[0], "edge": values[1]}
            fill(ffi.addressof(side), {"count": 1, "from": 0.0, "to": 1.0, **values}, keep, "seam")
        out = ffi.new("int32_t *")
        call(lib.tl_pattern_add_seam, self._pattern, seam, out)
        return out[0]

    def turn_seam(self, seam: int) -> None:
        """The other direction for a seam."""
        call(lib.tl_pattern_turn_seam, self._pattern, seam)

    def measure(self, name: str, value: float, unit: str = "m") -> None:
        """Adds a named measure."""
        call(lib.tl_pattern_add_measure, self._pattern, name.encode(), value, unit.encode())

    def check(self) -> "Pattern":
        """Raises BadInput if outlines or seams are wrong."""
        call(lib.tl_pattern_check, self._pattern)
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Writes it by the ending: .json, .svg, .dxf."""
        call(lib.tl_pattern_save, self._pattern, Keep().text(path))

    def draw(self, path: str | os.PathLike) -> None:
        """Draws it for people as .svg."""
        call(lib.tl_pattern_draw, self._pattern, Keep().text(path))

    def mesh(self, **settings: Any) -> Record:
        """Fills the panels: at, uv, pos, faces, pairs (seam, a, b) as arrays, panels as records.

        `settings` are fields of `tl_pattern_mesh_def`: edge [m], method.
        """
        self.check()
        d = ffi.new("tl_pattern_mesh_def *", lib.tl_pattern_mesh_def_default())
        fill(d, settings, Keep(), "mesh")
        m = ffi.new("tl_pattern_mesh *")
        call(lib.tl_pattern_mesh_make, ffi.NULL, self._pattern, d, m)
        try:
            return Record(
                at=copy(m.at, m.vert_count, 2, "double"), uv=copy(m.uv, m.vert_count, 2, "double"),
                pos=copy(m.pos, m.vert_count, 3, "double"), faces=copy(m.face, m.face_count, 3, "int32"),
                pairs=copy(m.pairs, m.pair_count, 3, "int32"),
                panels=[record(ffi.addressof(m.panels, i)) for i in range(m.panel_count)])
        finally:
            lib.tl_pattern_mesh_free(m)

    def save_mesh(self, path: str | os.PathLike, **settings: Any) -> None:
        """Fills the panels and writes an OBJ with the seams beside it."""
        self.check()
        d = ffi.new("tl_pattern_mesh_def *", lib.tl_pattern_mesh_def_default())
        fill(d, settings, Keep(), "mesh")
        m = ffi.new("tl_pattern_mesh *")
        call(lib.tl_pattern_mesh_make, ffi.NULL, self._pattern, d, m)
        try:
            call(lib.tl_pattern_mesh_save, self._pattern, m, Keep().text(path))
        finally:
            lib.tl_pattern_mesh_free(m)


def quad_grid(outline, corners=None, diagonals: str = "shortest", **settings: Any) -> Record:
    """A grid of quads within a closed polygon (`tl_quad_grid_make`): points (rows, columns, 2), faces, report."""
    keep = Keep()
    points = np.asarray(outline, np.float64)
    d = ffi.new("tl_grid_def *", lib.tl_grid_def_default())
    fill(d, settings, keep, "grid")
    g = ffi.new("tl_quad_grid *")
    alloc = ffi.new("tl_allocator *", lib.tl_allocator_default())
    call(lib.tl_quad_grid_make, alloc, keep.points2(points, "outline"), len(points),
         keep.array(corners, "int32_t *", np.int32, (4,), "corners") if corners is not None else ffi.NULL, d, ffi.NULL, g)
    try:
        nu, nv = g.cells_u, g.cells_v
        tri = np.empty((2 * nu * nv, 3), np.int32)
        lib.tl_quad_grid_triangles(g, enum_value("tl_grid_diagonals", diagonals),
                                   ffi.cast("int32_t (*)[3]", tri.ctypes.data), ffi.NULL, ffi.NULL)
        at = copy(g.point, (nu + 1) * (nv + 1), 2, "double").reshape(nv + 1, nu + 1, 2)
        return Record(points=at, faces=tri, corners=list(g.corner), report=record(ffi.addressof(g.report)))
    finally:
        lib.tl_quad_grid_free(g)


def triangulate(points, edges, kinds=None, size: Callable[[tuple], float] | None = None, **settings: Any) -> Record:
    """Fills a region with well-shaped triangles (`tl_delaunay_fill`).

    Parameters
    ----------
    points : n x 2 floats
    edges : m x 2 ints
        Outlines and inner lines.
    kinds : list of "outline" or "line", optional
    size : callable, optional
        Wanted edge length at (x, y).
    """
    keep = Keep()
    points = np.asarray(points, np.float64)
    array = ffi.new("tl_region_edge[]", max(len(edges), 1))
    for i, (a, b) in enumerate(edges):
        array[i].a, array[i].b = int(a), int(b)
        array[i].kind = enum_value("tl_region_edge_kind", kinds[i]) if kinds else lib.TL_EDGE_OUTLINE
    region = ffi.new("tl_region *")
    region.point, region.point_count = keep.points2(points), len(points)
    region.edge, region.edge_count = array, len(edges)
    d = ffi.new("tl_delaunay_def *", lib.tl_delaunay_def_default())
    fill(d, settings, keep, "triangulate")
    calls = Callbacks(size=size)
    if size is not None:
        d.size, d.user = lib.toile_on_size, calls.handle
    m = ffi.new("tl_delaunay_mesh *")
    alloc = ffi.new("tl_allocator *", lib.tl_allocator_default())
    calls.checked(lib.tl_delaunay_fill, alloc, region, 1, ffi.NULL, 0, d, m)
    try:
        return Record(points=copy(m.point, m.point_count, 2, "double"), faces=copy(m.tri, m.tri_count, 3, "int32"),
                      at=copy(m.at, m.input_count, 1, "int32"), report=record(ffi.addressof(m.report)))
    finally:
        lib.tl_delaunay_mesh_free(m)


def _four(x, what: str):
    a = np.asarray(x, np.float64)
    if a.shape != (4, 3):
        raise BadArgument(f"{what} must be 4 x 3")
    return ffi.new("tl_vec3[4]", a.tolist())


def nearest(kind: str, x) -> Record:
    """Distance and weights of two features: "vertex-face" or "edge-edge"; x is 4 x 3."""
    function = {"vertex-face": lib.tl_nearest_vertex_face, "edge-edge": lib.tl_nearest_edge_edge}.get(kind)
    if function is None:
        raise BadArgument(f"kind '{kind}': vertex-face or edge-edge")
    return record(ffi.new("tl_nearest *", function(_four(x, "x"))))


def collide(kind: str, x0, x1, separation: float = 0.0) -> float | None:
    """Time in [0, 1] not later than the first contact of features that move straight from x0 to x1, or None."""
    function = {"vertex-face": lib.tl_ccd_vertex_face, "edge-edge": lib.tl_ccd_edge_edge}.get(kind)
    if function is None:
        raise BadArgument(f"kind '{kind}': vertex-face or edge-edge")
    time = ffi.new("double *")
    return time[0] if function(_four(x0, "x0"), _four(x1, "x1"), separation, time) else None
