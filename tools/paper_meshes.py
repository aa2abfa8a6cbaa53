#!/usr/bin/env python3
"""Makes the sleeve and the dress of scenes/paper-*, the moving body under the dress and the motion of the kick. Run it from anywhere; the same bytes every time.

Cloth is written as OBJ with world nodes (v) and material vertices (vt): along a seam two panels share nodes and have vertices of their own. The
dress has six panels (fl 0 to 5): bodice front and back, skirt front, left, back and right. Each panel is a grid of rows and columns over a smooth
surface around the body and is laid flat with the lengths of its own edges, so that the start is near its rest shape.
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


def flatten(world, rounds=4000):
    """Panel coordinates for a grid of points: rows laid out straight, then moved until all edges and both diagonals have their lengths (springs, each
    step moves every point by the mean of what its edges ask for). Exact where the surface can be unrolled."""
    points = {(i, j): p for i, row in enumerate(world) for j, p in enumerate(row) if p is not None}
    links = []
    for i, j in points:
        for n in ((i, j + 1), (i + 1, j), (i + 1, j + 1), (i + 1, j - 1)):
            if n in points:
                links.append(((i, j), n, math.dist(points[i, j], points[n])))
    middle, v, flat = (len(world[0]) - 1) / 2, 0.0, {}
    width = max(math.dist(points[a], points[b]) for a, b in (((i, j), (i, j + 1)) for i, j in points if (i, j + 1) in points))
    for i in range(len(world)):
        column = next(j for j in range(len(world[i])) if (i, j) in points and (i == 0 or (i - 1, j) in points))
        if i > 0:
            v -= math.dist(points[i, column], points[i - 1, column])
        for j in range(len(world[i])):
            if (i, j) in points:
                flat[i, j] = ((j - middle) * width, v)
    degree = {n: sum(n in link[:2] for link in links) for n in points}
    for _ in range(rounds):
        move = {n: [0.0, 0.0] for n in points}
        for a, b, rest in links:
            dx, dy = flat[b][0] - flat[a][0], flat[b][1] - flat[a][1]
            length = math.hypot(dx, dy)
            f = 0.5 * (length - rest) / length
            move[a][0] += f * dx
            move[a][1] += f * dy
            move[b][0] -= f * dx
            move[b][1] -= f * dy
        flat = {n: (q[0] + 2 * move[n][0] / degree[n], q[1] + 2 * move[n][1] / degree[n]) for n, q in flat.items()}
    worst = max(abs(math.dist(flat[a], flat[b]) / rest - 1) for a, b, rest in links)
    return [[flat.get((i, j)) for j in range(len(row))] for i, row in enumerate(world)], worst


# --- solids ------------------------------------------------------------------------------------------------


def loft(rows, around=24):
    """A closed surface of ellipses one above the other."""
    nodes, rings = [], []
    for y, a, b in rows:
        count = around if a > 0 else 1
        rings.append(range(len(nodes), len(nodes) + count))
        nodes += [(a * math.cos(2 * math.pi * k / around), y, b * math.sin(2 * math.pi * k / around)) for k in range(count)]
    faces = []
    for low, high in zip(rings, rings[1:]):
        for k in range(around):
            a, b = low[k % len(low)], low[(k + 1) % len(low)]
            c, d = high[(k + 1) % len(high)], high[k % len(high)]
            faces += [(d, c, b, a)] if len(low) == len(high) else [(d, b, a)] if len(high) == 1 else [(d, c, a)]
    return nodes, faces


def rod(a, b, ra, rb, around=20, cap=4):
    """A rod with round ends about the points a and b, radius ra at a and rb at b."""
    axis = [b[k] - a[k] for k in range(3)]
    length = math.sqrt(sum(c * c for c in axis))
    y = [c / length for c in axis]
    side = [0, 0, 1] if abs(y[2]) < 0.9 else [1, 0, 0]
    x = [y[1] * side[2] - y[2] * side[1], y[2] * side[0] - y[0] * side[2], y[0] * side[1] - y[1] * side[0]]
    norm = math.sqrt(sum(c * c for c in x))
    x = [c / norm for c in x]
    z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    rows = []
    for k in range(cap + 1):
        angle = 0.5 * math.pi * (k / cap - 1)
        rows.append((ra * math.sin(angle), ra * math.cos(angle) if k else 0))
    for k in range(cap + 1):
        angle = 0.5 * math.pi * k / cap
        rows.append((length + rb * math.sin(angle), rb * math.cos(angle) if k < cap else 0))
    nodes, faces = loft([(h, r, r) for h, r in rows], around)
    return [tuple(a[c] + p[0] * x[c] + p[1] * y[c] + p[2] * z[c] for c in range(3)) for p in nodes], faces


def write_solid(path, note, solid):
    with open(os.path.join(SCENES, path), "w", encoding="ascii") as out:
        out.write(f"# {note}; made by tools/paper_meshes.py\n")
        for p in solid[0]:
            out.write("v %.5f %.5f %.5f\n" % p)
        for f in solid[1]:
            out.write("f " + " ".join(str(k + 1) for k in f) + "\n")


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
    write_solid("paper-sleeve/rod.obj", "a rod with round ends", rod((0, 0, 0), (0.45, 0, 0), 0.055, 0.055, 48, 8))


# --- body --------------------------------------------------------------------------------------------------

# (height, half width, half depth) [m]; a row of width 0 is a pole
HIPS = [(0.80, 0, 0), (0.815, 0.085, 0.065), (0.85, 0.140, 0.100), (0.89, 0.162, 0.114), (0.93, 0.168, 0.118), (0.98, 0.160, 0.112),
        (1.03, 0.142, 0.102), (1.08, 0.127, 0.094), (1.12, 0.105, 0.078), (1.14, 0.06, 0.045), (1.145, 0, 0)]
CHEST = [(1.02, 0, 0), (1.03, 0.06, 0.045), (1.06, 0.110, 0.082), (1.10, 0.124, 0.092), (1.15, 0.128, 0.096), (1.20, 0.137, 0.103),
         (1.26, 0.145, 0.108), (1.32, 0.148, 0.104), (1.37, 0.138, 0.088), (1.41, 0.112, 0.068), (1.44, 0.06, 0.045), (1.452, 0, 0)]
HEAD = [(1.51, 0, 0), (1.52, 0.035, 0.04), (1.55, 0.062, 0.075), (1.60, 0.076, 0.092), (1.65, 0.073, 0.090), (1.69, 0.052, 0.065),
        (1.708, 0.025, 0.03), (1.713, 0, 0)]


def rotation(axis, degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]


def times(m, n):
    return [[sum(m[i][k] * n[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def turn(m, p):
    return [sum(m[i][k] * p[k] for k in range(3)) for i in range(3)]


def axis_angle(m):
    """Degrees and axis, angle below 180."""
    cosine = max(-1.0, min(1.0, 0.5 * (m[0][0] + m[1][1] + m[2][2] - 1)))
    axis = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
    norm = math.sqrt(sum(c * c for c in axis))
    if norm < 1e-9:
        return 0.0, [0, 1, 0]
    return math.degrees(math.atan2(norm, 2 * cosine)), [c / norm for c in axis]


def ease(t, begin, end):
    """0 before, 1 after, smooth in between (quintic: accelerations have no jump)."""
    s = min(1.0, max(0.0, (t - begin) / (end - begin)))
    return s * s * s * (10 - 15 * s + 6 * s * s)


# The story: a second of standing, two paces forward, a turn to the left, a spin to the right, rest.
SECONDS, KEY = 5.2, 0.08
WALK = (0.8, 3.0)


def pose(t):
    """Place and heading of the hips; twist of the chest; swing of the left leg [degrees, forward]."""
    walking = ease(t, WALK[0], WALK[0] + 0.6) * (1 - ease(t, WALK[1] - 0.6, WALK[1]))
    phase = 2 * math.pi * (t - WALK[0]) / 1.1
    swing = 22 * walking * math.sin(phase)
    z = 1.1 * ease(t, *WALK)
    x = 0.02 * walking * math.sin(phase)
    yaw = 140 * ease(t, 2.9, 3.7) - 280 * ease(t, 3.7, 4.6)
    spread = 25 * ease(t, 2.7, 3.3) * (1 - ease(t, 4.7, 5.2))  # the arms rise in the turn
    return (x, 0, z), yaw, -0.35 * swing, swing, spread


def knee_bend(swing):
    """Bend of the knee [degrees]: 1.2 times how far its leg is behind, none in front, without a jump of the speed in between."""
    return 0.6 * (swing + math.sqrt(swing * swing + 25) - 5)


def parts():
    """Every rigid part: name, solid, and a function of time that gives (rotation, where its pivot goes)."""
    result = []

    def frame(t, twisted):
        place, yaw, twist, swing, spread = pose(t)
        q = rotation("y", yaw + (twist if twisted else 0))
        return place, q, swing, spread

    def follow(twisted, pivot, local=None):
        def at(t):
            place, q, swing, spread = frame(t, twisted)
            p = turn(q, pivot)
            r = q if local is None else times(q, local(swing, spread))
            return r, [p[k] + place[k] for k in range(3)]
        return at

    def limb(name, twisted, joint, bone, shape_a, shape_b, first, second):
        """Two rods: the first turns about `joint`, the second about the end of the first as well."""
        upper = follow(twisted, joint, first)

        def lower(t):
            place, q, swing, spread = frame(t, twisted)
            r1 = times(q, first(swing, spread))
            p = [a + b for a, b in zip(turn(q, joint), place)]
            elbow = [a + b for a, b in zip(p, turn(r1, [bone[k] - joint[k] for k in range(3)]))]
            return times(r1, second(swing, spread)), elbow
        result.append((name[0], shape_a, joint, upper))
        for k, shape in enumerate(shape_b):
            result.append((name[1 + k], shape, bone, lower))

    origin = [0, 0, 0]
    result.append(("hips", loft(HIPS), origin, follow(False, origin)))
    result.append(("chest", loft(CHEST), origin, follow(True, origin)))
    result.append(("shoulders", rod((-0.15, 1.395, 0), (0.15, 1.395, 0), 0.045, 0.045), origin, follow(True, origin)))
    result.append(("neck", rod((0, 1.40, 0), (0, 1.53, 0.005), 0.046, 0.042), origin, follow(True, origin)))
    result.append(("head", loft(HEAD), origin, follow(True, origin)))
    for side, sign in (("left", 1), ("right", -1)):
        shoulder, elbow, hand = [sign * 0.165, 1.395, 0], [sign * 0.335, 1.19, 0], [sign * 0.465, 0.99, 0.05]
        limb([f"{side}-upper-arm", f"{side}-forearm"], True, shoulder, elbow, rod(shoulder, elbow, 0.041, 0.033), [rod(elbow, hand, 0.033, 0.026)],
             lambda swing, spread, sign=sign: times(rotation("z", sign * spread), rotation("x", sign * 0.7 * swing)),
             lambda swing, spread, sign=sign: rotation("x", -0.3 * (math.sqrt(swing * swing + 25) - 5)))
        hip, knee, ankle = [sign * 0.09, 0.90, 0], [sign * 0.1, 0.49, 0.01], [sign * 0.1, 0.09, -0.01]
        limb([f"{side}-thigh", f"{side}-shin", f"{side}-foot"], False, hip, knee, rod(hip, knee, 0.075, 0.053),
             [rod(knee, ankle, 0.053, 0.034), rod((ankle[0], 0.05, -0.01), (ankle[0], 0.035, 0.13), 0.04, 0.028)],
             lambda swing, spread, sign=sign: rotation("x", -sign * swing),
             lambda swing, spread, sign=sign: rotation("x", knee_bend(-sign * swing)))
    return result


def body(path):
    with open(os.path.join(SCENES, path), "w", encoding="ascii") as out:
        out.write("// The body of rigid parts and its motion; made by tools/paper_meshes.py\n{\n\"obstacles\": [\n")
        items = parts()
        for name, solid, pivot, at in items:
            write_solid(f"paper-dress/{name}.obj", name, solid)
            out.write('{"name": "%s", "mesh": "%s.obj", "friction": 0.3, "pivot": [%g, %g, %g], "motion": [\n' % (name, name, *pivot))
            lines = []
            for k in range(round(SECONDS / KEY) + 1):
                m, p = at(k * KEY)
                degrees, axis = axis_angle(m)
                move = [round(p[c] - pivot[c], 5) + 0.0 for c in range(3)]
                lines.append('{"time": %.2f, "translate": [%g, %g, %g], "rotate": [%.3f, %.5f, %.5f, %.5f]}' % (k * KEY, *move, degrees, *axis))
            out.write(",\n".join(lines) + "]}%s\n" % ("," if name != items[-1][0] else ""))
        out.write("]\n}\n")


# --- dress -------------------------------------------------------------------------------------------------

COLUMNS = 16                                  # around; skirt panels have 4, bodice panels 8
BODICE = [(1.06, 0.147, 0.112), (1.12, 0.146, 0.112), (1.19, 0.153, 0.118), (1.25, 0.161, 0.123), (1.31, 0.163, 0.120)]
STRAPS = (2, 3), (5, 6)                         # columns of a bodice panel that go on over the shoulders
STRAP_ROWS, STRAP_TOP = 3, 1.456
SKIRT_ROWS, SKIRT_LENGTH, SKIRT_FLARE = 6, 0.56, 33.0  # slant length [m], degrees from the vertical


def ring(row, k):
    """Column k of COLUMNS around an ellipse, from +x over +z."""
    y, a, b = row
    angle = 2 * math.pi * (k % COLUMNS) / COLUMNS
    return (a * math.cos(angle), y, b * math.sin(angle))


def bodice(first):
    """Rows from the top down: straps, then the tube. `first`: column of its right-hand side seam."""
    line = [ring(BODICE[-1], first + k) for k in range(9)]
    in_strap = [any(k in s for s in STRAPS) for k in range(9)]
    rows = []
    for i in range(STRAP_ROWS, 0, -1):
        angle = 0.5 * math.pi * i / STRAP_ROWS
        rows.append([(0.92 * p[0] + 0.08 * p[0] * math.cos(angle), p[1] + (STRAP_TOP - p[1]) * math.sin(angle), p[2] * math.cos(angle))
                     if keep else None for p, keep in zip(line, in_strap)])
    rows.append(line)
    return rows + [[ring(row, first + k) for k in range(9)] for row in reversed(BODICE[:-1])]


def skirt(first):
    """Rows from the waist down: a cone, which unrolls without strain as long as the waist is near a circle."""
    y, a, b = BODICE[0]
    rows = []
    for i in range(SKIRT_ROWS + 1):
        out = SKIRT_LENGTH * i / SKIRT_ROWS * math.sin(math.radians(SKIRT_FLARE))
        down = SKIRT_LENGTH * i / SKIRT_ROWS * math.cos(math.radians(SKIRT_FLARE))
        rows.append([ring((y - down, a + out, b + out), first + k) for k in range(5)])
    return rows


def dress():
    cloth, worst = Cloth(), 0.0
    panels = [bodice(0), bodice(8), skirt(2), skirt(14), skirt(10), skirt(6)]
    for label, world in enumerate(panels):
        world = [row[::-1] for row in world]  # seen from outside: left to right
        flat, error = flatten(world)
        worst = max(worst, error)
        shift = 1.2 * (label % 3), -1.0 * (label // 3)  # panels lie apart in material space
        flat = [[None if q is None else (q[0] + shift[0], q[1] + shift[1]) for q in row] for row in flat]
        cloth.panel(label, world[::-1], flat[::-1])
    cloth.write("paper-dress/dress.obj", f"a dress of six panels, {len(cloth.faces)} faces, edges within {100 * worst:.1f} % of their flat length")
    print(f"dress: {len(cloth.faces)} faces, {len(cloth.nodes)} nodes, {len(cloth.uv)} vertices, worst edge {100 * worst:.2f} %")


# --- kick --------------------------------------------------------------------------------------------------

KICK_FPS = 50
# joint, parent, offset [m], of a person of 1.7 m in a T pose, facing +z; then the angles of the kick
SKELETON = [
    ("Hips", None, (0, 0.95, 0)),
    ("Spine", "Hips", (0, 0.12, 0)), ("Chest", "Spine", (0, 0.2, 0)), ("Neck", "Chest", (0, 0.2, 0)), ("Head", "Neck", (0, 0.1, 0)),
] + [
    (side + name, side + up if up in ("Collar", "Shoulder", "Elbow", "Hip", "Knee", "Ankle") else up, (sign * x, y, z))
    for side, sign in (("Left", 1), ("Right", -1))
    for name, up, (x, y, z) in (
        ("Collar", "Chest", (0.03, 0.16, 0)), ("Shoulder", "Collar", (0.15, 0, 0)), ("Elbow", "Shoulder", (0.28, 0, 0)), ("Wrist", "Elbow", (0.25, 0, 0)),
        ("Hip", "Hips", (0.09, -0.05, 0)), ("Knee", "Hip", (0, -0.42, 0)), ("Ankle", "Knee", (0, -0.42, 0)), ("Toe", "Ankle", (0, -0.06, 0.14)))
]
# degrees about (x, y, z) at times [s]: stance, knee up, kick, back, stance
TIMES = (0.0, 0.5, 0.9, 1.12, 1.35, 1.8, 2.4)
KICK = {
    "RightHip": [(-2, 0, -2), (-4, 0, -3), (-56, 0, -2), (-60, 0, 0), (-56, 0, -2), (-8, 0, -3), (-2, 0, -2)],
    "RightKnee": [(4, 0, 0), (10, 0, 0), (98, 0, 0), (12, 0, 0), (95, 0, 0), (15, 0, 0), (4, 0, 0)],
    "RightAnkle": [(-2, 0, 0), (-6, 0, 0), (20, 0, 0), (25, 0, 0), (15, 0, 0), (-6, 0, 0), (-2, 0, 0)],
    "LeftHip": [(-2, 0, 2), (-10, 0, 2), (-6, 0, -3), (4, 0, -4), (-4, 0, -3), (-8, 0, 2), (-2, 0, 2)],
    "LeftKnee": [(4, 0, 0), (20, 0, 0), (14, 0, 0), (10, 0, 0), (14, 0, 0), (18, 0, 0), (4, 0, 0)],
    "LeftAnkle": [(-2, 0, 0), (-10, 0, 0), (-8, 0, 3), (-14, 0, 4), (-10, 0, 3), (-10, 0, 0), (-2, 0, 0)],
    "Spine": [(0, 0, 0), (4, 6, 0), (-4, 4, 3), (-14, -6, 4), (-6, 2, 3), (4, 4, 0), (0, 0, 0)],
    "Chest": [(0, 0, 0), (3, 6, 0), (2, 2, 0), (-4, -8, 0), (0, 2, 0), (3, 4, 0), (0, 0, 0)],
    "Neck": [(0, 0, 0), (-2, -6, 0), (2, -4, -3), (12, 6, -4), (4, -2, -3), (-2, -4, 0), (0, 0, 0)],
    "LeftShoulder": [(0, 0, -58), (0, -35, -52), (0, -45, -50), (0, -20, -45), (0, -40, -50), (0, -30, -54), (0, 0, -58)],
    "RightShoulder": [(0, 0, 58), (0, 25, 52), (0, 15, 50), (0, -25, 42), (0, 10, 48), (0, 22, 54), (0, 0, 58)],
    "LeftElbow": [(0, -15, 0), (0, -75, 0), (0, -80, 0), (0, -60, 0), (0, -75, 0), (0, -60, 0), (0, -15, 0)],
    "RightElbow": [(0, 15, 0), (0, 75, 0), (0, 70, 0), (0, 40, 0), (0, 65, 0), (0, 60, 0), (0, 15, 0)],
}


def between(keys, t):
    """Cubic through the keys with level ends, so that nothing jerks."""
    k = max(i for i in range(len(TIMES) - 1) if TIMES[i] <= t + 1e-9)
    h = TIMES[k + 1] - TIMES[k]
    s = (t - TIMES[k]) / h
    out = []
    for c in range(3):
        p = [key[c] for key in keys]
        slope = [0.0 if i in (0, len(p) - 1) or (p[i + 1] - p[i]) * (p[i] - p[i - 1]) <= 0
                 else 2 / ((TIMES[i + 1] - TIMES[i]) / (p[i + 1] - p[i]) + (TIMES[i] - TIMES[i - 1]) / (p[i] - p[i - 1])) for i in range(len(p))]
        a, b, m, n = p[k], p[k + 1], h * slope[k], h * slope[k + 1]
        out.append((2 * s**3 - 3 * s**2 + 1) * a + (s**3 - 2 * s**2 + s) * m + (3 * s**2 - 2 * s**3) * b + (s**3 - s**2) * n)
    return out


def kick(path):
    """A front kick of the right leg: 2.4 s, from a stance with the arms down and back to it."""
    lines, order = ["HIERARCHY"], []

    def joint(name, depth):
        pad, offset = "\t" * depth, next(o for n, _, o in SKELETON if n == name)
        children = [n for n, up, _ in SKELETON if up == name]
        order.append(name)
        lines.append(f"{pad}{'JOINT' if depth else 'ROOT'} {name}")
        lines.append(pad + "{")
        lines.append(f"{pad}\tOFFSET {offset[0]:g} {offset[1]:g} {offset[2]:g}")
        lines.append(f"{pad}\tCHANNELS " + ("6 Xposition Yposition Zposition" if depth == 0 else "3") + " Zrotation Yrotation Xrotation")
        for child in children:
            joint(child, depth + 1)
        if not children:
            lines.extend([f"{pad}\tEnd Site", pad + "\t{", f"{pad}\t\tOFFSET 0 {-0.02 if 'Toe' in name else 0.1} 0", pad + "\t}"])
        lines.append(pad + "}")

    joint("Hips", 0)
    count = round(TIMES[-1] * KICK_FPS) + 1
    lines += ["MOTION", f"Frames: {count}", f"Frame Time: {1 / KICK_FPS:g}"]
    for f in range(count):
        t = f / KICK_FPS
        row = [0, 0.95, 0]
        for name in order:
            x, y, z = between(KICK[name], t) if name in KICK else (0, 0, 0)
            row += [z, y, x]
        lines.append(" ".join(f"{v:.4g}" for v in row))
    with open(os.path.join(SCENES, path), "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sleeve()
    body("paper-dress/body.json")
    dress()
    kick("paper-kick/kick.bvh")
