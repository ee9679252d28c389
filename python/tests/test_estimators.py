"""Hash methods as estimators: scikit-learn's own checks, and the program's results."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import bitpool
from bitpool import _native

VECTOR_METHODS = [bitpool.RBA, bitpool.ITQ, bitpool.KMH, bitpool.SPH, bitpool.PCAH, bitpool.LSH, bitpool.BA]
LABELLED_METHODS = [bitpool.SDH, bitpool.KSH, bitpool.BRE, bitpool.CCAITQ]
ALL = VECTOR_METHODS + LABELLED_METHODS
OPTIONS_OF_PRESETS = {bitpool.RBA: ["beta"], bitpool.SAH: ["beta", "mu"], bitpool.SASH: ["lambda_", "beta", "alpha"]}


@parametrize_with_checks([method(n_bits=2) for method in ALL])
def test_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_every_method_of_the_registry_has_a_class() -> None:
    assert set(bitpool.METHODS) == set(_native.METHODS)
    for name, cls in bitpool.METHODS.items():
        assert getattr(bitpool, cls.__name__) is cls and cls._method == name


@pytest.mark.parametrize("cls", list(bitpool.METHODS.values()), ids=lambda cls: cls.__name__)
def test_options_defaults_and_docs_come_from_the_registry(cls: type) -> None:
    parameters = inspect.signature(cls).parameters
    doc = " ".join(cls.__doc__.split())
    for option in _native.METHODS[cls._method]["options"]:
        name = {"bits": "n_bits", "lambda": "lambda_"}.get(option["name"], option["name"])
        assert option["help"] in doc
        if name in OPTIONS_OF_PRESETS.get(cls, ()):
            assert parameters[name].default is None
            assert f'None: {option["default"]!r} with preset "default"' in doc
            continue
        assert parameters[name].default == option["default"]
        assert type(parameters[name].default) is type(option["default"])
    assert parameters["n_bits"].default == 32
    assert parameters["random_state"].default == 0 and parameters["n_threads"].default is None
    assert cls().get_params() == {name: one.default for name, one in parameters.items()}


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(TypeError, match="lamda"):
        bitpool.RBA(lamda=1)
    with pytest.raises(TypeError, match="positional"):
        bitpool.RBA(8, 5)
    with pytest.raises(ValueError):
        bitpool.RBA().set_params(lamda=1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_bits": 0}, "n_bits"),
        ({"n_bits": 32.5}, "n_bits"),
        ({"n_bits": 5000}, "n_bits"),
        ({"lambda_": -1}, "lambda"),
        ({"iterations": 0}, "iterations"),
        ({"preset": "magic"}, "magic"),
        ({"n_threads": 0}, "n_threads"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_values_without_meaning_are_refused_by_name(clusters: np.ndarray, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bitpool.RBA(**params).fit(clusters)


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_codes_are_the_signs_of_projections(cls: type, clusters: np.ndarray, classes: np.ndarray) -> None:
    estimator = cls(n_bits=8).fit(clusters, classes)
    codes, numbers = estimator.transform(clusters), estimator.project(clusters)
    assert codes.dtype == np.uint8 and codes.shape == (400, 1)
    assert numbers.dtype == np.float32 and numbers.shape == (400, 8)
    np.testing.assert_array_equal(codes, np.packbits(numbers >= 0, axis=1, bitorder="little"))
    vectors = estimator.inverse_transform(codes)
    assert vectors.shape == clusters.shape and vectors.dtype == np.float32
    mean_error = ((clusters - clusters.mean(axis=0)) ** 2).sum()
    assert ((clusters - vectors) ** 2).sum() < mean_error  # a code tells more than none
    assert estimator.n_features_in_ == 12 and estimator.n_iter_ == len(estimator.objective_history_)
    np.testing.assert_array_equal(
        cls(n_bits=8, n_threads=1).fit(clusters, classes).transform(clusters), codes
    )


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_the_program_trains_and_encodes_the_same(
    cls: type, clusters: np.ndarray, classes: np.ndarray, tmp_path: Path, program: Callable[..., str]
) -> None:
    np.save(tmp_path / "x.npy", clusters)
    (tmp_path / "y.txt").write_text("".join(f"{label}\n" for label in classes))
    labels = ["--labels", tmp_path / "y.txt"] if cls in LABELLED_METHODS else []
    method = [
        "--method", cls._method, "--bits", 8, "--seed", 5, "--vectors", tmp_path / "x.npy", *labels,
        "--out", tmp_path / "m.bpm",
    ]  # fmt: skip
    program("train", *method)
    encode = ["encode", "--model", tmp_path / "m.bpm", "--vectors", tmp_path / "x.npy", "--out"]
    program(*encode, tmp_path / "codes.npy")
    program(*encode, tmp_path / "h.npy", "--real")
    estimator = cls(n_bits=8, random_state=5).fit(clusters, classes)
    opened = bitpool.open_model(tmp_path / "m.bpm")
    assert type(opened) is cls and opened.get_params() == estimator.get_params()
    for one in (estimator, opened, pickle.loads(pickle.dumps(estimator))):
        np.testing.assert_array_equal(one.transform(clusters), np.load(tmp_path / "codes.npy"))
        np.testing.assert_array_equal(one.project(clusters), np.load(tmp_path / "h.npy"))
    np.testing.assert_array_equal(opened.objective_history_, estimator.objective_history_)
    estimator.save(tmp_path / "again.bpm")
    program("encode", "--model", tmp_path / "again.bpm", "--vectors", tmp_path / "x.npy", "--out", tmp_path / "again.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), np.load(tmp_path / "codes.npy"))


@pytest.mark.parametrize(
    "estimator",
    [
        bitpool.DeepBit(n_bits=8, steps=20, batch=16),
        bitpool.GraphBit(n_bits=8, epochs=1, edge_epochs=1),
        bitpool.SADH(n_bits=8, rounds=1, epochs=1, anchors=20),
        bitpool.CIBHash(n_bits=8, epochs=1, hidden=16, batch=16),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_layers_of_networks_are_estimators_too(estimator: Any, clusters: np.ndarray) -> None:
    images_per_picture = 2 if isinstance(estimator, bitpool.CIBHash) else 1
    codes = estimator.fit(clusters, images_per_picture=images_per_picture).transform(clusters)
    np.testing.assert_array_equal(codes, np.packbits(estimator.project(clusters) >= 0, axis=1, bitorder="little"))
    assert clone(estimator).get_params() == estimator.get_params()


def test_options_reach_the_trainer(clusters: np.ndarray, tmp_path: Path, program: Callable[..., str]) -> None:
    np.save(tmp_path / "x.npy", clusters)
    program(
        "train", "--method", "rba", "--bits", 6, "--seed", 2, "--lambda", 0.5, "--iterations", 3, "--preset", "paper",
        "--vectors", tmp_path / "x.npy", "--out", tmp_path / "m.bpm",
    )  # fmt: skip
    rba = bitpool.RBA(6, lambda_=0.5, iterations=3, preset="paper", random_state=2).fit(clusters)
    opened = bitpool.open_model(tmp_path / "m.bpm")
    np.testing.assert_array_equal(opened.encoder_weights_, rba.encoder_weights_)
    assert opened.get_params() == rba.get_params()
    assert rba.n_iter_ <= 3
    assert not np.array_equal(bitpool.RBA(6).fit(clusters).encoder_weights_, rba.encoder_weights_)


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_an_option_set_to_its_default_is_set_whatever_the_preset(
    preset: str, clusters: np.ndarray, tmp_path: Path
) -> None:
    beta = next(option["default"] for option in _native.METHODS["rba"]["options"] if option["name"] == "beta")
    default, paper = (bitpool.RBA(8, preset=name).fit(clusters).encoder_weights_ for name in ("default", "paper"))
    assert not np.array_equal(default, paper)
    rba = bitpool.RBA(8, preset=preset, beta=beta).fit(clusters)
    other = bitpool.RBA(8, preset=preset, beta=2 * beta).fit(clusters)
    assert json.loads(rba.model_.training)["options"]["beta"] == beta
    assert not np.array_equal(rba.encoder_weights_, paper)
    assert not np.array_equal(rba.encoder_weights_, other.encoder_weights_)
    rba.save(tmp_path / "m.bpm")
    for one in (clone(rba), pickle.loads(pickle.dumps(rba)), clone(bitpool.open_model(tmp_path / "m.bpm"))):
        assert one.get_params() == rba.get_params()
        np.testing.assert_array_equal(one.fit(clusters).encoder_weights_, rba.encoder_weights_)


def test_fitted_attributes(clusters: np.ndarray) -> None:
    itq = bitpool.ITQ(n_bits=5)
    assert not hasattr(itq, "encoder_weights_") and not hasattr(itq, "n_iter_")
    for unfitted in (itq.transform, itq.project, itq.inverse_transform, itq.pool):
        with pytest.raises(NotFittedError):
            unfitted(clusters)
    itq.fit(clusters)
    assert itq.encoder_weights_.shape == (5, 12) and itq.encoder_bias_.shape == (5,)
    assert not itq.encoder_weights_.flags.writeable
    np.testing.assert_allclose(
        clusters @ itq.encoder_weights_.T + itq.encoder_bias_, itq.project(clusters), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(
        (bitpool.unpack(itq.transform(clusters), 5) * 2.0 - 1) @ itq.decoder_weights_.T + itq.decoder_bias_,
        itq.inverse_transform(itq.transform(clusters)),
        rtol=1e-4,
        atol=1e-4,
    )
    assert not hasattr(bitpool.SPH(n_bits=5).fit(clusters), "encoder_weights_")
    with pytest.raises(ValueError, match="nothing to pool"):
        itq.pool(clusters)


def test_objective_history_descends(clusters: np.ndarray) -> None:
    history = bitpool.RBA(n_bits=8).fit(clusters).objective_history_
    assert len(history) > 1 and (np.diff(history) <= 1e-9 * history[0]).all()


def test_seeds(clusters: np.ndarray) -> None:
    def codes(random_state: Any) -> bytes:
        return bitpool.ITQ(n_bits=16, iterations=3, random_state=random_state).fit(
            np.tile(clusters, 2)
        ).transform(np.tile(clusters, 2)).tobytes()

    assert codes(0) == codes(0) != codes(1)
    assert codes(np.random.RandomState(4)) == codes(np.random.RandomState(4))
    assert codes(np.random.default_rng(4)) == codes(np.random.default_rng(4))
    assert codes(None) != codes(None)


def test_pipelines_clones_and_grid_search(clusters: np.ndarray, classes: np.ndarray) -> None:
    pipeline = make_pipeline(StandardScaler(), bitpool.PCAH(), KNeighborsClassifier(1, metric="hamming"))
    search = GridSearchCV(pipeline, {"pcah__n_bits": [1, 8]}, cv=2).fit(clusters, classes)
    assert search.best_params_ == {"pcah__n_bits": 8} and search.best_score_ > 0.5
    rba = bitpool.RBA(n_bits=4, lambda_=0.3)
    again = clone(rba.fit(clusters))
    assert again.get_params() == rba.get_params() and not hasattr(again, "model_")
    assert repr(again) == "RBA(lambda_=0.3, n_bits=4)"
    deep = copy.deepcopy(rba)
    np.testing.assert_array_equal(deep.transform(clusters), rba.transform(clusters))


def test_labels_of_any_kind(clusters: np.ndarray, classes: np.ndarray) -> None:
    expected = bitpool.CCAITQ(n_bits=4).fit(clusters, classes).transform(clusters)
    names = np.array(["ant", "bee", "cat", "dog", "eel"])[classes]
    indicators = np.eye(5, dtype=int)[classes]
    for y in (names, list(names), indicators, classes * 7.0, classes[:, None]):
        np.testing.assert_array_equal(bitpool.CCAITQ(n_bits=4).fit(clusters, y).transform(clusters), expected)
    both = indicators | np.roll(indicators, 1, axis=1)
    assert bitpool.SDH(n_bits=4).fit(clusters, both).transform(clusters).shape == (400, 1)
    for y, message in ((classes[:-1], "399"), (np.where(classes == 0, np.nan, 1.0), "NaN"), (indicators * 2, "0 and 1")):
        with pytest.raises(ValueError, match=message):
            bitpool.CCAITQ(n_bits=4).fit(clusters, y)


def test_works_without_scikit_learn(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = """
import sys
sys.modules["sklearn"] = sys.modules["sklearn.base"] = None
import numpy as np, bitpool
X = np.random.default_rng(0).normal(size=(100, 8))
itq = bitpool.ITQ(n_bits=8)
assert itq.fit_transform(X).shape == (100, 1)
assert repr(itq) == "ITQ(n_bits=8)"
assert itq.set_params(n_bits=4).get_params()["n_bits"] == 4
try:
    bitpool.LSH().transform(X)
except ValueError as error:
    assert "not fitted" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_models_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing.bpm"):
        bitpool.open_model(tmp_path / "nothing.bpm")
    index = bitpool.Index(8)
    index.save(tmp_path / "codes.bpi")
    with pytest.raises(bitpool.Error, match="codes.bpi"):
        bitpool.open_model(tmp_path / "codes.bpi")
