"""A garment on a body: two panels of a skirt around a trunk, and how it fits in sizes from tight to loose.

The panels and the body are made here, so nothing has to be downloaded; files of patterns and characters go in the same
way. Run: python3 drape_garment.py [--small]
"""

import json
import sys

import numpy as np

import toile

small = "--small" in sys.argv
edge, waists = (0.06, (0.22,)) if small else (0.015, (0.20, 0.22, 0.26))

# %% a body of 1.7 m: rings of points, wide at the hips
rings, n = 35, 24
height = np.linspace(0, 1.7, rings)
radius = 0.09 + 0.08 * np.exp(-((height - 0.9) ** 2) / 0.03)
radius[[0, -1]] = 0.03
around = 2 * np.pi * np.arange(n) / n
points = [[r * np.cos(a), y, r * np.sin(a)] for y, r in zip(height, radius) for a in around] + [[0, 0, 0], [0, 1.7, 0]]
faces = []
for k in range(n):
    b = (k + 1) % n
    for i in range(0, (rings - 1) * n, n):
        faces += [[i + k, i + n + k, i + b], [i + b, i + n + k, i + n + b]]
    faces += [[rings * n, k, b], [rings * n + 1, (rings - 1) * n + b, (rings - 1) * n + k]]
with open("trunk.obj", "w", encoding="ascii") as f:
    f.writelines(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in points)
    f.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)


# %% front and back of a skirt, sewn at both sides; lengths in metres
def skirt(waist: float) -> dict:
    outline = [{"to": [0.35, 0]}, {"to": [waist, 0.45]}, {"to": [-waist, 0.45]}, {"to": [-0.35, 0]}]
    front = {"name": "front", "start": [-0.35, 0], "edges": outline, "placement": {"origin": [0, 0.6, 0.3]}}
    back = {**front, "name": "back", "placement": {"origin": [0, 0.6, -0.3], "rotation": [0, 180, 0]}}
    seams = [{"sides": [{"panel": "front", "edge": a}, {"panel": "back", "edge": b, "from": 1, "to": 0}]}
             for a, b in ((1, 3), (3, 1))]
    return {"format": "toile-pattern-1", "name": "skirt", "panels": [front, back], "seams": seams}


# %% sew, drape, and read the fit
for waist in waists:
    with open("skirt.json", "w", encoding="ascii") as f:
        json.dump(skirt(waist), f)
    report = toile.drape("skirt.json", "trunk.obj", f"skirt_{1000 * waist:.0f}", edge=edge, material="cotton")
    garment = report.garments[0]
    print(f"waist {200 * waist:.0f} cm: {garment.faces} faces, {garment.crossings} crossings, tension up to "
          f"{garment.fit.tension_95:.1f} N/m, pressure up to {garment.fit.pressure_95:.2f} kPa, "
          f"{100 * garment.fit.touching:.0f} % of the cloth touches {garment.fault or ''}")
    assert garment.crossings == 0
