"""Baking: the program runs as a process of its own; its frames show as they come, Esc stops it with a checkpoint."""

import os
import re
import shutil
import signal
import subprocess
import tempfile

import bpy
import numpy as np

from . import playback
from .export import export
from .meshes import Faults, read_obj, select, triangles, world_points
from .sewing import islands
from .properties import program


def find_faces(folder, names):
    """Faces of the start that cross, by intersections.obj: {object: polygons}."""
    from mathutils.kdtree import KDTree

    path = os.path.join(folder, "run", "intersections.obj")
    points, tris, _, _ = read_obj(path)
    with open(path, encoding="utf-8") as f:  # what crosses has a colour, the rest is grey
        colour = np.array([line.split()[4:7] for line in f if line.startswith("v ")], np.float64)
    if not len(tris) or colour.shape != points.shape:
        return {}
    tris = tris[(np.ptp(colour, axis=1) > 0.1)[tris].all(axis=1)]
    middle = points[tris].mean(axis=1)
    out = {}
    for obj in names.values():
        graph = bpy.context.evaluated_depsgraph_get()
        shown = obj.evaluated_get(graph)
        mesh = shown.to_mesh()
        x, (mine, _, polygons) = world_points(shown, mesh), triangles(mesh)
        shown.to_mesh_clear()
        tree = KDTree(len(mine))
        for i, p in enumerate(x[mine].mean(axis=1)):
            tree.insert(p, i)
        tree.balance()
        near = [tree.find(p) for p in middle]
        size = max(np.ptp(x, axis=0).max(), 1e-9)
        hit = {int(polygons[i]) for _, i, d in near if d < 1e-6 * size + 1e-7}
        if hit:
            out[obj] = sorted(hit)
    return out


def blame(folder, names, text):
    """What the program said, as Faults with the faces that it is about."""
    if os.path.exists(os.path.join(folder, "run", "intersections.obj")):
        found = find_faces(folder, names)
        for obj, faces in found.items():
            return Faults(f"{text} ({len(faces)} faces of '{obj.name}' are selected)", obj, faces)
    panel = re.search(r"meshes/([A-Za-z0-9_-]+)\.json.*?panel-(\d+)", text)
    if panel and panel.group(1) in names:
        obj = names[panel.group(1)]
        found = islands([list(p.vertices) for p in obj.data.polygons])
        return Faults(text, obj, found[int(panel.group(2)) - 1])
    at = re.search(r"meshes/([A-Za-z0-9_-]+)(?:/\d+)?\.obj:(\d+)", text)
    named = re.search(r"(?:cloth|cloths?\[\d+\]|obstacle|body) '?([A-Za-z0-9_-]+)'?", text)
    obj = names.get(at.group(1)) if at else names.get(named.group(1)) if named else None
    faces = []
    if at and obj:
        path = os.path.join(folder, "meshes", at.group(1) + ".obj")
        if os.path.exists(path):
            with open(path, encoding="ascii") as f:
                lines = f.readlines()[: int(at.group(2))]
            if lines and lines[-1].startswith("f "):
                polygons = triangles(obj.data)[2]
                k = sum(line.startswith("f ") for line in lines) - 1
                faces = [polygons[k]] if k < len(polygons) else []
    return Faults(text, obj, faces)


