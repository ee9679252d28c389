"""Jobs on Dask that are disturbed: what is done is kept, and the rest is done, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import bitpool
from bitpool.cluster import EncodeJob, Task
from bitpool.cluster._job import do_task
from conftest import CODER

pytest.importorskip("distributed", reason="Dask is not there (Debian: python3-distributed)")

from bitpool.cluster import connect, run_job  # noqa: E402
from distributed import Future, KilledWorker  # noqa: E402
from cluster_fakes import FakeEncode, code_of  # noqa: E402


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
    """Ends what it was given only after it was given all that it takes at once."""

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
    assert facts[5]["failure"] == "ended every worker that had it, even when nothing else was running"


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
