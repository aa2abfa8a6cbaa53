"""Runs into folders and what is made of them; patterns; shapes."""

import json
import os

import numpy as np
import pytest

import toile


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    dir_ = tmp_path_factory.mktemp("run")
    scene = {
        "frames": 3, "fps": 25,
        "cloths": [{"name": "sheet", "mesh": {"rectangle": {"size": [0.4, 0.4], "edge": 0.1}}, "material": "cotton",
                    "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.2, 0.22, 0.2]},
                    "remeshing": {"size_min": 0.04}}],
        "obstacles": [{"name": "ball", "sphere": {"center": [0, 0, 0], "radius": 0.2}}],
    }
    (dir_ / "scene.json").write_text(json.dumps(scene))
    seen = []
    report = toile.run(dir_ / "scene.json", dir_ / "out", sets={"frames": 4}, progress=lambda p: seen.append(p.frame))
    assert seen == [0, 1, 2, 3, 4] and report.last_frame == 4
    return dir_ / "out"


def read_obj(path):
    with open(path, encoding="ascii") as f:
        return np.array([[float(x) for x in line.split()[1:4]] for line in f if line.startswith("v ")])


def test_a_run_is_what_the_program_writes(folder):
    assert toile.check(folder).findings == 0
    assert toile.info(folder)["last_frame"] == 4
    scene = toile.load(folder / "scene.json")
    assert scene.frames == 4 and scene.resolved["fps"] == 25
    with scene.simulate() as sim:
        for frame in sim.run(4):
            pass
        x = frame.cloths["sheet"].positions
        assert np.abs(x - read_obj(folder / "frames" / "000004_sheet.obj")).max() < 1e-12


def test_recordings_and_exports(folder, tmp_path):
    report = toile.export(folder, tmp_path / "film.toile", attributes=["strain"], bodies=1)
    assert report.frames == 5
    with toile.Recording(tmp_path / "film.toile") as film:
        assert len(film) == 5 and film.names == ["sheet", "ball"]
        for k, surfaces in enumerate(film):
            x = read_obj(folder / "frames" / f"{k:06d}_sheet.obj")
            assert np.abs(surfaces["sheet"].positions - x).max() < 1e-6
            assert surfaces["sheet"].strain.shape == (len(x),)
    with toile.Recording(folder) as film:
        assert film[-1]["ball"].is_body
        with pytest.raises(IndexError):
            film[5]
    with pytest.raises(toile.BadInput):
        toile.export(folder, tmp_path / "film.glb")
    toile.export(folder, tmp_path / "film.glb", resample=1)
    assert (tmp_path / "film.glb").stat().st_size > 1000


