"""What a job is, whoever runs it: tasks that each write one part, and what is made of the parts."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Callable, ClassVar, Iterator, NamedTuple, Sequence

from .. import __version__
from .._errors import error_of
from ._parts import Part, Parts, PartWriter, Task, replacing

JOB = "job.json"
RESULT = "result.json"


class Outcome(NamedTuple):
    """What became of a task."""

    split: bool  #: its halves are to be done
    was_there: bool


class WorkDied(Exception):
    """A process that a task had started was killed: the task is halved as if its worker had died."""


class Job(ABC):
    """Says what is to be done, does it, and puts the parts together. Travels to the workers, so it keeps no state.

    ``compute`` is a pure function of its task: any worker may do it, and do it again.
    """

    name: ClassVar[str]
    unit: ClassVar[str]  #: what an input of a task is, in the plural
    keeps_state: ClassVar[bool] = False  #: whoever did a task before does the next at the same place faster

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What determines all parts, in a form that JSON can hold."""

    @abstractmethod
    def tasks(self) -> list[Task]:
        """All there is to do, in order."""

    @abstractmethod
    def compute(self, task: Task, part: PartWriter) -> None:
        """Does a task."""

    def perform(self, task: Task, folder: Path) -> Outcome:
        """Does a task unless its part is there: what a worker runs."""
        return do_task(self, task, folder)

    def refine(
        self, leaves: Sequence[tuple[Task, Part]], folder: Path, do: Callable[[Job, Sequence[Task]], None]
    ) -> None:
        """Goes on from the parts, before ``finish``, in as many rounds as it takes; ``do`` has the tasks of one done."""

    @abstractmethod
    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        """Writes the results, and returns what is to be said about them: ``files``, ``failed`` and counts."""

    def give_up(self, task: Task, reason: str, part: PartWriter) -> None:
        """Writes the part of a task with one input that kills whoever does it."""
        raise error_of("resources", f"{self.name}: part {task.name} {reason}")

    @property
    def title(self) -> str:
        """What is shown while it is being done."""
        return self.name

    def all_settings(self) -> dict[str, Any]:
        """The settings, and the version that gives the same bytes."""
        return {"job": self.name, "bitpool": __version__, **self.settings()}


def require_version(task: Task) -> None:
    """Refuses a task of another version, which may give other bytes."""
    expected = task.settings["bitpool"]
    if expected != __version__:
        raise error_of("unsupported", f"this worker has bitpool {__version__}, the job began with {expected}")


def do_task(job: Job, task: Task, folder: Path) -> Outcome:
    """Does a task, unless its part is there."""
    parts = Parts(folder / "parts")
    part = parts.find(task)
    if part is not None:
        return Outcome(part.split, was_there=True)
    require_version(task)
    with parts.writing(task) as writer:
        job.compute(task, writer)
    return Outcome(split=False, was_there=False)


def begin(job: Job, folder: Path, *, force: bool) -> None:
    """Makes the folder of a job, or finds it as an earlier run of the same job left it.

    Raises an error where the folder holds something else, unless ``force``.
    """
    wanted = json.loads(json.dumps(job.all_settings()))
    if not force and folder.exists() and os.listdir(folder):
        _require_same(folder, wanted)
    with replacing(folder / JOB) as file:
        file.write(json.dumps(wanted, indent=1).encode())


def _require_same(folder: Path, wanted: dict[str, Any]) -> None:
    try:
        found = dict(json.loads((folder / JOB).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        raise error_of(
            "invalid argument", f"{folder}: exists and is not the folder of a job; --force puts one there"
        ) from None
    for field in sorted({*wanted, *found}):
        if found.get(field) != wanted.get(field):
            raise error_of(
                "invalid argument",
                f"{folder}: {field}: an earlier job has {found.get(field)!r}, this one {wanted.get(field)!r}; "
                "--force replaces it",
            )


def end(
    job: Job, tasks: Sequence[Task], folder: Path, do: Callable[[Job, Sequence[Task]], None]
) -> dict[str, Any]:
    """Puts the parts together and says what there is. The parts that were needed stay, for the next run."""
    parts = Parts(folder / "parts")
    leaves = [leaf for task in tasks for leaf in parts.leaves(task)]
    job.refine(leaves, folder, do)
    result = job.finish(leaves, folder)
    with replacing(folder / RESULT) as file:
        file.write(json.dumps(result, indent=1).encode())
    if tasks:
        parts.keep_only(tasks)
    return result


def files_of(folder: Path) -> list[Path]:
    """The files that a finished job has written."""
    try:
        listed = [Path(name) for name in json.loads((folder / RESULT).read_text(encoding="utf-8"))["files"]]
    except FileNotFoundError:
        raise error_of("not found", f"{folder}: no {RESULT}: expected the folder of a finished job") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise error_of("corrupt", f"{folder / RESULT}: expected the result of a job") from None
    return [folder / name for name in listed]


def identity(path: Path) -> list[Any]:
    """A file as an input of a task: where it is, its size and its last change."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        raise error_of("not found", f"{path}: no such file") from None
    return [str(path.absolute()), facts.st_size, facts.st_mtime_ns]


def in_ranges(count: int, length: int) -> Iterator[tuple[int, int]]:
    """0 to ``count``, cut into ranges of a length."""
    if length < 1:
        raise error_of("invalid argument", f"{length} for a part: expected 1 or more")
    return ((first, min(first + length, count)) for first in range(0, count, length))
