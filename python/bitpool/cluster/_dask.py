"""Runs jobs on Dask: on workers of this machine, or on those of an existing scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import tempfile
import time
import uuid
from collections import deque
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Deque, Iterator, Optional, Sequence

from .._errors import error_of
from .._running import ProgressOption, _receiver
from ._child import do_in_child
from ._job import Job, Outcome, WorkDied, begin, end
from ._parts import Parts, Task

try:
    import dask
    from distributed import Client, Future, KilledWorker, LocalCluster, get_worker
    from distributed.comm import CommClosedError
except ImportError as missing:
    raise ImportError(f"bitpool.cluster needs Dask (Debian: python3-distributed): {missing}") from missing

_AGAIN = "run the same command again to complete it; what is done is kept"
_POISONED = "ended every worker that had it, even when nothing else was running"
_START_S = 30.0  # the most that a worker needs to start
_CONNECT_S = 5  # the most that a scheduler needs to answer
_PATIENCE_S = 1.0  # between two looks at who is there
_LOCAL_SETTINGS = {
    # A task counts as poisoned when two workers died over it, instead of four: here none dies with its machine.
    "distributed.scheduler.allowed-failures": 1,
    # Dask's watching of itself takes time from cores that describe pictures: 7 % of one with two workers, 2 % this way.
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.tick.interval": "1s",
}


@contextlib.contextmanager
def connect(
    scheduler: Optional[str] = None, local: Optional[int] = None, memory: str = "auto"
) -> Iterator[Client]:
    """A client of the scheduler at an address, or of ``local`` new workers, each of at most this much ``memory``."""
    if (scheduler is None) == (local is None):
        raise error_of("invalid argument", "expected either the address of a scheduler or a number of local workers")
    if scheduler is not None:
        with _client_of(scheduler) as client:
            yield client
        return
    if local is None or local < 1:
        raise error_of("invalid argument", f"{local} local workers: expected 1 or more")
    with tempfile.TemporaryDirectory(prefix="bitpool-workers-") as scratch, dask.config.set(_LOCAL_SETTINGS):
        with LocalCluster(
            n_workers=local,
            threads_per_worker=1,
            memory_limit=memory,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=scratch,
            silence_logs=50,  # we handle the deaths of workers ourselves
        ) as cluster, Client(cluster, set_as_default=False) as client:
            try:
                yield client
            finally:
                # Dask may wait for ever for a worker that was being started when it was told to stop.
                with contextlib.suppress(Exception):
                    client.wait_for_workers(local, timeout=_START_S)


@contextlib.contextmanager
def _client_of(scheduler: str) -> Iterator[Client]:
    # A scheduler that went away is not waited for: what is done is kept, and the job can be run again.
    with dask.config.set({"distributed.comm.timeouts.connect": f"{_CONNECT_S}s"}):
        try:
            client = Client(scheduler, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise error_of("not found", f"{scheduler}: no scheduler answers there: {error}") from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=_CONNECT_S)


def run_job(
    job: Job, folder: Path, client: Client, *, force: bool = False, progress: ProgressOption = None
) -> dict[str, Any]:
    """Does what is left to do of a job, and returns what ``result.json`` says.

    Whatever ends it early, calling it again completes it.
    """
    folder = folder.absolute()
    tasks = job.tasks()
    begin(job, folder, force=force)

    def do(job: Job, tasks: Sequence[Task]) -> None:
        run = _Run(job, folder, client, sum(len(task.inputs) for task in tasks), progress)
        try:
            run.complete(tasks)
        finally:
            run.close()

    do(job, tasks)
    return end(job, tasks, folder, do)


def _work(job: Job, task: Task, folder: Path) -> Outcome:
    """What a worker is given."""
    worker = get_worker()
    limit = worker.memory_manager.memory_limit
    return do_in_child(job, task, folder, limit // worker.state.nthreads if limit else None)


def _scheduler_lost() -> Exception:
    return error_of("I/O", f"the scheduler went away or cancelled the job; {_AGAIN}")


class _Run:
    """Hands tasks to workers, about two for each thread, and halves those that processes die of."""

    _work = staticmethod(_work)

    def __init__(self, job: Job, folder: Path, client: Client, total: int, progress: ProgressOption) -> None:
        self._workers: dict[str, int] = {}  # how many threads they have
        self._looked_at = -_PATIENCE_S
        self._id = uuid.uuid4().hex[:8]
        self._job = job
        self._folder = folder
        self._client = client
        self._waiting: Deque[Task] = deque()
        self._suspects: Deque[Task] = deque()  # single inputs, to be tried when nothing else runs
        self._alone = False  # a suspect is running
        self._running: dict[Future, Task] = {}
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._total = total
        self._done = self._found = self._given_up = self._submitted = 0
        self._tell = _receiver(progress)
        self._parts = Parts(folder / "parts")
        # Parts of an earlier run; the workers check whether they are good. Steps of a training leave none.
        self._names = set() if job.keeps_state else self._parts.names()

    def complete(self, tasks: Sequence[Task]) -> None:
        self._waiting.extend(tasks)
        try:
            self._run()
        except (CommClosedError, asyncio.TimeoutError, asyncio.CancelledError, CancelledError) as error:
            raise _scheduler_lost() from error

    def _run(self) -> None:
        while self._waiting or self._running or self._suspects:
            self._submit()
            self._take(self._wait())
            self._report(ended=False)
        self._report(ended=True)

    def _wait(self) -> list[Future]:
        """The tasks that ended meanwhile; none after a while, in which workers may have come or gone."""
        ended: list[Future] = []
        with contextlib.suppress(queue.Empty):
            ended.append(self._ended.get(timeout=_PATIENCE_S))
            while True:
                ended.append(self._ended.get_nowait())
        return ended

    def close(self) -> None:
        """Leaves nothing running that nobody waits for."""
        if self._running:
            with contextlib.suppress(Exception):  # the scheduler may be what went away
                self._client.cancel(list(self._running))

    def _look_around(self) -> None:
        """Finds out now and then which workers there are: asking takes as long as handing out a task."""
        if self._client.status != "running":
            raise _scheduler_lost()
        if time.monotonic() - self._looked_at < _PATIENCE_S:
            return
        self._workers = {
            address: worker["nthreads"] for address, worker in self._client.scheduler_info()["workers"].items()
        }
        self._looked_at = time.monotonic()

    def _threads(self) -> int:
        self._look_around()
        return sum(self._workers.values())

    def _submit(self) -> None:
        most = max(1, 2 * self._threads())
        while self._waiting and not self._alone and len(self._running) < most:
            task = self._waiting.popleft()
            found = self._parts.find(task, verify=False) if task.name in self._names else None
            if found is not None and found.split:
                self._waiting.extendleft(reversed(task.halves()))
                continue
            self._found += len(task.inputs) if found is not None else 0
            self._start(task)
        if self._suspects and not self._running:
            self._alone = True
            self._start(self._suspects.popleft())

    def _start(self, task: Task) -> None:
        self._submitted += 1
        key = f"{self._job.name}-{task.name}-{self._id}-{self._submitted}"
        future = self._client.submit(self._work, self._job, task, self._folder, key=key, pure=False, **self._home(task))
        self._running[future] = task
        future.add_done_callback(self._ended.put)

    def _home(self, task: Task) -> dict[str, Any]:
        """Where a task is best done: where the same part was done in the round before, if it has one."""
        if not self._job.keeps_state:
            return {}
        workers = sorted(self._workers)
        return {"workers": [workers[task.first % len(workers)]], "allow_other_workers": True} if workers else {}

    def _take(self, ended: Sequence[Future]) -> None:
        by_status: dict[str, list[Future]] = {}
        for future in ended:
            by_status.setdefault(future.status, []).append(future)
        if by_status.pop("cancelled", None):
            raise _scheduler_lost()
        # That it is done is all there is to know. Fetching a result takes as long as handing out a task, and if a
        # worker dies with one, Dask does the task again, and at times waits for ever.
        for future in by_status.pop("finished", []):
            self._alone = False
            self._done += len(self._running.pop(future).inputs)
        for future in by_status.pop("error", []):
            self._take_failed(future)
        for lost in by_status.values():
            # Their workers died before anybody looked: Dask has the tasks done again.
            for future in lost:
                future.add_done_callback(self._ended.put)

    def _take_failed(self, future: Future) -> None:
        task = self._running.pop(future)
        alone, self._alone = self._alone, False
        error = future.exception()
        if not isinstance(error, (KilledWorker, WorkDied, MemoryError)):
            raise error
        self._suspect(task, error, alone)

    def _suspect(self, task: Task, error: Exception, alone: bool) -> None:
        if len(task.inputs) > 1:
            self._parts.split(task)
            self._waiting.extendleft(reversed(task.halves()))
        elif not alone:
            self._suspects.append(task)
        else:
            reason = _POISONED if isinstance(error, KilledWorker) else str(error)
            with self._parts.writing(task) as part:
                self._job.give_up(task, reason, part)
            self._done += 1
            self._given_up += 1

    def _report(self, *, ended: bool) -> None:
        if self._tell is None:
            return
        notes = [f"{self._found} from before"] if self._found else []
        notes += [f"{self._given_up} given up"] if self._given_up else []
        notes += ["waiting for workers"] if not ended and not self._threads() else []
        self._tell(self._job.title, self._job.unit, self._done, self._total, ended, ", ".join(notes))
