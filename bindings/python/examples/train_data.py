"""Data for learning: many drapes of a napkin on a ball, each as one row of arrays in data.npz.

Run: python3 train_data.py [--small]
"""

import sys

import numpy as np

import toile

small = "--small" in sys.argv
samples, frames, cells = (3, 3, 6) if small else (64, 40, 24)
rng = np.random.default_rng(1)

# %% one simulation per sample: fabric, friction and the ball's place vary
rows = []
for sample in range(samples):
    fabric = toile.Material(rng.choice(["cotton", "silk", "denim"]))
    offset = rng.uniform(-0.05, 0.05, 2)
    scene = toile.Scene()
    scene.add_rectangle(size=(0.5, 0.5), cells=(cells, cells), origin=(0, 0.17, 0), material=fabric, remeshing="none")
    scene.add_sphere((offset[0], 0, offset[1]), 0.15, friction=rng.uniform(0.1, 0.6))
    with scene.simulate() as sim:
        film = [frame.cloths["cloth"].positions.copy() for frame in sim.run(frames)]
        faces = sim.cloths["cloth"].node_faces
        uv = sim.cloths["cloth"].uv.copy()
    rows.append((np.array(film), offset, fabric.density, fabric.bend[0][0]))

# %% the same nodes in every sample, so everything stacks
np.savez_compressed(
    "data.npz", positions=np.array([r[0] for r in rows]), ball=np.array([r[1] for r in rows]),
    density=[r[2] for r in rows], bend=[r[3] for r in rows], faces=faces, uv=uv)
data = np.load("data.npz")
print("positions", data["positions"].shape, "lowest point", round(float(data["positions"][..., 1].min()), 3), "m")
