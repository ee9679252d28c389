"""Jobs on Dask with real workers: the bytes of one process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import bitpool
from bitpool.cluster import (
    CodeFiles,
    DescribeJob,
    DuplicatesJob,
    EncodeJob,
    IndexJob,
    SearchJob,
    Thumbnails,
    index_files,
    update_library,
)
from conftest import CODER

pytest.importorskip("distributed", reason="Dask is not there (Debian: python3-distributed)")

from bitpool.cluster import run_job  # noqa: E402

# --- The same bytes


def test_codes_are_those_of_one_process(client: Any, pictures: Path, tmp_path: Path) -> None:
    told: list[bitpool.Progress] = []
    job = EncodeJob.of(str(pictures), str(CODER), per_part=3, first_id=100)
    result = run_job(job, tmp_path / "out", client, progress=told.append)
    thumbnails = result.pop("thumbnails")
    files = ["codes.npy", "ids.npy", "facts.jsonl", "thumbnails.npy"]
    assert result == {"files": files, "pictures": 11, "failed": 1, "n_bits": 64} and len(thumbnails) == 4
    facts = [json.loads(line) for line in (tmp_path / "out" / "facts.jsonl").read_text().splitlines()]
    assert [fact["path"] for fact in facts if fact["failure"]] == ["broken.jpg"]
    assert "expected a JPEG" in next(fact["failure"] for fact in facts if fact["failure"])
    good = [fact for fact in facts if not fact["failure"]]
    alone = bitpool.Coder.open(CODER).encode([pictures / fact["path"] for fact in good])
    assert len(np.unique(alone, axis=0)) > 5
    np.save(tmp_path / "alone.npy", alone)
    assert (tmp_path / "out" / "codes.npy").read_bytes() == (tmp_path / "alone.npy").read_bytes()
    assert np.array_equal(np.load(tmp_path / "out" / "ids.npy"), [fact["id"] for fact in good])
    assert (facts[0]["id"], facts[-1]["id"]) == (100, 110)
    assert told[-1] == ("encode", "pictures", 11, 11, True, "")
    assert [one.done for one in told] == sorted(one.done for one in told)


@pytest.mark.parametrize("per_part", [3, 100])
def test_facts_and_thumbnails_are_those_of_a_library(
    client: Any, pictures: Path, tmp_path: Path, per_part: int
) -> None:
    job = EncodeJob.of(str(pictures), str(CODER), per_part=per_part)
    run_job(job, tmp_path / "out", client)
    library = bitpool.Library.create(tmp_path / "library", pictures)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        library.update(coder=CODER)
    of_library = {picture.path: picture for picture in map(library.find, range(1, len(library) + 1)) if picture}
    facts = [json.loads(line) for line in (tmp_path / "out" / "facts.jsonl").read_text().splitlines()]
    assert {fact["path"] for fact in facts} == set(of_library) and len(facts) == 11
    for fact in facts:
        picture = of_library[fact["path"]]
        assert (fact["width"], fact["height"], fact["size"]) == (picture.width, picture.height, picture.file_size)
        assert bool(fact["failure"]) == bool(picture.failure) == (fact["path"] == "broken.jpg")
        assert fact["checksum"] > 0
    thumbnails = Thumbnails(tmp_path / "out")
    used = [fact for fact in facts if not fact["failure"]]
    assert len(thumbnails) == len(used) == 10
    for number, fact in enumerate(used):
        assert thumbnails[number] == library.thumbnail(of_library[fact["path"]].id)
        assert thumbnails[number].startswith(b"\xff\xd8")
    with pytest.raises(IndexError):
        thumbnails[10]
    bare = EncodeJob.of(str(pictures), str(CODER), per_part=per_part, thumbnails=False)
    run_job(bare, tmp_path / "bare", client)
    assert (tmp_path / "bare" / "facts.jsonl").read_bytes() == (tmp_path / "out" / "facts.jsonl").read_bytes()
    assert not list((tmp_path / "bare").rglob("thumbnails.*"))
    with pytest.raises(bitpool.Error, match="no thumbnails"):
        Thumbnails(tmp_path / "bare")


def test_a_library_is_built_of_what_was_encoded(client: Any, pictures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    shutil.copytree(pictures, folder)
    run_job(EncodeJob.of(str(folder), str(CODER), per_part=4), tmp_path / "out", client)
    alone = bitpool.Library.create(tmp_path / "alone", folder)
    alone.update(coder=CODER)
    content = (folder / "1.png").read_bytes()
    times = os.stat(folder / "1.png")
    (folder / "1.png").write_bytes(b"x" * len(content))  # nobody may look at it again
    os.utime(folder / "1.png", ns=(times.st_atime_ns, times.st_mtime_ns))
    built = bitpool.Library.create(tmp_path / "built", folder)
    report = update_library(built, tmp_path / "out", str(CODER))
    assert (report.added, report.changed, len(report.failed)) == (10, 0, 1)
    assert report.failed[0][0] == "broken.jpg" and "expected a JPEG" in report.failed[0][1]
    assert len(built) == len(alone) == 11
    for number in range(1, 12):
        assert built.find(number) == alone.find(number)
        assert built.thumbnail(number) == alone.thumbnail(number)
        if not alone.find(number).failure:  # type: ignore[union-attr]
            assert built.query_id(number, 5) == alone.query_id(number, 5)
    (folder / "1.png").write_bytes(content + b"changed")  # is read, as the library would
    (folder / "new.png").write_bytes(content)
    report = update_library(built, tmp_path / "out", str(CODER))
    assert (report.added, report.changed, report.unchanged) == (1, 1, 10)
    other = Path(shutil.copy(CODER, tmp_path / "other.bpc"))
    damaged = json.loads((tmp_path / "out" / "job.json").read_text())
    (tmp_path / "out" / "job.json").write_text(json.dumps({**damaged, "coder": "another"}))
    with pytest.raises(bitpool.Error, match="another coder"):
        update_library(bitpool.Library.create(tmp_path / "third", folder), tmp_path / "out", str(other))


def test_features_are_those_of_the_program(
    client: Any, pictures: Path, tmp_path: Path, program: Callable[..., str]
) -> None:
    options = ["--features", "dense", "--max-side", "64"]
    result = run_job(DescribeJob.of(str(pictures), options, per_part=4), tmp_path / "out", client)
    assert (result["pictures"], result["failed"]) == (11, 1)
    files = [tmp_path / "out" / name for name in result["files"] if name.endswith(".bpf")]
    assert len(files) == 3
    command = [os.environ["BITPOOL_PROGRAM"], "extract", str(pictures), "-o", str(tmp_path / "all.bpf"), *options]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 7
    alone = bitpool.FeatureSet.open(tmp_path / "all.bpf")
    parts = [bitpool.FeatureSet.open(file) for file in files]
    assert [name for part in parts for name in part.names] == alone.names and len(alone) == 10
    for one, other in zip((image for part in parts for image in part), alone):
        assert one.dtype == other.dtype and np.array_equal(one, other)


@pytest.fixture
def codes(rng: np.random.Generator) -> np.ndarray:
    """Codes of few bits, so that most distances are shared by many."""
    return rng.integers(0, 16, (600, 2)).astype(np.uint8)


def save_codes(folder: Path, codes: np.ndarray) -> list[str]:
    paths = []
    for number, rows in enumerate(np.split(codes, [200, 210, 500])):
        paths.append(str(folder / f"codes{number}.npy"))
        np.save(paths[-1], rows)
    return paths


@pytest.mark.parametrize("k", [1, 10, 700])
def test_search_over_four_shards_is_that_of_one_index(
    client: Any, tmp_path: Path, codes: np.ndarray, rng: np.random.Generator, k: int
) -> None:
    paths = save_codes(tmp_path, codes)
    made = run_job(IndexJob(CodeFiles.open(paths), per_file=150), tmp_path / "shards", client)
    assert len(made["files"]) == 4 and made["codes"] == 600
    queries = rng.integers(0, 16, (25, 2)).astype(np.uint8)
    np.save(tmp_path / "queries.npy", queries)
    job = SearchJob(index_files([str(tmp_path / "shards")]), str(tmp_path / "queries.npy"), k, per_block=10)
    assert run_job(job, tmp_path / "found", client)["shards"] == 4
    one = bitpool.Index(16)
    one.add(codes)
    expected = one.search(queries, k)
    assert np.array_equal(np.load(tmp_path / "found" / "ids.npy"), expected.ids)
    assert np.array_equal(np.load(tmp_path / "found" / "distances.npy"), expected.distances)


@pytest.mark.parametrize("radius", [0, 2])
def test_pairs_are_those_of_one_index(client: Any, tmp_path: Path, codes: np.ndarray, radius: int) -> None:
    job = DuplicatesJob(CodeFiles.open(save_codes(tmp_path, codes)), radius, per_block=170)
    result = run_job(job, tmp_path / "pairs", client)
    one = bitpool.Index(16)
    one.add(codes)
    expected = one.pairs(radius)
    assert result["pairs"] == len(expected.first) > 500
    for name, column in zip(expected._fields, expected):
        found = np.load(tmp_path / "pairs" / f"{name}.npy")
        assert found.dtype == column.dtype and np.array_equal(found, column)


def test_the_way_from_pictures_to_answers(client: Any, pictures: Path, tmp_path: Path) -> None:
    run_job(EncodeJob.of(str(pictures), str(CODER), per_part=4), tmp_path / "codes", client)
    files = CodeFiles.open([str(tmp_path / "codes")])
    run_job(IndexJob(files, per_file=4), tmp_path / "shards", client)
    job = SearchJob(index_files([str(tmp_path / "shards")]), str(tmp_path / "codes" / "codes.npy"), 1)
    run_job(job, tmp_path / "found", client)
    assert np.array_equal(np.load(tmp_path / "found" / "ids.npy")[:, 0], np.load(tmp_path / "codes" / "ids.npy"))


# --- The command


def test_the_command_says_what_it_did(command: Callable[..., Any], pictures: Path, tmp_path: Path) -> None:
    done = command("encode", pictures, "--coder", CODER, "-o", tmp_path / "out", "--local", 1, "--json")
    assert done.returncode == 7, done.stderr
    assert json.loads(done.stdout)["pictures"] == 11
    assert "bitpool-cluster: broken.jpg: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (["encode", "nowhere", "--coder", CODER, "--local", "1"], 3, "nowhere: expected a folder of pictures"),
        (["encode", ".", "--coder", "nowhere.bpc", "--local", "1"], 3, "nowhere.bpc"),
        (["encode", ".", "--coder", CODER, "--local", "0"], 2, "0 local workers: expected 1 or more"),
        (["encode", ".", "--coder", CODER, "--local", "1", "--part", "0"], 2, "0 for a part: expected 1 or more"),
        (["encode", ".", "--coder", CODER], 2, "--scheduler"),
        (["encode", ".", "--coder", CODER, "--scheduler", "tcp://127.0.0.1:1"], 3, "no scheduler answers there"),
        (["search", "nowhere.bpi", "--queries", "q.npy", "--local", "1"], 3, "q.npy"),
    ],
)
def test_bad_arguments_get_a_clear_word(
    command: Callable[..., Any], tmp_path: Path, arguments: list[Any], status: int, message: str
) -> None:
    done = command(*arguments, "-o", tmp_path / "out")
    assert done.returncode == status and message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "out").exists()
