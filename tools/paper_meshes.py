#!/usr/bin/env python3
"""Makes the sleeve and the dress of scenes/paper-*, and the moving body under the dress. Run it from anywhere; the same bytes every time.

Cloth is written as OBJ with world nodes (v) and material vertices (vt): along a seam two panels share nodes and have vertices of their own. The
dress has six panels (fl 0 to 5): bodice front and back, skirt front, left, back and right. Each panel is a grid of rows and columns over a smooth
surface around the body; it is laid flat row by row, widths and heights measured on the triangles themselves, so that the start is near its rest shape.
"""
import math
import os

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenes")


class Cloth:
    """World nodes, merged by place (that is what sews panels together), and panels with vertices of their own."""

    def __init__(self):
        self.nodes, self.index, self.uv, self.faces, self.labels = [], {}, [], [], {}

    def node(self, p):
        key = tuple(round(c, 6) for c in p)
        if key not in self.index:
            self.index[key] = len(self.nodes)
            self.nodes.append(key)
        return self.index[key]

    def panel(self, label, world, flat):
        """world[i][j] and flat[i][j] on a grid; diagonals alternate. None: no vertex there."""
        ids = [[None if p is None else (self.node(p), self.vertex(q)) for p, q in zip(row, flat_row)] for row, flat_row in zip(world, flat)]
        for i in range(len(ids) - 1):
            for j in range(len(ids[i]) - 1):
                a, b, c, d = ids[i][j], ids[i][j + 1], ids[i + 1][j + 1], ids[i + 1][j]
                for t in ((a, b, c), (a, c, d)) if (i + j) % 2 == 0 else ((a, b, d), (b, c, d)):
                    if None not in t:
                        self.faces.append((t, label))

    def vertex(self, q):
        self.uv.append(q)
        return len(self.uv)

    def write(self, path, note):
        with open(os.path.join(SCENES, path), "w", encoding="ascii") as out:
            out.write(f"# {note}; made by tools/paper_meshes.py\n")
            for k, p in enumerate(self.nodes):
                out.write("v %.6f %.6f %.6f\n" % p)
                if k in self.labels:
                    out.write(f"nl {self.labels[k]}\n")
            for q in self.uv:
                out.write("vt %.6f %.6f\n" % q)
            for t, label in self.faces:
                out.write("f " + " ".join(f"{n + 1}/{v}" for n, v in t) + "\n")
                if label:
                    out.write(f"fl {label}\n")


def distance(a, b):
    return math.dist(a, b)


# --- sleeve ------------------------------------------------------------------------------------------------

SIDES, LENGTH, WIDTH = 16, 0.60, 0.48  # of the tube: corners around, length, circumference [m]


def sleeve():
    """A tube along x from -0.3 to 0.3, sewn along its underside; the ring at -0.3 has label 1."""
    cloth, rows = Cloth(), 6
    radius = WIDTH / SIDES / (2 * math.sin(math.pi / SIDES))
    world, flat = [], []
    for i in range(rows + 1):
        x = -LENGTH / 2 + LENGTH * i / rows
        angles = [2 * math.pi * (j % SIDES) / SIDES - math.pi / 2 for j in range(SIDES + 1)]
        world.append([(x, radius * math.sin(a), radius * math.cos(a)) for a in angles])
        flat.append([(x + LENGTH / 2, -WIDTH * j / SIDES) for j in range(SIDES + 1)])
    cloth.panel(0, world, flat)
    for k, p in enumerate(cloth.nodes):
        if p[0] < -LENGTH / 2 + 1e-6:
            cloth.labels[k] = 1
    cloth.write("paper-sleeve/sleeve.obj", f"a sleeve of {len(cloth.faces)} faces, {WIDTH} m around, {LENGTH} m long")


if __name__ == "__main__":
    sleeve()
