"""Blender's scene as a scene of Toile: scene.json and meshes/ in a folder."""

import json
import os
import re

import bpy
import numpy as np

from . import sewing
from .meshes import Faults, check, triangles, world_points, write_obj


def file_name(name, taken):
    """Letters, digits, '-' and '_', at most 63, and no name twice."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:56] or "object"
    out, n = stem, 2
    while out in taken:
        out, n = f"{stem}-{n}", n + 1
    taken.add(out)
    return out


def evaluated(obj, use):
    """Calls use(mesh) with the object's mesh as it is shown now."""
    graph = bpy.context.evaluated_depsgraph_get()
    shown = obj.evaluated_get(graph)
    mesh = shown.to_mesh()
    try:
        return use(shown, mesh)
    finally:
        shown.to_mesh_clear()


def pinned(obj, count):
    """Vertices of the pin group."""
    t = obj.toile
    if not t.pins:
        return []
    group = obj.vertex_groups.get(t.pins)
    if group is None:
        raise Faults(f"cloth '{obj.name}': there is no vertex group '{t.pins}'", obj)
    found = [v.index for v in obj.data.vertices
             if any(g.group == group.index and g.weight > 0.5 for g in v.groups)]
    if not found:
        raise Faults(f"cloth '{obj.name}': no vertex of '{t.pins}' weighs more than 0.5", obj)
    if count != len(obj.data.vertices):
        raise Faults(f"cloth '{obj.name}': modifiers change its vertices, so pins do not fit (apply them)", obj)
    return found


def cloth_mesh(obj, path):
    """Writes the cloth as it stands at the first frame; its pins, and the object's matrix."""
    def use(shown, mesh):
        points = world_points(shown, mesh)
        tris, loops, polygons = triangles(mesh)
        check(obj, points, tris, polygons, "cloth")
        uv = tri_uv = None
        if obj.toile.use_uv:
            layer = mesh.uv_layers.active
            if layer is None:
                raise Faults(f"cloth '{obj.name}' has no UV map (or switch off Pattern from UV map)", obj)
            flat = np.empty(2 * len(layer.data), np.float32)
            layer.data.foreach_get("uv", flat)
            every = flat.reshape(-1, 2).astype(np.float64) * obj.toile.uv_scale
            uv, back = np.unique(every, axis=0, return_inverse=True)
            tri_uv = back.ravel()[loops].astype(np.int32)
        write_obj(path, points, tris, uv, tri_uv)
        return pinned(obj, len(points)), np.array(shown.matrix_world, np.float64)

    return evaluated(obj, use)


def sewn_pattern(obj, path):
    """Writes a cloth with seams as a pattern: `toile drape` sews it, and the scene begins with what comes of it."""
    if obj.toile.pins:
        raise Faults(f"cloth '{obj.name}' is sewn of panels, whose vertices are not those of the garment: it cannot have pins", obj)

    def use(shown, mesh):
        points = world_points(shown, mesh)
        tris, _, polygons = triangles(mesh)
        check(obj, points, tris, polygons, "cloth")
        sewing.write(obj, shown, mesh, path)

    evaluated(obj, use)


def all_bodies(frames, path):
    """The bodies of the first frame as one mesh, to sew around."""
    points, tris, n = [], [], 0
    for x, t in frames:
        points.append(x)
        tris.append(t + n)
        n += len(x)
    write_obj(path, np.concatenate(points), np.concatenate(tris))


def body_frame(obj, path):
    def use(shown, mesh):
        points = world_points(shown, mesh)
        tris, _, polygons = triangles(mesh)
        check(obj, points, tris, polygons, "body")
        write_obj(path, points, tris)
        return points, tris

    return evaluated(obj, use)


def pin_motion(matrices, fps):
    """Poses of a handle from the object's matrices, relative to the first; [] if it stands still."""
    from mathutils import Matrix

    y_up = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))
    first = y_up @ Matrix(matrices[0].tolist())
    out = []
    for k, values in enumerate(matrices):
        moved = (y_up @ Matrix(values.tolist())) @ first.inverted()
        axis, angle = moved.to_quaternion().to_axis_angle()
        pose = {"time": k / fps, "translate": list(moved.to_translation())}
        if angle:
            pose["rotate"] = [angle * 180 / np.pi, *axis]
        out.append(pose)
    still = all(np.array_equal(m, matrices[0]) for m in matrices)
    return [] if still else out


