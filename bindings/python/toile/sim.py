"""A running simulation: stepping it, reading it, changing it, saving it."""

from __future__ import annotations

import os
import tempfile
import threading
from typing import Any, Iterator, NamedTuple

import numpy as np

from ._core import (
    BadArgument,
    Callbacks,
    Closed,
    Failed,
    Keep,
    Keeper,
    Record,
    call,
    check,
    fill,
    ffi,
    lib,
    record,
    text_of,
    vec,
    view,
)


class _Asker(Callbacks):
    """Lets Ctrl-C end a step: Python answers signals while C asks whether to go on."""

    def __init__(self):
        super().__init__(cancelled=lambda: False)
        self._asker = ffi.new("toile_asker *", {"ask": lib.toile_on_ask, "user": self.handle})
        asked = ffi.addressof(lib, "toile_ask")
        self.cancel = ffi.new("tl_cancel *", {"asked": asked, "user": self._asker})


class Frame(NamedTuple):
    """What `Sim.run` gives for every frame."""

    index: int  #: from 1
    time: float  #: simulated [s]
    report: Record  #: of the frame's last step (`tl_step_report`)
    sim: "Sim"

    @property
    def cloths(self) -> "dict[str, Cloth]":
        """The simulation's cloths by name."""
        return self.sim.cloths