def test_pictures(folder, tmp_path):
    toile.render(folder, tmp_path / "last.png", first=4, last=4, width=64, height=48, samples=1, camera="front")
    assert (tmp_path / "last.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(toile.BadArgument):
        toile.render(folder, tmp_path / "x.png", camera="behind")
    toile.plot(folder, tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    v = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    rgb = toile.render_image([{"pos": v, "face": [[0, 1, 2]], "colour": 0xFF0000}], 64, 48, camera="front", samples=1)
    assert rgb.shape == (48, 64, 3) and rgb.std() > 0
    toile.save_png(tmp_path / "triangle.png", rgb)
    toile.refine(folder, tmp_path / "fine", levels=1)
    assert os.listdir(tmp_path / "fine" / "frames")


def test_an_exception_in_a_callback_gets_through(folder, tmp_path):
    def progress(_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        toile.run(folder / "scene.json", tmp_path / "out", progress=progress)
    with pytest.raises(toile.Cancelled):
        toile.run(folder / "scene.json", tmp_path / "other", cancelled=lambda: True)


def test_patterns(tmp_path):
    p = toile.Pattern(name="tube")
    for x in (0.0, 1.0):
        p.panel(f"p{x:g}", [(0, 0), (0.3, 0), (0.3, 0.5), (0, 0.5)], origin=(x, 0, 0))
    p.seam((0, 1), {"panel": 1, "edge": 3, "from": 1, "to": 0})
    p.seam((0, 3), {"panel": 1, "edge": 1, "from": 1, "to": 0})
    p.check()
    assert [q.area for q in p.panels] == pytest.approx([0.15, 0.15])
    assert p.seams[0].length == pytest.approx((0.5, 0.5))
    mesh = p.mesh(edge=0.05)
    assert len(mesh.pairs) == 2 * 11
    a, b = mesh.at[mesh.pairs[:, 1]], mesh.at[mesh.pairs[:, 2]]
    assert a[:, 1] == pytest.approx(b[:, 1])
    p.save(tmp_path / "tube.json")
    assert [q.name for q in toile.Pattern(tmp_path / "tube.json").panels] == ["p0", "p1"]
    with pytest.raises(toile.BadInput):
        p.panel("p0", [(0, 0), (1, 0), (0, 1)])


def test_grids_triangles_and_collisions():
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    grid = toile.quad_grid(square, cells_u=4, cells_v=3)
    assert grid.points.shape == (4, 5, 2) and len(grid.faces) == 24
    assert grid.report.quality.area_ratio == pytest.approx(1)
    asked = []
    fill = toile.triangulate(square, [(0, 1), (1, 2), (2, 3), (3, 0)], edge=0.2,
                             size=lambda at: asked.append(at) or (0.02 if at[0] < 0.2 else 0.2))
    assert fill.report.area == pytest.approx(1) and asked
    assert (fill.points[:, 0] < 0.2).sum() > (fill.points[:, 0] > 0.5).sum()
    x = [[0.2, 0.2, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert toile.nearest("vertex-face", x).distance == pytest.approx(1)
    moved = [[0.2, 0.2, -1]] + x[1:]
    assert toile.collide("vertex-face", x, moved) == pytest.approx(0.5, abs=1e-6)
    assert toile.collide("vertex-face", x, x) is None


def test_characters(repo):
    path = os.path.join(repo, "scenes", "walk", "body.glb")
    c = toile.Character(path)
    assert c.facts.joints > 10 and c.clips and len(c.nodes) == c.facts.nodes
    rest, later = c.pose(0), c.pose(0.5, clip=0)
    assert rest.shape == later.shape and np.abs(rest - later).max() > 0.01
    assert c.faces.max() < len(rest)
    with pytest.raises(toile.BadArgument):
        c.pose(0, clip=99)
    s = toile.Scene()
    s.add_body(character=c, playback={"clip": 0}, name="person")
    with s.simulate() as sim:
        assert np.isfinite(sim.bodies["person"].positions).all()


def test_sweeps(folder, tmp_path):
    (tmp_path / "spec.json").write_text(json.dumps({
        "scene": str(folder / "scene.json"), "frames": 2,
        "grid": {"cloths[0].material": ["cotton", "silk"], "remeshing.kind": ["none", "anisotropic"]}}))
    sweep = toile.Sweep(tmp_path / "spec.json", tmp_path / "out")
    assert len(sweep) == 4 and sweep[2]["set"]["cloths[0].material"] == "silk"
    for i in range(4):
        assert sweep.state(i) == "pending"
        sweep.run(i)
    assert sweep.collect().done == 4
    lines = [json.loads(line) for line in (tmp_path / "out" / "dataset.jsonl").read_text().splitlines()]
    assert [line["sample"] for line in lines] == [0, 1, 2, 3]
    z = sweep.arrays(2)
    assert len(z["sheet.face_start"]) == 2  # one mesh throughout
    film = z["sheet.positions"].reshape(3, -1, 3)
    x = read_obj(tmp_path / "out" / "runs" / "000002" / "frames" / "000002_sheet.obj")
    assert np.abs(film[2] - x).max() < 1e-9
    assert z["sheet.faces"].max() < len(z["sheet.rest"]) and z["run.energies"].shape == (3, 4)
    z = sweep.arrays(3)  # meshes of their own
    k = int(z["sheet.shape"][-1])
    a, b = z["sheet.node_start"][-2:]
    x = read_obj(tmp_path / "out" / "runs" / "000003" / "frames" / "000002_sheet.obj")
    assert np.abs(z["sheet.positions"][a:b] - x).max() < 1e-9
    rest = z["sheet.rest"][z["sheet.vert_start"][k]:z["sheet.vert_start"][k + 1]]
    faces = z["sheet.faces"][z["sheet.face_start"][k]:z["sheet.face_start"][k + 1]]
    p, q, r = (rest[faces[:, i]] for i in range(3))
    area = ((q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0]) / 2
    assert area.min() > 0 and area.sum() == pytest.approx(0.16)
