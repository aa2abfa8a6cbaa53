#!/usr/bin/env python3
"""Makes the OBJ files of scenes/: torus, bowl, funnel, needles, knot. Run it from anywhere; the same bytes every time.

Solids of revolution have rings with as many corners as their length asks for, zipped together, so that no triangle is a
sliver near the axis.
"""
import math
import os

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenes")


def write(path, note, nodes, faces, uv=None):
    with open(os.path.join(SCENES, path), "w", encoding="ascii") as out:
        out.write(f"# {note}; made by tools/scene_meshes.py\n")
        for p in nodes:
            out.write("v %.6f %.6f %.6f\n" % tuple(p))
        for t in uv or []:
            out.write("vt %.6f %.6f\n" % tuple(t))
        for f in faces:
            out.write("f " + " ".join(f"{i + 1}/{i + 1}" if uv else f"{i + 1}" for i in f) + "\n")


def zip_rings(a, b):
    """Triangles between two closed rings of node numbers, seen from outside with b above a."""
    faces, i, k = [], 0, 0
    while i < len(a) or k < len(b):
        if k == len(b) or (i < len(a) and (i + 1) / len(a) <= (k + 1) / len(b)):
            faces.append((a[i % len(a)], a[(i + 1) % len(a)], b[k % len(b)]))
            i += 1
        else:
            faces.append((a[i % len(a)], b[(k + 1) % len(b)], b[k % len(b)]))
            k += 1
    return faces


def revolve(profile, edge, closed=False, least=6):
    """A surface about y from (radius, height) pairs; radius 0 is a pole. Outside is to the right of the way along the profile
    when radius points right and height up: a ball goes from its lower pole to its upper one."""
    nodes, rings = [], []
    for r, y in profile:
        count = max(least, round(2 * math.pi * r / edge)) if r > 0 else 1
        rings.append(list(range(len(nodes), len(nodes) + count)))
        for k in range(count):
            angle = -2 * math.pi * k / count
            nodes.append((r * math.cos(angle), y, r * math.sin(angle)))
    faces = []
    pairs = list(zip(rings, rings[1:])) + ([(rings[-1], rings[0])] if closed else [])
    for a, b in pairs:
        if len(a) == 1:
            faces += [(a[0], b[(k + 1) % len(b)], b[k]) for k in range(len(b))]
        elif len(b) == 1:
            faces += [(a[k], a[(k + 1) % len(a)], b[0]) for k in range(len(a))]
        else:
            faces += zip_rings(a, b)
    return nodes, faces


def arc(cx, cy, r, begin, end, count):
    """Points of an arc in the (radius, height) plane, degrees from the radius axis, without the last one."""
    return [(cx + r * math.cos(math.radians(begin + (end - begin) * k / count)),
             cy + r * math.sin(math.radians(begin + (end - begin) * k / count))) for k in range(count)]


def torus():
    nodes, faces = revolve(arc(0.15, 0, 0.04, 0, 360, 24), 0.014, closed=True)
    write("torus/torus.obj", "torus about y, radii 0.15 and 0.04 m", nodes, faces)


def bowl():
    """A half ball of radius 0.2 m inside, wall 15 mm, the rim rounded, opening up; the rim is at y = 0."""
    inner, wall = 0.2, 0.015
    outside = arc(0, 0, inner + wall, -90, 0, 20)
    rim = arc(inner + wall / 2, 0, wall / 2, 0, 180, 6)
    inside = arc(0, 0, inner, 0, -90, 20)
    profile = [(0, -inner - wall)] + outside[1:] + rim + inside[0:] + [(0, -inner)]
    nodes, faces = revolve(profile, 0.02)
    write("bowl/bowl.obj", "bowl, radius 0.2 m inside, wall 15 mm", nodes, faces)


