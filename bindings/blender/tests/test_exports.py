"""What `toile export` writes, as Blender reads it: GLB, PC2, MDD and PLY of adaptive runs, each within 1e-6 m.

blender -b --factory-startup --python-exit-code 1 --python test_exports.py -- TOILE OUT
"""

import os
import subprocess
import sys

import bpy
import numpy as np
from mathutils.kdtree import KDTree

np.bool = bool  # Blender 3.4's glTF importer still asks for it
HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.dirname(HERE))
TOILE, OUT = sys.argv[sys.argv.index("--") + 1:][:2]
os.makedirs(OUT, exist_ok=True)

from toile_cloth.meshes import read_obj, to_toile  # noqa: E402

FRAMES = 9


def toile(*words):
    subprocess.run([TOILE, *words, "--quiet"], check=True)


def shown(obj):
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = obj.evaluated_get(graph).to_mesh()
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3).astype(np.float64)


def nearest(points):
    tree = KDTree(len(points))
    for i, p in enumerate(points):
        tree.insert(p, i)
    tree.balance()
    return tree


def audit(scene, cloth):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    here = bpy.context.scene
    run = os.path.join(OUT, "export-" + scene)
    subprocess.run(["rm", "-rf", run], check=True)
    toile("run", os.path.join(REPO, "scenes", scene, "scene.json"), "--out", run, "--frames", str(FRAMES - 1),
          "--set", "remeshing.size_min=0.03")
    for end in ("glb", "pc2", "mdd", "obj"):
        toile("export", run, "-o", f"{run}.{end}", "--resample")
    toile("export", run, "-o", run + ".ply")
    # what was resampled, from the text format with all its digits
    meshes = [read_obj(f"{run}.{k:06d}.obj") for k in range(FRAMES)]
    want = [m[0] for m in meshes]
    worst = {}

    bpy.ops.import_scene.gltf(filepath=run + ".glb")
    obj = next(o for o in bpy.data.objects if o.type == "MESH")
    at = [nearest(want[0]).find(p)[1] for p in to_toile(shown_at(here, obj, 0))]
    worst["glb"] = max(np.abs(to_toile(shown_at(here, obj, k * here.render.fps / 25)) - want[k][at]).max()
                       for k in range(FRAMES))
    for end in ("pc2", "mdd"):
        mesh = bpy.data.meshes.new(end)
        mesh.from_pydata(want[0].tolist(), [], meshes[0][1].tolist())
        obj = bpy.data.objects.new(end, mesh)
        here.collection.objects.link(obj)
        cache = obj.modifiers.new("cache", "MESH_CACHE")
        cache.cache_format, cache.filepath, cache.frame_start, cache.interpolation = end.upper(), f"{run}.{end}", 0, "NONE"
        worst[end] = max(np.abs(shown_at(here, obj, k) - want[k]).max() for k in range(FRAMES))
    worst["ply"] = 0.0
    for k in range(FRAMES):
        bpy.ops.import_mesh.ply(filepath=f"{run}.{k:06d}.ply")
        tree = nearest(read_obj(os.path.join(run, "frames", f"{k:06d}_{cloth}.obj"))[0])
        worst["ply"] = max(worst["ply"], max(tree.find(p)[2] for p in shown(bpy.context.object)))
    print(scene, " ".join(f"{end} {1e6 * d:.3f} um" for end, d in worst.items()), flush=True)
    assert max(worst.values()) < 1e-6, worst


def shown_at(here, obj, frame):
    here.frame_set(int(frame // 1), subframe=frame % 1)
    return shown(obj)


for scene_, cloth_ in (("sphere", "sheet"), ("paper-sleeve", "sleeve"), ("hanging", "sheet")):
    audit(scene_, cloth_)
print("exports: ok")
