"""Parts and manifests, and what is put together from parts: without Dask."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bitpool
from bitpool.cluster import CodeFiles, IndexJob, Parts, Task, find_pictures
from bitpool.cluster._arrays import append_arrays, merge_best, merge_sorted
from bitpool.cluster._job import begin
from bitpool.cluster._parts import MANIFEST, replacing

TASK = Task(4, (["a.jpg", 10, 7], ["b.jpg", 20, 8], ["c.jpg", 30, 9]), {"job": "encode", "bits": 64})


def write(parts: Parts, task: Task = TASK, content: bytes = b"codes") -> None:
    with parts.writing(task) as part:
        part.file("codes").write_bytes(content)
        part.file("facts").write_bytes(b"facts")
        part.summary["pictures"] = len(task.inputs)


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return Parts(tmp_path / "parts")


def test_a_part_is_found_as_it_was_written(parts: Parts, tmp_path: Path) -> None:
    assert parts.find(TASK) is None
    write(parts)
    part = parts.find(TASK)
    assert part is not None and not part.split and part.summary == {"pictures": 3}
    assert part.file("codes").read_bytes() == b"codes"
    assert os.listdir(tmp_path / "parts") == ["0000000004-0000000007"]
    manifest = json.loads(part.file(MANIFEST).read_text())
    assert manifest["inputs"] == [["a.jpg", 10, 7], ["b.jpg", 20, 8], ["c.jpg", 30, 9]]
    assert manifest["files"]["codes"]["size"] == 5 and set(manifest["files"]) == {"codes", "facts"}


@pytest.mark.parametrize(
    "other",
    [
        Task(4, (["a.jpg", 10, 7], ["b.jpg", 20, 8], ["c.jpg", 30, 10]), TASK.settings),
        Task(4, (["a.jpg", 10, 7], ["b.jpg", 21, 8], ["c.jpg", 30, 9]), TASK.settings),
        Task(4, (["a.jpg", 10, 7], ["d.jpg", 20, 8], ["c.jpg", 30, 9]), TASK.settings),
        Task(4, TASK.inputs, {"job": "encode", "bits": 32}),
        Task(4, TASK.inputs, {"job": "describe", "bits": 64}),
        Task(4, TASK.inputs, {"job": "encode"}),
    ],
)
def test_a_part_of_something_else_is_none(parts: Parts, other: Task) -> None:
    write(parts)
    assert other.name == TASK.name and parts.find(other) is None
    write(parts, other, b"others")
    found = parts.find(other)
    assert found is not None and found.file("codes").read_bytes() == b"others"
    assert parts.find(TASK) is None


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[2] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "flipped": lambda folder: flip(folder / "codes"),
    "short": lambda folder: os.truncate(folder / "codes", 4),
    "long": lambda folder: (folder / "codes").write_bytes(b"codes."),
    "gone": lambda folder: os.unlink(folder / "facts"),
    "no manifest": lambda folder: os.unlink(folder / MANIFEST),
    "half a manifest": lambda folder: os.truncate(folder / MANIFEST, 40),
    "empty manifest": lambda folder: (folder / MANIFEST).write_text("{}"),
    "a list": lambda folder: (folder / MANIFEST).write_text("[1]"),
    "of a later format": lambda folder: (folder / MANIFEST).write_text(
        (folder / MANIFEST).read_text().replace('"format": 1', '"format": 2')
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_none_and_can_be_written_again(parts: Parts, tmp_path: Path, damage: str) -> None:
    write(parts)
    DAMAGES[damage](tmp_path / "parts" / TASK.name)
    assert parts.find(TASK) is None
    write(parts)
    assert parts.find(TASK) is not None


def test_no_byte_of_a_manifest_does_harm(parts: Parts, tmp_path: Path) -> None:
    """A part that is found in spite of it has the files that were written."""
    write(parts)
    manifest = tmp_path / "parts" / TASK.name / MANIFEST
    good = manifest.read_bytes()
    for i in range(len(good)):
        changed = [good[:i] + bytes([good[i] ^ change]) + good[i + 1 :] for change in (0x01, 0x80, 0xFF)]
        for damaged in [*changed, good[:i]]:
            manifest.write_bytes(damaged)
            found = parts.find(TASK)
            assert found is None or found.file("codes").read_bytes() == b"codes"
    manifest.write_bytes(b"[" * 1_000_000)
    assert parts.find(TASK) is None


def test_an_error_leaves_nothing(parts: Parts, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="disk"):
        with parts.writing(TASK) as part:
            part.file("codes").write_bytes(b"half")
            raise RuntimeError("disk")
    assert os.listdir(tmp_path / "parts") == [] and parts.find(TASK) is None


def test_the_second_of_two_writers_changes_nothing(parts: Parts, tmp_path: Path) -> None:
    with parts.writing(TASK) as slow:
        slow.file("codes").write_bytes(b"codes")
        write(parts)
        before = (tmp_path / "parts" / TASK.name / MANIFEST).stat().st_ino
    assert (tmp_path / "parts" / TASK.name / MANIFEST).stat().st_ino == before
    assert os.listdir(tmp_path / "parts") == [TASK.name]


def test_halves_stand_for_a_split_part(parts: Parts, tmp_path: Path) -> None:
    left, right = TASK.halves()
    assert (left.name, right.name) == ("0000000004-0000000005", "0000000005-0000000007")
    assert left.inputs + right.inputs == TASK.inputs and left.settings == right.settings == TASK.settings
    parts.split(TASK)
    found = parts.find(TASK)
    assert found is not None and found.split
    write(parts, left)
    with pytest.raises(FileNotFoundError, match="0000000005-0000000007.*run the job again"):
        parts.leaves(TASK)
    parts.split(right)
    for half in right.halves():
        write(parts, half)
    assert [task.first for task, _ in parts.leaves(TASK)] == [4, 5, 6]
    write(parts, Task(100, (1,), {}))
    (tmp_path / "parts" / ".0000000004-0000000007-dead.tmp").mkdir()
    parts.keep_only([TASK])
    assert len(os.listdir(tmp_path / "parts")) == 5 and len(parts.leaves(TASK)) == 3


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        with replacing(path) as file:
            file.write(b"new")
            raise RuntimeError
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["file"]


def test_appended_arrays_are_those_that_numpy_writes(tmp_path: Path, rng: np.random.Generator) -> None:
    whole = rng.integers(0, 256, (70_001, 3)).astype(np.uint8)
    pieces = []
    for number, rows in enumerate(np.split(whole, [0, 5, 5, 69_000])):
        pieces.append(tmp_path / f"{number}.npy")
        np.save(pieces[-1], rows)
    append_arrays(tmp_path / "all.npy", pieces, whole[:0])
    np.save(tmp_path / "numpy.npy", whole)
    assert (tmp_path / "all.npy").read_bytes() == (tmp_path / "numpy.npy").read_bytes()


def test_the_best_of_all_are_the_best_of_the_best(rng: np.random.Generator) -> None:
    for k in (1, 3, 7, 40):
        distances = rng.integers(0, 4, (20, 30)).astype(np.int32)  # full of ties
        ids = rng.permuted(np.tile(np.arange(30), (20, 1)), axis=1)
        found = []
        for columns in ([0, 1], range(2, 20), range(20, 30)):
            best = [sorted(zip(distances[q, columns], ids[q, columns]))[:k] for q in range(20)]
            best = [row + [(0, -1)] * (k - len(row)) for row in best]
            pairs = np.array(best)
            found.append((pairs[..., 0].astype(np.int32), pairs[..., 1].astype(np.int64)))
        merged = merge_best(found, k)
        for q in range(20):
            expected = sorted(zip(distances[q], ids[q]))[:k]
            expected += [(0, -1)] * (k - len(expected))
            assert list(zip(merged[0][q], merged[1][q])) == expected


@pytest.mark.parametrize("at_once", [1, 2, 5, 1000])
def test_sorted_tables_are_merged(rng: np.random.Generator, at_once: int) -> None:
    table = np.unique(rng.integers(0, 12, (90, 2)), axis=0)
    which = rng.integers(0, 4, len(table))
    parts = [[table[which == n, 0], table[which == n, 1], table[which == n].sum(1)] for n in range(3)]
    merged = list(merge_sorted(parts, at_once))
    expected = table[which < 3]
    assert np.array_equal(np.concatenate([block[0] for block in merged]), expected[:, 0])
    assert np.array_equal(np.concatenate([block[1] for block in merged]), expected[:, 1])
    assert np.array_equal(np.concatenate([block[2] for block in merged]), expected.sum(1))
    assert list(merge_sorted([])) == []


def test_pictures_are_found_as_the_program_finds_them(tmp_path: Path) -> None:
    for name in ("b.JPG", "a/z.png", "a.txt", ".hidden/c.jpg", "a-b/c.webp", "Z.jpeg", ".d.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "link.png").symlink_to("b.JPG")
    (tmp_path / "nowhere.png").symlink_to("nothing")
    (tmp_path / "circle.png").symlink_to(".")
    found = find_pictures(tmp_path)
    assert [path for path, _, _ in found] == [".d.jpg", "Z.jpeg", "a-b/c.webp", "a/z.png", "b.JPG", "link.png"]
    assert {size for _, size, _ in found} == {5}
    with pytest.raises(bitpool.Error, match="expected a folder of pictures"):
        find_pictures(tmp_path / "b.JPG")


def codes_job(tmp_path: Path, **options: Any) -> IndexJob:
    np.save(tmp_path / "codes.npy", np.zeros((5, 2), np.uint8))
    return IndexJob(CodeFiles.open([str(tmp_path / "codes.npy")]), **options)


def test_the_folder_of_another_job_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    begin(codes_job(tmp_path), folder, force=False)
    begin(codes_job(tmp_path), folder, force=False)
    with pytest.raises(bitpool.Error, match="per_file: an earlier job has 1000000, this one 2; --force"):
        begin(codes_job(tmp_path, per_file=2), folder, force=False)
    begin(codes_job(tmp_path, per_file=2), folder, force=True)
    with pytest.raises(bitpool.Error, match="is not the folder of a job"):
        begin(codes_job(tmp_path), tmp_path, force=False)


def test_code_files_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "two.npy", np.zeros((5, 2), np.uint8))
    np.save(tmp_path / "three.npy", np.zeros((5, 3), np.uint8))
    np.save(tmp_path / "real.npy", np.zeros((5, 3), np.float32))
    for number in (0, 1):
        folder = tmp_path / f"encoded{number}"
        folder.mkdir()
        np.save(folder / "codes.npy", np.zeros((5, 2), np.uint8))
        np.save(folder / "ids.npy", np.arange(5) + 4 * number)
    encoded = [str(tmp_path / f"encoded{number}") for number in (0, 1)]
    with pytest.raises(bitpool.Error, match="expected the folder of a finished job"):
        CodeFiles.open(encoded)
    for folder in encoded:
        Path(folder, "result.json").write_text('{"files": []}')
    with pytest.raises(bitpool.Error, match="the ids overlap"):
        CodeFiles.open(encoded)
    for paths, message in [
        (["two.npy", "three.npy"], "different lengths"),
        (["real.npy"], "float32 .* expected codes"),
        (["two.npy", "encoded0"], "others none"),
        ([], "no files"),
        (["missing.npy"], "missing.npy"),
    ]:
        with pytest.raises(bitpool.Error, match=message):
            CodeFiles.open([str(tmp_path / path) for path in paths])


def test_rows_are_counted_through_all_files(tmp_path: Path, rng: np.random.Generator) -> None:
    codes = rng.integers(0, 256, (30, 2)).astype(np.uint8)
    paths = []
    for number, rows in enumerate(np.split(codes, [7, 8, 20])):
        paths.append(str(tmp_path / f"{number}.npy"))
        np.save(paths[-1], rows)
    files = CodeFiles.open(paths)
    assert files.rows == 30 and files.n_bits == 16
    for first, end in ((0, 30), (0, 7), (6, 9), (7, 8), (19, 30)):
        got, ids = files.read(first, end)
        assert np.array_equal(got, codes[first:end]) and np.array_equal(ids, np.arange(first, end))