def funnel():
    """A cone of 45 degrees from radius 0.35 m into a pipe of radius 0.08 m, wall 15 mm; the upper rim is at y = 0."""
    wall = 0.015
    inside = [(0.35, 0.0), (0.28, -0.07), (0.21, -0.14), (0.15, -0.2), (0.11, -0.24), (0.09, -0.275), (0.08, -0.32), (0.08, -0.38),
              (0.08, -0.45)]
    fine = []
    for (r0, y0), (r1, y1) in zip(inside, inside[1:]):
        fine += [(r0 + (r1 - r0) * k / 3, y0 + (y1 - y0) * k / 3) for k in range(3)]
    fine.append(inside[-1])

    def normal(k):
        a, b = fine[max(k - 1, 0)], fine[min(k + 1, len(fine) - 1)]
        dr, dy = b[0] - a[0], b[1] - a[1]
        length = math.hypot(dr, dy)
        return -dy / length, dr / length

    outside = [(fine[k][0] + wall * normal(k)[0], fine[k][1] + wall * normal(k)[1]) for k in range(len(fine))]

    def bend(a, b):
        """Half a circle from a to b, to the left, without its ends."""
        cx, cy = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
        ux, uy = a[0] - cx, a[1] - cy
        return [(cx + ux * math.cos(t) - uy * math.sin(t), cy + ux * math.sin(t) + uy * math.cos(t))
                for t in (math.pi * k / 4 for k in (1, 2, 3))]

    # up the outside, over the upper rim, down the inside, around the lower rim
    profile = outside[::-1] + bend(outside[0], fine[0]) + fine + bend(fine[-1], outside[-1])
    nodes, faces = revolve(profile, 0.025, closed=True)
    write("funnel/funnel.obj", "funnel, radius 0.35 to 0.08 m, wall 15 mm", nodes, faces)


def needles():
    """9 x 9 closed cones, 10 cm high, 6 cm apart, 12 mm thick at the foot and ending in a point."""
    nodes, faces = [], []
    for i in range(9):
        for k in range(9):
            n, f = revolve([(0, 0), (0.006, 0), (0.004, 0.035), (0.002, 0.07), (0, 0.1)], 0.004, least=8)
            first = len(nodes)
            nodes += [(x + 0.06 * (i - 4), y, z + 0.06 * (k - 4)) for x, y, z in n]
            faces += [tuple(first + c for c in corner) for corner in f]
    write("needles/needles.obj", "81 needles, 10 cm high", nodes, faces)


# ---- a ribbon in a loose overhand knot ----

def sub(a, b): return tuple(x - y for x, y in zip(a, b))
def add(a, s, b): return tuple(x + s * y for x, y in zip(a, b))
def dot(a, b): return sum(x * y for x, y in zip(a, b))
def cross(a, b): return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    length = math.sqrt(dot(a, a))
    return tuple(x / length for x in a)


