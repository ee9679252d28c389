"""Libraries of pictures and coders, on pictures made here."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Callable

import numpy as np
import pytest

import bitpool
from bitpool._png import png_of


def painting(seed: int, height: int = 120, width: int = 160) -> np.ndarray:
    """A picture with corners and blobs to describe."""
    rng = np.random.default_rng(seed)
    pixels = np.full((height, width, 3), rng.integers(60, 200, 3), np.uint8)
    for _ in range(25):
        y, x = rng.integers(0, height - 30), rng.integers(0, width - 30)
        h, w = rng.integers(8, 30, 2)
        pixels[y : y + h, x : x + w] = rng.integers(0, 256, 3)
    return pixels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for i in range(8):
        (folder / f"p{i}.png").write_bytes(png_of(painting(i)))
    (folder / "copy of p3.png").write_bytes((folder / "p3.png").read_bytes())
    (folder / "broken.png").write_bytes((folder / "p0.png").read_bytes()[:200])
    return folder


@pytest.fixture(scope="module")
def library(folder: Path) -> bitpool.Library:
    library = bitpool.Library.create(folder / ".bitpool", folder)
    assert len(library) == 0
    told: list[bitpool.Progress] = []
    report = library.update(n_bits=32, progress=told.append)
    assert report.added == 9 and not report.stopped and told
    assert [path for path, _ in report.failed] == ["broken.png"] and report.failed[0][1]
    return library


def test_a_library_finds_its_pictures(library: bitpool.Library, folder: Path) -> None:
    assert len(library) == 10
    for query in (folder / "p3.png", str(folder / "p3.png"), (folder / "p3.png").read_bytes(), painting(3)):
        matches = library.query(query, k=3)
        assert len(matches) == 3
        assert {matches[0].path, matches[1].path} == {"p3.png", "copy of p3.png"}
        assert matches[0].distance == 0 and matches[0].width == 160 and matches[0].height == 120
    assert library.query(painting(5)[:, :, [0, 1, 2]], k=1)[0].path == "p5.png"
    by_distance = library.query(folder / "p2.png", k=9, order="distance")
    assert [match.distance for match in by_distance] == sorted(match.distance for match in by_distance)
    assert library.query_id(matches[0].id, k=1)[0].distance == 0
    with pytest.raises(KeyError):
        library.query_id(12345)


def test_duplicates(library: bitpool.Library) -> None:
    groups = library.duplicates(radius=0)
    assert groups.radius == 0 and len(groups) == 1 and groups[0].kind == "exact" and groups[0].reason
    first, second = groups[0]
    assert (first.path, second.path) == ("p3.png", "copy of p3.png")
    assert (first.keep, second.keep) == (True, False)
    assert first.kind is None and first.compared_with is None
    assert second.kind == "exact" and second.compared_with == 0 and second.what == "the same file"
    assert "<hr>" not in groups._repr_html_() and groups._repr_html_().count("<img") == 2


def test_decisions(library: bitpool.Library) -> None:
    first, second = library.duplicates(radius=0)[0]
    decision = library.decide_to_keep(second.id)
    assert decision.kind == "keep" and decision.paths == ("copy of p3.png",) and library.decisions() == [decision]
    assert library.duplicates(radius=0)[0][0].path == "copy of p3.png"
    library.undo_decision(decision.id)
    assert library.decisions() == [] and library.duplicates(radius=0)[0][0].path == "p3.png"
    with pytest.raises(ValueError):
        library.decide_not_duplicates(first.id, second.id)  # they have the same bytes
    with pytest.raises(FileNotFoundError):
        library.undo_decision(decision.id)


def test_mirrored_queries(library: bitpool.Library) -> None:
    mirrored = np.ascontiguousarray(painting(6)[:, ::-1])
    match = library.query(mirrored, k=1, mirrored=True)[0]
    assert match.path == "p6.png" and match.mirrored


def test_notebooks_show_pictures(library: bitpool.Library) -> None:
    matches = library.query(painting(1), k=2)
    shown = matches._repr_html_()
    assert shown.count("data:image/jpeg;base64,") == 2 and 'alt="p1.png"' in shown
    assert library.thumbnail(matches[0].id).startswith(b"\xff\xd8") and library.thumbnail(999) == b""
    found = library.find(matches[0].id)
    assert found is not None and found.path == "p1.png" and library.find(999) is None
    assert repr(library).endswith(": 10 pictures")


def test_names_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "a<b>&.png").write_bytes(png_of(painting(1)))
    (tmp_path / "c.png").write_bytes(png_of(painting(2)))
    library = bitpool.Library.create(tmp_path / ".bitpool", tmp_path)
    library.update(n_bits=16)
    assert "a&lt;b&gt;&amp;.png" in library.query(painting(1), k=1)._repr_html_()


def test_a_folder_that_became_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png_of(painting(1)))
    library = bitpool.Library.create(tmp_path / ".bitpool", tmp_path)
    library.update()
    (tmp_path / "a.png").unlink()
    with pytest.raises(FileNotFoundError, match="mounted"):
        library.update()
    assert len(library) == 1
    assert library.update(allow_empty=True).removed == 1


def test_opened_and_pickled(library: bitpool.Library, folder: Path) -> None:
    for again in (bitpool.Library.open(folder / ".bitpool"), pickle.loads(pickle.dumps(library))):
        assert again.query(painting(4), k=1)[0].path == "p4.png"


def test_mistakes_are_named(library: bitpool.Library, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bitpool.Library.open(tmp_path)
    with pytest.raises(ValueError):
        bitpool.Library.create(folder / ".bitpool", folder)
    with pytest.raises(FileNotFoundError, match="nothing.png"):
        library.query(folder / "nothing.png")
    with pytest.raises(bitpool.Error) as raised:
        library.query(b"this is no picture")
    assert raised.value.code == "unsupported"
    with pytest.raises(ValueError, match="shape"):
        library.query(np.zeros((4, 4, 2), np.uint8))
    with pytest.raises(ValueError, match="order"):
        library.query(painting(1), order="colour")
    with pytest.raises(ValueError, match="k"):
        library.query(painting(1), k=0)


def test_coders(folder: Path, tmp_path: Path, program: Callable[..., str]) -> None:
    paths = sorted(folder.glob("p*.png"))
    coder = bitpool.Coder.learn(paths, n_bits=24)
    coder.save(tmp_path / "c.bpc")
    again = bitpool.Coder.open(tmp_path / "c.bpc")
    assert again.digest == coder.digest and again.n_bits == 24 and repr(coder) == "Coder: sah, 24 bits"
    codes = coder.encode(paths)
    assert codes.shape == (8, 3) and codes.dtype == np.uint8
    np.testing.assert_array_equal(again.encode([path.read_bytes() for path in paths]), codes)
    np.testing.assert_array_equal(again.encode([paths[0], painting(1)]), codes[:2])
    with pytest.raises(bitpool.Error, match="broken.png"):
        coder.encode([paths[0], folder / "broken.png"])
    zeros = coder.encode([paths[0], folder / "broken.png"], errors="zero")
    np.testing.assert_array_equal(zeros, [codes[0], [0, 0, 0]])
    with pytest.raises(TypeError):
        coder.encode(paths[0])
    library = bitpool.Library.create(tmp_path / "library", folder)
    library.update(coder=tmp_path / "c.bpc")
    assert library.query(paths[6], k=1)[0].path == "p6.png"
