"""Meshes between Blender (z up, single precision) and Toile (y up): OBJ files, exactly."""

import os

import numpy as np


def to_toile(points):
    """z up to y up."""
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


def to_blender(points):
    """y up to z up."""
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)


class Faults(Exception):
    """Something is wrong with an object: which one, and with which faces."""

    def __init__(self, text, obj=None, faces=(), verts=()):
        super().__init__(text)
        self.obj, self.faces, self.verts = obj, list(faces), list(verts)


def world_points(obj, mesh):
    """Vertices in the world as Toile sees them, in double precision."""
    local = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", local)
    matrix = np.array(obj.matrix_world, np.float64)
    return to_toile(local.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3])


def triangles(mesh):
    """Triangles, the polygon of each, and the loops of their corners."""
    mesh.calc_loop_triangles()
    n = len(mesh.loop_triangles)
    verts, loops, polygons = np.empty(3 * n, np.int32), np.empty(3 * n, np.int32), np.empty(n, np.int32)
    mesh.loop_triangles.foreach_get("vertices", verts)
    mesh.loop_triangles.foreach_get("loops", loops)
    mesh.loop_triangles.foreach_get("polygon_index", polygons)
    return verts.reshape(-1, 3), loops.reshape(-1, 3), polygons


def check(obj, points, tris, polygons, what):
    """Raises Faults for what no mesh of Toile may have."""
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise Faults(f"{what} '{obj.name}': vertex {bad[0]} has no finite place", obj, verts=bad)
    if len(tris) == 0:
        raise Faults(f"{what} '{obj.name}' has no faces", obj)
    a, b, c = (points[tris[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    longest = max(np.abs(points - points.mean(axis=0)).max(), 1e-9)
    flat = np.flatnonzero(area <= 1e-12 * longest * longest)
    if len(flat):
        raise Faults(f"{what} '{obj.name}': {len(flat)} faces have no area (selected; Mesh > Clean Up > Degenerate "
                     "Dissolve takes them away)", obj, faces=polygons[flat])
    if what != "cloth":
        return
    loose = np.setdiff1d(np.arange(len(points)), tris.ravel())
    if len(loose):
        raise Faults(f"cloth '{obj.name}': {len(loose)} vertices are in no face (selected; Mesh > Clean Up > Delete "
                     "Loose takes them away)", obj, verts=loose)
    edges = np.sort(np.concatenate([tris[:, [0, 1]], tris[:, [1, 2]], tris[:, [2, 0]]]), axis=1)
    _, back, count = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    crowded = np.flatnonzero(count[back.ravel()] > 2) % len(tris)
    if len(crowded):
        raise Faults(f"cloth '{obj.name}': edges with more than two faces (selected)", obj, faces=polygons[crowded])


def write_obj(path, points, tris, uv=None, tri_uv=None):
    """Shortest decimals that read back as the same double."""
    lines = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()]
    if uv is None:
        lines += [f"f {a} {b} {c}\n" for a, b, c in (tris + 1).tolist()]
    else:
        lines += [f"vt {u!r} {v!r}\n" for u, v in uv.tolist()]
        lines += [f"f {a}/{i} {b}/{j} {c}/{k}\n" for (a, b, c), (i, j, k) in
                  zip((tris + 1).tolist(), (tri_uv + 1).tolist())]
    temporary = path + ".part"
    with open(temporary, "w", encoding="ascii") as f:
        f.writelines(lines)
    os.replace(temporary, path)


def read_obj(path):
    """Points, faces (of points), uv and faces of uv (None without)."""
    points, uv, faces, face_uv = [], [], [], []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("v "):
                points.append(line[2:].split()[:3])
            elif line.startswith("vt "):
                uv.append(line[3:].split()[:2])
            elif line.startswith("f "):
                corners = [word.split("/") for word in line[2:].split()]
                for k in range(1, len(corners) - 1):
                    three = (corners[0], corners[k], corners[k + 1])
                    faces.append([int(c[0]) - 1 for c in three])
                    if uv:
                        face_uv.append([int(c[1]) - 1 for c in three])
    return (np.array(points, np.float64).reshape(-1, 3), np.array(faces, np.int32).reshape(-1, 3),
            np.array(uv, np.float64).reshape(-1, 2) if face_uv else None,
            np.array(face_uv, np.int32).reshape(-1, 3) if face_uv else None)


def fill_mesh(mesh, points, faces, uv=None, face_uv=None):
    """Makes `mesh` hold these; only moves vertices where the faces are the same."""
    flat = to_blender(points).astype(np.float32).ravel()
    same = len(mesh.vertices) == len(points) and len(mesh.loops) == 3 * len(faces)
    if same and len(faces):
        old = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", old)
        same = np.array_equal(old, faces.ravel())
    if not same:
        mesh.clear_geometry()
        mesh.vertices.add(len(points))
        mesh.loops.add(3 * len(faces))
        mesh.polygons.add(len(faces))
        mesh.loops.foreach_set("vertex_index", faces.ravel())
        mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(faces), 3, dtype=np.int32))
        mesh.polygons.foreach_set("loop_total", np.full(len(faces), 3, np.int32))
        mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
    mesh.vertices.foreach_set("co", flat)
    if uv is not None and not same:
        layer = mesh.uv_layers.new(name="pattern")
        layer.data.foreach_set("uv", uv[face_uv.ravel()].astype(np.float32).ravel())
    mesh.update(calc_edges=True)


def select(obj, faces=(), verts=()):
    """Selects what is at fault, for the next look in edit mode, and makes the object the active one."""
    import bpy

    mesh = obj.data
    for kind in (mesh.vertices, mesh.edges, mesh.polygons):
        kind.foreach_set("select", np.zeros(len(kind), bool))
    for i in faces:
        mesh.polygons[int(i)].select = True
        for v in mesh.polygons[int(i)].vertices:
            mesh.vertices[v].select = True
    for i in verts:
        mesh.vertices[int(i)].select = True
    mesh.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