def knot():
    """The polynomial trefoil of Shastri (1992), (t^3 - 3t, t^4 - 4t^2, t^5 - 10t), flattened and with straight ends. The ribbon's width
    follows the binormal: it bends over its flat side, and hardly in its plane."""
    width, size, end, edge, top = 0.024, 0.08, 0.2, 0.006, 2.06

    def curve(t):
        c = max(-top, min(top, t))
        p = (c ** 3 - 3 * c, c ** 4 - 4 * c ** 2, 0.32 * (c ** 5 - 10 * c))
        v = (3 * c ** 2 - 3, 4 * c ** 3 - 8 * c, 0.32 * (5 * c ** 4 - 10))
        return tuple(size * x for x in add(p, t - c, v))

    # samples at equal distances along the curve
    fine = [curve(-4 + 8 * k / 40000) for k in range(40001)]
    mid = [math.dist(a, b) for a, b in zip(fine, fine[1:])]
    total = [0.0]
    for d in mid:
        total.append(total[-1] + d)
    ends = []
    for t in (-top, top):
        ends.append(total[round((t + 4) / 8 * 40000)])
    begin, finish = ends[0] - end, ends[1] + end
    count = round((finish - begin) / edge)

    def at(s):
        lo, hi = 0, len(total) - 1
        while hi - lo > 1:
            m = (lo + hi) // 2
            if total[m] <= s:
                lo = m
            else:
                hi = m
        return add(fine[lo], (s - total[lo]) / (total[hi] - total[lo]), sub(fine[hi], fine[lo]))

    step = (finish - begin) / count
    centre = [at(begin + k * step) for k in range(count + 1)]
    tangent = [unit(sub(centre[min(k + 1, count)], centre[max(k - 1, 0)])) for k in range(count + 1)]
    # binormal where the curve bends, carried on along the straight ends, then smoothed
    across = []
    for k in range(count + 1):
        b = cross(tangent[max(k - 2, 0)], tangent[min(k + 2, count)])
        across.append(b if dot(b, b) > 1e-6 else None)
    known = [k for k in range(count + 1) if across[k]]
    across = [unit(across[min(known, key=lambda j, k=k: abs(j - k))]) for k in range(count + 1)]
    for k in range(1, count + 1):
        if dot(across[k], across[k - 1]) < 0:
            across[k] = tuple(-x for x in across[k])
    for _ in range(200):
        across = [unit(tuple(sum(v) for v in zip(across[max(k - 1, 0)], across[k], across[min(k + 1, count)])))
                  for k in range(count + 1)]
        across = [unit(add(b, -dot(b, t), t)) for b, t in zip(across, tangent)]
    rows = round(width / edge)
    nodes, uv, faces = [], [], []
    for k in range(count + 1):
        for i in range(rows + 1):
            off = width * (i / rows - 0.5)
            nodes.append(add(centre[k], off, across[k]))
            uv.append((k * step, off + width / 2))
    for k in range(count):
        for i in range(rows):
            a = k * (rows + 1) + i
            b, c, d = a + rows + 1, a + rows + 2, a + 1
            faces += [(a, b, c), (a, c, d)] if (i + k) % 2 else [(a, b, d), (b, c, d)]
    print("knot: length %.3f m, %d faces, ends at %s going %s and %s going %s" %
          (count * step, len(faces), centre[0], tuple(-x for x in tangent[0]), centre[-1], tangent[-1]))
    strain = [math.dist(nodes[a], nodes[b]) / math.dist(uv[a], uv[b]) - 1 for f in faces for a, b in zip(f, f[1:] + f[:1])]
    far = [(math.dist(nodes[i], nodes[k]), uv[i][0], uv[k][0]) for i in range(len(nodes)) for k in range(i)
           if abs(uv[i][0] - uv[k][0]) > 3 * width]
    print("knot: strain %.3f to %.3f, nearest nodes %.4f m (at %.2f and %.2f m)" % ((min(strain), max(strain)) + min(far)))
    write("knot/knot.obj", "ribbon of 24 mm in an open overhand knot, vt is arc length and width", nodes, faces, uv)


def kimmerle():
    """A tetrahedron, an ellipsoid, and a round cloth of 255 triangles (Kimmerle 2005, Figs. 4.1, 2.11, 4.14)."""
    r = 0.1 / math.sqrt(3)
    corners = [(r, r, r), (r, -r, -r), (-r, r, -r), (-r, -r, r)]
    write("kimmerle/tetrahedron.obj", "tetrahedron in a ball of 0.1 m", corners, [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])
    profile = [(0, -0.15)] + arc(0, 0, 1, -90, 90, 24)[1:] + [(0, 0.15)]
    profile = [profile[0]] + [(0.1 * x, 0.15 * y) for x, y in profile[1:-1]] + [profile[-1]]
    nodes, faces = revolve(profile, 0.012)
    write("kimmerle/ellipsoid.obj", "ellipsoid about y, 0.1 and 0.15 m", nodes, faces)
    rings, size = [1, 7, 14, 21, 28, 35, 45], 0.7  # 255 triangles
    nodes, at = [], []
    for i, count in enumerate(rings):
        at.append(list(range(len(nodes), len(nodes) + count)))
        for k in range(count):
            angle = 2 * math.pi * k / count
            nodes.append((size * i / 6 * math.cos(angle), size * i / 6 * math.sin(angle), 0))
    faces = [(0, at[1][k], at[1][(k + 1) % 7]) for k in range(7)]
    for a, b in zip(at[1:], at[2:]):
        faces += [(f[1], f[0], f[2]) for f in zip_rings(a, b)]
    write("kimmerle/table-cloth.obj", "round cloth of 255 triangles, 0.7 m", nodes, faces, [p[:2] for p in nodes])


if __name__ == "__main__":
    kimmerle()
    for make in (torus, bowl, funnel, needles, knot):
        os.makedirs(os.path.join(SCENES, make.__name__), exist_ok=True)
        make()