class Bake:
    """A run of the program over what `export` wrote. The new scene replaces a run of another one."""

    def __init__(self, scene):
        self.program = program()
        if not self.program:
            raise Faults("the program toile was not found: say where it is in the add-on's preferences")
        given = scene.toile.folder
        self.folder = os.path.abspath(bpy.path.abspath(given))
        if not given or (given.startswith("//") and not bpy.data.filepath):
            raise Faults("save the file first, or give a whole path: the folder is relative to the file")
        try:
            os.makedirs(self.folder, exist_ok=True)
            fresh = tempfile.mkdtemp(dir=self.folder, prefix=".new-")
        except OSError as e:
            raise Faults(f"{self.folder}: {e.strerror}") from None
        try:
            self.names = export(scene, fresh)
            self.resume = self._take(fresh)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        self.frames = scene.frame_end - scene.frame_start
        self.run = os.path.join(self.folder, "run")
        self.error = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        threads = ["--threads", str(scene.toile.threads)] if scene.toile.threads else []
        self.then = ["run", os.path.join(self.folder, "scene.json"), "--out", self.run, "--quiet", *threads]
        self.then += ["--resume"] if self.resume else []
        sewn = [name for name in self.names if os.path.exists(os.path.join(self.folder, "meshes", name + ".json"))]
        self.sewing = bool(sewn) and not self.resume
        self._start(self._sew_words(sewn) + threads if self.sewing else self.then)

    def _sew_words(self, sewn):
        meshes, first = os.path.join(self.folder, "meshes"), self.names[sewn[0]].toile
        edge = min(max(min(self.names[name].toile.size_min for name in sewn), 2e-3), 0.1)
        return ["drape", *(os.path.join(meshes, name + ".json") for name in sewn), "--body", os.path.join(meshes, "all-bodies.obj"),
                "--units", "m", "--material", first.fabric, "--edge", repr(edge), "--no-fit", "--quiet", "--out",
                os.path.join(self.folder, "sewn")]

    def _start(self, words):
        try:
            self.process = subprocess.Popen([self.program, *words], stdout=subprocess.DEVNULL, stderr=self.error,
                                            stdin=subprocess.DEVNULL)
        except OSError as e:
            raise Faults(f"{self.program}: {e.strerror}") from None

    def poll(self):
        """None while there is something to do; what is sewn is run then. 4: sewn, but not as it should be."""
        code = self.process.poll()
        if not self.sewing or code not in (0, 4):
            return code
        self.sewing = False
        self._start(self.then)
        return None

    def _take(self, fresh):
        """Puts scene and meshes in place. True if they are what a run there was begun with, which goes on then."""
        def contents(folder):
            out = {}
            for at, _, files in os.walk(folder):
                for name in files:
                    path = os.path.join(at, name)
                    with open(path, "rb") as f:
                        out[os.path.relpath(path, folder)] = f.read()
            return out

        new = contents(fresh)
        old = {k: v for k, v in contents(self.folder).items() if k == "scene.json" or k.startswith("meshes" + os.sep)}
        run = os.path.join(self.folder, "run")
        if new == old and os.path.exists(os.path.join(run, "checkpoint.bin")):
            return True
        for place in (run, os.path.join(self.folder, "meshes")):
            shutil.rmtree(place, ignore_errors=True)
        os.replace(os.path.join(fresh, "meshes"), os.path.join(self.folder, "meshes"))
        os.replace(os.path.join(fresh, "scene.json"), os.path.join(self.folder, "scene.json"))
        return False

    def frame(self):
        """The last frame that is there, -1: none."""
        try:
            with open(os.path.join(self.run, "stats.jsonl"), encoding="ascii") as f:
                return sum(1 for _ in f) - 1
        except OSError:
            return -1

    def stop(self):
        """As Ctrl-C: a checkpoint, from which baking again goes on."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def finish(self):
        """Raises Faults if it did not end well."""
        while (code := self.poll()) is None:
            self.process.wait()
        self.error.seek(0)
        lines = [line.strip() for line in self.error.read().splitlines() if line.strip()]
        self.error.close()
        if code:
            text = next((line for line in lines if "warning:" not in line), f"toile ended with {code}")
            raise blame(self.folder, self.names, re.sub(r"^toile[^:]*: ", "", text))
        return lines


class TOILE_OT_bake(bpy.types.Operator):
    """Simulate from the scene's first frame to its last; goes on where it was stopped"""

    bl_idname, bl_label = "toile.bake", "Bake"

    def _begin(self, context):
        try:
            self._bake = Bake(context.scene)
        except Faults as e:
            return self._tell(e)
        return None

    def _tell(self, fault):
        if fault.obj is not None:
            select(fault.obj, fault.faces, fault.verts)
        self.report({"ERROR"}, str(fault))
        return {"CANCELLED"}

    def _end(self, context):
        b = self._bake
        try:
            for line in b.finish():
                self.report({"WARNING"}, line)
        except Faults as e:
            context.scene.toile.status = "failed"
            return self._tell(e)
        playback.show(context.scene, b.run, context.scene.frame_start, b.names)
        context.scene.toile.status = f"{b.frame()} frames"
        self.report({"INFO"}, f"{b.frame()} frames in {b.run}")
        return {"FINISHED"}

    def execute(self, context):
        return self._begin(context) or self._end(context)

    def invoke(self, context, _event):
        failed = self._begin(context)
        if failed:
            return failed
        wm = context.window_manager
        wm.progress_begin(0, max(self._bake.frames, 1))
        self._timer = wm.event_timer_add(0.2, window=context.window)
        wm.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        b, wm = self._bake, context.window_manager
        if event.type == "ESC":
            b.stop()
            self._clear(wm)
            context.scene.toile.status = f"stopped at frame {b.frame()}; Bake goes on"
            playback.show(context.scene, b.run, context.scene.frame_start, b.names)
            self.report({"INFO"}, context.scene.toile.status)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        wm.progress_update(max(b.frame(), 0))
        context.scene.toile.status = "sewing (Esc stops)" if b.sewing else f"frame {max(b.frame(), 0)} of {b.frames} (Esc stops)"
        if b.poll() is None:
            return {"PASS_THROUGH"}
        self._clear(wm)
        return self._end(context)

    def _clear(self, wm):
        wm.event_timer_remove(self._timer)
        wm.progress_end()


class TOILE_OT_export(bpy.types.Operator):
    """Write the baked frames for other programs (USD, glTF, PC2, MDD, PLY, OBJ, recording)"""

    bl_idname, bl_label = "toile.export", "Export Result"
    filepath: bpy.props.StringProperty(subtype="FILE_PATH")

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        run = os.path.join(bpy.path.abspath(context.scene.toile.folder), "run")
        words = [program(), "export", run, "-o", bpy.path.abspath(self.filepath), "--quiet"]
        if os.path.splitext(self.filepath)[1] in (".glb", ".pc2", ".mdd"):
            words.append("--resample")
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except OSError as e:
            self.report({"ERROR"}, f"toile: {e.strerror}")
            return {"CANCELLED"}
        if done.returncode:
            self.report({"ERROR"}, done.stderr.strip())
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (TOILE_OT_bake, TOILE_OT_export)


def register():
    for c in CLASSES:
        bpy.utils.register_class(c)


def unregister():
    for c in reversed(CLASSES):
        bpy.utils.unregister_class(c)
