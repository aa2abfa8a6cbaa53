"""Descriptions of simulations: built in code, or read from scene files."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Mapping, Sequence

import numpy as np

from ._core import (
    BadArgument,
    Callbacks,
    Keep,
    Keeper,
    Record,
    call,
    check,
    ffi,
    fill,
    lib,
    new_error,
    text_of,
    vec,
)
from .material import Material, as_material
from .sim import Sim, handle_def, motion_keys


class ClothDef:
    """A cloth of a `Scene`, before the simulation is made. `pin` and `hold` may be chained."""

    def __init__(self, name: str, positions, faces, uv, material, settings: dict):
        self.name = name
        self.positions = np.array(positions, dtype=np.float64)
        self.faces = np.array(faces)
        if self.faces.size and not np.issubdtype(self.faces.dtype, np.integer):
            raise BadArgument(f"faces of cloth '{name}' have floating point numbers, must be whole ones")
        self.uv = None if uv is None else np.array(uv, dtype=np.float64)
        materials = material if isinstance(material, (list, tuple)) else [material]
        self.materials: list[Material] = [as_material(m) for m in materials]
        self.settings = settings
        self.handles: list[tuple[Any, dict]] = []

    def pin(self, nodes, **settings: Any) -> "ClothDef":
        """Holds nodes where they are; with `start`, `end` [s] for a time, with `keys` (a list of dicts with the fields
        of `tl_motion_key`) along a path."""
        self.handles.append((np.atleast_1d(np.asarray(nodes)).copy(), settings))
        return self

    def hold(self, **selectors: Any) -> "ClothDef":
        """A handle by the fields of `tl_handle_def`: boxes, spheres, labels, keys."""
        self.handles.append((None, selectors))
        return self

    def _material_coordinates(self):
        if self.uv is not None:
            return self.uv
        # flat cloth tells its own: distances in its plane
        x = self.positions - self.positions.mean(axis=0)
        _, size, axes = np.linalg.svd(x, full_matrices=False)
        if len(size) < 3 or size[2] > 1e-9 * max(size[0], 1e-300):
            raise BadArgument(f"cloth '{self.name}' is not flat: give uv, its place on the fabric [m]")
        axes = axes[:2]
        f = self.faces[0]
        normal = np.cross(self.positions[f[1]] - self.positions[f[0]], self.positions[f[2]] - self.positions[f[0]])
        if np.dot(np.cross(axes[0], axes[1]), normal) < 0:
            axes[1] = -axes[1]
        return x @ axes.T

    def _add(self, sim):
        keep = Keep()
        d = ffi.new("tl_cloth_def *", lib.tl_cloth_def_default())
        s = dict(self.settings)
        d.name = keep.text(self.name)
        d.pos, d.node_count = keep.points(self.positions, "positions"), len(self.positions)
        d.face, d.face_count = keep.triples(self.faces, "faces"), len(self.faces)
        uv = self._material_coordinates()
        d.uv = keep.points2(uv, "uv")
        arrays = {
            "vel": lambda v: keep.array(v, "tl_vec3 *", np.float64, (d.node_count, 3), "vel"),
            "face_label": lambda v: keep.array(v, "int32_t *", np.int32, (d.face_count,), "face_label"),
            "node_label": lambda v: keep.array(v, "int32_t *", np.int32, (d.node_count,), "node_label"),
        }
        if "vert_node" in s:
            d.vert_node, d.vert_count = keep.array(s.pop("vert_node"), "int32_t *", np.int32, (len(uv),), "vert_node"), len(uv)
        elif len(uv) != len(self.positions):
            raise BadArgument(f"uv of cloth '{self.name}' has {len(uv)} entries for {len(self.positions)} nodes: give "
                              "vert_node, the node under each")
        for name, make in arrays.items():
            if s.get(name) is not None:
                setattr(d, name, make(s.pop(name)))
        if s.get("edge") is not None:
            edges = np.asarray(s.pop("edge"))
            d.edge, d.edge_count = keep.pairs(edges, "edge"), len(edges)
            if s.get("edge_label") is not None:
                d.edge_label = keep.array(s.pop("edge_label"), "int32_t *", np.int32, (len(edges),), "edge_label")
        stuff = ffi.new("tl_material[]", [m._struct[0] for m in self.materials])
        d.materials, d.material_count = stuff, len(self.materials)
        remeshing = s.pop("remeshing", None)
        if remeshing is not None:
            fill(d, {"remeshing": remeshing if isinstance(remeshing, Mapping) else {"kind": remeshing}}, keep)
        fill(d, s, keep, "cloth")
        out = ffi.new("tl_cloth_id *")
        call(lib.tl_sim_add_cloth, sim, d, out)
        for nodes, settings in self.handles:
            held = Keep()
            call(lib.tl_sim_add_handle, sim, handle_def(out[0], nodes, settings, held))
        return out[0]


class BodyDef:
    """A body of a `Scene`: a shape, a mesh that stands or deforms, or a character."""

    def __init__(self, name: str, settings: dict):
        self.name = name
        self.settings = {k: np.array(v) if isinstance(v, (np.ndarray, list)) and k in ("pos", "face", "key_pos")
                         else v for k, v in settings.items()}

    def _add(self, sim):
        keep = Keep()
        d = ffi.new("tl_body_def *", lib.tl_body_def_default())
        s = dict(self.settings)
        d.name = keep.text(self.name)
        if s.get("pos") is not None:
            pos = s.pop("pos")
            d.pos, d.node_count = keep.points(pos, "pos"), len(pos)
        if s.get("face") is not None:
            face = s.pop("face")
            d.face, d.face_count = keep.triples(face, "face"), len(face)
        if s.get("key_pos") is not None:
            poses = np.ascontiguousarray(s.pop("key_pos"), np.float64)
            times = s.pop("key_time", ())
            if poses.ndim != 3 or poses.shape[2] != 3 or len(poses) != len(times):
                raise BadArgument(f"key_pos of body '{self.name}' must be keys x nodes x 3, with a key_time for each")
            d.key_count, d.node_count = len(poses), poses.shape[1]
            d.key_time = keep.doubles(times, "key_time")
            d.key_pos = keep.points(poses.reshape(-1, 3), "key_pos")
        if s.get("motion") is not None:
            keys = s.pop("motion")
            d.motion, d.motion_count = motion_keys(keys, keep), len(keys)
        character = s.pop("character", None)
        if character is not None:
            keep.append(character)
            d.character = character._character
            d.playback = lib.tl_playback_default()
            fill(d, {"playback": {"clip": 0 if character.clips else -1, **s.pop("playback", {})}}, keep)
        fill(d, s, keep, "body")
        out = ffi.new("tl_body_id *")
        call(lib.tl_sim_add_body, sim, d, out)
        return out[0]


class Scene:
    """A simulation described in code.

    >>> scene = Scene(threads=2)
    >>> scene.add_cloth(V, F, uv=UV, material="denim").pin([0, 20])
    >>> scene.add_sphere((0, 0.2, 0), 0.2)
    >>> with scene.simulate() as sim:
    ...     for frame in sim.run(100):
    ...         print(frame.time, frame.cloths["cloth"].positions[:, 1].min())

    Parameters
    ----------
    fps : float
        Frames a second of `Sim.run`; a whole number of steps goes into each.
    **settings
        Fields of `tl_sim_def`: dt, gravity, integrator, threads, seed, and dicts for air, collide, start.
    """

    def __init__(self, fps: float = 25.0, **settings: Any):
        self.fps = float(fps)
        self.settings = settings
        self.cloths: list[ClothDef] = []
        self.bodies: list[BodyDef] = []

    def add_cloth(self, positions, faces, uv=None, material="cotton", name: str | None = None,
                  **settings: Any) -> ClothDef:
        """A cloth from arrays.

        Parameters
        ----------
        positions : n x 3 floats
            Of the nodes [m].
        faces : m x 3 ints
            Vertices, counter-clockwise.
        uv : n x 2 floats, optional
            Place on the fabric [m], x along the warp. Flat cloth may do without.
        material : str, Material, dict, or a list of them
            A fabric of the library, a path, numbers; several go with `face_label`.
        **settings
            Fields of `tl_cloth_def`: thickness, friction, vel, vert_node, face_label, node_label; `remeshing`
            ("none", or a dict with the fields of `tl_remeshing`), `strain` (a dict).
        """
        cloth = ClothDef(name or _free_name("cloth", self.cloths), positions, faces, uv, material, settings)
        self.cloths.append(cloth)
        return cloth

    def add_rectangle(self, size=(1.0, 1.0), cells=(20, 20), origin=(0.0, 0.0, 0.0), upright: bool = False,
                      **settings: Any) -> ClothDef:
        """A rectangle of cloth, level with its middle at `origin`, or `upright` in the plane z = 0."""
        (w, h), (nu, nv) = vec(size, 2, "size"), (int(c) for c in cells)
        if nu < 1 or nv < 1:
            raise BadArgument(f"cells {nu} x {nv}: at least 1 x 1")
        u, v = np.meshgrid(np.linspace(0, w, nu + 1), np.linspace(0, h, nv + 1))
        uv = np.stack([u.ravel(), v.ravel()], axis=1)
        flat = uv - [w / 2, h / 2]
        zero = np.zeros(len(uv))
        pos = np.stack([flat[:, 0], flat[:, 1], zero] if upright else [flat[:, 0], zero, -flat[:, 1]], axis=1)
        a = (np.arange(nv)[:, None] * (nu + 1) + np.arange(nu)[None, :]).ravel()
        b, c, d = a + 1, a + nu + 2, a + nu + 1
        faces = np.stack([np.stack([a, b, c], 1), np.stack([a, c, d], 1)], 1).reshape(-1, 3)
        return self.add_cloth(pos + vec(origin), faces, uv, **settings)

    def add_body(self, positions=None, faces=None, name: str | None = None, **settings: Any) -> BodyDef:
        """A mesh (or `character=`, or deforming by `key_time`, `key_pos`); more fields of `tl_body_def` by name."""
        body = BodyDef(name or _free_name("body", self.bodies), {"pos": positions, "face": faces, **settings})
        self.bodies.append(body)
        return body

    def add_sphere(self, center, radius: float, **settings: Any) -> BodyDef:
        """A sphere."""
        return self.add_body(kind="sphere", center=center, radius=radius, **settings)

    def add_plane(self, point=(0, 0, 0), normal=(0, 1, 0), **settings: Any) -> BodyDef:
        """Everything behind a plane."""
        return self.add_body(kind="plane", center=point, axis=normal, **settings)

    def add_capsule(self, center, axis, radius: float, **settings: Any) -> BodyDef:
        """A capsule, `axis` from one end of its core to the other."""
        return self.add_body(kind="capsule", center=center, axis=axis, radius=radius, **settings)

    def add_cylinder(self, center, axis, radius: float, **settings: Any) -> BodyDef:
        """A cylinder, `axis` its full length."""
        return self.add_body(kind="cylinder", center=center, axis=axis, radius=radius, **settings)

    def add_box(self, center, size, **settings: Any) -> BodyDef:
        """A box, `size` its full lengths."""
        return self.add_body(kind="box", center=center, size=size, **settings)

    def simulate(self, **settings: Any) -> Sim:
        """Makes the simulation; `settings` replace those of the scene."""
        keep, keeper, calls = Keep(), Keeper(), Callbacks()
        d = ffi.new("tl_sim_def *", lib.tl_sim_def_default())
        try:
            values = {**self.settings, **settings}
            air = dict(values.get("air", {}))
            keys = air.pop("keys", None)
            if "air" in values:
                values["air"] = air
            fill(d, values, keep, "scene")
            if keys is not None:
                array = ffi.new("tl_wind_key[]", [{"time": t, "velocity": vec(v)} for t, v in keys])
                keep.append(array)
                d.air.keys, d.air.key_count = array, len(keys)
            per_frame = 1 / (self.fps * d.dt)
            steps = round(per_frame)
            if steps < 1 or not math.isclose(per_frame, steps, rel_tol=1e-6):
                raise BadArgument(f"fps {self.fps:g} and dt {d.dt:g} s: a frame has {per_frame:g} steps, must be a whole "
                                  "number")
            d.alloc, d.log = keeper.allocator[0], calls.log[0]
            out = ffi.new("tl_sim **")
            call(lib.tl_sim_create, d, out)
        except BaseException:
            keeper.release()
            raise
        sim = Sim(out[0], keeper, calls, steps, self.fps)
        try:
            for body in self.bodies:
                body._add(sim._sim)
            for cloth in self.cloths:
                cloth._add(sim._sim)
        except BaseException:
            sim.close()
            raise
        return sim


def _free_name(stem: str, there: Sequence) -> str:
    taken = {x.name for x in there}
    n = 1
    while (name := stem if n == 1 else f"{stem}-{n}") in taken:
        n += 1
    return name


class SceneFile:
    """A scene file: `load(path, {"gravity": [0, -1.62, 0]})`.

    Parameters
    ----------
    path : str or path-like
    sets : mapping or list of "key=value", optional
        Values that replace those of the file, as with `toile run --set`.
    """

    def __init__(self, path: str | os.PathLike, sets: Mapping[str, Any] | Sequence[str] | None = None):
        keep = Keep()
        words = set_words(sets)
        out = ffi.new("tl_scene **")
        call(lib.tl_scene_load, keep.text(path), keep.texts(words), len(words), out)
        self._scene = ffi.gc(out[0], lib.tl_scene_destroy)
        self.path = os.fspath(path)

    name = property(lambda self: text_of(lib.tl_scene_name(self._scene)), doc="Of the scene.")
    frames = property(lambda self: lib.tl_scene_frames(self._scene), doc="Frames after frame 0.")
    fps = property(lambda self: lib.tl_scene_fps(self._scene), doc="Frames a second.")
    steps_per_frame = property(lambda self: lib.tl_scene_steps_per_frame(self._scene), doc="Time steps of a frame.")
    is_foreign = property(lambda self: bool(lib.tl_scene_is_foreign(self._scene)), doc="A scene of ARCSim's.")

    @property
    def notes(self) -> list[str]:
        """What the reader has to say."""
        return [text_of(lib.tl_scene_note(self._scene, i)) for i in range(lib.tl_scene_note_count(self._scene))]

    @property
    def resolved(self) -> dict:
        """The scene with every default filled in."""
        return json.loads(text_of(lib.tl_scene_json(self._scene)))

    def save(self, path: str | os.PathLike, overwrite: bool = False) -> None:
        """Writes it in our format, with its meshes beside it."""
        call(lib.tl_scene_save, self._scene, Keep().text(path), int(overwrite))

    def simulate(self, threads: int = 1) -> Sim:
        """Makes the simulation."""
        keeper, calls = Keeper(), Callbacks()
        out = ffi.new("tl_sim **")
        err = new_error()
        status = lib.tl_scene_simulate(self._scene, threads, keeper.allocator, calls.log, out, err)
        if status:
            keeper.release()
            check(status, err)
        return Sim(out[0], keeper, calls, self.steps_per_frame, self.fps)

    def run(self, out: str | os.PathLike, **settings: Any) -> Record:
        """Runs it into a folder, see `toile.run`."""
        from .files import run

        return run(self, out, **settings)

    def __repr__(self) -> str:
        return f"<SceneFile '{self.name}': {self.frames} frames at {self.fps:g} fps>"


def set_words(sets) -> list[str]:
    """The words of `--set` from a mapping."""
    if sets is None:
        return []
    if isinstance(sets, Mapping):
        return [f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in sets.items()]
    return [str(s) for s in sets]


def load(path: str | os.PathLike, sets=None) -> SceneFile:
    """Reads a scene file."""
    return SceneFile(path, sets)


