"""Toile for Blender: cloth that adapts its mesh and passes through nothing, baked by the program `toile`.

Object properties say what is cloth and what is a body (docs/blender.md). Baking writes a scene file with meshes, runs the
program on it, and shows its frames as they come; nothing of Blender's is changed but what shows the result.
"""

bl_info = {
    "name": "Toile cloth",
    "author": "the Toile authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Object > Toile, Properties > Scene > Toile",
    "description": "Adaptive cloth that passes through nothing",
    "category": "Physics",
}

from . import bake, playback, properties  # noqa: E402


def register():
    properties.register()
    bake.register()
    playback.register()


def unregister():
    playback.unregister()
    bake.unregister()
    properties.unregister()
