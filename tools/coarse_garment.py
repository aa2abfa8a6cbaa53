#!/usr/bin/env python3
"""Lays a coarse mesh of a pattern's panels over the same garment when it is draped: python3 tools/coarse_garment.py FLAT.obj DRAPED.obj OUT.obj [LIFT]

FLAT.obj is what `toile mesh` writes, DRAPED.obj what `toile drape` writes of the same pattern. Panels are matched by their order; each vertex goes to its place in the
material, found in the triangles of the draped panel; vertices that a seam joins (lines `l`) become one node; all are moved outwards by LIFT [m], 0.01 if not given, since chords
of a coarse mesh cut corners. In the material the panels lie side by side, GAP apart.
"""
import collections
import math
import sys

GAP = 0.05  # between panels in the material [m]


class Mesh:
    def __init__(self, path):
        self.pos, self.uv, self.tri, self.tri_uv, self.joined = [], [], [], [], []
        for line in open(path, encoding="utf-8"):
            word, *rest = line.split() or [""]
            if word == "v":
                self.pos.append([float(x) for x in rest[:3]])
            elif word == "vt":
                self.uv.append([float(x) for x in rest[:2]])
            elif word == "f":
                corners = [c.split("/") for c in rest]
                self.tri.append([int(c[0]) - 1 for c in corners])
                self.tri_uv.append([int(c[1]) - 1 for c in corners])
            elif word == "l":
                self.joined.append([int(c) - 1 for c in rest])

    def panels(self):
        """Of each vertex in the material the number of its panel, in order of first appearance."""
        parts = Parts(len(self.uv))
        for t in self.tri_uv:
            parts.join(t[0], t[1])
            parts.join(t[1], t[2])
        number = {}
        return [number.setdefault(parts.root(i), len(number)) for i in range(len(self.uv))]


class Parts:
    def __init__(self, count):
        self.up = list(range(count))

    def root(self, i):
        while self.up[i] != i:
            self.up[i] = self.up[self.up[i]]
            i = self.up[i]
        return i

    def join(self, a, b):
        a, b = self.root(a), self.root(b)
        self.up[max(a, b)] = min(a, b)


def weights(p, a, b, c):
    """Barycentric coordinates of p in the triangle abc."""
    area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    v = ((p[0] - a[0]) * (c[1] - a[1]) - (p[1] - a[1]) * (c[0] - a[0])) / area
    w = ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / area
    return 1 - v - w, v, w


def place(p, panel, draped, panel_of):
    """Where the material point p of a panel is in space; the triangle that p is the least outside of serves."""
    best, at = -math.inf, None
    for t, tu in zip(draped.tri, draped.tri_uv):
        if panel_of[tu[0]] != panel:
            continue
        w = weights(p, *(draped.uv[i] for i in tu))
        if min(w) > best:
            best = min(w)
            at = [sum(w[k] * draped.pos[t[k]][axis] for k in range(3)) for axis in range(3)]
    return at


def normals(pos, tri):
    out = [[0.0] * 3 for _ in pos]
    for t in tri:
        a, b, c = (pos[i] for i in t)
        u, v = [b[k] - a[k] for k in range(3)], [c[k] - a[k] for k in range(3)]
        n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        for i in t:
            out[i] = [out[i][k] + n[k] for k in range(3)]
    return [[x / (math.hypot(*n) or 1) for x in n] for n in out]


def side_by_side(uv, panel):
    """The same panels in a row, none over another."""
    out, x = [None] * len(uv), 0.0
    for number in range(max(panel) + 1):
        own = [i for i, p in enumerate(panel) if p == number]
        left, low = (min(uv[i][axis] for i in own) for axis in range(2))
        for i in own:
            out[i] = (uv[i][0] - left + x, uv[i][1] - low)
        x = max(out[i][0] for i in own) + GAP
    return out


def main(flat_path, draped_path, out_path, lift=0.01):
    flat, draped = Mesh(flat_path), Mesh(draped_path)
    flat_panel, draped_panel = flat.panels(), draped.panels()
    if max(flat_panel) != max(draped_panel):
        sys.exit(f"{flat_path} has {max(flat_panel) + 1} panels, {draped_path} {max(draped_panel) + 1}: they are not of one pattern")
    nodes = Parts(len(flat.pos))
    for a, b in flat.joined:
        nodes.join(a, b)
    node_of_uv = {u: v for t, tu in zip(flat.tri, flat.tri_uv) for v, u in zip(t, tu)}
    gathered = collections.defaultdict(list)
    for u, p in enumerate(flat.uv):
        gathered[nodes.root(node_of_uv[u])].append(place(p, flat_panel[u], draped, draped_panel))
    order = {root: k for k, root in enumerate(sorted(gathered))}
    pos = [[sum(p[axis] for p in gathered[root]) / len(gathered[root]) for axis in range(3)] for root in sorted(gathered)]
    tri = [[order[nodes.root(v)] for v in t] for t in flat.tri]
    pos = [[p[k] + lift * n[k] for k in range(3)] for p, n in zip(pos, normals(pos, tri))]
    with open(out_path, "w", encoding="ascii") as out:
        out.write("# made by tools/coarse_garment.py: v world position, vt material position, both in m\n")
        out.writelines("v %.5f %.5f %.5f\n" % tuple(p) for p in pos)
        out.writelines("vt %.6f %.6f\n" % p for p in side_by_side(flat.uv, flat_panel))
        for t, tu in zip(tri, flat.tri_uv):
            out.write("f " + " ".join(f"{v + 1}/{u + 1}" for v, u in zip(t, tu)) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:4], *(float(x) for x in sys.argv[4:]))
