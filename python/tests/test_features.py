"""Joint methods on local features, feature files and files of vectors."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import bitpool
from conftest import REPOSITORY


def images(n: int = 40, dimension: int = 16, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, dimension)) * 2
    return [
        (centres[i % 4] + rng.normal(size=(int(rng.integers(3, 20)), dimension))).astype(np.float32) for i in range(n)
    ]


def train_options(cls: type) -> dict[str, Any]:
    return {"n_bits": 8, "random_state": 3, **({"epochs": 3} if cls is bitpool.SAV else {"iterations": 3})}


@pytest.mark.parametrize("cls", [bitpool.SAH, bitpool.SASH, bitpool.SAV, bitpool.ITQ], ids=lambda cls: cls.__name__)
def test_the_program_trains_and_encodes_the_same(cls: type, tmp_path: Path, program: Callable[..., str]) -> None:
    X, y = images(), np.arange(40) % 4
    features = bitpool.FeatureSet(X)
    if cls is bitpool.SAV:
        features, y = features.parts(2, random_state=1), None
    features.save(tmp_path / "x.bpf", precision="single")
    options = train_options(cls)
    arguments = ["--method", cls._method, "--seed", 3, "--features", tmp_path / "x.bpf", "--out", tmp_path / "m.bpm"]
    arguments += ["--bits", 8] + (["--epochs", 3] if "epochs" in options else ["--iterations", 3])
    if cls is bitpool.SASH:
        (tmp_path / "y.txt").write_text("".join(f"{label}\n" for label in y))
        arguments += ["--labels", tmp_path / "y.txt"]
    program("train", *arguments)
    program("encode", "--model", tmp_path / "m.bpm", "--features", tmp_path / "x.bpf", "--out", tmp_path / "codes.npy")
    for given in (features, bitpool.FeatureSet.open(tmp_path / "x.bpf")):
        estimator = cls(**options).fit(given, y)
        np.testing.assert_array_equal(estimator.transform(given), np.load(tmp_path / "codes.npy"))
        np.testing.assert_array_equal(
            np.packbits(estimator.project(given) >= 0, axis=1, bitorder="little"), np.load(tmp_path / "codes.npy")
        )
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(features), np.load(tmp_path / "codes.npy"))
    opened = bitpool.open_model(tmp_path / "m.bpm")
    assert type(opened) is cls and opened.get_params() == estimator.get_params()


def test_lists_arrays_and_sets_are_the_same() -> None:
    X = np.random.default_rng(1).normal(size=(30, 7, 12)).astype("f2")
    sah = bitpool.SAH(n_bits=8, iterations=2).fit(X)
    codes = sah.transform(X)
    assert codes.shape == (30, 1) and sah.n_features_in_ == 12
    for same in (list(X), bitpool.FeatureSet(X), [image.astype(np.float64) for image in X], X[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(bitpool.SAH(n_bits=8, iterations=2).fit(same).transform(same), codes)


def test_pooling_solves_its_system() -> None:
    """For a method of vectors it is generalised max pooling: (VVᵀ + μI)φ = V1."""
    X = images(30)
    itq = bitpool.ITQ(n_bits=6, mu=5.0).fit(bitpool.FeatureSet(X))
    pooled = itq.pool(X)
    for image, vector in zip(X, pooled):
        V = (image / np.linalg.norm(image, axis=1, keepdims=True)).T.astype(np.float64)
        expected = np.linalg.solve(V @ V.T + 5 * np.eye(16), V.sum(axis=1))
        np.testing.assert_allclose(vector, expected, rtol=1e-3, atol=1e-4)
    sah = bitpool.SAH(n_bits=6, iterations=2).fit(X)
    assert sah.pool(X).shape == (30, 16) and sah.pool(X).dtype == np.float32
    np.testing.assert_array_equal(
        np.packbits(sah.pool(X) @ sah.encoder_weights_.T + sah.encoder_bias_ >= 0, axis=1, bitorder="little"),
        sah.transform(X),
    )


def test_views_whiten() -> None:
    features = bitpool.FeatureSet(images(), images_per_picture=1).parts(2)
    assert len(features) == 120 and features.images_per_picture == 3
    whitened = bitpool.ITQ(n_bits=8, whiten=True).fit(features)
    plain = bitpool.ITQ(n_bits=8).fit(features)
    assert not np.array_equal(whitened.transform(features), plain.transform(features))
    np.testing.assert_array_equal(plain.transform(images()), bitpool.ITQ(n_bits=8).fit(bitpool.FeatureSet(images())).transform(images()))
    vectors = plain.pool(features)
    same = bitpool.ITQ(n_bits=8, whiten=True).fit(vectors, images_per_picture=3)
    np.testing.assert_allclose(same.project(vectors), whitened.project(features), rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match="views"):
        bitpool.SAV(n_bits=8).fit(images())


def test_sav_takes_vectors_too(tmp_path: Path, program: Callable[..., str]) -> None:
    vectors = bitpool.ITQ(n_bits=8).fit(bitpool.FeatureSet(images())).pool(bitpool.FeatureSet(images()).parts(2))
    np.save(tmp_path / "x.npy", vectors)
    program("train", "--method", "sav", "--bits", 8, "--seed", 3, "--epochs", 3, "--vectors", tmp_path / "x.npy",
            "--images-per-picture", 3, "--out", tmp_path / "m.bpm")  # fmt: skip
    sav = bitpool.SAV(n_bits=8, epochs=3, random_state=3).fit(vectors, images_per_picture=3)
    opened = bitpool.open_model(tmp_path / "m.bpm")
    np.testing.assert_array_equal(sav.transform(vectors), opened.transform(vectors))
    with pytest.raises(ValueError, match="views"):
        bitpool.SAV(n_bits=8).fit(vectors)


def test_images_without_descriptors_are_told_of() -> None:
    X = images()
    sah = bitpool.SAH(n_bits=8, iterations=2).fit(X)
    X[5] = X[5][:0]
    with pytest.warns(RuntimeWarning, match="1 images have a code of zeros, such as image 5"):
        codes = sah.transform(X)
    assert codes[5] == 0 and codes.any()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((4, 5)), r"X has the shape \(4, 5\)"),
        ([np.ones((2, 5)), np.ones((2, 6))], r"X\[1\]: has descriptors of dimension 6"),
        ([np.ones((2, 5)), np.ones(5)], r"X\[1\]: has the shape \(5\,?\)"),
        ([], "X: has no images"),
        ([np.full((2, 5), np.nan)] * 9, r"X\[\d\]\[0, 0\] is NaN"),
    ],
)
def test_wrong_features_are_refused(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bitpool.SAH(n_bits=2, iterations=1).fit(X)


def test_feature_sets() -> None:
    X = images(6)
    features = bitpool.FeatureSet(X, names=list("abcdef"), images_per_picture=2)
    assert len(features) == 6 and features.dimension == 16 and features.names == list("abcdef")
    assert repr(features) == "FeatureSet: 6 images of dimension 16, 2 images per picture"
    assert np.shares_memory(features[2], X[2]) and not features[2].flags.writeable and X[2].flags.writeable
    np.testing.assert_array_equal(features[-1], X[5])
    assert len(list(features)) == 6
    with pytest.raises(IndexError):
        features[6]
    again = pickle.loads(pickle.dumps(features))
    assert again.names == features.names and again.images_per_picture == 2
    for names, per_picture, message in ((["a"], 1, "1 names for 6 images"), (None, 4, "divisor")):
        with pytest.raises(ValueError, match=message):
            bitpool.FeatureSet(X, names=names, images_per_picture=per_picture)


@pytest.mark.parametrize(("precision", "dtype"), [("half", np.float16), ("single", np.float32)])
def test_arrays_of_a_file_are_views_that_keep_it_alive(tmp_path: Path, precision: str, dtype: type) -> None:
    X = images(5)
    bitpool.FeatureSet(X, names=["päth", "b", "c", "d", "e"]).save(tmp_path / "x.bpf", precision=precision)
    features = bitpool.FeatureSet.open(tmp_path / "x.bpf")
    assert features.names[0] == "päth"
    third = features[2]
    assert third.dtype == dtype and not third.flags.writeable and not third.flags.owndata
    again = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(again[2], third)
    del features, again
    gc.collect()
    (tmp_path / "x.bpf").unlink()
    np.testing.assert_array_equal(third, X[2].astype(dtype))
    with pytest.raises(FileNotFoundError):
        bitpool.FeatureSet.open(tmp_path / "x.bpf")


def test_golden_features_can_be_read() -> None:
    features = bitpool.FeatureSet.open(REPOSITORY / "tests" / "golden" / "features-half.bpf")
    assert all(image.shape[1] == features.dimension for image in features)


def test_vectors_of_files_are_views(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    np.concatenate([np.full((20, 1), 5, np.int32).view(np.float32), X], axis=1).tofile(tmp_path / "x.fvecs")
    for name in ("x.npy", "x.fvecs"):
        vectors = bitpool.open_vectors(tmp_path / name)
        assert not vectors.flags.writeable and not vectors.flags.owndata
        gc.collect()
        np.testing.assert_array_equal(vectors, X)
        np.testing.assert_array_equal(
            bitpool.ITQ(n_bits=4).fit(vectors).transform(vectors), bitpool.ITQ(n_bits=4).fit(X).transform(X)
        )
    damaged = bytearray((tmp_path / "x.fvecs").read_bytes())
    damaged[24] = 6
    (tmp_path / "bad.fvecs").write_bytes(damaged)
    with pytest.raises(bitpool.Error, match="bad.fvecs.*dimension 6, expected 5") as raised:
        bitpool.open_vectors(tmp_path / "bad.fvecs")
    assert raised.value.code == "corrupt"
