"""Numbers at and beyond the ends of their ranges: an exception that says so, and never an answer that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import bitpool
from bitpool import metrics
from conftest import needs_plain_memory

# Not a count of anything: too large for any type, or not a whole number.
NO_COUNTS: list[Any] = [2**31, 2**32, 2**63, 2**64, 10**40, -(2**63) - 1, 1.5, float("nan"), float("inf"), "8", None, [8], b"8"]
NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]
REFUSALS = (ValueError, TypeError, OverflowError, MemoryError, bitpool.Error)


def small_index() -> bitpool.Index:
    index = bitpool.Index(16)
    index.add(np.arange(80, dtype=np.uint8).reshape(40, 2))
    return index


@pytest.mark.parametrize("n_bits", [0, -1, 4097, *NO_COUNTS])
def test_bits(n_bits: Any) -> None:
    with pytest.raises(REFUSALS):
        bitpool.Index(n_bits)
    with pytest.raises(REFUSALS):
        bitpool.ITQ(n_bits=n_bits).fit(np.random.default_rng(1).normal(size=(50, 8)))


@pytest.mark.parametrize("n_bits", [1, 4096])
def test_bits_at_the_ends(n_bits: int) -> None:
    index = bitpool.Index(n_bits)
    codes = bitpool.pack(np.random.default_rng(1).integers(0, 2, (10, n_bits)))
    index.add(codes)
    assert index.search(codes[:1], k=1).distances[0, 0] == 0


@pytest.mark.parametrize(
    "k",
    [
        -1,
        pytest.param(2**48, marks=needs_plain_memory),
        *(2**61, 2**62, 2**63 - 1),
        *(k for k in NO_COUNTS if k not in (2**31, 2**32)),
    ],
)
def test_k(k: Any) -> None:
    """Also products that wrap around to a small number: 4 queries × 2⁶²."""
    index = small_index()
    queries = np.zeros((4, 2), np.uint8)
    with pytest.raises(REFUSALS):
        index.search(queries, k)
    with pytest.raises(REFUSALS):
        index.search_real(np.ones((4, 16)), k)
    with pytest.raises(REFUSALS):
        index.search(queries, k, among=[1, 2])


def test_k_larger_than_everything() -> None:
    index = small_index()
    found = index.search(np.zeros((2, 2), np.uint8), k=10_000)
    assert found.ids.shape == (2, 10_000)
    assert sorted(found.ids[0, :40]) == list(range(40)) and (found.ids[:, 40:] == -1).all()
    assert (index.search_real(np.ones((1, 16)), k=10_000).ids[0, 40:] == -1).all()


@pytest.mark.parametrize("radius", [-1, -(2**31), *NO_COUNTS])
def test_radius(radius: Any) -> None:
    index = small_index()
    for call in (lambda: index.range_search(np.zeros((1, 2), np.uint8), radius), lambda: index.pairs(radius), lambda: index.groups(radius)):
        with pytest.raises(REFUSALS):
            call()


def test_a_radius_beyond_the_bits_finds_all() -> None:
    assert len(small_index().range_search(np.zeros((1, 2), np.uint8), 2**31 - 1).ids) == 40


@pytest.mark.parametrize("ids", [[-1], [2**63 - 1], [2**63], [2**64], [0.5], [float("nan")], ["1"], [None], [True], [[1]]])
def test_ids(ids: Any) -> None:
    index = small_index()
    code = np.zeros((1, 2), np.uint8)
    for change in (lambda: index.add(code, ids), lambda: index.replace(ids, code)):
        with pytest.raises(REFUSALS):
            change()
    assert len(index) == 40


def test_the_largest_id_can_be_saved_and_then_none_is_left_to_count_to(tmp_path: Path) -> None:
    index = bitpool.Index(16)
    index.add(np.zeros((1, 2), np.uint8), [2**63 - 2])
    index.save(tmp_path / "a.bpi")
    for again in (index, bitpool.Index.open(tmp_path / "a.bpi"), bitpool.Index.from_bytes(index.to_bytes())):
        assert 2**63 - 2 in again
        with pytest.raises(ValueError, match="ids left"):
            again.add(np.zeros((1, 2), np.uint8))
        again.add(np.ones((1, 2), np.uint8), [5])
        assert len(again) == 2


@pytest.mark.parametrize("bad", NO_NUMBERS)
@pytest.mark.parametrize("place", [(0, 0), (17, 3), (49, 7)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_arrays_of_numbers(bad: float, place: tuple[int, int], dtype: type) -> None:
    good = np.random.default_rng(1).normal(size=(50, 8)).astype(dtype)
    vectors = good.copy()
    vectors[place] = bad
    itq = bitpool.ITQ(n_bits=4).fit(good)
    index = bitpool.Index(8)
    index.add(np.zeros((3, 1), np.uint8))
    calls: list[Callable[[], Any]] = [
        lambda: bitpool.ITQ(n_bits=4).fit(vectors),
        lambda: itq.transform(vectors),
        lambda: itq.project(vectors),
        lambda: index.search_real(vectors, 2),
        lambda: metrics.euclidean_neighbours(vectors, good, 3),
        lambda: metrics.euclidean_neighbours(good, vectors, 3),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("value", [1e39, -1e300, np.finfo(np.float64).max])
def test_numbers_that_floats_cannot_hold(value: float) -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 8))
    vectors[3, 3] = value
    with pytest.raises(ValueError):
        bitpool.ITQ(n_bits=4).fit(vectors)


@pytest.mark.parametrize("value", [*NO_NUMBERS, -1, 10**400, "x"])
def test_options(value: Any) -> None:
    vectors = np.random.default_rng(1).normal(size=(50, 8))
    for estimator in (bitpool.ITQ(n_bits=4, iterations=value), bitpool.RBA(n_bits=4, beta=value)):
        with pytest.raises(REFUSALS):
            estimator.fit(vectors)


@pytest.mark.parametrize("value", [10**40, 2**63, 2**31, 1.5])
def test_options_that_are_counts(value: Any) -> None:
    with pytest.raises(REFUSALS):
        bitpool.ITQ(n_bits=4, iterations=value).fit(np.random.default_rng(1).normal(size=(50, 8)))


@pytest.mark.parametrize("threads", [-5, 2**40, 1.5, float("nan"), "2"])
def test_threads(threads: Any) -> None:
    with pytest.raises(REFUSALS):
        small_index().search(np.zeros((1, 2), np.uint8), 1, n_threads=threads)


@pytest.mark.parametrize("k", [-1, *NO_COUNTS])
def test_neighbours(k: Any) -> None:
    vectors = np.random.default_rng(1).normal(size=(20, 4))
    with pytest.raises(REFUSALS):
        metrics.euclidean_neighbours(vectors, vectors, k)


def test_what_is_no_whole_number_is_refused_by_name() -> None:
    index, rows = small_index(), np.random.default_rng(1).normal(size=(60, 8))
    codes = np.zeros((2, 2), np.uint8)
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("k: 2.5: expected a whole number, 1 or more", lambda: index.search(codes, 2.5)),
        ("k: '8': expected a whole number", lambda: index.search_real(np.ones((1, 16)), "8")),
        ("k: 1.5: expected a whole number", lambda: metrics.euclidean_neighbours(rows, rows, 1.5)),
        ("radius: 1099511627776: expected a whole number, 0 to 2147483647", lambda: index.range_search(codes, 2**40)),
        ("radius: None: expected a whole number", lambda: index.pairs(None)),
        ("random_state: 18446744073709551616: expected a whole number, 0 to 1844", lambda: bitpool.LSH(8, random_state=2**64).fit(rows)),
        ("images_per_picture: 3.5: expected a whole number", lambda: bitpool.ITQ(8).fit(rows, images_per_picture=3.5)),
        ("images_per_picture: 0: expected a whole number, 1 or more", lambda: bitpool.ITQ(8).fit(rows, images_per_picture=0)),
        ("images_per_picture: 0: expected", lambda: bitpool.FeatureSet([rows], images_per_picture=0)),
        ("iterations: expected a number, got None", lambda: bitpool.ITQ(8, iterations=None).fit(rows)),
        ("protocol: 'hashing@x': expected", lambda: metrics.evaluate(codes, codes, relevant=[[0], [1]], protocol="hashing@x")),
        ("protocol: 'hashing@': expected", lambda: metrics.evaluate(codes, codes, relevant=[[0], [1]], protocol="hashing@")),
    ]  # fmt: skip
    for message, call in calls:
        with pytest.raises(ValueError, match="^" + message):
            call()


def test_a_number_beyond_single_precision_is_not_called_infinite_alone() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 8))
    rows[17, 5] = 1e39
    with pytest.raises(ValueError, match=r"X\[17, 5\] is infinite \(inf\) or too large for single precision"):
        bitpool.ITQ(4).fit(rows)


def test_ids_beyond_all_ids_and_no_ids() -> None:
    index = small_index()
    assert 2**70 not in index and -1 not in index and 3 in index
    assert index.reconstruct([]).shape == (0, 2)
    assert index.reconstruct(5).shape == (2,)
