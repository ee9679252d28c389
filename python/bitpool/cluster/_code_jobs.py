"""Jobs over codes: index files, search, and pairs of near codes."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .._errors import error_of
from .._features import open_vectors
from .._index import Index
from ._arrays import ArrayWriter, merge_best, merge_sorted, save_array
from ._job import Job, files_of, identity, in_ranges
from ._parts import Part, PartWriter, Task, replacing

_QUERIES_AT_ONCE = 4096  # of a block of codes that is searched for in another


def read_codes(path: Path) -> npt.NDArray[np.uint8]:
    """Packed codes in a file, mapped."""
    codes = open_vectors(path)
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise error_of("invalid argument", f"{path}: {codes.dtype} of the shape {codes.shape}: expected codes (u1)")
    return codes


@dataclass(frozen=True)
class CodeFile:
    """Codes and their ids, in files."""

    codes: Path
    ids: Path | None  #: none: they are counted from ``first_id``
    rows: int
    first_id: int

    def identity(self) -> list[Any]:
        return [identity(self.codes), identity(self.ids) if self.ids else self.first_id]

    def read(self, first: int, end: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        codes = read_codes(self.codes)[first:end]
        if self.ids is None:
            return codes, np.arange(self.first_id + first, self.first_id + end)
        return codes, np.load(self.ids, mmap_mode="r")[first:end]


@dataclass(frozen=True)
class CodeFiles:
    """All codes of several files, one after the other."""

    files: tuple[CodeFile, ...]
    n_bits: int

    @classmethod
    def open(cls, paths: Sequence[str], n_bits: int | None = None) -> CodeFiles:
        """Files of codes, whose ids are numbered consecutively, or folders of ``encode``, which have ids.

        Raises an error where the files do not go together.
        """
        files: list[CodeFile] = []
        for path in (Path(path).absolute() for path in paths):
            codes, ids = (path / "codes.npy", path / "ids.npy") if path.is_dir() else (path, None)
            if ids:
                files_of(path)  # the job is done
            files.append(CodeFile(codes, ids, len(read_codes(codes)), sum(file.rows for file in files)))
        _require_together(files)
        return cls(tuple(files), n_bits or 8 * int(read_codes(files[0].codes).shape[1]))

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    def range(self, first: int, end: int) -> list[Any]:
        """A range of rows as an input of a task: the files, and the rows of each."""
        return [[file.identity(), low, high] for file, low, high in self._pieces(first, end)]

    def read(self, first: int, end: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        pieces = [file.read(low, high) for file, low, high in self._pieces(first, end)]
        return np.concatenate([codes for codes, _ in pieces]), np.concatenate([ids for _, ids in pieces])

    def index(self, first: int, end: int, layout: str = "auto") -> Index:
        """An index of a range of rows."""
        codes, ids = self.read(first, end)
        index = Index(self.n_bits, layout)
        index.add(codes, ids)
        return index

    def _pieces(self, first: int, end: int) -> Iterable[tuple[CodeFile, int, int]]:
        begin = 0
        for file in self.files:
            low, high = max(first - begin, 0), min(end - begin, file.rows)
            if low < high:
                yield file, low, high
            begin += file.rows


def _require_together(files: Sequence[CodeFile]) -> None:
    if not files:
        raise error_of("invalid argument", "no files of codes are given")
    lengths = {int(read_codes(file.codes).shape[1]): file.codes for file in files}
    if len(lengths) > 1:
        raise error_of("invalid argument", f"codes of different lengths: {', '.join(map(str, lengths.values()))}")
    ranges = []
    for file in files:
        if file.ids and file.rows:
            ids = np.load(file.ids, mmap_mode="r")
            ranges.append((int(ids.min()), int(ids.max()), file.ids))
    if ranges and any(file.ids is None for file in files):
        raise error_of("invalid argument", "some of the codes have ids, others none: expected all or none")
    ranges.sort(key=lambda one: one[:2])
    for (_, last, one), (first, _, other) in zip(ranges, ranges[1:]):
        if first <= last:
            raise error_of("invalid argument", f"{one} and {other}: the ids overlap; encode with --first-id")


@dataclass(frozen=True)
class IndexJob(Job):
    """Codes to index files of this many codes each."""

    name = "index"
    unit = "index files"
    codes: CodeFiles
    layout: str = "auto"
    per_file: int = 1_000_000

    def settings(self) -> dict[str, Any]:
        return {"n_bits": self.codes.n_bits, "layout": self.layout, "per_file": self.per_file}

    def tasks(self) -> list[Task]:
        ranges = list(in_ranges(self.codes.rows, self.per_file))
        settings = self.all_settings()
        return [
            Task(number, ({"rows": rows, "of": self.codes.range(*rows)},), settings)
            for number, rows in enumerate(ranges)
        ]

    def compute(self, task: Task, part: PartWriter) -> None:
        first, end = task.inputs[0]["rows"]
        index = self.codes.index(first, end, self.layout)
        index.save(part.file("index.bpi"))
        part.summary.update(codes=len(index))

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        files = [str(part.file("index.bpi").relative_to(folder)) for _, part in leaves]
        return {"files": files, "codes": sum(part.summary["codes"] for _, part in leaves)}


def index_files(paths: Sequence[str]) -> tuple[str, ...]:
    """Index files, and those of folders of ``index``."""
    found = [one for path in map(Path, paths) for one in (files_of(path) if path.is_dir() else [path])]
    return tuple(str(path.absolute()) for path in found)


@functools.lru_cache(maxsize=4)
def _open_index(path: str, size: int, mtime_ns: int) -> Index:
    """A worker keeps what it has mapped; size and time tell the file from another one of the same name."""
    return Index.open(path)


@dataclass(frozen=True)
class SearchJob(Job):
    """Many queries over many index files: the k best of all, as one index of all codes gives them."""

    name = "search"
    unit = "searches"
    shards: tuple[str, ...]  #: index files, no id in two of them
    queries: str
    k: int
    per_block: int = 1000  #: queries of a task

    def settings(self) -> dict[str, Any]:
        return {"k": self.k, "per_block": self.per_block, "queries": identity(Path(self.queries))}

    def tasks(self) -> list[Task]:
        if self.k < 1:
            raise error_of("invalid argument", f"k: {self.k}: expected 1 or more")
        blocks = list(in_ranges(len(read_codes(Path(self.queries))), self.per_block))
        asked = [(identity(Path(shard)), block) for shard in self.shards for block in blocks]
        settings = self.all_settings()
        return [Task(n, ({"shard": shard, "queries": block},), settings) for n, (shard, block) in enumerate(asked)]

    def compute(self, task: Task, part: PartWriter) -> None:
        asked = task.inputs[0]
        first, end = asked["queries"]
        index = _open_index(*asked["shard"])
        distances, ids = index.search(read_codes(Path(self.queries))[first:end], self.k, n_threads=1)
        save_array(part.file("distances.npy"), distances)
        save_array(part.file("ids.npy"), ids)

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        blocks: dict[int, list[Part]] = {}
        for task, part in leaves:
            blocks.setdefault(task.inputs[0]["queries"][0], []).append(part)
        queries = len(read_codes(Path(self.queries)))
        with replacing(folder / "distances.npy") as distance_file, replacing(folder / "ids.npy") as id_file:
            distances = ArrayWriter(distance_file, (queries, self.k), np.int32)
            ids = ArrayWriter(id_file, (queries, self.k), np.int64)
            for _, parts in sorted(blocks.items()):
                found = [(np.load(part.file("distances.npy")), np.load(part.file("ids.npy"))) for part in parts]
                best = merge_best(found, self.k)
                distances.append(best[0])
                ids.append(best[1])
            distances.close()
            ids.close()
        return {"files": ["distances.npy", "ids.npy"], "queries": queries, "shards": len(self.shards)}


@dataclass(frozen=True)
class DuplicatesJob(Job):
    """All pairs of codes within a radius: blocks of codes, each compared with itself and with those after it."""

    name = "duplicates"
    unit = "pairs of blocks"
    codes: CodeFiles
    radius: int
    per_block: int = 1_000_000

    def settings(self) -> dict[str, Any]:
        return {"n_bits": self.codes.n_bits, "radius": self.radius, "per_block": self.per_block}

    def tasks(self) -> list[Task]:
        if not 0 <= self.radius <= self.codes.n_bits:
            raise error_of("invalid argument", f"radius: {self.radius}: expected 0 to {self.codes.n_bits}")
        blocks = list(in_ranges(self.codes.rows, self.per_block))
        pairs = [(one, other) for n, one in enumerate(blocks) for other in blocks[n:]]
        settings = self.all_settings()
        return [
            Task(n, ({"rows": pair, "of": [self.codes.range(*rows) for rows in pair]},), settings)
            for n, pair in enumerate(pairs)
        ]

    def compute(self, task: Task, part: PartWriter) -> None:
        (first, end), other = task.inputs[0]["rows"]
        index = self.codes.index(first, end)
        within = (first, end) == tuple(other)
        columns = self._within(index) if within else self._between(index, *other)
        for name, column in zip(("first", "second", "distances"), columns):
            save_array(part.file(f"{name}.npy"), column)

    def _within(self, index: Index) -> list[npt.NDArray[Any]]:
        return [*index.pairs(self.radius, n_threads=1)]

    def _between(self, index: Index, first: int, end: int) -> list[npt.NDArray[Any]]:
        """Pairs of a code of an index and one of other rows, in order."""
        found = []
        for low in range(first, end, _QUERIES_AT_ONCE):
            codes, ids = self.codes.read(low, min(low + _QUERIES_AT_ONCE, end))
            limits, distances, near = index.range_search(codes, self.radius, n_threads=1)
            asking = np.repeat(ids, np.diff(limits))
            found.append((np.minimum(asking, near), np.maximum(asking, near), distances))
        columns = [np.concatenate(column) for column in zip(*found)]
        order = np.lexsort((columns[1], columns[0]))
        return [column[order] for column in columns]

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        names = ["first.npy", "second.npy", "distances.npy"]
        parts = [[np.load(part.file(name), mmap_mode="r") for name in names] for _, part in leaves]
        count = sum(len(part[0]) for part in parts)
        with contextlib.ExitStack() as open_files:
            writers = [
                ArrayWriter(open_files.enter_context(replacing(folder / name)), (count,), dtype)
                for name, dtype in zip(names, (np.int64, np.int64, np.int32))
            ]
            for columns in merge_sorted(parts):
                for writer, column in zip(writers, columns):
                    writer.append(column)
            for writer in writers:
                writer.close()
        return {"files": names, "pairs": count}
