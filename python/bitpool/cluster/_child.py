"""A process beside a worker that does its tasks, so that a picture that kills its reader does not kill the worker.

Starting a worker again takes seconds, and Dask gives up a worker that dies while it is started.
"""

from __future__ import annotations

import os
import pickle
import queue
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Optional

from ._job import Job, Outcome, WorkDied
from ._parts import Task


class Child:
    """The process. Ends with its maker, even in the middle of a task: its standard input is closed then."""

    def __init__(self, memory: Optional[int]) -> None:
        """With at most this many bytes of ``memory``, not counting files that are mapped."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        # Dask has its workers give back every free page at once, which here takes half of the time of a training.
        environment.pop("MALLOC_TRIM_THRESHOLD_", None)
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({memory})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for whoever started the job
        )

    def do(self, job: Job, task: Task, folder: Path) -> Outcome:
        """Does a task. Raises ``WorkDied`` when the process dies of it, and otherwise what the task raised."""
        assert self._process.stdin and self._process.stdout
        try:
            pickle.dump(pickle.dumps((job, task, folder)), self._process.stdin)
            self._process.stdin.flush()
            result = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            raise WorkDied(f"ended the process that worked on it: {_ending(self._process.wait())}") from None
        if isinstance(result, BaseException):
            raise result
        assert isinstance(result, Outcome)
        return result

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None


def _ending(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


_of_thread = threading.local()


def do_in_child(job: Job, task: Task, folder: Path, memory: Optional[int]) -> Outcome:
    """Does a task in the child of this thread, which stays for the next one."""
    child = getattr(_of_thread, "child", None)
    if child is None or child.ended:
        child = _of_thread.child = Child(memory)
    return child.do(job, task, folder)


def serve(memory: Optional[int]) -> None:
    """Does the tasks that come in by standard input: what the process runs."""
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed goes where it cannot be mistaken for an answer
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(tasks,), daemon=True).start()
    while True:
        pickle.dump(_answer(tasks.get()), answers)
        answers.flush()


def _read(tasks: queue.SimpleQueue[bytes]) -> None:
    """Takes what comes in. When nothing more can come, the worker is gone, and nobody wants an answer any more."""
    while True:
        try:
            tasks.put(pickle.load(sys.stdin.buffer))
        except EOFError:
            os._exit(0)


def _answer(pickled: bytes) -> Any:
    try:
        job, task, folder = pickle.loads(pickled)
        return job.perform(task, folder)
    except Exception as error:
        return error
