import os

import numpy as np
import pytest

import toile

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


@pytest.fixture
def repo():
    return REPO


@pytest.fixture
def scene():
    """A square that hangs by two corners, on a fixed mesh."""
    s = toile.Scene()
    s.add_rectangle(size=(0.5, 0.5), cells=(6, 6), remeshing="none").pin([0, 6])
    return s


@pytest.fixture
def sim(scene):
    with scene.simulate() as running:
        yield running


@pytest.fixture
def falling():
    """A coarse square that falls on a ball, remeshed."""
    s = toile.Scene()
    s.add_rectangle(size=(0.6, 0.6), cells=(2, 2), origin=(0, 0.23, 0), remeshing={"size_min": 0.04})
    s.add_sphere((0, 0, 0), 0.2, name="ball", friction=0.4)
    return s


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b))
