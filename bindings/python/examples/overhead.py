"""What Python adds to stepping: the same steps through `Sim.step` and through C alone, in turn.

Run: python3 overhead.py. The C loop is `sim.step(n)` without its cancel callback, which is what a host in C calls.
"""

import time

import toile
from toile.raw import ffi, lib


def make():
    scene = toile.Scene()
    scene.add_rectangle(size=(1, 1), cells=(50, 50), remeshing="none").pin([0, 50])  # 5,000 faces
    return scene.simulate()


steps, rounds = 10, 25
with make() as python, make() as c:
    lib.tl_sim_set_cancel(c._sim, ffi.NULL)
    err, report = ffi.new("tl_error *"), ffi.new("tl_step_report *")
    spent, ratios = [0.0, 0.0], []
    for _ in range(rounds):
        t = time.process_time()
        for _ in range(steps):
            python.step()
            python.cloths["cloth"].positions
        a = time.process_time() - t
        t = time.process_time()
        for _ in range(steps):
            assert lib.tl_sim_step(c._sim, report, err) == 0
        b = time.process_time() - t
        spent[0], spent[1] = spent[0] + a, spent[1] + b
        ratios.append(a / b)
    assert python.hash == c.hash
print(f"{steps * rounds} steps of 5,000 faces: Python {spent[0]:.2f} s, C {spent[1]:.2f} s, "
      f"{100 * (sorted(ratios)[rounds // 2] - 1):+.1f} % in the middle one of {rounds} rounds")
