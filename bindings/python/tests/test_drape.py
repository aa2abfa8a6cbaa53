"""Patterns and a body in, a draped garment and its fit out."""

import json
import os
import subprocess

import numpy as np
import pytest

import toile


def trunk(path):
    """A body of 1.7 m: rings of twelve points, wide at the hips."""
    rings, n = 18, 12
    lines = []
    for i in range(rings):
        y = 0.1 * i
        r = 0.03 if i in (0, rings - 1) else 0.09 + 0.08 * np.exp(-((y - 0.9) ** 2) / 0.03)
        lines += [f"v {r * np.cos(a):.6f} {y:.6f} {r * np.sin(a):.6f}" for a in 2 * np.pi * np.arange(n) / n]
    lines += ["v 0 0 0", "v 0 1.7 0"]
    for i in range(rings - 1):
        for k in range(n):
            a, b = i * n + k + 1, i * n + (k + 1) % n + 1
            lines += [f"f {a} {a + n} {b}", f"f {b} {a + n} {b + n}"]
    for k in range(n):
        top = (rings - 1) * n
        lines += [f"f {rings * n + 1} {k + 1} {(k + 1) % n + 1}", f"f {rings * n + 2} {top + (k + 1) % n + 1} {top + k + 1}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def skirt(path):
    """Two panels, sewn at both sides."""
    outline = [{"to": [0.35, 0]}, {"to": [0.22, 0.45]}, {"to": [-0.22, 0.45]}, {"to": [-0.35, 0]}]
    panels = [{"name": name, "start": [-0.35, 0], "edges": outline, "placement": placement} for name, placement in (
        ("front", {"origin": [0, 0.6, 0.3]}), ("back", {"origin": [0, 0.6, -0.3], "rotation": [0, 180, 0]}))]
    seams = [{"sides": [{"panel": "front", "edge": a}, {"panel": "back", "edge": b, "from": 1, "to": 0}]}
             for a, b in ((1, 3), (3, 1))]
    path.write_text(json.dumps({"format": "toile-pattern-1", "name": "skirt", "panels": panels, "seams": seams}))
    return path


@pytest.fixture
def files(tmp_path):
    return skirt(tmp_path / "skirt.json"), trunk(tmp_path / "trunk.obj"), tmp_path / "out"


def test_a_skirt_is_draped_and_its_fit_reported(files):
    pattern, body, out = files
    seen = []
    report = toile.drape(pattern, body, out, edge=0.06, no_fit=1, progress=lambda p: seen.append((p.stage, p.part)))
    assert len(report.garments) == 1 and report.resumed == 0
    garment = report.garments[0]
    assert garment.name == "skirt" and (garment.panels, garment.seams) == (2, 2)
    assert garment.crossings == 0 and garment.fault == "" and garment.rested == 1
    assert garment.fit.tension_max >= garment.fit.tension_95 > 0
    assert 0 < garment.fit.touching < 1
    assert set(garment.seconds) == {"sew", "grow", "settle", "refine", "run"}
    order = [stage for k, (stage, _) in enumerate(seen) if k == 0 or seen[k - 1][0] != stage]
    assert order == ["sew", "grow", "settle", "refine", "run"] and all(0 <= part <= 1 for _, part in seen)
    assert toile.check(out).findings == 0
    written = json.loads((out / "drape.json").read_text())["garments"][0]
    assert written["faces"] == garment.faces and written["crossings"] == 0
    program = os.environ.get("TOILE")
    if program:  # the bytes are those of the program
        other = out.parent / "program"
        subprocess.run([program, "drape", str(pattern), "--body", str(body), "--edge", "0.06", "--no-fit", "--quiet",
                        "-o", str(other)], check=True)
        assert (other / "skirt.obj").read_bytes() == (out / "skirt.obj").read_bytes()


def test_an_interrupted_drape_goes_on(files):
    pattern, body, out = files
    stages = []
    with pytest.raises(toile.Cancelled):
        toile.drape([pattern], body, out, edge=0.06, no_fit=1, progress=lambda p: stages.append(p.stage),
                    cancelled=lambda: "settle" in stages)
    report = toile.drape([pattern], body, out, edge=0.06, no_fit=1)
    assert report.resumed > 0 and report.garments[0].crossings == 0
    with pytest.raises(KeyboardInterrupt):
        toile.drape([pattern], body, out.parent / "other", edge=0.06, progress=lambda p: (_ for _ in ()).throw(KeyboardInterrupt))


@pytest.mark.parametrize("change, error, says", [
    ({"body": "none.obj"}, toile.Error, "none.obj"),
    ({"patterns": []}, toile.Error, "pattern"),
    ({"patterns": ["none.json"]}, toile.Error, "none.json"),
    ({"quality": "fine"}, toile.BadArgument, "final"),
    ({"edgge": 1}, toile.BadArgument, "edge"),
    ({"material": "cottn"}, toile.Error, "cotton"),
    ({"edge": -1}, toile.Error, "edge"),
    ({"threads": 0}, toile.Error, "threads"),
])
def test_what_is_wrong_is_said(files, change, error, says):
    pattern, body, out = files
    with pytest.raises(error) as e:
        toile.drape(**{"patterns": pattern, "body": body, "out": out, **change})
    assert says in str(e.value)