class Sim:
    """A simulation that runs. Made by `Scene.simulate` or `SceneFile.simulate`; closed by `close` or `with`.

    Arrays that cloths and bodies give are views without copies. They are read-only, stay readable for as long as they
    are referenced (also after `close`), and show the present state only until the simulation is stepped or changed:
    ask again, or `.copy()` what you keep.

    Calls may come from any thread, one at a time; while one steps, others wait.
    """

    def __init__(self, pointer, keeper: Keeper, calls: Callbacks, steps_per_frame: int, fps: float):
        self._pointer = pointer
        self._keeper = keeper
        self._calls = calls
        self._lock = threading.RLock()
        self._report = ffi.new("tl_step_report *")
        self._error = ffi.new("tl_error *")
        self._asker = _Asker()
        self.steps_per_frame = steps_per_frame
        self.fps = fps
        self._frame = 0
        lib.tl_sim_set_cancel(pointer, self._asker.cancel)

    # ---- life ----

    def close(self) -> None:
        """Frees everything but what views still look at. Fine to call twice."""
        with self._lock:
            if self._pointer is None:
                return
            lib.tl_sim_destroy(self._pointer)
            self._pointer = None
            self._keeper.release()

    def __enter__(self) -> "Sim":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) is not None:
            self.close()

    @property
    def _sim(self):
        if self._pointer is None:
            raise Closed("the simulation was closed")
        return self._pointer

    def _do(self, function, *args) -> None:
        with self._lock:
            call(function, self._sim, *args)

    def __repr__(self) -> str:
        if self._pointer is None:
            return "<Sim, closed>"
        return f"<Sim at {self.time:g} s: {', '.join(self.cloths) or 'no cloth'}>"

    # ---- time ----

    @property
    def messages(self) -> list[str]:
        """Warnings so far; they also go to the logger "toile"."""
        return self._calls.messages

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return lib.tl_sim_time(self._sim)

    @property
    def steps(self) -> int:
        """Steps taken."""
        return lib.tl_sim_steps(self._sim)

    @property
    def hash(self) -> int:
        """64 bits of the whole state: the same on any number of threads."""
        return lib.tl_sim_hash(self._sim)

    def start(self) -> Record:
        """Looks at the start and mends it as the scene says; the first step does it otherwise.

        Returns
        -------
        Record
            The fields of `tl_start_report`.
        """
        out = ffi.new("tl_start_report *")
        with self._lock:
            self._checked(lib.tl_sim_start(self._sim, out, self._error))
        return record(out)

    def heal(self) -> Record:
        """Pulls apart what crosses now (`tl_sim_heal`)."""
        out = ffi.new("tl_start_report *")
        self._do(lib.tl_sim_heal, out)
        return record(out)

    def limit_strain(self) -> float:
        """Moves nodes into their strain limits; returns the worst excess left."""
        out = ffi.new("double *")
        self._do(lib.tl_sim_limit_strain, out)
        return out[0]

    def _checked(self, status: int) -> None:
        asker = self._asker
        if asker.error is not None:
            asker.finish()
        if self._calls.error is not None:
            self._calls.finish()
        if status:
            check(status, self._error)

    def step(self, count: int = 1) -> Record:
        """Takes `count` time steps and returns the report of the last (`tl_step_report`).

        Raises
        ------
        Failed
            A step could not be finished; the state is that of the last good one.
        KeyboardInterrupt
            Ctrl-C within a step; likewise.
        """
        if count < 1:
            raise BadArgument(f"step({count}): at least 1")
        step, sim, report, err = lib.tl_sim_step, self._sim, self._report, self._error
        with self._lock:
            for _ in range(count):
                self._checked(step(sim, report, err))
                sim = self._sim  # a callback may have closed it
            return record(report)

    def run(self, frames: int) -> Iterator[Frame]:
        """Goes on for `frames` frames of `steps_per_frame` steps; yields after each one."""
        for _ in range(frames):
            report = self.step(self.steps_per_frame)
            self._frame += 1
            yield Frame(self._frame, self.time, report, self)

    # ---- what is there ----

    @property
    def cloths(self) -> "dict[str, Cloth]":
        """Cloths by name, in the order in which they were added."""
        ids = [lib.tl_sim_cloth(self._sim, i) for i in range(lib.tl_sim_cloth_count(self._sim))]
        return {text_of(lib.tl_sim_cloth_name(self._sim, i)): Cloth(self, i) for i in ids}

    @property
    def bodies(self) -> "dict[str, Body]":
        """Bodies by name."""
        ids = [lib.tl_sim_body(self._sim, i) for i in range(lib.tl_sim_body_count(self._sim))]
        return {text_of(lib.tl_sim_body_name(self._sim, i)): Body(self, i) for i in ids}

    def energies(self) -> Record:
        """Kinetic, stretching, bending and gravitational energy [J]."""
        out = ffi.new("tl_energies *")
        check(lib.tl_sim_energies(self._sim, out))
        return record(out)

    def strain(self) -> Record:
        """Principal strains over all faces (`tl_strain_range`)."""
        out = ffi.new("tl_strain_range *")
        check(lib.tl_sim_strain(self._sim, out))
        return record(out)

    def memory(self) -> Record:
        """Bytes in use and the most there have been."""
        out = ffi.new("tl_memory_report *", lib.tl_sim_memory(self._sim))
        return record(out)

    def intersections(self) -> Record:
        """What passes through what, by the exact test (`tl_intersection_report`)."""
        out = ffi.new("tl_intersection_report *")
        self._do(lib.tl_sim_intersections, out)
        found = record(out)
        found["list"] = found["list"][: found["listed"]]
        return found

    def _hit(self, function, *args) -> Record | None:
        out = ffi.new("tl_hit *")
        with self._lock:
            if not function(self._sim, *args, out):
                return None
        hit = record(out)
        hit["cloth"] = text_of(lib.tl_sim_cloth_name(self._sim, out.cloth))
        hit["body"] = text_of(lib.tl_sim_body_name(self._sim, out.body))
        return hit

    def ray(self, origin, direction, reach: float = float("inf"), cloths: bool = True, bodies: bool = True):
        """The first point that a ray meets (`tl_hit`), or None."""
        mask = lib.TL_QUERY_CLOTHS * cloths + lib.TL_QUERY_BODIES * bodies
        return self._hit(lib.tl_sim_ray, vec(origin), vec(direction), reach, mask)

    def nearest(self, point, reach: float = float("inf"), cloths: bool = True, bodies: bool = True):
        """The nearest point of cloths and bodies (`tl_hit`), or None."""
        mask = lib.TL_QUERY_CLOTHS * cloths + lib.TL_QUERY_BODIES * bodies
        return self._hit(lib.tl_sim_nearest, vec(point), reach, mask)

    def contacts(self) -> np.ndarray:
        """Pairs that press on each other, as a structured array: point, normal, force [N], gap, thickness [m], node."""
        with self._lock:
            n = lib.tl_sim_contact_points(self._sim, ffi.NULL, 0)
            list_ = ffi.new("tl_contact_point[]", max(n, 1))
            n = min(n, lib.tl_sim_contact_points(self._sim, list_, n))
        kind = np.dtype([("cloth", "u4", 2), ("other_cloth", "u4", 2), ("body", "u4", 2), ("node", "i4"),
                         ("point", "f8", 3), ("normal", "f8", 3), ("gap", "f8"), ("thickness", "f8"),
                         ("force", "f8", 3)], align=True)
        if kind.itemsize != ffi.sizeof("tl_contact_point"):
            raise Failed("tl_contact_point has another layout than this package was written for")
        return np.frombuffer(ffi.buffer(list_, n * kind.itemsize), kind).copy()

    # ---- change it ----

    def set_gravity(self, gravity) -> None:
        """[m/s^2], from the next step on."""
        self._do(lib.tl_sim_set_gravity, vec(gravity))

    def set_wind(self, wind) -> None:
        """[m/s]; replaces wind and keys, gusts stay."""
        self._do(lib.tl_sim_set_wind, vec(wind))

    def set_dt(self, dt: float) -> None:
        """Time step [s]."""
        self._do(lib.tl_sim_set_dt, dt)

    def add_cloth(self, definition) -> "Cloth":
        """Adds what `ClothDef` describes while the simulation runs."""
        with self._lock:
            return Cloth(self, definition._add(self._sim))

    def add_body(self, definition) -> "Body":
        """Adds what `BodyDef` describes while the simulation runs."""
        with self._lock:
            return Body(self, definition._add(self._sim))

    # ---- save and restore ----

    def save(self) -> bytes:
        """The state; `restore` of a simulation built alike goes on with the same bits."""
        data, size = ffi.new("const void **"), ffi.new("size_t *")
        with self._lock:
            call(lib.tl_sim_save, self._sim, data, size)
            return bytes(ffi.buffer(ffi.cast("char *", data[0]), size[0]))

    @property
    def replay_steps(self) -> int:
        """Steps that restoring the present state would take again, 0 to 7."""
        return lib.tl_sim_replay_steps(self._sim)

    def restore(self, data: bytes) -> None:
        """Back to a saved state."""
        held = ffi.from_buffer(data)
        self._do(lib.tl_sim_restore, held, len(data))

    def checkpoint(self, path: str | os.PathLike) -> None:
        """Writes `save()` to a file, whole or not at all. (The checkpoints of `toile.run` belong to a folder.)"""
        data = self.save()
        folder = os.path.dirname(os.path.abspath(path))
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".checkpoint-")
        try:
            with os.fdopen(handle, "wb") as f:
                f.write(data)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    def resume(self, path: str | os.PathLike) -> None:
        """Back to what `checkpoint` wrote."""
        with open(path, "rb") as f:
            self.restore(f.read())


