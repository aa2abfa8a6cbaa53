"""What objects and scenes know about Toile, and the panels that show it."""

import json
import os
import shutil
import subprocess

import bpy

FALLBACK = ("cotton", "denim", "felt", "flag-nylon", "jersey", "leather", "linen", "paper", "polyester-lining", "silk",
            "wool", "wool-light")
_fabrics = []  # Blender wants the strings of an enum kept


def program():
    """The program `toile`, or ""."""
    given = ""
    addon = bpy.context.preferences.addons.get(__package__)
    if addon:
        given = bpy.path.abspath(addon.preferences.program)
    return given or os.environ.get("TOILE", "") or shutil.which("toile") or ""


def fabric_items(_self, _context):
    """Fabrics of the program's library, looked up once."""
    if not _fabrics:
        found = [(name, name, "") for name in FALLBACK]
        try:
            out = subprocess.run([program(), "fabrics", "--json"], capture_output=True, text=True, check=True, timeout=20)
            values = json.loads(out.stdout)
            rows = values["fabrics"] if isinstance(values, dict) else values
            found = [(row["name"], row["name"], row.get("use", "")) for row in rows]
        except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError):
            pass  # the panel says that there is no program
        _fabrics.extend((key, key.replace("-", " ").capitalize(), use, i) for i, (key, _, use) in enumerate(found))
    return _fabrics


class ToilePreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: bpy.props.StringProperty(name="Program", subtype="FILE_PATH",
                                      description="The program toile; empty: $TOILE, or the one in the path")

    def draw(self, _context):
        self.layout.prop(self, "program")


class ToileObject(bpy.types.PropertyGroup):
    role: bpy.props.EnumProperty(name="Role", items=[
        ("NONE", "None", "Toile leaves it alone"), ("CLOTH", "Cloth", "It is simulated"),
        ("BODY", "Body", "Cloth collides with it, as it is animated")])
    fabric: bpy.props.EnumProperty(name="Fabric", items=fabric_items)
    pins: bpy.props.StringProperty(name="Pins", description="Vertex group: vertices above 0.5 stay with the object")
    thickness: bpy.props.FloatProperty(name="Thickness", default=0.001, min=1e-5, max=0.1, precision=4, unit="LENGTH",
                                       description="Distance that layers keep")
    friction: bpy.props.FloatProperty(name="Friction", default=0.3, min=0, max=10)
    adaptive: bpy.props.BoolProperty(name="Adaptive", default=True, description="The mesh follows folds and wrinkles")
    size_min: bpy.props.FloatProperty(name="Finest edge", default=0.015, min=1e-4, max=10, precision=4, unit="LENGTH")
    size_max: bpy.props.FloatProperty(name="Coarsest edge", default=0.2, min=1e-4, max=10, precision=4, unit="LENGTH")
    use_uv: bpy.props.BoolProperty(name="Pattern from UV map", default=False,
                                   description="The flat cloth is the active UV map; otherwise lengths of the mesh are those at rest")
    uv_scale: bpy.props.FloatProperty(name="Width of the UV square", default=1.0, min=1e-4, max=100, unit="LENGTH")


class ToileScene(bpy.types.PropertyGroup):
    folder: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH", default="//toile")
    quality: bpy.props.EnumProperty(name="Quality", default="normal", items=[
        ("draft", "Draft", ""), ("normal", "Normal", ""), ("final", "Final", "")])
    threads: bpy.props.IntProperty(name="Threads", default=0, min=0, max=256, description="0: as many as are good")
    intersections: bpy.props.EnumProperty(name="Crossing start", default="error", items=[
        ("error", "Refuse", "Say where, and select the faces"), ("heal", "Pull apart", "")])
    status: bpy.props.StringProperty()


class OBJECT_PT_toile(bpy.types.Panel):
    bl_label, bl_space_type, bl_region_type, bl_context = "Toile", "PROPERTIES", "WINDOW", "object"

    @classmethod
    def poll(cls, context):
        return context.object and context.object.type == "MESH"

    def draw(self, context):
        t, layout = context.object.toile, self.layout
        layout.use_property_split = True
        layout.prop(t, "role")
        if t.role == "CLOTH":
            layout.prop(t, "fabric")
            layout.prop_search(t, "pins", context.object, "vertex_groups")
            for name in ("thickness", "adaptive"):
                layout.prop(t, name)
            if t.adaptive:
                layout.prop(t, "size_min")
                layout.prop(t, "size_max")
            layout.prop(t, "use_uv")
            if t.use_uv:
                layout.prop(t, "uv_scale")
        if t.role != "NONE":
            layout.prop(t, "friction")


class SCENE_PT_toile(bpy.types.Panel):
    bl_label, bl_space_type, bl_region_type, bl_context = "Toile", "PROPERTIES", "WINDOW", "scene"

    def draw(self, context):
        t, layout = context.scene.toile, self.layout
        layout.use_property_split = True
        if not program():
            layout.label(text="The program toile was not found (add-on preferences)", icon="ERROR")
        for name in ("folder", "quality", "threads", "intersections"):
            layout.prop(t, name)
        layout.operator("toile.bake", icon="MOD_CLOTH")
        row = layout.row()
        row.operator("toile.import_run", icon="FILE_FOLDER")
        row.operator("toile.import_recording", icon="FILE_MOVIE")
        layout.operator("toile.export", icon="EXPORT")
        if t.status:
            layout.label(text=t.status)


CLASSES = (ToilePreferences, ToileObject, ToileScene, OBJECT_PT_toile, SCENE_PT_toile)


def register():
    for c in CLASSES:
        bpy.utils.register_class(c)
    bpy.types.Object.toile = bpy.props.PointerProperty(type=ToileObject)
    bpy.types.Scene.toile = bpy.props.PointerProperty(type=ToileScene)


def unregister():
    del bpy.types.Scene.toile
    del bpy.types.Object.toile
    for c in reversed(CLASSES):
        bpy.utils.unregister_class(c)
    _fabrics.clear()
