"""Parts of a job: folders that are complete or not there, each with a manifest that says what it was made from.

A part is written to a temporary folder, synced and renamed. Whoever finds a part whose manifest names the same task,
and whose files have the sizes and checksums of the manifest, need not do the task again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence

#: The version of parts and manifests. Those of another version do not count as valid.
FORMAT = 1
MANIFEST = "manifest.json"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Task:
    """Exactly what one part is made from: the same task always gives the same bytes."""

    first: int  #: the place of its first input among all inputs of the job
    inputs: tuple[Any, ...]  #: one for each thing that can be left to another task; what JSON can say
    settings: Mapping[str, Any]  #: what determines the result besides the inputs

    @property
    def name(self) -> str:
        """The folder of its part. Tasks of one job cover different places, and so have different names."""
        return f"{self.first:010d}-{self.first + len(self.inputs):010d}"

    @property
    def digest(self) -> str:
        """A digest of all that determines the result."""
        said = [FORMAT, self.first, self.inputs, dict(self.settings)]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def halves(self) -> tuple[Task, Task]:
        """The same work as two tasks. REQUIRES: two or more inputs."""
        middle = len(self.inputs) // 2
        left = dataclasses.replace(self, inputs=self.inputs[:middle])
        return left, dataclasses.replace(self, first=self.first + middle, inputs=self.inputs[middle:])


@dataclass(frozen=True)
class Part:
    """A part that is there and valid."""

    folder: Path
    split: bool  #: it has no files of its own: the parts of the task's halves stand for it
    summary: dict[str, Any]  #: what the task said about its result

    def file(self, name: str) -> Path:
        return self.folder / name


class Parts:
    """The parts of a job in a folder that all workers can see."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, task: Task, *, verify: bool = True) -> Optional[Part]:
        """The part of a task; ``None`` where there is none, or one that is damaged or was made of something else.

        Without ``verify`` the files are not read: for callers that have seen this part verified.
        """
        folder = self._folder / task.name
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            if manifest["format"] != FORMAT or manifest["digest"] != task.digest:
                return None
            if verify and any(_facts_of(folder / name) != facts for name, facts in manifest["files"].items()):
                return None
            return Part(folder, bool(manifest["split"]), manifest["summary"])
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # no manifest of ours
            return None

    def names(self) -> set[str]:
        """The parts that are there, good or not."""
        return set(os.listdir(self._folder)) if self._folder.is_dir() else set()

    @contextlib.contextmanager
    def writing(self, task: Task) -> Iterator[PartWriter]:
        """A folder to write the files of a part into. The part appears when the block ends without an error."""
        scratch = self._scratch(task)
        try:
            writer = PartWriter(scratch)
            yield writer
            self._publish(scratch, task, split=False, summary=writer.summary)
        except OSError as error:
            if error.filename is None:  # a write that failed does not say where
                error.filename = str(self._folder / task.name)
            raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def split(self, task: Task) -> None:
        """Records that the halves of a task are done instead of it."""
        scratch = self._scratch(task)
        self._publish(scratch, task, split=True, summary={})

    def leaves(self, task: Task) -> list[tuple[Task, Part]]:
        """The parts that stand for a task, in order; their files are not verified again.

        Raises ``FileNotFoundError`` where one is not there.
        """
        part = self.find(task, verify=False)
        if part is None:
            raise FileNotFoundError(f"{self._folder / task.name}: the part is not there any more; run the job again")
        if not part.split:
            return [(task, part)]
        return [leaf for half in task.halves() for leaf in self.leaves(half)]

    def keep_only(self, tasks: Sequence[Task]) -> None:
        """Removes parts of inputs that the job no longer has, and what killed workers left."""
        wanted = {name for task in tasks for name in self._names(task)}
        for entry in self._folder.iterdir():
            if entry.name not in wanted:
                shutil.rmtree(entry, ignore_errors=True)

    def _names(self, task: Task) -> Iterator[str]:
        yield task.name
        part = self.find(task, verify=False)
        if part is not None and part.split:
            for half in task.halves():
                yield from self._names(half)

    def _scratch(self, task: Task) -> Path:
        scratch = self._folder / f".{task.name}-{uuid.uuid4().hex}.tmp"
        scratch.mkdir(parents=True)
        return scratch

    def _publish(self, scratch: Path, task: Task, *, split: bool, summary: dict[str, Any]) -> None:
        names = sorted(os.listdir(scratch))
        manifest = {
            "format": FORMAT,
            "digest": task.digest,
            "first": task.first,
            "inputs": task.inputs,
            "settings": dict(task.settings),
            "split": split,
            "files": {name: _facts_of(scratch / name) for name in names},
            "summary": summary,
        }
        with (scratch / MANIFEST).open("w", encoding="utf-8") as file:
            json.dump(manifest, file, indent=1)
        for name in [*names, MANIFEST]:
            sync(scratch / name)
        sync(scratch)
        self._rename(scratch, task)
        sync(self._folder)

    def _rename(self, scratch: Path, task: Task) -> None:
        place = self._folder / task.name
        while True:
            try:
                os.rename(scratch, place)
                return
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            if self.find(task) is not None:  # the same, by a worker that was thought lost
                shutil.rmtree(scratch)
                return
            shutil.rmtree(place, ignore_errors=True)  # of other inputs, or damaged


class PartWriter:
    """Where a task leaves its files, and in a word what they hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary: dict[str, Any] = {}

    def file(self, name: str) -> Path:
        return self.folder / name


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Any]:
    """A file open for bytes, which becomes ``path`` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}-{uuid.uuid4().hex}.tmp")
    try:
        with scratch.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Syncs a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _facts_of(path: Path) -> dict[str, Any]:
    """Size and checksum of a file, read in pieces."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
            size += len(piece)
    return {"size": size, "sha256": digest.hexdigest()}
