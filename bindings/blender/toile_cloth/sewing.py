"""Sewing patterns from meshes: flat panels, and loose edges between their borders as seams.

An island of faces is a panel; where its normals point is the right side of the cloth. Loose edges (of no face) that join
neighbouring vertices of one border with neighbouring vertices of another, or of the same, are a seam between the two
stretches. Several may end at one vertex: then the longer side is gathered.
"""

import json
import os

import numpy as np

from .meshes import Faults, world_points

CORNER = np.cos(np.radians(30))  # outlines that turn by more have a corner there
FLAT = 0.01  # a panel may be this much of its size off a plane


def loose_edges(mesh):
    """Edges of no face whose ends are in faces, as pairs of vertices."""
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    edges = edges.reshape(-1, 2)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    used = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", used)
    loose = np.setdiff1d(np.arange(len(edges)), used)
    return edges[loose[np.isin(edges[loose], corners).all(axis=1)]] if len(loose) else edges[:0]


def is_sewn(obj):
    return len(loose_edges(obj.data)) > 0


def islands(polygons):
    """Lists of polygons that hang together by vertices."""
    parent = {}

    def root(v):
        while parent.setdefault(v, v) != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for corners in polygons:
        for v in corners[1:]:
            parent[root(v)] = root(corners[0])
    out = {}
    for i, corners in enumerate(polygons):
        out.setdefault(root(corners[0]), []).append(i)
    return list(out.values())


def borders(obj, polygons, island):
    """Closed lines around an island, each as vertices in the sense of its faces; the polygon at each stretch."""
    following, at = {}, {}
    inner = {(a, b) for i in island for a, b in zip(polygons[i], polygons[i][1:] + polygons[i][:1])}
    for i in island:
        for a, b in zip(polygons[i], polygons[i][1:] + polygons[i][:1]):
            if (b, a) in inner:
                continue
            if a in following:
                raise Faults(f"cloth '{obj.name}': two borders of a panel meet in a vertex, or normals differ (selected)", obj,
                             faces=[i, at[a]], verts=[a])
            following[a], at[a] = b, i
    out = []
    while following:
        line = [next(iter(following))]
        while line[-1] in following:
            line.append(following.pop(line[-1]))
        out.append(line[:-1])
    return out


def plane(points):
    """Middle and axes (rows: along, up, normal) of the plane that lies best; the distance of each point from it."""
    middle = points.mean(axis=0)
    axes = np.linalg.svd(points - middle, full_matrices=False)[2]
    return middle, axes, (points - middle) @ axes[2]


def flatten(obj, points, polygons, island, uv):
    """Place of every vertex of a panel on the cloth, and where the panel starts: {vertex: (u, v)}, R, origin."""
    verts = sorted({v for i in island for v in polygons[i]})
    x = points[verts]
    middle, axes, off = plane(x)
    size = max(np.ptp(x, axis=0).max(), 1e-9)
    normal = sum((np.cross(points[polygons[i][k]] - points[polygons[i][0]], points[polygons[i][k + 1]] - points[polygons[i][0]])
                  for i in island for k in range(1, len(polygons[i]) - 1)), np.zeros(3))
    if uv is None:
        if abs(off).max() > FLAT * size:
            far = {verts[i] for i in np.flatnonzero(abs(off) > 0.5 * abs(off).max())}
            raise Faults(f"cloth '{obj.name}': a panel is not flat, {1000 * abs(off).max():.0f} mm off at worst (selected; or "
                         "give its flat shape as UV map, and switch on Pattern from UV map)", obj,
                         faces=[i for i in island if far.intersection(polygons[i])])
        n = axes[2] if axes[2] @ normal > 0 else -axes[2]
        up = np.array([0.0, 1.0, 0.0]) if abs(n[1]) < 0.9 else np.array([0.0, 0.0, -1.0])
        up -= (up @ n) * n
        up /= np.linalg.norm(up)
        turn = np.stack([np.cross(up, n), up, n], axis=1)
        flat = (x - middle) @ turn[:, :2]
        return {v: q for v, q in zip(verts, flat)}, turn, middle
    seen = {}
    for i in island:
        for v, q in zip(polygons[i], uv[i]):
            if v in seen and abs(seen[v] - q).max() > 1e-5 * size:
                raise Faults(f"cloth '{obj.name}': the UV map is cut within a panel (selected)", obj, faces=[i], verts=[v])
            seen[v] = q
    q = np.array([seen[v] for v in verts])
    flat = np.column_stack([q - q.mean(axis=0), np.zeros(len(q))])  # the rotation nearest to where the panel is (Kabsch 1976)
    u, _, vt = np.linalg.svd((x - middle).T @ flat)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return seen, turn, middle - turn[:, :2] @ q.mean(axis=0)


