"""Training over shards: features of pictures, or vectors, to a model.

First every shard of features is reduced to what the method learns from, as a part of the job. Then the trainer goes
through its steps: each is a task for every shard, which reads the state, computes its sums and leaves them in a file;
the trainer merges them, which gives the next state (docs/shards.md). A method that does not come down to sums, such as
the contrast of views, learns in one place from the vectors that the shards have pooled.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np
import numpy.typing as npt

from .. import _native
from .._errors import error_of
from .._features import open_vectors
from .._running import run
from ._arrays import save_array
from ._job import Job, Outcome, files_of, identity, require_version
from ._parts import Part, PartWriter, Task, replacing

_STEPS = "steps"
_MODEL = "model.bpm"
_TRAINED = "trained.json"  # the job that the model comes from
_KEPT = 4  # shards that a process keeps open


@dataclass(frozen=True)
class TrainJob(Job):
    """From feature files, or files of vectors, to the model that a single process learns from all of them."""

    name = "train"
    unit = "shards"
    sources: tuple[str, ...]  #: files, and folders of ``describe``
    method: str
    n_bits: int
    preset: str = "default"
    options: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    labels: Optional[str] = None  #: a .npy file: the class of every picture, or a row of 0 and 1
    images_per_picture: int = 1  #: of files of vectors; feature files say it themselves
    per_shard: int = 65536  #: images of a shard, which is rounded up

    def settings(self) -> dict[str, Any]:
        said = {"method": self.method, "n_bits": self.n_bits, "preset": self.preset, "options": dict(self.options)}
        said.update(seed=self.seed, per_shard=self.per_shard, images_per_picture=self.images_per_picture)
        return {**said, "labels": identity(Path(self.labels)) if self.labels else None}

    def native_settings(self) -> _native.Settings:
        return _native.Settings(self.method, self.n_bits, self.preset, dict(self.options))

    @property
    def adds_up(self) -> bool:
        """Whether the method comes down to sums over shards."""
        return bool(_native.METHODS[self.method]["learns_from_shards"])

    def require_possible(self) -> None:
        """Raises an error for a method that cannot learn from shards, and for options that it does not have."""
        settings = self.native_settings()
        _native.require_valid(settings)
        if self.adds_up or _native.METHODS[self.method]["needs_labels"]:
            _native.require_shardable(settings)
        elif dict(self.options).get("learn_pooling"):
            raise error_of("unsupported", "learn_pooling: the shards are pooled before; expected it to be off")
        if _native.METHODS[self.method]["needs_labels"] != (self.labels is not None):
            says = "learns from labels: expected some" if self.labels is None else "takes no labels"
            raise error_of("invalid argument", f"the method {self.method} {says}")

    def tasks(self) -> list[Task]:
        self.require_possible()
        settings = self.all_settings()
        return [Task(number, (shard,), settings) for number, shard in enumerate(_plan(self))]

    # --- A shard of features as what the method learns from

    def compute(self, task: Task, part: PartWriter) -> None:
        shard = task.inputs[0]
        if not shard["features"]:
            return  # vectors are read where they lie
        pieces = [(_native.Features.open(file[0]), first, end) for file, first, end in shard["pieces"]]
        if _native.METHODS[self.method]["learns_from_features"]:
            records = part.file("records.bpr")
            skipped = _native.reduce_pictures(self.native_settings(), pieces, records, run(n_threads=1))
            if self.labels:
                save_array(part.file("labels.npy"), self._labels_of(shard))
        else:
            vectors, skipped = _native.pool_pictures(self.native_settings(), pieces, run(n_threads=1))
            _require_count(shard, len(vectors) // shard["images"], skipped)
            save_array(part.file("vectors.npy"), _wanted_views(vectors, shard))
        part.summary.update(skipped=[os.fsdecode(name) for name in skipped])

    def _labels_of(self, shard: dict[str, Any]) -> npt.NDArray[np.uint8]:
        """A row of 0 and 1 for every picture of a shard that has descriptors."""
        assert self.labels
        first, end, n_classes = shard["labels"]
        labels = np.load(self.labels, mmap_mode="r")[first:end]
        counts = [_pictures_with_descriptors(file[0], False)[low:high] for file, low, high in shard["pieces"]]
        labels = labels[np.concatenate(counts)]
        return np.asarray(labels[:, None] == np.arange(n_classes) if labels.ndim == 1 else labels, np.uint8)

    # --- The steps

    def refine(
        self, leaves: Sequence[tuple[Task, Part]], folder: Path, do: Callable[[Job, Sequence[Task]], None]
    ) -> None:
        digest = hashlib.sha256("".join(task.digest for task, _ in leaves).encode()).hexdigest()
        if _is_trained(folder, digest):
            return
        model = self._train_by_steps(leaves, folder, digest, do) if self.adds_up else self._train_here(leaves, folder)
        pooled = leaves[0][0].inputs[0]["features"] and not model.takes_features
        skipped = [os.fsencode(name) for _, part in leaves for name in part.summary.get("skipped", ())]
        _native.complete_model(model, self.native_settings(), skipped, pooled).save(folder / _MODEL)
        with replacing(folder / _TRAINED) as file:
            file.write(json.dumps({"job": digest, "model": _sha256(folder / _MODEL)}).encode())
        shutil.rmtree(folder / _STEPS, ignore_errors=True)

    def _train_by_steps(
        self,
        leaves: Sequence[tuple[Task, Part]],
        folder: Path,
        digest: str,
        do: Callable[[Job, Sequence[Task]], None],
    ) -> _native.Model:
        shards = [task.inputs[0] for task, _ in leaves]
        counts = tuple(shard["count"] * shard["used"] for shard in shards)
        settings = self.all_settings()

        def compute(step: int, missing: list[int]) -> None:
            one = TrainStep(self, digest, counts, step)
            of_shards = [{"part": leaves[number][0].name, **shards[number]} for number in missing]
            do(one, [Task(number, (shard,), settings) for number, shard in zip(missing, of_shards)])

        return _native.train_shards(
            self.native_settings(), folder / _STEPS, digest, counts, shards[0]["used"], compute, run(None, self.seed)
        )

    def _train_here(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> _native.Model:
        """Learns from the vectors of all shards, in a file that is mapped: there may be more than fit into memory."""
        shards = [task.inputs[0] for task, _ in leaves]
        arrays = (_shard_vectors(part, shard) for (_, part), shard in zip(leaves, shards))
        first = next(arrays)
        rows = sum(shard["count"] * shard["used"] for shard in shards)
        (folder / _STEPS).mkdir(exist_ok=True)
        together = np.memmap(folder / _STEPS / "vectors", np.float32, "w+", shape=(rows, first.shape[1]))
        end = 0
        for vectors in itertools.chain((first,), arrays):
            together[end : end + len(vectors)] = vectors
            end += len(vectors)
        model, interruption = _native.train_vectors(
            self.native_settings(), together, None, shards[0]["used"], run(None, self.seed)
        )
        if model is None or interruption is not None:
            raise interruption or error_of("cancelled", "the training was stopped")
        return model

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        pictures = sum(task.inputs[0]["count"] for task, _ in leaves)
        skipped = sum(len(part.summary.get("skipped", ())) for _, part in leaves)
        return {"files": [_MODEL], "pictures": pictures, "skipped": skipped, "shards": len(leaves)}


@dataclass(frozen=True)
class TrainStep(Job):
    """One step of a training, a task for each shard. What a shard remembers stays with whoever did the step before."""

    name = "step"
    unit = "shards"
    keeps_state = True
    training: TrainJob
    digest: str  #: of the training
    counts: tuple[int, ...]  #: samples of all shards
    step: int

    @property
    def title(self) -> str:
        return f"step {self.step + 1}"

    def settings(self) -> dict[str, Any]:
        return self.training.settings()

    def tasks(self) -> list[Task]:
        raise NotImplementedError("the trainer says what there is to do")

    def compute(self, task: Task, part: PartWriter) -> None:
        raise NotImplementedError("the library writes the files of a step")

    def finish(self, leaves: Sequence[tuple[Task, Part]], folder: Path) -> dict[str, Any]:
        raise NotImplementedError("the trainer goes on")

    def perform(self, task: Task, folder: Path) -> Outcome:
        require_version(task)
        shard = task.inputs[0]
        place = _Place(folder, shard["part"], self.digest, task.first)
        try:
            self._open(place, shard).compute(self.step, run(n_threads=1))
        except Exception:
            _open_shards.pop(place, None)  # opened anew by whoever tries again
            raise
        return Outcome(split=False, was_there=False)

    def _open(self, place: _Place, shard: dict[str, Any]) -> _native.Shard:
        """The shard as this process has it open, with what it remembers."""
        found = _open_shards.pop(place, None) or self._open_anew(place, shard)
        _open_shards[place] = found  # the newest is the last
        while len(_open_shards) > _KEPT:
            _open_shards.pop(next(iter(_open_shards)))
        return found

    def _open_anew(self, place: _Place, shard: dict[str, Any]) -> _native.Shard:
        part = Part(place.folder / "parts" / place.part, split=False, summary={})
        steps = place.folder / _STEPS
        if part.file("records.bpr").exists():
            labels = np.load(part.file("labels.npy")) if part.file("labels.npy").exists() else None
            return _native.RecordShard(steps, place.number, self.counts, part.file("records.bpr"), labels)
        vectors = _shard_vectors(part, shard)
        whitened = _native.whitens_by_views(self.training.native_settings())
        return _native.VectorShard(steps, place.number, self.counts, vectors, whitened)


class _Place(NamedTuple):
    """A shard of a job."""

    folder: Path
    part: str
    job: str
    number: int


_open_shards: dict[_Place, _native.Shard] = {}


# --- Where samples are cut


@functools.lru_cache(maxsize=1)
def _plan(job: TrainJob) -> list[dict[str, Any]]:
    """The shards: of which files they have which pictures, and how many of them can be used."""
    files = _files(job.sources)
    features = files[0].suffix == ".bpf"
    if any((file.suffix == ".bpf") != features for file in files):
        raise error_of("invalid argument", "feature files (.bpf) and files of vectors: expected one or the other")
    if _native.METHODS[job.method]["learns_from_features"] and not features:
        raise error_of("invalid argument", f"{files[0]}: the method {job.method} learns from feature files (.bpf)")
    images = _images_per_picture(files) if features else job.images_per_picture
    pooled, used = _images_used(job.native_settings(), images)
    usable = [_pictures_with_descriptors(str(file), pooled > 1) if features else _whole(file, images) for file in files]
    each = -(-max(1, job.per_shard) // (used * _native.SHARD_ALIGNMENT)) * _native.SHARD_ALIGNMENT
    shards = [
        {"features": features, "images": pooled if features else images, "used": used, **cut}
        for cut in _cut(files, usable, each)
    ]
    if job.labels:
        _add_labels(job.labels, shards, sum(map(len, usable)))
    return shards


def _files(sources: Sequence[str]) -> list[Path]:
    """The files of samples that are named, and those of folders of ``describe``."""
    found: list[Path] = []
    for source in map(Path, sources):
        found += [file for file in files_of(source) if file.suffix == ".bpf"] if source.is_dir() else [source]
    if not found:
        raise error_of("invalid argument", "no files to learn from are given")
    return [file.absolute() for file in found]


def _images_used(settings: _native.Settings, images: int) -> tuple[int, int]:
    """How many images of a picture are pooled, and how many of them are learned from."""
    if not _native.takes_views(settings):
        return 1, 1
    wanted = int(_native.option_value(settings, "views"))
    return images, images if wanted == 0 else min(images, wanted + 1)


def _images_per_picture(files: Sequence[Path]) -> int:
    found = {_native.Features.open(file).images_per_picture: file for file in files}
    if len(found) > 1:
        raise error_of("invalid argument", f"{', '.join(map(str, found.values()))}: have different numbers of views")
    return next(iter(found))


def _pictures_with_descriptors(file: str, views: bool) -> npt.NDArray[np.bool_]:
    """Whether each picture of a feature file can be used: itself or, with ``views``, each of its images."""
    features = _native.Features.open(file)
    counts = features.descriptor_counts().reshape(-1, features.images_per_picture)
    used = counts if views else counts[:, :1]
    good: npt.NDArray[np.bool_] = np.all(used > 0, axis=1)
    return good


def _whole(file: Path, images: int) -> npt.NDArray[np.bool_]:
    vectors = open_vectors(file)
    if vectors.ndim != 2 or len(vectors) % max(1, images) or images < 1:
        problem = f"{vectors.shape}: expected vectors, {images} of every picture"
        raise error_of("invalid argument", f"{file}: {problem}")
    return np.ones(len(vectors) // images, np.bool_)


def _cut(files: Sequence[Path], usable: Sequence[npt.NDArray[np.bool_]], each: int) -> list[dict[str, Any]]:
    """Shards of ``each`` usable pictures; the last has what is left."""
    shards: list[dict[str, Any]] = []
    pieces: list[Any] = []
    room, pictures = each, 0  # of the shard that is begun, and how many it has, usable or not
    for file, good in zip(files, usable):
        known = identity(file)
        first = 0
        while first < len(good):
            behind = np.flatnonzero(good[first:])
            end = first + int(behind[room]) if len(behind) > room else len(good)
            if end > first:
                pieces.append([known, first, end])
            room -= int(good[first:end].sum())
            pictures += end - first
            first = end
            if room == 0 and first < len(good):
                shards.append({"pieces": pieces, "count": each, "pictures": pictures})
                pieces, room, pictures = [], each, 0
    if pieces:
        shards.append({"pieces": pieces, "count": each - room, "pictures": pictures})
    return shards


def _add_labels(path: str, shards: Sequence[dict[str, Any]], pictures: int) -> None:
    """Records which labels a shard has."""
    labels = np.load(path, mmap_mode="r")
    numbers = labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels) > 0 and labels.min() >= 0
    rows = labels.ndim == 2 and bool(np.isin(labels, (0, 1)).all())
    if not numbers and not rows:
        problem = f"{labels.dtype} of the shape {labels.shape}: expected classes from 0 on, or rows of 0 and 1"
        raise error_of("invalid argument", f"{path}: {problem}")
    if len(labels) != pictures:
        raise error_of("invalid argument", f"{path}: {len(labels)} labels for {pictures} pictures")
    n_classes = labels.shape[1] if rows else int(labels.max()) + 1
    if n_classes < 2:
        raise error_of("invalid argument", f"{path}: one class: expected two or more")
    first = 0
    for shard in shards:
        shard["labels"] = [first, first + shard["pictures"], n_classes]
        first += shard["pictures"]


# --- Samples


def _shard_vectors(part: Part, shard: dict[str, Any]) -> npt.NDArray[Any]:
    """The vectors of a shard: those that were pooled, or those that were given. Those of one file are not copied."""
    if shard["features"]:
        pooled: npt.NDArray[Any] = np.load(part.file("vectors.npy"), mmap_mode="r")
        return pooled
    images = shard["images"]
    rows = [open_vectors(file[0])[first * images : end * images] for file, first, end in shard["pieces"]]
    return _wanted_views(rows[0] if len(rows) == 1 else np.concatenate(rows), shard)


def _wanted_views(vectors: npt.NDArray[Any], shard: dict[str, Any]) -> npt.NDArray[Any]:
    """Of every picture the first images that are used."""
    if shard["images"] == shard["used"]:
        return vectors
    by_picture = vectors.reshape(-1, shard["images"], vectors.shape[1])
    return by_picture[:, : shard["used"]].reshape(-1, vectors.shape[1])


def _require_count(shard: dict[str, Any], count: int, skipped: Sequence[bytes]) -> None:
    if count != shard["count"]:
        names = ", ".join(os.fsdecode(name) for name in skipped[:3])
        raise error_of("invalid argument", f"{count} of {shard['count']} pictures can be pooled; not {names}")


def _is_trained(folder: Path, digest: str) -> bool:
    try:
        said = json.loads((folder / _TRAINED).read_text(encoding="utf-8"))
        return bool(said == {"job": digest, "model": _sha256(folder / _MODEL)})
    except (FileNotFoundError, ValueError):
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
