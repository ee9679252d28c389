"""Jobs on Dask with real workers: the bytes of one process, whatever dies on the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator

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
    Task,
    Thumbnails,
    index_files,
    update_library,
)
from bitpool.cluster._job import do_task
from conftest import REPOSITORY

pytest.importorskip("distributed", reason="Dask is not there (Debian: python3-distributed)")

from bitpool.cluster import connect, run_job  # noqa: E402
from distributed import Future, KilledWorker  # noqa: E402
from cluster_fakes import FakeEncode, code_of  # noqa: E402

CODER = REPOSITORY / "share" / "copies-64.bpc"


def soon(condition: Callable[[], Any]) -> Any:
    """Waits for something that comes from another process; fails after a minute."""
    for _ in range(6000):
        if result := condition():
            return result
        time.sleep(0.01)
    pytest.fail("nothing happened for a minute")


def fake_pictures(folder: Path, count: int, **special: bytes) -> FakeEncode:
    """A job over ``p00.jpg``, ``p01.jpg``, …, of which some are special."""
    (folder / "pictures").mkdir()
    for number in range(count):
        name = f"p{number:02d}"
        (folder / "pictures" / f"{name}.jpg").write_bytes(special.get(name, f"picture {number}".encode()))
    return FakeEncode.of_folder(folder)


def times_read(job: FakeEncode, name: str) -> int:
    return len(list(Path(job.log).glob(f"{name}.*")))


def require_result(job: FakeEncode, out: Path, without: tuple[int, ...] = ()) -> None:
    """The bytes that one undisturbed process would have written."""
    paths = sorted(Path(job.pictures).glob("*.jpg"))
    used = [number for number in range(len(paths)) if number not in without]
    assert np.array_equal(np.load(out / "ids.npy"), used)
    assert np.array_equal(np.load(out / "codes.npy"), [code_of(paths[number]) for number in used])
    facts = [json.loads(line) for line in (out / "facts.jsonl").read_text().splitlines()]
    assert [fact["path"] for fact in facts] == [path.name for path in paths]
    assert [number for number, fact in enumerate(facts) if fact["failure"]] == list(without)
    assert not [name for name in os.listdir(out / "parts") if name.startswith(".")]


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


# --- What is there is not done again


def test_only_what_is_missing_damaged_or_changed_is_done_again(client: Any, tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 20)
    out = tmp_path / "out"
    run_job(job, out, client)
    run_job(job, out, client)
    assert [times_read(job, f"p{number:02d}") for number in range(20)] == [1] * 20
    damaged = out / "parts" / "0000000004-0000000008" / "codes.npy"
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    Path(job.pictures, "p17.jpg").write_bytes(b"another picture")
    run_job(job, out, client)
    again = [*range(4, 8), *range(16, 20)]
    assert [n for n in range(20) if times_read(job, f"p{n:02d}") == 2] == again
    require_result(job, out)


def test_an_error_of_a_task_ends_the_job_and_keeps_what_is_done(client: Any, tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 12, p11=b"fail")
    with pytest.raises(OSError, match="No space left"):
        run_job(job, tmp_path / "out", client)
    assert not (tmp_path / "out" / "result.json").exists()
    done = len(list((tmp_path / "out" / "parts").glob("0*")))
    Path(job.pictures, "p11.jpg").write_bytes(b"well again")
    run_job(job, tmp_path / "out", client)
    require_result(job, tmp_path / "out")
    assert done <= 2 and times_read(job, "p11") == 2


# --- Deaths


def test_pictures_that_kill_who_reads_them_are_found_and_passed_over(tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 12, p02=b"memory", p05=b"kill", p06=b"exit", p11=b"program")
    told: list[bitpool.Progress] = []
    with connect(local=2, memory="1GiB") as client:
        result = run_job(job, tmp_path / "out", client, progress=told.append)
        assert result["failed"] == 4 and told[-1].note == "4 given up"
        require_result(job, tmp_path / "out", without=(2, 5, 6, 11))
        facts = [json.loads(line) for line in (tmp_path / "out" / "facts.jsonl").read_text().splitlines()]
        assert "allocate" in facts[2]["failure"]
        assert facts[5]["failure"] == "ended the process that worked on it: SIGKILL"
        assert facts[6]["failure"] == "ended the process that worked on it: status 3"
        assert facts[11]["failure"] == "the program was ended by SIGSEGV"
        before = [times_read(job, f"p{number:02d}") for number in range(12)]
        run_job(job, tmp_path / "out", client, progress=told.append)
        assert [times_read(job, f"p{number:02d}") for number in range(12)] == before
        assert told[-1].note == "12 from before"


class DeadlyFuture:
    """What Dask says of a task: done at once, unless it holds a picture that no worker survives."""

    def __init__(self, job: FakeEncode, task: Task, folder: Path, neighbours: int) -> None:
        names = {path for path, _, _ in task.inputs}
        self._error = None
        # A worker takes its innocent neighbours with it, as long as it has any.
        if "p05.jpg" in names or ("p06.jpg" in names and neighbours):
            self._error = KilledWorker(task.name, None, 1)
        else:
            self._outcome = do_task(job, task, folder)
        self.status = "error" if self._error else "finished"

    def exception(self) -> Any:
        return self._error

    def result(self) -> Any:
        return self._outcome


class DeadlyClient:
    """Ends what it was given only when it was given all that it takes at once."""

    status = "running"

    def __init__(self) -> None:
        self.given = 0

    def scheduler_info(self) -> Any:
        return {"workers": {"one": {"nthreads": 1}}}

    def submit(self, work: Any, job: FakeEncode, task: Task, folder: Path, **_: Any) -> Any:
        future = DeadlyFuture(job, task, folder, self.given)
        self.given += 1

        def call(ended: Callable[[Any], None]) -> None:
            self.given -= 1
            ended(future)

        future.add_done_callback = lambda ended: threading.Timer(0.01, call, [ended]).start()  # type: ignore
        return future


class ForgottenFuture:
    """A task that is done, whose result may be lost, with the worker that had it, before it is fetched."""

    def __init__(self, outcome: Any, lost: bool) -> None:
        self._outcome, self._lost, self._told = outcome, lost, 0

    @property
    def status(self) -> str:
        return "lost" if self._lost and self._told < 2 else "finished"

    def add_done_callback(self, ended: Callable[[Any], None]) -> None:
        self._told += 1
        threading.Timer(0.01, ended, [self]).start()

    def result(self) -> Any:
        return self._outcome


class ForgetfulClient(DeadlyClient):
    def submit(self, work: Any, job: FakeEncode, task: Task, folder: Path, **_: Any) -> Any:
        return ForgottenFuture(do_task(job, task, folder), lost=task.first == 4)


def test_a_result_that_is_lost_on_the_way_is_waited_for(tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 12)
    run_job(job, tmp_path / "out", ForgetfulClient())
    require_result(job, tmp_path / "out")


def test_the_neighbours_of_a_picture_that_kills_workers_are_cleared(tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 12)
    assert run_job(job, tmp_path / "out", DeadlyClient())["failed"] == 1
    require_result(job, tmp_path / "out", without=(5,))
    facts = [json.loads(line) for line in (tmp_path / "out" / "facts.jsonl").read_text().splitlines()]
    assert facts[5]["failure"] == "ended every worker that had it, also alone"


def test_a_worker_that_is_killed_in_the_middle_of_a_part_is_replaced(tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 16, p06=b"once")
    noted = Path(job.pictures, "p06.pid")

    def kill() -> None:
        os.kill(int(soon(lambda: noted.exists() and noted.read_text())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with connect(local=2) as client:
        result = run_job(job, tmp_path / "out", client)
    killer.join()
    assert result["failed"] == 0 and times_read(job, "p06") >= 2
    child = Path("/proc", noted.with_suffix(".child").read_text(), "cmdline")
    soon(lambda: not child.exists() or not child.read_bytes())  # gone with its worker
    require_result(job, tmp_path / "out")


def test_a_job_that_is_cancelled_is_completed_by_the_next_run(client: Any, tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 16, p09=b"wait")

    def cancel() -> None:
        soon(lambda: times_read(job, "p09") and len(list((tmp_path / "out" / "parts").glob("0*"))) == 3)
        client.cancel([Future(key, client) for key in list(client.futures)], force=True)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(bitpool.Error, match="cancelled the job; run the same command again"):
        run_job(job, tmp_path / "out", client)
    canceller.join()
    Path(job.pictures, "p09.go").touch()
    run_job(job, tmp_path / "out", client)
    require_result(job, tmp_path / "out")
    assert [times_read(job, f"p{number:02d}") for number in (0, 4, 12)] == [1, 1, 1]


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# A disk of its own, which is soon full, and then grows.
DISK_DRIVER = """
import shutil, subprocess, sys
from pathlib import Path
from bitpool.cluster import EncodeJob, connect, run_job
if __name__ == "__main__":
    pictures, coder, disk, result = sys.argv[1:]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    job = EncodeJob.of(pictures, coder, per_part=3)
    with connect(local=2) as client:
        try:
            run_job(job, Path(disk, "out"), client)
        except OSError as error:
            print(error)
        print(Path(disk, "out", "result.json").exists())
        subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        run_job(job, Path(disk, "out"), client)
    shutil.copytree(Path(disk, "out"), result)
