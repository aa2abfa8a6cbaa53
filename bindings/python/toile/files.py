"""Runs into folders, and what is made of them: checks, pictures, exports, recordings."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Callable, Iterator

import numpy as np

from ._core import BadArgument, Callbacks, Closed, Keep, Record, call, copy, ffi, fill, lib, record, text_of, view


def _filled(name: str, default, settings: dict, keep: Keep, what: str):
    definition = ffi.new(name + " *", default())
    fill(definition, settings, keep, what)
    return definition


def run(scene, out: str | os.PathLike, sets=None, progress: Callable[[Record], Any] | None = None,
        cancelled: Callable[[], bool] | None = None, **settings: Any) -> Record:
    """Runs a scene into a folder of frames, as `toile run`.

    Parameters
    ----------
    scene : SceneFile or path
    out : path
        The folder.
    progress : callable, optional
        Called with the fields of `tl_run_progress` after every frame.
    cancelled : callable, optional
        Asked after every step; true ends the run with a checkpoint and `Cancelled`.
    **settings
        Fields of `tl_run_def`: frames, threads, resume, checkpoint_every.

    Returns
    -------
    Record
        The fields of `tl_run_report`.
    """
    from .scene import SceneFile

    if not isinstance(scene, SceneFile):
        scene = SceneFile(scene, sets)
    elif sets:
        raise BadArgument("sets: give them where the scene is loaded")
    keep, calls = Keep(), Callbacks(progress=progress, cancelled=cancelled or (lambda: False))
    d = _filled("tl_run_def", lib.tl_run_def_default, {"out_dir": out, **settings}, keep, "run")
    d.progress, d.cancelled, d.interrupted = lib.toile_on_run, lib.toile_on_ask, lib.toile_on_ask
    if cancelled:
        d.interrupted = ffi.NULL
    d.user, d.log = calls.handle, calls.log
    report = ffi.new("tl_run_report *")
    calls.checked(lib.tl_run, scene._scene, d, report)
    result = record(report)
    result["messages"] = calls.messages
    return result


def drape(patterns, body: str | os.PathLike, out: str | os.PathLike,
          progress: Callable[[Record], Any] | None = None, cancelled: Callable[[], bool] | None = None,
          **settings: Any) -> Record:
    """Sews patterns around a body and lets them hang, as `toile drape`; the same call goes on after an interruption.

    Parameters
    ----------
    patterns : path or list of paths
        Sewing patterns worn together, the innermost first.
    body : path
        A mesh or character.
    out : path
        The folder: garments at rest, their motion, fit.html, a run.
    progress : callable, optional
        Called often with garment (number of the pattern), stage ("sew", "grow", ..) and part of it that is done.
    cancelled : callable, optional
        Asked after every step; true ends the call with `Cancelled`, stages that are done stay in the folder.
    **settings
        Fields of `tl_drape_def`: quality ("draft", "normal", "final"), edge, material, motion, clip, frames, threads,
        no_fit.

    Returns
    -------
    Record
        The fields of `tl_drape_report`; `garments` is the list of `tl_drape_garment`, each with its `fit`
        (`tl_drape_fit`) and a `fault` in words, "" if all is as it should be.
    """
    keep, calls = Keep(), Callbacks(progress=progress, cancelled=cancelled or (lambda: False))
    d = _filled("tl_drape_def", lib.tl_drape_def_default, {"body": body, "out_dir": out, **settings}, keep, "drape")
    words = [patterns] if isinstance(patterns, (str, os.PathLike)) else list(patterns)
    d.patterns, d.pattern_count = keep.texts(words), len(words)
    d.progress, d.cancelled, d.user, d.log = lib.toile_on_drape, lib.toile_on_ask, calls.handle, calls.log
    report = ffi.new("tl_drape_report *")
    calls.checked(lib.tl_drape, d, report)
    result = record(report)
    result["garments"] = result.pop("garment")[: result.pop("count")]
    for garment in result["garments"]:
        stages = range(lib.TL_DRAPE_STAGES)
        garment["seconds"] = {text_of(lib.tl_drape_stage_name(k)): garment["seconds"][k] for k in stages}
    result["messages"] = calls.messages
    return result


def check(folder: str | os.PathLike, **settings: Any) -> Record:
    """Looks for faults in the frames of a run (`tl_check`): `findings` is 0 if there are none."""
    keep = Keep()
    d = _filled("tl_check_def", lib.tl_check_def_default, {"dir": folder, **settings}, keep, "check")
    report = ffi.new("tl_check_report *")
    call(lib.tl_check, d, report)
    return record(report)


def info(path: str | os.PathLike) -> dict:
    """What a file or a run's folder holds."""
    parts: list[str] = []
    calls = Callbacks(text=parts.append)
    calls.checked(lib.tl_info, Keep().text(path), 1, lib.toile_on_text, calls.handle)
    return json.loads("".join(parts))


