"""A loss of one's own on the shape: which bending rigidity makes a hanging sheet look like a measured one?

The "measured" shape is simulated here. The loss compares silhouettes, so it needs no matching of nodes; a search by
golden section over the logarithm of the rigidity finds it again. Run: python3 fit_shape.py [--small]
"""

import sys

import numpy as np

import toile

small = "--small" in sys.argv
cells, frames, rounds = (8, 10, 8) if small else (16, 40, 16)


def drape(log_rigidity: float) -> np.ndarray:
    """The edge of a strip over a table's edge: height over distance at 20 places."""
    b = float(np.exp(log_rigidity))
    fabric = toile.Material.orthotropic(stretch_warp=2000, stretch_weft=2000, shear=100, bend_warp=b, bend_weft=b,
                                        density=0.2)
    scene = toile.Scene(air={"skin": 0.5})
    strip = scene.add_rectangle(size=(0.15, 0.03), cells=(cells, 2), material=fabric, remeshing="none")
    strip.pin(np.flatnonzero(strip.uv[:, 0] <= 0.15 / cells + 1e-9))
    with scene.simulate() as sim:
        for _ in sim.run(frames):
            pass
        x, u = sim.cloths["cloth"].positions, sim.cloths["cloth"].uv[:, 0]
    along = np.unique(u.round(9))
    return np.array([x[np.isclose(u, s)][:, :2].mean(axis=0) for s in along])


def loss(log_rigidity: float, wanted: np.ndarray) -> float:
    """Mean distance of the two silhouettes [m]."""
    return float(np.linalg.norm(drape(log_rigidity) - wanted, axis=1).mean())


true = np.log(1.3e-5)
wanted = drape(true)
lo, hi = np.log(1e-6), np.log(1e-4)
golden = (np.sqrt(5) - 1) / 2
a, b = hi - golden * (hi - lo), lo + golden * (hi - lo)
fa, fb = loss(a, wanted), loss(b, wanted)
for _ in range(rounds):
    if fa < fb:
        hi, b, fb = b, a, fa
        a = hi - golden * (hi - lo)
        fa = loss(a, wanted)
    else:
        lo, a, fa = a, b, fb
        b = lo + golden * (hi - lo)
        fb = loss(b, wanted)
found = np.exp((lo + hi) / 2)
print(f"wanted 1.30e-05 N m, found {found:.2e} N m, off by {1e6 * min(fa, fb):.0f} um")
assert abs(np.log(found) - true) < (0.3 if small else 0.05)
