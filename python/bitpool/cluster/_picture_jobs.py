"""Jobs over the pictures of a folder: describing them by features, and turning them into codes."""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from .._errors import error_of
from .._pictures import Coder
from .._running import run
from ._arrays import append_arrays
from ._job import Job, WorkDied, in_ranges
from ._parts import Part, PartWriter, Task, replacing

_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".png", ".webp", ".tif", ".tiff", ".gif", ".heic", ".heif", ".avif")


def find_pictures(folder: Path) -> list[tuple[str, int, int]]:
    """Path from the folder, size and last change of every picture in it, sorted by the bytes of the paths.

    As the program finds them: by their names, not in hidden folders; links to files are pictures.
    """
    if not folder.is_dir():
        raise error_of("not found", f"{folder}: expected a folder of pictures")
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = os.path.join(place, name)
            if name.lower().endswith(_SUFFIXES) and os.path.isfile(path):
                facts = os.stat(path)
                found.append((os.path.relpath(path, folder), facts.st_size, facts.st_mtime_ns))
    return sorted(found, key=lambda picture: os.fsencode(picture[0]))


@dataclass(frozen=True)
class PictureJob(Job):
    """What the jobs over pictures share: an input is a picture, and parts have a line of facts for each."""

    unit = "pictures"
    pictures: str  #: the folder
    per_part: int  #: pictures of a task
    first_id: int  #: of the first picture; the next have the next

    def tasks(self) -> list[Task]:
        found = find_pictures(Path(self.pictures))
        settings = self.all_settings()
        return [Task(first, tuple(found[first:end]), settings) for first, end in in_ranges(len(found), self.per_part)]

    def paths_of(self, task: Task) -> list[Path]:
        return [Path(self.pictures, path) for path, _, _ in task.inputs]

    def write_facts(self, task: Task, failures: dict[int, str], part: PartWriter) -> None:
        """A line for each picture; a failure is under its place in the task."""
        with part.file("facts.jsonl").open("w", encoding="utf-8") as file:
            for place, (path, size, mtime_ns) in enumerate(task.inputs):
                number = self.first_id + task.first + place
                facts = {"id": number, "path": path, "size": size, "mtime_ns": mtime_ns}
                file.write(json.dumps({**facts, "failure": failures.get(place, "")}) + "\n")
        part.summary.update(pictures=len(task.inputs), failed=len(failures))

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        with replacing(folder / "facts.jsonl") as joined:
            for _, part in leaves:
                with part.file("facts.jsonl").open("rb") as file:
                    shutil.copyfileobj(file, joined)
        counts = {name: sum(part.summary[name] for _, part in leaves) for name in ("pictures", "failed")}
        return {"files": ["facts.jsonl"], **counts}


def failures_in(facts: Path) -> Iterator[tuple[str, str]]:
    """Path and reason of the pictures that failed."""
    with facts.open(encoding="utf-8") as file:
        for line in file:
            fact = json.loads(line)
            if fact["failure"]:
                yield fact["path"], fact["failure"]


@functools.lru_cache(maxsize=1)
def _open_coder(path: str, digest: str) -> Coder:
    """A worker keeps the coder of its job: one with a network takes seconds to open."""
    coder = Coder.open(path)
    if coder.digest != digest:
        raise error_of("invalid argument", f"{path}: has changed since the job began")
    return coder