def _camera(view_words: str):
    out = ffi.new("tl_camera_def *")
    if not lib.tl_camera_parse(view_words.encode(), out):
        raise BadArgument(f"camera '{view_words}': front, back, left, right, top, corner, AZIMUTH,ELEVATION or "
                          "X,Y,Z,X,Y,Z[,FOV]")
    return out[0]


def _render_def(settings: dict, keep: Keep):
    s = dict(settings)
    camera = s.pop("camera", None)
    others, labels = s.pop("others", None), s.pop("labels", None)
    d = _filled("tl_render_def", lib.tl_render_def_default, s, keep, "render")
    if camera is not None:
        d.camera = _camera(camera)
    if others:
        d.others, d.other_count = keep.texts(others), len(others)
    if labels:
        d.labels = keep.texts(labels)
    return d


def render(source: str | os.PathLike, out: str | os.PathLike, camera: str | None = None,
           progress: Callable[[Record], Any] | None = None, **settings: Any) -> Record:
    """Pictures and films (`toile render`): a .png, .mp4 or .gif from a run, a scene or a mesh.

    `camera` is a word or numbers as on the command line; `settings` are fields of `tl_render_def` (mode="strain",
    width, height, sheet, first, last, step).
    """
    keep, calls = Keep(), Callbacks(progress=progress, cancelled=lambda: False)
    d = _render_def({"source": source, "out": out, "camera": camera, **settings}, keep)
    d.progress, d.cancelled, d.user, d.log = lib.toile_on_render, lib.toile_on_ask, calls.handle, calls.log
    report = ffi.new("tl_render_report *")
    calls.checked(lib.tl_render_run, d, report)
    return record(report)


def render_image(meshes, width: int = 640, height: int = 480, camera: str | None = None,
                 **settings: Any) -> np.ndarray:
    """Draws meshes in memory.

    Parameters
    ----------
    meshes : list of dict
        Each with pos, face (into pos), and maybe uv, face_uv, look ("cloth", "plain", "skin"), colour (0xrrggbb).

    Returns
    -------
    height x width x 3 bytes, rows from the top.
    """
    keep = Keep()
    d = _render_def({"camera": camera, "width": width, "height": height, **settings}, keep)
    array = ffi.new("tl_render_mesh[]", max(len(meshes), 1))
    for mesh, values in zip(array, meshes):
        s = dict(values)
        mesh.pos, mesh.pos_count = keep.points(s.pop("pos"), "pos"), len(values["pos"])
        mesh.face, mesh.face_count = keep.triples(s.pop("face"), "face"), len(values["face"])
        if s.get("uv") is not None:
            mesh.uv, mesh.uv_count = keep.points2(s.pop("uv"), "uv"), len(values["uv"])
        if s.get("face_uv") is not None:
            mesh.face_uv = keep.array(s.pop("face_uv"), "int32_t (*)[3]", np.int32, (mesh.face_count, 3), "face_uv")
        fill(mesh, s, keep, "mesh")
    rgb = np.empty((height, width, 3), np.uint8)
    call(lib.tl_render_image, d, array, len(meshes), ffi.cast("uint8_t *", rgb.ctypes.data))
    return rgb


def save_png(path: str | os.PathLike, rgb: np.ndarray) -> None:
    """Writes height x width x 3 bytes as a PNG file."""
    pixels = np.ascontiguousarray(rgb, np.uint8)
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise BadArgument("rgb must be height x width x 3")
    call(lib.tl_show_save_png, Keep().text(path), ffi.cast("uint8_t *", pixels.ctypes.data), pixels.shape[1],
         pixels.shape[0])


def plot(folder: str | os.PathLike, out: str | os.PathLike, **settings: Any) -> Record:
    """Diagrams of a run as .svg or .png."""
    keep, calls = Keep(), Callbacks()
    d = _filled("tl_plot_def", lib.tl_plot_def_default, {"dir": folder, "out": out, **settings}, keep, "plot")
    d.log = calls.log
    report = ffi.new("tl_plot_report *")
    calls.checked(lib.tl_plot_run, d, report)
    return record(report)


