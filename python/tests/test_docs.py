"""The documentation does what it says."""

from __future__ import annotations

import doctest
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

from conftest import REPOSITORY


def test_the_examples_of_the_page_run() -> None:
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(page, {}, "docs/python.md", "docs/python.md", 0)
    assert len(examples.examples) > 30
    failures: list[str] = []
    doctest.DocTestRunner(verbose=False).run(examples, out=failures.append)
    assert not failures, "".join(failures)


def write_idx(path: Path, pictures: np.ndarray) -> None:
    path.write_bytes(struct.pack(">IIII", 0x803, *pictures.shape) + pictures.tobytes())


def test_the_row_of_the_paper_can_be_made(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 256, (10, 8, 8))
    for name, n in (("train-images-idx3-ubyte", 600), ("t10k-images-idx3-ubyte", 60)):
        noisy = centres[rng.integers(0, 10, n)] + rng.normal(size=(n, 8, 8)) * 20
        write_idx(tmp_path / name, noisy.clip(0, 255).astype(np.uint8))
    script = REPOSITORY / "examples" / "python" / "paper_row.py"
    arguments = ["--bits", "8", "--seeds", "2", "--queries", "30", "--neighbours", "20", "--methods", "RBA", "LSH"]
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), *arguments], capture_output=True, text=True, check=True
    )
    assert "600 pictures of 64 pixels, 30 queries" in done.stdout
    rows = {line.split("|")[1].strip(): float(line.split("|")[2].split("±")[0]) for line in done.stdout.splitlines()[3:]}
    assert set(rows) == {"RBA", "LSH"} and rows["RBA"] > rows["LSH"] > 0
