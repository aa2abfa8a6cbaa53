"""Playback: objects that show a run's frames, whatever their meshes, as the frame changes."""

import os
import re
import shutil
import subprocess
import tempfile

import bpy
from bpy.app.handlers import persistent

from .meshes import fill_mesh, read_obj
from .properties import program

FRAME = re.compile(r"^(\d{6})_(.+)\.obj$")


def surfaces(folder):
    """Names of the surfaces in a folder of frames, with the numbers of their frames in order."""
    out = {}
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return {}
    for entry in entries:
        found = FRAME.match(entry)
        if found:
            out.setdefault(found.group(2), []).append(int(found.group(1)))
    return out


def load(obj, scene):
    """Shows the frame that belongs to the scene's; the last before it where there is none."""
    folder, name = obj["toile_folder"], obj["toile_name"]
    folder = bpy.path.abspath(folder)
    wanted = scene.frame_current - obj.get("toile_start", 0)
    path = os.path.join(folder, f"{max(wanted, 0):06d}_{name}.obj")
    if not os.path.exists(path):
        there = [f for f in surfaces(folder).get(name, []) if f <= max(wanted, 0)]
        if not there:
            return
        path = os.path.join(folder, f"{there[-1]:06d}_{name}.obj")
    if obj.get("toile_shown") == path:
        return
    try:
        fill_mesh(obj.data, *read_obj(path))
    except (OSError, ValueError, IndexError) as e:
        print(f"toile: {path}: {e}")
        return
    obj["toile_shown"] = path


@persistent
def on_frame(scene, _graph=None):
    for obj in scene.objects:
        if obj.type == "MESH" and "toile_folder" in obj:
            load(obj, scene)


def shown(scene, folder, name, start, like=None):
    """The object that shows a surface, made if there is none."""
    for obj in scene.objects:
        if obj.get("toile_folder") == folder and obj.get("toile_name") == name:
            break
    else:
        obj = bpy.data.objects.new(f"{name} (Toile)", bpy.data.meshes.new(f"{name} (Toile)"))
        obj["toile_folder"], obj["toile_name"] = folder, name
        scene.collection.objects.link(obj)
        if like is not None:
            for slot in like.material_slots:
                obj.data.materials.append(slot.material)
    obj["toile_start"] = start
    obj["toile_shown"] = ""
    load(obj, scene)
    return obj


def show(scene, run, start, names=None, bodies=False):
    """Objects for every cloth of a run (and its bodies); what they stand for is hidden."""
    made = []
    for folder in ("frames",) + (("obstacles",) if bodies else ()):
        at = os.path.join(run, folder)
        for name in surfaces(at):
            source = (names or {}).get(name)
            made.append(shown(scene, at, name, start, source))
            if source is not None:
                source.hide_set(True)
                source.hide_render = True
    return made


class TOILE_OT_import_run(bpy.types.Operator):
    """Show the folder of a run: cloths and bodies, frame by frame"""

    bl_idname, bl_label = "toile.import_run", "Import Run"
    directory: bpy.props.StringProperty(subtype="DIR_PATH")

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        run = bpy.path.abspath(self.directory).rstrip("/")
        made = show(context.scene, run, context.scene.frame_start, bodies=True)
        if not made:
            self.report({"ERROR"}, f"{run} is no folder of a run: it has no frames/NNNNNN_NAME.obj")
            return {"CANCELLED"}
        last = max(max(f) for f in surfaces(os.path.join(run, "frames")).values())
        context.scene.frame_end = max(context.scene.frame_end, context.scene.frame_start + last)
        return {"FINISHED"}


class TOILE_OT_import_recording(bpy.types.Operator):
    """Show a recording (.toile): unpacked beside it, then as a run"""

    bl_idname, bl_label = "toile.import_recording", "Import Recording"
    filepath: bpy.props.StringProperty(subtype="FILE_PATH")

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        path = bpy.path.abspath(self.filepath)
        try:
            target = unpack(path)
        except (OSError, ValueError) as e:
            self.report({"ERROR"}, str(e))
            return {"CANCELLED"}
        made = show(context.scene, target, context.scene.frame_start)
        last = max((max(f) for f in surfaces(os.path.join(target, "frames")).values()), default=0)
        context.scene.frame_end = max(context.scene.frame_end, context.scene.frame_start + last)
        return {"FINISHED"} if made else {"CANCELLED"}


def unpack(path):
    """A recording as a folder with frames/ beside it; the folder."""
    if not os.path.isfile(path):
        raise ValueError(f"{path}: no such file")
    target = path + ".frames"
    parts = tempfile.mkdtemp(dir=os.path.dirname(path), prefix=".unpack-")
    try:
        os.makedirs(os.path.join(parts, "frames"))
        for cloth in cloths_of(path):
            one = os.path.join(parts, cloth)
            os.makedirs(one)
            done = subprocess.run([program(), "export", path, "-o", os.path.join(one, "f.obj"), "--cloth", cloth, "--quiet"],
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            for file in os.listdir(one):
                number = re.search(r"(\d{6})\.obj$", file)
                os.replace(os.path.join(one, file), os.path.join(parts, "frames", f"{number.group(1)}_{cloth}.obj"))
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        os.replace(os.path.join(parts, "frames"), os.path.join(target, "frames"))
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    return target


def cloths_of(path):
    """Names of the cloths of a recording, from its USD form, which has them all."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "first.usda")
        done = subprocess.run([program(), "export", path, "-o", out, "--last", "0", "--quiet"], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise ValueError(done.stderr.strip() or f"{path}: no recording")
        names = []
        with open(out, encoding="utf-8") as f:
            for line in f:
                mesh = re.match(r'\s*def Mesh "([^"]+)"', line)
                display = re.match(r'\s*displayName = "([^"]+)"', line)
                if mesh:
                    names.append(mesh.group(1))
                elif display and names:
                    names[-1] = display.group(1)
        return names


CLASSES = (TOILE_OT_import_run, TOILE_OT_import_recording)


def register():
    for c in CLASSES:
        bpy.utils.register_class(c)
    bpy.app.handlers.frame_change_post.append(on_frame)


def unregister():
    if on_frame in bpy.app.handlers.frame_change_post:
        bpy.app.handlers.frame_change_post.remove(on_frame)
    for c in reversed(CLASSES):
        bpy.utils.unregister_class(c)
