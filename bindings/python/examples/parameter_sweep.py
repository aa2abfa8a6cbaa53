"""How far a strip of cloth sags at its end, over bending rigidity: one figure per simulation, in parallel processes.

Run: python3 parameter_sweep.py [--small]. For runs that are kept on disk, see `toile sweep`.
"""

import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import toile

small = "--small" in sys.argv
cells, frames = (8, 5) if small else (24, 60)


def sag(rigidity: float) -> float:
    """Of the free end of a strip of 20 cm, clamped at the other [m]."""
    fabric = toile.Material.orthotropic(stretch_warp=2000, stretch_weft=2000, shear=100, bend_warp=rigidity,
                                        bend_weft=rigidity, density=0.15)
    scene = toile.Scene(air={"skin": 0.2})
    strip = scene.add_rectangle(size=(0.2, 0.025), cells=(cells, 2), material=fabric, remeshing="none")
    clamped = np.flatnonzero(strip.uv[:, 0] <= 0.2 / cells + 1e-9)  # two rows: place and slope
    strip.pin(clamped)
    with scene.simulate() as sim:
        for _ in sim.run(frames):
            pass
        return -float(sim.cloths["cloth"].positions[:, 1].min())


if __name__ == "__main__":
    rigidities = np.geomspace(1e-6, 1e-4, 3 if small else 9)
    with ProcessPoolExecutor(max_workers=2) as pool:
        for rigidity, value in zip(rigidities, pool.map(sag, rigidities)):
            print(f"{rigidity:9.2e} N m   sags {1e3 * value:6.1f} mm")