"""


def test_a_job_that_found_the_disk_full_is_completed_by_the_next_run(
    client: Any, pictures: Path, tmp_path: Path
) -> None:
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*alone, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here (unshare, mount)")
    (tmp_path / "driver.py").write_text(DISK_DRIVER)
    (tmp_path / "disk").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    line = [*alone, sys.executable, "driver.py", str(pictures), str(CODER), "disk", "result"]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    complaint, left = done.stdout.splitlines()
    assert complaint.startswith("[Errno 28] No space left on device: ") and "disk/out/parts/0" in complaint
    assert left == "False"
    run_job(EncodeJob.of(str(pictures), str(CODER), per_part=3), tmp_path / "out", client)
    undisturbed = contents(tmp_path / "out")
    assert len(undisturbed) > 20 and contents(tmp_path / "result") == undisturbed


# The job is run by a process of its own, which can be ended.
DRIVER = """
import sys
from pathlib import Path
from bitpool.cluster import connect, run_job
from cluster_fakes import FakeEncode
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with connect(local=2) as client:
        run_job(FakeEncode.of_folder(folder), folder / "out", client)
"""


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_a_job_that_was_ended_is_completed_by_the_next_run(client: Any, tmp_path: Path, ended_by: int) -> None:
    job = fake_pictures(tmp_path, 16, p09=b"wait")
    (tmp_path / "driver.py").write_text(DRIVER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, str(tmp_path / "driver.py"), str(tmp_path)]
    driver = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    soon(lambda: times_read(job, "p09") and len(list((tmp_path / "out" / "parts").glob("0*"))) == 3)
    driver.send_signal(ended_by)
    assert driver.wait(60) != 0
    assert not (tmp_path / "out" / "result.json").exists()
    Path(job.pictures, "p09.go").touch()
    run_job(job, tmp_path / "out", client)
    require_result(job, tmp_path / "out")
    assert [times_read(job, f"p{number:02d}") for number in (0, 4, 12)] == [1, 1, 1]


@pytest.fixture
def start_cluster(tmp_path: Path) -> Iterator[Callable[[], tuple[str, subprocess.Popen[bytes]]]]:
    """Starts a scheduler and two workers as an administrator would; gives its address and the scheduler's process."""
    started: list[subprocess.Popen[bytes]] = []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def start() -> tuple[str, subprocess.Popen[bytes]]:
        facts = tmp_path / f"scheduler{len(started)}.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(facts)]
        begin = [sys.executable, "-m"]
        for arguments in (
            ["distributed.cli.dask_scheduler", *options],
            ["distributed.cli.dask_worker", "--scheduler-file", str(facts), "--nworkers", "2", "--nthreads", "1"]
            + ["--local-directory", str(tmp_path / "scratch"), "--no-dashboard"],
        ):
            log = (tmp_path / f"log{len(started)}").open("wb")
            started.append(
                subprocess.Popen([*begin, *arguments], env=environment, stdout=log, stderr=log, cwd=tmp_path)
            )
        soon(facts.exists)
        return str(soon(lambda: json.loads(facts.read_text() or "{}"))["address"]), started[-2]

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(60)


def test_a_lost_scheduler_costs_what_was_under_way(start_cluster: Callable[[], Any], tmp_path: Path) -> None:
    job = fake_pictures(tmp_path, 16, p09=b"wait")
    address, scheduler = start_cluster()

    def kill() -> None:
        soon(lambda: times_read(job, "p09") and len(list((tmp_path / "out" / "parts").glob("0*"))) == 3)
        scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(bitpool.Error, match="run the same command again"):
        with connect(address) as client:
            run_job(job, tmp_path / "out", client)
    killer.join()
    Path(job.pictures, "p09.go").touch()
    with connect(start_cluster()[0]) as client:
        run_job(job, tmp_path / "out", client)
    require_result(job, tmp_path / "out")
    assert [times_read(job, f"p{number:02d}") for number in (0, 4, 12)] == [1, 1, 1]


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