def angles(turn):
    """Degrees about x, then y, then z."""
    if abs(turn[2, 0]) < 1 - 1e-12:
        out = np.arctan2(turn[2, 1], turn[2, 2]), -np.arcsin(turn[2, 0]), np.arctan2(turn[1, 0], turn[0, 0])
    else:
        out = 0.0, -np.copysign(np.pi / 2, turn[2, 0]), np.arctan2(-turn[0, 1], turn[1, 1])
    return np.degrees(out).tolist()


# ---- seams ----------------------------------------------------------------------------------------------------


def ladders(rungs, counts):
    """Seams of pairs ((line, place), (line, place)): lists of rungs that follow each other along both lines.

    A step goes on by one place on one line or on both; on the first forwards, on the second in one sense throughout.
    """
    left = set(rungs) | {(b, a) for a, b in rungs}

    def step(rung, way, sense):
        (p, i), (q, j) = rung
        for di, dj in ((way, 0), (0, way * sense), (way, way * sense)):
            to = ((p, (i + di) % counts[p]), (q, (j + dj) % counts[q]))
            if to in left:
                return to
        return None

    def walk(rung, sense):
        line, seen = [rung], {rung, rung[::-1]}
        for way in (1, -1):
            at = line[-1] if way == 1 else line[0]
            while (at := step(at, way, sense)) is not None and at not in seen:
                line.insert(len(line) if way == 1 else 0, at)
                seen |= {at, at[::-1]}
        return line

    out = []
    for rung in rungs:
        if rung not in left:
            continue
        line, sense = max(((walk(rung, s), s) for s in (-1, 1)), key=lambda found: len(found[0]))
        left -= set(line) | {(b, a) for a, b in line}
        out.append((line, sense))
    return out


def stretch(places, count, sense):
    """First place and number of steps of one side, in the sense of the outline."""
    steps = sum((sense * (b - a)) % count for a, b in zip(places, places[1:]))
    return (places[0] if sense > 0 else places[-1]), steps


def find_seams(obj, rungs, lines, where):
    """Two (line, first place, steps, sense) for every seam."""
    counts = [len(line) for line in lines]
    pairs = []
    for a, b in rungs:
        for v in (a, b):
            if v not in where:
                raise Faults(f"cloth '{obj.name}': a loose edge ends inside a panel, not at its border (selected)", obj, verts=[v])
        pairs.append((where[a], where[b]))
    out = []
    for line, sense in ladders(pairs, counts):
        ends = [line[0], line[-1]]
        (p, _), (q, _) = ends[0]
        first, second = [r[0][1] for r in line], [r[1][1] for r in line]
        if p == q and sense < 0:  # a dart: the last steps run into each other at its tip
            for end, way in ((-1, 1), (0, -1)):
                i, j = (first[end] + way) % counts[p], (second[end] - way) % counts[p]
                if i == j and len(line) > 0:
                    first.insert(len(first) if end else 0, i)
                    second.insert(len(second) if end else 0, j)
        sides = (p, *stretch(first, counts[p], 1), 1), (q, *stretch(second, counts[q], sense), sense)
        if not sides[0][2] or not sides[1][2]:
            raise Faults(f"cloth '{obj.name}': a seam needs two loose edges or more, from neighbouring vertices to neighbouring "
                         "vertices (what stands alone is selected)", obj, verts=[lines[k][i] for r in line for k, i in r])
        out.append(sides)
    return out


# ---- the pattern ----------------------------------------------------------------------------------------------