@dataclass(frozen=True)
class EncodeJob(PictureJob):
    """Pictures to codes: ``codes.npy`` and ``ids.npy`` of those that could be used, ``facts.jsonl`` of all."""

    name = "encode"
    coder: str
    digest: str  #: of the coder
    n_bits: int

    @classmethod
    def of(cls, pictures: str, coder: str, per_part: int = 256, first_id: int = 0) -> EncodeJob:
        """The job of a folder of pictures and the file of a coder."""
        opened = Coder.open(coder)
        folder, file = os.path.abspath(pictures), os.path.abspath(coder)
        return cls(folder, per_part, first_id, file, opened.digest, opened.n_bits)

    def settings(self) -> dict[str, Any]:
        return {"coder": self.digest, "n_bits": self.n_bits, "per_part": self.per_part, "first_id": self.first_id}

    def encode(self, paths: Sequence[Path]) -> tuple[npt.NDArray[np.uint8], list[tuple[int, str, str]]]:
        """Codes of pictures, and (place, kind, reason) of those that cannot be used."""
        return _open_coder(self.coder, self.digest)._native.encode_files(paths, run(n_threads=1))

    def compute(self, task: Task, part: PartWriter) -> None:
        paths = self.paths_of(task)
        codes, failed = self.encode(paths)
        failures = {place: reason.removeprefix(f"{paths[place]}: ") for place, _, reason in failed}
        self._write(task, codes, failures, part)

    def give_up(self, task: Task, reason: str, part: PartWriter) -> None:
        self._write(task, self._zeros(1), {0: reason}, part)

    def _zeros(self, count: int) -> npt.NDArray[np.uint8]:
        return np.zeros((count, -(-self.n_bits // 8)), np.uint8)

    def _write(self, task: Task, codes: npt.NDArray[np.uint8], failures: dict[int, str], part: PartWriter) -> None:
        used = np.array([place for place in range(len(task.inputs)) if place not in failures], np.int64)
        np.save(part.file("codes.npy"), codes[used])
        np.save(part.file("ids.npy"), used + self.first_id + task.first)
        self.write_facts(task, failures, part)

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        said = super().finish(leaves, folder)
        blanks: dict[str, npt.NDArray[Any]] = {"codes.npy": self._zeros(0), "ids.npy": np.zeros(0, np.int64)}
        for name, blank in blanks.items():
            append_arrays(folder / name, [part.file(name) for _, part in leaves], blank)
        return {**said, "files": ["codes.npy", "ids.npy", *said["files"]], "n_bits": self.n_bits}


@dataclass(frozen=True)
class DescribeJob(PictureJob):
    """Pictures to feature files, one for each part, by the program's ``extract``."""

    name = "describe"
    options: tuple[str, ...]  #: of ``extract``

    @classmethod
    def of(cls, pictures: str, options: Sequence[str] = (), per_part: int = 256) -> DescribeJob:
        """The job of a folder of pictures and options of ``extract``."""
        return cls(os.path.abspath(pictures), per_part, 0, tuple(options))

    def settings(self) -> dict[str, Any]:
        return {"options": list(self.options), "per_part": self.per_part, "first_id": self.first_id}

    def compute(self, task: Task, part: PartWriter) -> None:
        with tempfile.TemporaryDirectory(prefix="bitpool-") as place:
            tree = Path(place)
            names = [path for path, _, _ in task.inputs]
            _link(tree, names, self.paths_of(task))
            command = ["--threads", "1", "--quiet", "extract", place, "-o", str(part.file("features.bpf"))]
            complaints = _run_program(task.settings["bitpool"], [*command, *self.options])
            failures = _left_out(complaints, tree, names)
        self.write_facts(task, failures, part)

    def give_up(self, task: Task, reason: str, part: PartWriter) -> None:
        self.write_facts(task, {0: reason}, part)

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        said = super().finish(leaves, folder)
        written = [part.file("features.bpf") for _, part in leaves if part.file("features.bpf").exists()]
        return {**said, "files": [*(str(path.relative_to(folder)) for path in written), *said["files"]]}


def _link(tree: Path, names: Iterable[str], paths: Iterable[Path]) -> None:
    """The pictures of a task under their own names, in a folder that holds nothing else."""
    for name, path in zip(names, paths):
        link = tree / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)


def _run_program(version: str, arguments: Sequence[str]) -> list[str]:
    """Runs the program and returns what it complained of."""
    program = os.environ.get("BITPOOL_PROGRAM") or shutil.which("bitpool")
    if not program:
        raise error_of("not found", "bitpool: the program is neither on the PATH nor named by BITPOOL_PROGRAM")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.split()
    if said[-1:] != [version]:
        raise error_of("unsupported", f"{program}: has version {' '.join(said)}, the job began with {version}")
    done = subprocess.run([program, *arguments], capture_output=True, errors="surrogateescape", check=False)
    complaints = done.stderr.splitlines()
    if done.returncode < 0:
        raise WorkDied(f"the program was ended by {signal.Signals(-done.returncode).name}")
    if done.returncode not in (0, 7):
        raise error_of("internal", complaints[-1] if complaints else f"{program}: status {done.returncode}")
    return complaints


def _left_out(complaints: Iterable[str], tree: Path, names: Sequence[str]) -> dict[int, str]:
    """The pictures that the program left out, by their places, and why."""
    places = {name: place for place, name in enumerate(names)}
    failures = {}
    for line in complaints:
        name, _, reason = line.removeprefix(f"bitpool: {tree}/").removesuffix("; left out").partition(": ")
        if name in places:
            failures[places[name]] = reason
    return failures