def export(folder: str | os.PathLike, out: str | os.PathLike, attributes=(), **settings: Any) -> Record:
    """Frames for other programs, by the ending of `out`: .usda, .toile, .glb, .pc2, .mdd, .ply, .obj.

    `attributes` are names ("strain", "tension", "contact", "level"); `settings` are fields of `tl_export_def`
    (resample=1, bodies=1, z_up=1, scale=100).
    """
    keep = Keep()
    d = _filled("tl_export_def", lib.tl_export_def_default, {"dir": folder, "out": out, **settings}, keep, "export")
    for word in [attributes] if isinstance(attributes, str) else attributes:
        if word not in ATTRIBUTES:
            raise BadArgument(f"attribute '{word}': give some of {', '.join(ATTRIBUTES)}")
        d.attributes |= 1 << ATTRIBUTES.index(word)
    report = ffi.new("tl_export_report *")
    call(lib.tl_export, d, report)
    return record(report)


ATTRIBUTES = tuple(text_of(lib.tl_attribute_name(i)) for i in range(lib.TL_ATTRIBUTE_COUNT))


def refine(source: str | os.PathLike, out: str | os.PathLike, progress: Callable[[Record], Any] | None = None,
           **settings: Any) -> Record:
    """Finer, smooth surfaces of finished frames that still touch nothing (`toile refine`)."""
    keep, calls = Keep(), Callbacks(progress=progress)
    d = _filled("tl_refine_def", lib.tl_refine_def_default, {"source": source, "out": out, **settings}, keep, "refine")
    d.progress, d.user = lib.toile_on_refine, calls.handle
    report = ffi.new("tl_refine_report *")
    calls.checked(lib.tl_refine, d, report)
    return record(report)


