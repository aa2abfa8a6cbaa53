#!/usr/bin/env python3
# tests/data/patterns/oracle.py: areas, edge lengths and stitched pairs of GarmentCode patterns, computed without Toile.
# Run once in this folder; its output is expected.txt, which tests/unit/test_pattern_files.c compares with.
# Lengths: Simpson's rule on the speed, halved until two results agree to 1e-13. Areas: Green's theorem, likewise.
# Circles: by their centre and angles.
import glob, json, math


def simpson(f):
    n, last = 64, None
    while True:
        h = 1 / n
        s = f(0) + f(1) + 4 * math.fsum(f((2 * i + 1) * h) for i in range(n // 2)) + 2 * math.fsum(f(2 * i * h) for i in range(1, n // 2))
        s *= h / 3
        if last is not None and abs(s - last) <= 1e-13 * max(abs(s), 1e-9):
            return s
        if n > 400000:
            return s
        n, last = 2 * n, s


def curve(a, b, c, absolute, unit):
    """position and derivative as functions of t"""
    dx, dy = b[0] - a[0], b[1] - a[1]
    if c is None:
        return lambda t: (a[0] + t * dx, a[1] + t * dy), lambda t: (dx, dy)
    if isinstance(c, dict) and c["type"] == "circle":
        r, large, right = c["params"]
        r *= unit
        half = math.hypot(dx, dy) / 2
        r = max(r, half)
        # the centre lies left of the way for a small arc that bulges to the right
        side = 1 if bool(right) != bool(large) else -1
        h = side * math.sqrt(max(r * r - half * half, 0))
        cx, cy = (a[0] + b[0]) / 2 - h * dy / (2 * half), (a[1] + b[1]) / 2 + h * dx / (2 * half)
        t0, t1 = math.atan2(a[1] - cy, a[0] - cx), math.atan2(b[1] - cy, b[0] - cx)
        if right:  # counter-clockwise
            while t1 <= t0:
                t1 += 2 * math.pi
        else:
            while t1 >= t0:
                t1 -= 2 * math.pi
        w = t1 - t0
        return (lambda t: (cx + r * math.cos(t0 + t * w), cy + r * math.sin(t0 + t * w)),
                lambda t: (-r * w * math.sin(t0 + t * w), r * w * math.cos(t0 + t * w)))
    p = [c] if isinstance(c, list) else c["params"]
    q = [a] + [(x * unit, y * unit) if absolute else (a[0] + x * dx - y * dy, a[1] + x * dy + y * dx) for x, y in p] + [b]
    n = len(q) - 1

    def at(t, points):
        points = list(points)
        while len(points) > 1:  # de Casteljau
            points = [((1 - t) * u[0] + t * v[0], (1 - t) * u[1] + t * v[1]) for u, v in zip(points, points[1:])]
        return points[0]

    d = [(n * (v[0] - u[0]), n * (v[1] - u[1])) for u, v in zip(q, q[1:])]
    return lambda t: at(t, q), lambda t: at(t, d)


for name in sorted(glob.glob("*.json")):
    spec = json.load(open(name))
    unit = 1 / spec["properties"]["units_in_meter"]
    absolute = spec["properties"].get("curvature_coords") == "absolute"
    print("pattern", name)
    for panel, p in spec["pattern"]["panels"].items():
        v = [(x * unit, y * unit) for x, y in p["vertices"]]
        area, lengths = 0, []
        for e in p["edges"]:
            pos, der = curve(v[e["endpoints"][0]], v[e["endpoints"][1]], e.get("curvature"), absolute, unit)
            lengths.append(simpson(lambda t: math.hypot(*der(t))))
            area += simpson(lambda t: 0.5 * (pos(t)[0] * der(t)[1] - pos(t)[1] * der(t)[0]))
        print("panel", panel, repr(area), " ".join(repr(x) for x in lengths))
    for s in spec["pattern"]["stitches"]:
        print("stitch", s[0]["panel"], s[0]["edge"], s[1]["panel"], s[1]["edge"], "same" if len(s) > 2 and s[2] == "right_wrong" else "against")