def export(scene, folder):
    """Writes everything; a dict of name -> object for messages. Raises Faults."""
    cloths = [o for o in scene.objects if o.type == "MESH" and o.toile.role == "CLOTH"]
    bodies = [o for o in scene.objects if o.type == "MESH" and o.toile.role == "BODY"]
    if not cloths:
        raise Faults("no object is cloth (Properties > Object > Toile)")
    os.makedirs(os.path.join(folder, "meshes"), exist_ok=True)
    taken, names = set(), {}
    fps = scene.render.fps / scene.render.fps_base
    first, last = scene.frame_start, scene.frame_end
    gravity = scene.gravity if scene.use_gravity else (0, 0, 0)
    t = scene.toile
    out = {"name": "blender", "frames": last - first, "fps": fps, "quality": t.quality,
           "gravity": [gravity[0], gravity[2], -gravity[1]], "cloths": [], "handles": [], "obstacles": [],
           "collisions": {"on_intersection": t.intersections}}
    now = scene.frame_current
    moving, matrices = {}, {}
    try:
        scene.frame_set(first)
        for obj in cloths:
            name = file_name(obj.name, taken)
            names[name] = obj
            o, at, pins = obj.toile, f"meshes/{name}.obj", []
            if sewing.is_sewn(obj):
                if not bodies:
                    raise Faults(f"cloth '{obj.name}' has seams, and there is no body to sew it around", obj)
                sewn_pattern(obj, os.path.join(folder, "meshes", name + ".json"))
                at = f"sewn/{name}.obj"
            else:
                pins, matrix = cloth_mesh(obj, os.path.join(folder, "meshes", name + ".obj"))
            remeshing = {"size_min": o.size_min, "size_max": max(o.size_max, o.size_min)} if o.adaptive else {"kind": "none"}
            out["cloths"].append({"name": name, "mesh": at, "material": o.fabric,
                                  "thickness": o.thickness, "friction": o.friction, "remeshing": remeshing})
            if pins:
                out["handles"].append({"cloth": name, "nodes": pins})
                matrices[name] = [matrix]
        for obj in bodies:
            name = file_name(obj.name, taken)
            names[name] = obj
            os.makedirs(os.path.join(folder, "meshes", name), exist_ok=True)
            moving[name] = [body_frame(obj, os.path.join(folder, "meshes", name, "0000.obj"))]
        if any(c["mesh"].startswith("sewn/") for c in out["cloths"]):
            all_bodies([frames[0] for frames in moving.values()], os.path.join(folder, "meshes", "all-bodies.obj"))
        for frame in range(first + 1, last + 1):
            scene.frame_set(frame)
            for name, frames in moving.items():
                points, tris = body_frame(names[name], os.path.join(folder, "meshes", name, f"{frame - first:04d}.obj"))
                if not np.array_equal(tris, frames[0][1]):
                    raise Faults(f"body '{names[name].name}': its faces change at frame {frame}", names[name])
                frames.append((points, None))
            for name, list_ in matrices.items():
                graph = bpy.context.evaluated_depsgraph_get()
                list_.append(np.array(names[name].evaluated_get(graph).matrix_world, np.float64))
    finally:
        scene.frame_set(now)
    for name, frames in moving.items():
        still = all(np.array_equal(f[0], frames[0][0]) for f in frames)
        mesh = f"meshes/{name}/0000.obj" if still else {"sequence": f"meshes/{name}/%04d.obj", "first": 0,
                                                        "last": last - first, "fps": fps}
        out["obstacles"].append({"name": name, "mesh": mesh, "friction": names[name].toile.friction})
    for handle in out["handles"]:
        motion = pin_motion(matrices[handle["cloth"]], fps)
        if motion:
            handle["motion"], handle["curve"] = motion, "cubic"
    with open(os.path.join(folder, "scene.json.part"), "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1)
    os.replace(os.path.join(folder, "scene.json.part"), os.path.join(folder, "scene.json"))
    return names
