"""Training over shards by Dask: the bytes of one process, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np
import pytest

import bitpool
from bitpool.cluster import Job, Task, TrainJob
from bitpool.cluster._job import begin, end
from bitpool.cluster._training import _open_shards

BLOCK = 2048  # samples that a shard is a multiple of


class Stopped(Exception):
    pass


def run_here(job: TrainJob, folder: Path, stop_at: int = -1) -> int:
    """Runs a job in this process; returns how many parts of steps were computed. Is stopped before a step."""
    computed = 0

    def do(job: Job, tasks: Sequence[Task]) -> None:
        nonlocal computed
        if getattr(job, "step", None) == stop_at:
            raise Stopped
        for task in tasks:
            job.perform(task, folder)
            computed += isinstance(getattr(job, "step", None), int)

    tasks = job.tasks()
    begin(job, folder, force=False)
    do(job, tasks)
    end(job, tasks, folder, do)
    return computed


def without_times(training: Any) -> Any:
    if isinstance(training, dict):
        return {name: without_times(value) for name, value in training.items() if name != "seconds"}
    return [without_times(value) for value in training] if isinstance(training, list) else training


def require_same_model(path: Path, fitted: bitpool.HashMethod) -> None:
    """The model of a file is that of an estimator, to the last bit and with all that is remembered of the training."""
    model, expected = bitpool.open_model(path).model_, fitted.model_
    parameters = model.parameters()
    assert parameters.keys() == expected.parameters().keys()
    for name, values in expected.parameters().items():
        assert parameters[name].tobytes() == values.tobytes(), name
    assert without_times(json.loads(model.training)) == without_times(json.loads(expected.training))


def save_rows(folder: Path, rows: np.ndarray, *cuts: int) -> tuple[str, ...]:
    paths = []
    for number, some in enumerate(np.split(rows, cuts)):
        paths.append(str(folder / f"rows{number}.npy"))
        np.save(paths[-1], some)
    return tuple(paths)


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(9, 12)) * 2
    return (centres[rng.integers(0, 9, 5000)] + rng.normal(size=(5000, 12))).astype(np.float32)


# --- The same bytes


@pytest.mark.parametrize("method", ["itq", "rba"])
def test_vectors_in_shards_give_the_model_of_one_process(
    client: Any, vectors: np.ndarray, tmp_path: Path, method: str
) -> None:
    from bitpool.cluster import run_job

    paths = save_rows(tmp_path, vectors, 100, 3000)
    job = TrainJob(paths, method, 8, options=(("iterations", 4.0),), seed=5, per_shard=BLOCK)
    result = run_job(job, tmp_path / "out", client)
    assert result == {"files": ["model.bpm"], "pictures": 5000, "skipped": 0, "shards": 3}
    fitted = bitpool.METHODS[method](8, iterations=4, random_state=5).fit(vectors)
    require_same_model(tmp_path / "out" / "model.bpm", fitted)
    run_here(job, tmp_path / "here")
    run_here(TrainJob(paths, method, 8, options=job.options, seed=5), tmp_path / "one shard")
    for other in ("here", "one shard"):
        assert (tmp_path / "out" / "model.bpm").read_bytes() == (tmp_path / other / "model.bpm").read_bytes()
    assert not (tmp_path / "out" / "steps").exists()


def images(rng: np.random.Generator, count: int, views: int = 0) -> list[np.ndarray]:
    """Images of few local features, and two of them without any."""
    made = []
    for number in range(count):
        centre = rng.normal(size=6) * 3
        for _ in range(1 + views):
            features = 0 if number in (3, BLOCK + 1) else 2 + number % 4
            made.append((centre + rng.normal(size=(features, 6))).astype(np.float32))
    return made


def save_features(folder: Path, made: list[np.ndarray], per_picture: int, *cuts: int) -> tuple[str, ...]:
    paths = []
    edges = [0, *cuts, len(made) // per_picture]
    for first, last in zip(edges, edges[1:]):
        names = [f"image {number}" for number in range(first * per_picture, last * per_picture)]
        some = made[first * per_picture : last * per_picture]
        paths.append(str(folder / f"features{first}.bpf"))
        bitpool.FeatureSet(some, names, per_picture).save(paths[-1], precision="single")
    return tuple(paths)


def whole(made: list[np.ndarray], per_picture: int = 1) -> bitpool.FeatureSet:
    return bitpool.FeatureSet(made, [f"image {number}" for number in range(len(made))], per_picture)


@pytest.mark.parametrize("method", ["sah", "itq", "sash"])
def test_features_in_shards_give_the_model_of_one_process(
    client: Any, rng: np.random.Generator, tmp_path: Path, method: str
) -> None:
    from bitpool.cluster import run_job

    count = 2 * BLOCK + 300
    made = images(rng, count)
    labels = rng.integers(0, 3, count)
    np.save(tmp_path / "labels.npy", labels)
    job = TrainJob(
        save_features(tmp_path, made, 1, 5, BLOCK + 2),
        method,
        5,
        options=(("iterations", 2.0),),
        labels=str(tmp_path / "labels.npy") if method == "sash" else None,
        per_shard=100,
    )
    result = run_job(job, tmp_path / "out", client)
    assert result == {"files": ["model.bpm"], "pictures": count - 2, "skipped": 2, "shards": 3}
    fitted = bitpool.METHODS[method](5, iterations=2).fit(whole(made), labels if method == "sash" else None)
    require_same_model(tmp_path / "out" / "model.bpm", fitted)
    assert json.loads(fitted.model_.training)["skipped"] == ["image 3", f"image {BLOCK + 1}"]


@pytest.mark.parametrize("views", [0, 1])
def test_whitening_by_views_in_shards_is_that_of_one_process(
    rng: np.random.Generator, tmp_path: Path, views: int
) -> None:
    made = images(rng, BLOCK + 300, views=2)
    options = (("whiten", 1.0), ("iterations", 3.0), *([("views", float(views))] if views else []))
    job = TrainJob(save_features(tmp_path, made, 3, 1000), "itq", 5, options=options, per_shard=1)
    run_here(job, tmp_path / "out")
    fitted = bitpool.ITQ(5, whiten=True, views=views, iterations=3).fit(whole(made, 3))
    require_same_model(tmp_path / "out" / "model.bpm", fitted)
    centres = np.repeat(rng.normal(size=(BLOCK + 300, 6)) * 3, 3, axis=0)
    rows = (centres + rng.normal(size=centres.shape)).astype(np.float32)
    job = TrainJob(save_rows(tmp_path, rows), "rba", 5, options=options, images_per_picture=3, per_shard=1)
    run_here(job, tmp_path / "of vectors")
    fitted = bitpool.RBA(5, whiten=True, views=views, iterations=3).fit(rows, images_per_picture=3)
    require_same_model(tmp_path / "of vectors" / "model.bpm", fitted)


@pytest.mark.parametrize("views", [0, 1])
def test_the_contrast_of_views_learns_from_what_shards_have_pooled(
    client: Any, rng: np.random.Generator, tmp_path: Path, views: int
) -> None:
    from bitpool.cluster import run_job

    made = images(rng, BLOCK + 300, views=2)
    options = (("epochs", 2.0), ("hidden", 4.0), *([("views", float(views))] if views else []))
    job = TrainJob(save_features(tmp_path, made, 3, 1000), "sav", 5, options=options, seed=3, per_shard=1)
    result = run_job(job, tmp_path / "out", client)
    assert result["shards"] == 2
    fitted = bitpool.SAV(5, epochs=2, hidden=4, views=views, random_state=3).fit(whole(made, 3))
    require_same_model(tmp_path / "out" / "model.bpm", fitted)
    assert not (tmp_path / "out" / "steps").exists()
    rows = rng.normal(size=(3 * 600, 6)).astype(np.float32)
    run_here(TrainJob(save_rows(tmp_path, rows, 900), "lsh", 5), tmp_path / "of vectors")
    require_same_model(tmp_path / "of vectors" / "model.bpm", bitpool.LSH(5).fit(rows))


# --- What is there is not done again


def test_a_training_that_was_stopped_goes_on_where_it_was(vectors: np.ndarray, tmp_path: Path) -> None:
    job = TrainJob(save_rows(tmp_path, vectors), "rba", 8, options=(("iterations", 3.0),), per_shard=BLOCK)
    all_parts = run_here(job, tmp_path / "undisturbed")
    _open_shards.clear()  # as in another process
    with pytest.raises(Stopped):
        run_here(job, tmp_path / "out", stop_at=10)
    _open_shards.clear()
    assert run_here(job, tmp_path / "out") == all_parts - 3 * 10
    assert (tmp_path / "out" / "model.bpm").read_bytes() == (tmp_path / "undisturbed" / "model.bpm").read_bytes()
    assert run_here(job, tmp_path / "out") == 0
    (tmp_path / "out" / "model.bpm").write_bytes(b"damaged")
    assert run_here(job, tmp_path / "out") == all_parts


def test_what_a_shard_remembered_and_lost_is_made_again(vectors: np.ndarray, tmp_path: Path) -> None:
    job = TrainJob(save_rows(tmp_path, vectors), "itq", 8, options=(("iterations", 6.0),), per_shard=BLOCK)
    run_here(job, tmp_path / "undisturbed")
    with pytest.raises(Stopped):
        run_here(job, tmp_path / "out", stop_at=6)
    _open_shards.clear()
    steps = tmp_path / "out" / "steps"
    notes = sorted(steps.glob("*.notes"))
    assert {path.name.split(".")[1] for path in notes} == {"shard-0", "shard-1", "shard-2"}
    for path in notes:  # lost for one shard, damaged for another
        if ".shard-1." in path.name:
            path.unlink()
        elif ".shard-2." in path.name:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
    (steps / "step-2.shard-0.part").unlink()
    run_here(job, tmp_path / "out")
    assert (tmp_path / "out" / "model.bpm").read_bytes() == (tmp_path / "undisturbed" / "model.bpm").read_bytes()


def test_a_worker_that_is_killed_in_the_middle_of_a_training_is_replaced(vectors: np.ndarray, tmp_path: Path) -> None:
    from bitpool.cluster import connect, run_job

    job = TrainJob(save_rows(tmp_path, vectors), "itq", 8, options=(("iterations", 40.0),), per_shard=BLOCK)
    run_here(job, tmp_path / "undisturbed")
    out = tmp_path / "out"
    with connect(local=2) as client:
        pids = list(client.run(os.getpid).values())

        def kill() -> None:
            while not (out / "steps" / "step-5.shard-0.part").exists():
                time.sleep(0.001)
            os.kill(pids[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        run_job(job, out, client)
        killer.join()
    assert (out / "model.bpm").read_bytes() == (tmp_path / "undisturbed" / "model.bpm").read_bytes()


# --- Refusals


@pytest.mark.parametrize(
    "job, message",
    [
        (TrainJob(("x.npy",), "sav", 8), "views"),
        (TrainJob(("x.npy",), "sav", 8, options=(("learn_pooling", 1.0),)), "the shards are pooled before"),
        (TrainJob(("x.npy",), "sdh", 8, labels="y.npy"), "expected one of sah, rba, itq, sash"),
        (TrainJob(("x.npy",), "sah", 8), "the method sah learns from feature files"),
        (TrainJob(("x.bpf",), "sash", 8), "the method sash learns from labels"),
        (TrainJob(("x.npy",), "itq", 8, labels="y.npy"), "the method itq takes no labels"),
        (TrainJob(("x.npy",), "itq", 8, options=(("gamma", 1.0),)), "the method itq has no gamma"),
        (TrainJob(("x.npy", "x.bpf"), "itq", 8), "expected one or the other"),
        (TrainJob((), "itq", 8), "no files to learn from"),
        (TrainJob(("x.npy",), "itq", 8, images_per_picture=7), "expected vectors, 7 of every picture"),
        (TrainJob(("x.npy",), "itq", 8, options=(("whiten", 1.0),)), "views"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: TrainJob, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(1).normal(size=(100, 4)).astype(np.float32))
    np.save("y.npy", np.zeros(100, np.int64))
    with pytest.raises(bitpool.Error, match=message):
        run_here(job, tmp_path / "out")
    assert not (tmp_path / "out" / "model.bpm").exists()


@pytest.mark.parametrize(
    "labels, message",
    [
        (np.zeros(49, np.int64), "49 labels for 50 pictures"),
        (np.zeros(50, np.int64), "one class"),
        (np.full(50, -1), "expected classes from 0 on"),
        (np.full((50, 2), 3), "rows of 0 and 1"),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    rng: np.random.Generator, tmp_path: Path, labels: np.ndarray, message: str
) -> None:
    np.save(tmp_path / "y.npy", labels)
    job = TrainJob(save_features(tmp_path, images(rng, 50), 1), "sash", 4, labels=str(tmp_path / "y.npy"))
    with pytest.raises(bitpool.Error, match=message):
        job.tasks()


# --- The command


def test_the_command_trains_what_describe_has_described(
    command: Callable[..., Any], pictures: Path, tmp_path: Path, program: Callable[..., str]
) -> None:
    options = ["--features", "dense", "--max-side", "32", "--part", 4, "--local", 1, "--quiet"]
    assert command("describe", pictures, "-o", tmp_path / "features", *options).returncode == 7
    train = ["train", tmp_path / "features", "--method", "sah", "--bits", 8, "--iterations", 2, "--lambda", 0.02]
    done = command(*train, "--seed", 1, "-o", tmp_path / "model", "--local", 1, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"files": ["model.bpm"], "pictures": 10, "skipped": 0, "shards": 1}
    files = sorted((tmp_path / "features" / "parts").glob("*/features.bpf"))
    assert len(files) == 3
    made = [image for file in files for image in bitpool.FeatureSet.open(file)]
    fitted = bitpool.SAH(8, iterations=2, lambda_=0.02, random_state=1).fit(whole(made))
    require_same_model(tmp_path / "model" / "model.bpm", fitted)
    assert "sah" in program("inspect", tmp_path / "model" / "model.bpm")
    refused = command("train", tmp_path / "features", "--method", "ksh", "-o", tmp_path / "other", "--local", 1)
    assert refused.returncode == 4 and "does not come down to sums over shards" in refused.stderr
    assert "Traceback" not in refused.stderr and not (tmp_path / "other").exists()