class Cloth:
    """A cloth of a running simulation."""

    def __init__(self, sim: Sim, id_):
        self._owner = sim
        self._id = id_

    @property
    def id(self) -> tuple[int, int]:
        """Slot and generation, as in `tl_cloth_id`."""
        return (self._id.slot, self._id.gen)

    @property
    def name(self) -> str:
        return text_of(lib.tl_sim_cloth_name(self._owner._sim, self._id)) or "removed"

    def __repr__(self) -> str:
        return f"<Cloth '{self.name}'>"

    def _view(self):
        out = ffi.new("tl_cloth_view *")
        if lib.tl_sim_cloth_view(self._owner._sim, self._id, out):
            raise Closed("the cloth was removed")
        return out

    def _array(self, pointer, count: int, width: int, kind: str) -> np.ndarray:
        return view(pointer, count, width, kind, self._owner, self._owner._keeper)

    @property
    def node_count(self) -> int:
        return self._view().node_count

    @property
    def face_count(self) -> int:
        return self._view().face_count

    @property
    def positions(self) -> np.ndarray:
        """Of the nodes [m], n x 3. A view, see `Sim`."""
        v = self._view()
        return self._array(v.pos, v.node_count, 3, "double")

    @property
    def velocities(self) -> np.ndarray:
        """Of the nodes [m/s], n x 3. A view."""
        v = self._view()
        return self._array(v.vel, v.node_count, 3, "double")

    @property
    def labels(self) -> np.ndarray:
        """User labels of the nodes. A view."""
        v = self._view()
        return self._array(v.node_label, v.node_count, 1, "int32")

    @property
    def uv(self) -> np.ndarray:
        """Material coordinates of the vertices [m]. A view."""
        v = self._view()
        return self._array(v.uv, v.vert_count, 2, "double")

    @property
    def vert_node(self) -> np.ndarray:
        """The node under each vertex. A view."""
        v = self._view()
        return self._array(v.vert_node, v.vert_count, 1, "int32")

    @property
    def faces(self) -> np.ndarray:
        """Vertices of the faces, n x 3. A view."""
        v = self._view()
        return self._array(v.face, v.face_count, 3, "int32")

    @property
    def face_labels(self) -> np.ndarray:
        """Which material a face is made of. A view."""
        v = self._view()
        return self._array(v.face_label, v.face_count, 1, "int32")

    @property
    def node_faces(self) -> np.ndarray:
        """Nodes of the faces, n x 3: what goes with `positions`. A copy."""
        return self.vert_node[self.faces]

    @property
    def normals(self) -> np.ndarray:
        """Unit normals of the nodes. A copy."""
        out = np.empty((self.node_count, 3))
        if lib.tl_sim_cloth_normals(self._owner._sim, self._id, ffi.cast("tl_vec3 *", out.ctypes.data)):
            raise Closed("the cloth was removed")
        return out

    @property
    def version(self) -> int:
        """Grows when the mesh is remade."""
        return lib.tl_cloth_version(self._owner._sim, self._id)

    def map_from(self, version: int, count: int) -> np.ndarray:
        """Which node each of the `count` nodes of `version`, one before the present, became; -1: gone."""
        out = np.empty(count, np.int32)
        call(lib.tl_cloth_map, self._owner._sim, self._id, version, ffi.cast("int32_t *", out.ctypes.data), count)
        return out

    def pinched(self) -> np.ndarray:
        """Nodes that bodies leave no room (docs/contact.md)."""
        n = lib.tl_sim_pinched(self._owner._sim, self._id, ffi.NULL, 0)
        out = np.empty(n, np.int32)
        if n:
            lib.tl_sim_pinched(self._owner._sim, self._id, ffi.cast("int32_t *", out.ctypes.data), n)
        return out

    def hold(self, nodes=None, **settings: Any) -> "Handle":
        """Holds nodes from now on (fields of `tl_handle_def`); with `live=1` `Handle.move` drags them."""
        keep = Keep()
        definition = handle_def(self._id, nodes, settings, keep)
        out = ffi.new("tl_handle_id *")
        self._owner._do(lib.tl_handle_create, definition, out)
        return Handle(self._owner, out[0])

    def remove(self) -> None:
        """Takes the cloth away, and the handles that hold it."""
        self._owner._do(lib.tl_cloth_remove, self._id)