class Surface(dict):
    """A surface of a recording at one frame: positions, faces, uv, ... as items and attributes; copies."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Recording:
    """Frames of a run from a .toile file, or from a folder of a run (packed into a temporary one first).

    >>> with Recording("flag.toile") as film:
    ...     for surfaces in film:
    ...         print(surfaces["flag"].positions.shape)
    """

    def __init__(self, path: str | os.PathLike, **settings: Any):
        self._recording = None
        self._temporary = None
        path = os.fspath(path)
        if os.path.isdir(path):
            handle, self._temporary = tempfile.mkstemp(suffix=".toile")
            os.close(handle)
            try:
                export(path, self._temporary, **{"bodies": 1, **settings})
            except BaseException:
                os.unlink(self._temporary)
                self._temporary = None
                raise
            path = self._temporary
        elif settings:
            raise BadArgument("settings are for folders of runs; a .toile has what it was written with")
        out = ffi.new("tl_recording **")
        try:
            call(lib.tl_recording_open, Keep().text(path), out)
        except BaseException:
            self.close()
            raise
        self._recording = out[0]
        self.facts = record(ffi.new("tl_recording_facts *", lib.tl_recording_facts_of(self._recording)))
        n = self.facts["surfaces"]
        self.names = [text_of(lib.tl_recording_surface_name(self._recording, i)) for i in range(n)]
        self.is_body = [bool(lib.tl_recording_surface_is_body(self._recording, i)) for i in range(n)]

    def close(self) -> None:
        """Frees the file. Fine to call twice."""
        if self._recording is not None:
            lib.tl_recording_close(self._recording)
            self._recording = None
        if self._temporary is not None:
            os.unlink(self._temporary)
            self._temporary = None

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_recording", None) is not None:
            self.close()

    def __len__(self) -> int:
        return self.facts["frames"]

    def __iter__(self) -> Iterator[dict[str, Surface]]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> dict[str, Surface]:
        """Surfaces that are there at frame `index` (from 0), by name."""
        if self._recording is None:
            raise Closed("the recording was closed")
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"frame {index} of {len(self)}")
        out = {}
        v = ffi.new("tl_recording_view *")
        for i, name in enumerate(self.names):
            call(lib.tl_recording_frame, self._recording, index, i, v)
            if not v.present:
                continue
            s = Surface(
                positions=copy(v.pos, v.node_count, 3, "double"),
                velocities=None if v.vel == ffi.NULL else copy(v.vel, v.node_count, 3, "double"),
                uv=None if v.uv == ffi.NULL else copy(v.uv, v.vert_count, 2, "double"),
                vert_node=copy(v.vert_node, v.vert_count, 1, "int32"),
                faces=copy(v.face, v.face_count, 3, "int32"),
                face_labels=None if v.face_label == ffi.NULL else copy(v.face_label, v.face_count, 1, "int32"),
                shape=v.shape, is_body=self.is_body[i],
            )
            s["node_faces"] = s["vert_node"][s["faces"]] if len(s["vert_node"]) else s["faces"]
            for a, word in enumerate(ATTRIBUTES):
                if v.attribute[a] != ffi.NULL:
                    s[word] = copy(v.attribute[a], v.node_count, 1, "float")
            out[name] = s
        return out


class Character:
    """A character or mesh that moves by itself, from .glb, .gltf, .obj, .ply, .stl with .bvh, .pc2, .mdd.

    Goes into a scene as `scene.add_body(character=..., playback={"clip": 0})`.
    """

    def __init__(self, file: str | os.PathLike, bones=(), **settings: Any):
        keep = Keep()
        d = _filled("tl_character_def", lib.tl_character_def_default, {"file": file, **settings}, keep, "character")
        if bones:
            d.bones, d.bone_count = keep.texts(bones), len(bones)
        out = ffi.new("tl_character **")
        call(lib.tl_character_load, d, out)
        self._character = ffi.gc(out[0], lib.tl_character_destroy)

    @property
    def facts(self) -> Record:
        """What was found (`tl_character_facts`)."""
        facts = record(lib.tl_character_facts_of(self._character))
        facts["note"] = facts["note"][: facts["note_count"]]
        return facts

    @property
    def faces(self) -> np.ndarray:
        """Vertices of the faces. A view."""
        n = lib.tl_character_face_count(self._character)
        return view(lib.tl_character_faces(self._character), n, 3, "int32", self._character)

    @property
    def clips(self) -> dict[str, float]:
        """Length of each clip [s] by its name, or its number where it has none."""
        c = self._character
        return {text_of(lib.tl_character_clip_name(c, i)) or str(i): lib.tl_character_clip_seconds(c, i)
                for i in range(lib.tl_character_clip_count(c))}

    def find_clip(self, name: str) -> int:
        """Its number, -1: there is none."""
        return lib.tl_character_find_clip(self._character, name.encode())

    @property
    def nodes(self) -> list[tuple[str, int]]:
        """Name and parent (-1: none) of every node."""
        c = self._character
        return [(text_of(lib.tl_character_node_name(c, i)), lib.tl_character_node_parent(c, i))
                for i in range(lib.tl_character_node_count(c))]

    def vert_nodes(self) -> np.ndarray:
        """The node whose joint moves each vertex most."""
        c = self._character
        return np.array([lib.tl_character_vert_node(c, i) for i in range(lib.tl_character_vert_count(c))], np.int32)

    def pose(self, time: float, **playback: Any) -> np.ndarray:
        """Positions at a time; fields of `tl_playback` say how the clip runs."""
        play = ffi.new("tl_playback *", lib.tl_playback_default())
        fill(play, playback, Keep(), "playback")
        out = np.empty((lib.tl_character_vert_count(self._character), 3))
        call(lib.tl_character_pose, self._character, play, time, ffi.cast("tl_vec3 *", out.ctypes.data))
        return out


class Sweep:
    """Many runs from one specification (`toile sweep`): `for i in range(len(s)): s.run(i)`, then `s.collect()`."""

    STATES = ("pending", "done", "failed")

    def __init__(self, spec: str | os.PathLike, out: str | os.PathLike):
        keep, pointer = Keep(), ffi.new("tl_sweep **")
        call(lib.tl_sweep_open, keep.text(spec), keep.text(out), pointer)
        self._sweep = ffi.gc(pointer[0], lib.tl_sweep_close)
        self.folder = text_of(lib.tl_sweep_dir(self._sweep))

    def __len__(self) -> int:
        return lib.tl_sweep_count(self._sweep)

    def __getitem__(self, sample: int) -> dict:
        """What a sample is: its scene and what is set."""
        text = text_of(lib.tl_sweep_sample(self._sweep, sample))
        if text is None:
            raise IndexError(f"sample {sample} of {len(self)}")
        return json.loads(text)

    def state(self, sample: int) -> str:
        """ "pending", "done" or "failed"."""
        return self.STATES[lib.tl_sweep_state_of(self._sweep, sample)]

    def run(self, sample: int, threads: int = 1) -> None:
        """Runs a sample to its end; a failure is noted in its folder and raised."""
        calls = Callbacks(cancelled=lambda: False)
        cancel = ffi.new("tl_cancel *", {"asked": lib.toile_on_ask, "user": calls.handle})
        calls.checked(lib.tl_sweep_run, self._sweep, sample, threads, cancel)

    def forget_failure(self, sample: int) -> None:
        """Lets a failed sample run again."""
        call(lib.tl_sweep_forget_failure, self._sweep, sample)

    def collect(self) -> Record:
        """Writes dataset.jsonl and failures.tsv; how many are done, failed, pending."""
        report = ffi.new("tl_sweep_report *")
        call(lib.tl_sweep_collect, self._sweep, report)
        return record(report)

    def arrays(self, sample: int) -> Any:
        """The arrays of a sample that is done, as `numpy.load` gives them."""
        return np.load(os.path.join(self.folder, "runs", f"{sample:06d}", "arrays.npz"))
