"""What the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest

from bitpool._png import png_of

REPOSITORY = Path(__file__).resolve().parents[2]

# Memory that cannot be had is an error of ours; the address sanitizer ends the process instead, and takes memory of its own.
needs_plain_memory = pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="memory is different under the address sanitizer"
)


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


# --- For the tests of the cluster

CODER = REPOSITORY / "share" / "copies-64.bpc"


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Two workers that nothing befalls."""
    pytest.importorskip("distributed", reason="Dask is not there (Debian: python3-distributed)")
    from bitpool.cluster import connect

    with connect(local=2) as client:
        yield client


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(5)
    (folder / "in").mkdir()
    for number in range(10):
        waves = np.sin(np.arange(96)[:, None] / (2 + number) + np.arange(96) * rng.normal())
        pixels = (127 + 80 * waves[..., None] + 30 * rng.normal(size=(96, 96, 3))).clip(0, 255).astype(np.uint8)
        (folder / ("in" if number % 3 == 0 else "") / f"{number}.png").write_bytes(png_of(pixels))
    (folder / "broken.jpg").write_bytes(b"not a picture")
    return folder


@pytest.fixture
def command() -> Callable[..., Any]:
    """Runs ``bitpool-cluster``."""

    def call(*arguments: Any) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "bitpool.cluster", *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    return call