def motion_key(values: dict | None, **more: Any):
    """A `tl_motion_key *` from its fields."""
    out = ffi.new("tl_motion_key *")
    fill(out, {**(values or {}), **more}, Keep(), "key")
    return out


def motion_keys(keys, keep: Keep):
    array = ffi.new("tl_motion_key[]", max(len(keys), 1))
    for i, values in enumerate(keys):
        fill(array[i], values, keep, f"keys[{i}]")
    keep.append(array)
    return array


def handle_def(cloth_id, nodes, settings: dict, keep: Keep):
    """A `tl_handle_def *`; `keys` is a list of dicts."""
    definition = ffi.new("tl_handle_def *", lib.tl_handle_def_default())
    settings = dict(settings)
    keys = settings.pop("keys", None)
    definition.cloth = cloth_id
    if nodes is not None:
        nodes = np.atleast_1d(nodes)
        definition.nodes = keep.ints(nodes, "nodes")
        definition.node_count = len(nodes)
        if len(nodes) == 0:
            raise BadArgument("nodes: the list is empty, nothing would be held")
    if keys is not None:
        definition.keys = motion_keys(keys, keep)
        definition.key_count = len(keys)
    fill(definition, settings, keep, "handle")
    return definition


class Handle:
    """Nodes that are held; made by `Cloth.hold`."""

    def __init__(self, sim: Sim, id_):
        self._owner, self._id = sim, id_

    def move(self, translate=(0, 0, 0), rotate_axis=(0, 1, 0), rotate_deg: float = 0.0, **more: Any) -> None:
        """Where the nodes are to be at the end of the next step, relative to where they were taken hold of."""
        pose = motion_key(None, translate=translate, rotate_axis=rotate_axis, rotate_deg=rotate_deg, **more)
        self._owner._do(lib.tl_handle_set_target, self._id, pose)

    def release(self) -> None:
        """Lets go."""
        self._owner._do(lib.tl_handle_remove, self._id)


