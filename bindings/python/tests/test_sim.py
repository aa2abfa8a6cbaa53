"""Simulations: arrays, their lifetime, determinism, changes while running, leaks."""

import gc
import resource
import threading
import time

import numpy as np
import pytest

import toile


def test_a_cloth_falls_as_it_should():
    s = toile.Scene(air={"density": 0, "skin": 0})
    s.add_rectangle(size=(0.2, 0.2), cells=(2, 2), remeshing="none")
    with s.simulate() as sim:
        sim.step(40)
        # implicit Euler: n steps of h fall g h^2 n (n + 1) / 2
        h, n = 1 / 200, 40
        assert sim.cloths["cloth"].positions[:, 1] == pytest.approx(-9.81 * h * h * n * (n + 1) / 2, rel=1e-3)
        assert sim.time == pytest.approx(n * h)


def test_pins_hold_and_frames_are_counted(sim):
    x0 = sim.cloths["cloth"].positions.copy()
    frames = [(f.index, f.time) for f in sim.run(3)]
    assert [i for i, _ in frames] == [1, 2, 3]
    assert frames[-1][1] == pytest.approx(3 / 25)
    x = sim.cloths["cloth"].positions
    assert np.array_equal(x[[0, 6]], x0[[0, 6]])
    assert x[:, 1].min() < -0.01


def test_views_are_views(sim):
    cloth = sim.cloths["cloth"]
    a, b = cloth.positions, cloth.positions
    assert np.shares_memory(a, b)
    assert not a.flags.writeable
    with pytest.raises(ValueError):
        a[0] = 0
    assert cloth.faces.dtype == np.int32 and cloth.uv.shape == (49, 2)
    assert np.array_equal(cloth.node_faces, cloth.vert_node[cloth.faces])
    assert np.allclose(np.linalg.norm(cloth.normals, axis=1), 1)


def test_views_outlive_what_they_look_at(falling):
    """Remeshing gives memory back, and so does closing: old views stay readable, and go with their last reference."""
    sim = falling.simulate()
    kept = [sim.cloths["cloth"].positions, sim.cloths["cloth"].faces[1:], sim.bodies["ball"].positions]
    shapes = [a.shape for a in kept]
    version = sim.cloths["cloth"].version
    for frame in sim.run(6):
        kept.append(frame.cloths["cloth"].positions)
        kept.append(frame.cloths["cloth"].uv)
    assert sim.cloths["cloth"].version > version and len(kept[-2]) > shapes[0][0]
    assert sim._keeper.kept > 0
    last = kept[-2].copy()
    keeper = sim._keeper
    sim.close()
    gc.collect()
    assert [a.shape for a in kept[:3]] == shapes
    assert all(np.isfinite(a).all() for a in kept)
    assert np.array_equal(kept[-2], last)
    with pytest.raises(toile.Closed):
        sim.step()
    del keeper, kept


def test_memory_is_given_back_when_views_go(falling):
    with falling.simulate() as sim:
        kept = [sim.cloths["cloth"].positions]
        for frame in sim.run(5):
            kept.append(frame.cloths["cloth"].positions)
        assert sim._keeper.kept > 0
        del frame
        kept.clear()
        gc.collect()
        assert sim._keeper.kept == 0


def test_the_same_bits_on_any_number_of_threads(falling):
    found = set()
    for threads in (1, 2, 3):
        with falling.simulate(threads=threads) as sim:
            sim.step(30)
            found.add((sim.hash, sim.cloths["cloth"].positions.tobytes()))
    assert len(found) == 1


def test_saved_states_go_on_with_the_same_bits(falling, tmp_path):
    with falling.simulate() as sim:
        sim.step(25)
        state = sim.save()
        sim.checkpoint(tmp_path / "state")
        sim.step(10)
        there = sim.hash
        sim.restore(state)
        assert sim.steps == 25
        sim.step(10)
        assert sim.hash == there
    with falling.simulate() as other:
        other.resume(tmp_path / "state")
        other.step(10)
        assert other.hash == there
        with pytest.raises(toile.BadInput):
            other.restore(state[:-7])


def test_changes_while_running(sim):
    cloth = sim.cloths["cloth"]
    held = cloth.hold([48], live=1)
    sim.step()
    for k in range(10):
        held.move(translate=(0, 0.01 * (k + 1), 0))
        sim.step()
    high = cloth.positions[48, 1]
    held.release()
    assert high > 0.05
    sim.set_gravity((0, 0, 0)), sim.set_wind((0, 0, 1))
    sim.step()
    assert cloth.positions[48, 1] > high - 0.02
    ball = toile.BodyDef("late", {"kind": "sphere", "center": (0, -2, 0), "radius": 0.1, "live": 1})
    body = sim.add_body(ball)
    sim.step()
    body.move(translate=(0.001, 0, 0))
    sim.step()
    assert body.positions[:, 0].mean() == pytest.approx(0.001, abs=1e-6)
    body.remove()
    with pytest.raises(toile.Closed):
        body.positions
    with pytest.raises(toile.BadArgument):
        held.release()


def test_contacts_and_queries(falling):
    with falling.simulate() as sim:
        sim.step(30)
        contacts = sim.contacts()
        assert len(contacts) > 0 and (contacts["gap"] > 0).all()
        # contact points lie on the cloth, outside the ball
        assert np.linalg.norm(contacts["point"], axis=1).min() > 0.199
        hit = sim.ray((0, 1, 0), (0, -1, 0))
        assert hit.cloth == "cloth" and hit.body is None
        assert sim.ray((5, 1, 0), (0, -1, 0)) is None
        near = sim.nearest((0, 0, 0), cloths=False)
        assert near.body == "ball" and near.distance == pytest.approx(0.2, rel=0.01)
        assert sim.intersections().cloth_body == 0


def test_ctrl_c_ends_a_step(falling):
    import _thread

    falling.cloths.clear()
    falling.add_rectangle(size=(1, 1), cells=(60, 60), origin=(0, 0.201, 0), remeshing="none")
    with falling.simulate() as sim:
        threading.Timer(0.2, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            sim.step(100000)
        before = sim.steps
        sim.step()
        assert sim.steps == before + 1


def test_two_threads_wait_for_each_other(sim):
    failed = []

    def work():
        try:
            for _ in range(50):
                sim.step()
                sim.cloths["cloth"].positions.sum()
        except Exception as e:  # noqa: BLE001
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed and sim.steps == 150


def test_a_thousand_small_simulations_leave_nothing_behind():
    s = toile.Scene()
    s.add_rectangle(size=(0.1, 0.1), cells=(2, 2), remeshing="none").pin([0])
    s.add_sphere((0, -1, 0), 0.1)

    def one():
        with s.simulate() as sim:
            sim.step()
            return sim.cloths["cloth"].positions

    def memory():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * resource.getpagesize()

    for _ in range(100):
        one()
    before = memory()
    for _ in range(1000):
        one()
    assert memory() - before < 2e6  # 2 kB each would be a leak of one small array


def test_stepping_costs_what_it_costs_in_c():
    """Our share of a step, by asking for the time of everything around the call."""
    s = toile.Scene()
    s.add_rectangle(size=(1, 1), cells=(2, 2), remeshing="none").pin([0])
    with s.simulate() as sim:
        sim.step(5)
        n = 300
        t = time.process_time()
        sim.step(n)
        inside = time.process_time() - t
        t = time.process_time()
        for _ in range(n):
            sim.step()
        each = time.process_time() - t
    assert (each - inside) / n < 2e-3  # generous: the figure at 5k faces is in bindings/python/examples/overhead.py