def corners(q, marks):
    """Places where edges of an outline begin: corners, and ends of seams."""
    a, b = q - np.roll(q, 1, axis=0), np.roll(q, -1, axis=0) - q
    length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    turned = (a * b).sum(axis=1) < CORNER * np.maximum(length, 1e-30)
    return sorted(set(np.flatnonzero(turned).tolist()) | marks) or [0]


def outline(q, begins):
    """Edges of the pattern file around points `q`, from the first of `begins`."""
    n, edges = len(q), []
    for k, first in enumerate(begins):
        steps = (begins[(k + 1) % len(begins)] - first - 1) % n + 1
        pieces = [{"to": q[(first + s) % n].tolist()} for s in range(1, steps + 1)]
        edges.append(pieces[0] if len(pieces) == 1 else {"path": pieces})
    return {"start": q[begins[0]].tolist(), "edges": edges}


def side(panel, begins, count, first, steps, sense):
    """One side of a seam as the pattern file has it."""
    k = begins.index(first)
    number, at = 0, first
    while number < len(begins) and (at - first) % count < steps and (number == 0 or at != first):
        number += 1
        at = begins[(k + number) % len(begins)]
    out = {"panel": panel, "edge": k}
    if number > 1:
        out["count"] = number
    if sense < 0:
        out["from"], out["to"] = 1, 0
    return out


def pattern(obj, shown, mesh):
    """The mesh as a pattern (docs/patterns.md). Raises Faults."""
    points = world_points(shown, mesh)
    polygons = [list(p.vertices) for p in mesh.polygons]
    uv = None
    if obj.toile.use_uv:
        layer = mesh.uv_layers.active
        if layer is None:
            raise Faults(f"cloth '{obj.name}' has no UV map (or switch off Pattern from UV map)", obj)
        uv = [np.array([layer.data[i].uv for i in p.loop_indices], np.float64) * obj.toile.uv_scale for p in mesh.polygons]
    lines, where, panels = [], {}, []
    for island in islands(polygons):
        flat, turn, origin = flatten(obj, points, polygons, island, uv)
        mine = []
        for line in borders(obj, polygons, island):
            q = np.array([flat[v] for v in line])
            mine.append((float(np.cross(q, np.roll(q, -1, axis=0)).sum() / 2), line, q))
        mine.sort(key=lambda found: -abs(found[0]))  # the outline first, then what is cut out
        if not mine:
            raise Faults(f"cloth '{obj.name}': a panel is closed, it has no border (selected)", obj, faces=island)
        panels.append({"name": f"panel-{len(panels) + 1}", "line": len(lines), "points": mine[0][2],
                       "holes": [q for _, _, q in mine[1:]], "turn": turn, "origin": origin})
        for k, v in enumerate(mine[0][1]):
            where[v] = (len(lines), k)
        lines.append(mine[0][1])
    seams = find_seams(obj, [tuple(e) for e in loose_edges(mesh).tolist()], lines, where)
    return assemble(panels, seams)


def assemble(panels, seams):
    counts, marks = [len(p["points"]) for p in panels], [set() for _ in panels]
    for sides in seams:
        for line, first, steps, _ in sides:
            marks[line] |= {first, (first + steps) % counts[line]}
    begins = [corners(p["points"], m) for p, m in zip(panels, marks)]
    out = {"format": "toile-pattern-1", "panels": [], "seams": []}
    for p, begin in zip(panels, begins):
        panel = {"name": p["name"], "placement": {"origin": p["origin"].tolist(), "rotation": angles(p["turn"])}}
        panel.update(outline(p["points"], begin))
        if p["holes"]:
            panel["lines"] = [{"kind": "hole", "start": q[0].tolist(), "path": [{"to": x.tolist()} for x in np.roll(q, -1, axis=0)]}
                              for q in p["holes"]]
        out["panels"].append(panel)
    for sides in seams:
        out["seams"].append({"sides": [side(panels[line]["name"], begins[line], counts[line], first, steps, sense)
                                       for line, first, steps, sense in sides]})
    return out


def write(obj, shown, mesh, path):
    """The pattern as a file."""
    found = pattern(obj, shown, mesh)
    found["name"] = os.path.splitext(os.path.basename(path))[0]
    with open(path, "w", encoding="utf-8") as f:
        json.dump(found, f, indent=1)