class Body:
    """A body of a running simulation."""

    def __init__(self, sim: Sim, id_):
        self._owner, self._id = sim, id_

    @property
    def id(self) -> tuple[int, int]:
        """Slot and generation, as in `tl_body_id`."""
        return (self._id.slot, self._id.gen)

    @property
    def name(self) -> str:
        return text_of(lib.tl_sim_body_name(self._owner._sim, self._id)) or "removed"

    def __repr__(self) -> str:
        return f"<Body '{self.name}'>"

    def _view(self):
        out = ffi.new("tl_body_view *")
        if lib.tl_sim_body_view(self._owner._sim, self._id, out):
            raise Closed("the body was removed")
        return out

    @property
    def positions(self) -> np.ndarray:
        """Of its nodes now [m]. A view, see `Sim`."""
        v = self._view()
        return view(v.pos, v.node_count, 3, "double", self._owner, self._owner._keeper)

    @property
    def faces(self) -> np.ndarray:
        """Nodes of its faces. A view."""
        v = self._view()
        return view(v.face, v.face_count, 3, "int32", self._owner, self._owner._keeper)

    @property
    def moves(self) -> bool:
        return bool(self._view().moves)

    @property
    def present(self) -> bool:
        """Whether cloth met it in the last step."""
        return bool(self._view().present)

    def move(self, translate=(0, 0, 0), rotate_axis=(0, 1, 0), rotate_deg: float = 0.0, **more: Any) -> None:
        """Pose of a live body at the end of the next step."""
        pose = motion_key(None, translate=translate, rotate_axis=rotate_axis, rotate_deg=rotate_deg, **more)
        self._owner._do(lib.tl_body_set_pose, self._id, pose)

    def set_positions(self, positions) -> None:
        """Shape of a live body at the end of the next step, before its pose."""
        keep = Keep()
        pos = keep.points(positions, "positions")
        self._owner._do(lib.tl_body_set_positions, self._id, pos, len(positions))

    def remove(self) -> None:
        """Takes the body away."""
        self._owner._do(lib.tl_body_remove, self._id)
