"""What the tests share."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def clusters() -> np.ndarray:
    """400 vectors of dimension 12 around five centres."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(5, 12)) * 3
    return (centres[np.arange(400) % 5] + rng.normal(size=(400, 12))).astype(np.float32)


@pytest.fixture
def classes() -> np.ndarray:
    """The class of each of the clusters' vectors."""
    return np.arange(400) % 5


@pytest.fixture
def program() -> Callable[..., Any]:
    """Runs the program, whose results are to be the same to the last bit."""
    path = os.environ.get("BITPOOL_PROGRAM")
    if not path:
        pytest.skip("BITPOOL_PROGRAM does not name the program")

    def call(*arguments: Any) -> str:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call
