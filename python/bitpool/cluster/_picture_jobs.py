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
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

import numpy as np
import numpy.typing as npt

from .._errors import error_of
from .._pictures import Coder, Library, UpdateReport
from .._running import ProgressOption, run
from ._arrays import ArrayWriter, append_arrays, save_array
from ._job import JOB, RESULT, Job, WorkDied, files_of, in_ranges
from ._parts import Part, PartWriter, Task, replacing

_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".png", ".webp", ".tif", ".tiff", ".gif", ".heic", ".heif", ".avif")


def find_pictures(folder: Path) -> list[tuple[str, int, int]]:
    """Path relative to the folder, size and last change of every picture in it, sorted by the bytes of the paths.

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

    def write_facts(self, task: Task, found: Sequence[dict[str, Any]], part: PartWriter) -> None:
        """A line for each picture, with what was found out about it: at least ``failure``, which is empty for most."""
        with part.file("facts.jsonl").open("w", encoding="utf-8") as file:
            for place, ((path, size, mtime_ns), more) in enumerate(zip(task.inputs, found)):
                number = self.first_id + task.first + place
                facts = {"id": number, "path": path, "size": size, "mtime_ns": mtime_ns, **more}
                file.write(json.dumps(facts) + "\n")
        part.summary.update(pictures=len(found), failed=sum(1 for one in found if one["failure"]))

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


#: The part of what a coder finds in a picture that goes into the facts.
_FACTS = ("width", "height", "checksum", "failure")


@dataclass(frozen=True)
class EncodeJob(PictureJob):
    """From pictures to all that a library has of them.

    ``codes.npy`` and ``ids.npy`` are of those that could be used, ``facts.jsonl`` of all. Thumbnails stay in the parts,
    one after the other; ``thumbnails.npy`` says where those of the used pictures end (see ``Thumbnails``).
    """

    name = "encode"
    coder: str
    digest: str  #: of the coder
    n_bits: int
    thumbnails: bool = True

    @classmethod
    def of(
        cls, pictures: str, coder: str, per_part: int = 256, first_id: int = 0, thumbnails: bool = True
    ) -> EncodeJob:
        """The job of a folder of pictures and the file of a coder."""
        opened = Coder.open(coder)
        folder, file = os.path.abspath(pictures), os.path.abspath(coder)
        return cls(folder, per_part, first_id, file, opened.digest, opened.n_bits, thumbnails)

    def settings(self) -> dict[str, Any]:
        said = {"coder": self.digest, "n_bits": self.n_bits, "per_part": self.per_part, "first_id": self.first_id}
        return {**said, "thumbnails": self.thumbnails}

    def examine(self, paths: Sequence[Path]) -> list[dict[str, Any]]:
        """Of every picture: code, width, height, checksum of the file, failure, thumbnail."""
        return _open_coder(self.coder, self.digest)._native.examine_files(paths, self.thumbnails, run(n_threads=1))

    def compute(self, task: Task, part: PartWriter) -> None:
        self._write(task, self.examine(self.paths_of(task)), part)

    def give_up(self, task: Task, reason: str, part: PartWriter) -> None:
        nothing = {"code": b"", "width": 0, "height": 0, "checksum": 0, "thumbnail": b""}
        self._write(task, [{**nothing, "failure": reason}], part)

    def _blank(self) -> npt.NDArray[np.uint8]:
        return np.zeros((0, -(-self.n_bits // 8)), np.uint8)

    def _write(self, task: Task, found: Sequence[dict[str, Any]], part: PartWriter) -> None:
        used = [place for place, one in enumerate(found) if not one["failure"]]
        codes = np.frombuffer(b"".join(found[place]["code"] for place in used), np.uint8)
        save_array(part.file("codes.npy"), codes.reshape(len(used), self._blank().shape[1]))
        save_array(part.file("ids.npy"), np.array(used, np.int64) + self.first_id + task.first)
        self.write_facts(task, [{name: one[name] for name in _FACTS} for one in found], part)
        if self.thumbnails:
            jpegs = [found[place]["thumbnail"] for place in used]
            part.file("thumbnails.bin").write_bytes(b"".join(jpegs))
            save_array(part.file("thumbnails.npy"), np.array([len(jpeg) for jpeg in jpegs], np.int64))

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        said = super().finish(leaves, folder)
        blanks: dict[str, npt.NDArray[Any]] = {"codes.npy": self._blank(), "ids.npy": np.zeros(0, np.int64)}
        for name, blank in blanks.items():
            append_arrays(folder / name, [part.file(name) for _, part in leaves], blank)
        result: dict[str, Any] = {**said, "files": [*blanks, *said["files"]], "n_bits": self.n_bits}
        if self.thumbnails:
            sizes = [np.load(part.file("thumbnails.npy")) for _, part in leaves]
            limits = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]))
            with replacing(folder / "thumbnails.npy") as file:
                ArrayWriter(file, limits.shape, limits.dtype).append(limits)
            result["files"] += ["thumbnails.npy"]
            result["thumbnails"] = [str(part.file("thumbnails.bin").relative_to(folder)) for _, part in leaves]
        return result


class Thumbnails:
    """The thumbnails that a job ``encode`` has made: JPEGs of the used pictures, in their order."""

    def __init__(self, folder: Path) -> None:
        result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        if "thumbnails" not in result:
            raise error_of("not found", f"{folder}: the job made no thumbnails")
        self._files = [folder / name for name in result["thumbnails"]]
        self._limits = np.load(folder / "thumbnails.npy", mmap_mode="r")
        # Where each file begins among all bytes.
        self._begins = np.cumsum([0, *(file.stat().st_size for file in self._files)])

    def __len__(self) -> int:
        return len(self._limits) - 1

    def __getitem__(self, number: int) -> bytes:
        """The thumbnail of a row of ``codes.npy``; empty where the picture has none."""
        if not 0 <= number < len(self):
            raise IndexError(f"thumbnail {number} of {len(self)}")
        begin, end = int(self._limits[number]), int(self._limits[number + 1])
        of = int(np.searchsorted(self._begins, begin, side="right")) - 1
        if begin == end:
            return b""
        with self._files[of].open("rb") as file:
            file.seek(begin - int(self._begins[of]))
            jpeg: bytes = file.read(end - begin)
            return jpeg


def update_library(
    library: Library, encoded: Path, coder: str, *, n_threads: Optional[int] = None, progress: ProgressOption = None
) -> UpdateReport:
    """Brings a library up to date with what a job ``encode`` has found out about its folder of pictures.

    Pictures that are as they were then are not read again, and those that failed then count as failed; the others
    are read.
    """
    digest, find = _found_out(encoded)
    return library._update(None, coder, (digest, find), run(n_threads, progress=progress))


def _found_out(encoded: Path) -> tuple[str, Callable[[bytes, int, int], Optional[dict[str, Any]]]]:
    """The digest of the coder of a job ``encode``, and a function that tells what became of a picture."""
    settings = json.loads((encoded / JOB).read_text(encoding="utf-8"))
    files_of(encoded)  # the job is done
    if settings.get("job") != "encode" or not settings["thumbnails"]:
        raise error_of("invalid argument", f"{encoded}: expected a job `encode` with thumbnails")
    thumbnails = Thumbnails(encoded)
    codes = np.load(encoded / "codes.npy", mmap_mode="r")
    facts: dict[bytes, tuple[int, dict[str, Any]]] = {}
    used = 0
    with (encoded / "facts.jsonl").open(encoding="utf-8") as file:
        for fact in map(json.loads, file):
            facts[os.fsencode(fact["path"])] = used, fact
            used += not fact["failure"]

    def find(path: bytes, size: int, mtime_ns: int) -> Optional[dict[str, Any]]:
        row, fact = facts.get(path, (0, {}))
        if (fact.get("size"), fact.get("mtime_ns")) != (size, mtime_ns):
            return None
        made = {"code": b"", "thumbnail": b""}
        if not fact["failure"]:
            made = {"code": codes[row].tobytes(), "thumbnail": thumbnails[row]}
        return {**{name: fact[name] for name in _FACTS}, **made}

    return settings["coder"], find


@dataclass(frozen=True)
class DescribeJob(PictureJob):
    """From pictures to feature files, one for each part, by the program's ``extract``."""

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
        self.write_facts(task, [{"failure": failures.get(place, "")} for place in range(len(names))], part)

    def give_up(self, task: Task, reason: str, part: PartWriter) -> None:
        self.write_facts(task, [{"failure": reason}], part)

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
