"""Figures of quality, against their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import bitpool
from bitpool import metrics


def average_precision(relevant: np.ndarray, divisor: float, trapezoidal: bool = False) -> float:
    """Of results in order, by the definition."""
    total, hits, before = 0.0, 0, 1.0
    for rank, right in enumerate(relevant, 1):
        hits += bool(right)
        precision = hits / rank
        if right:
            total += (before + precision) / 2 if trapezoidal else precision
        before = precision
    return total / divisor if divisor else 0.0


def expected_over_ties(distances: np.ndarray, relevant: np.ndarray, trapezoidal: bool = False) -> float:
    """The mean over all orders that the distances allow."""
    orders = [p for p in permutations(range(len(distances))) if (np.diff(distances[list(p)]) >= 0).all()]
    return float(np.mean([average_precision(relevant[list(p)], relevant.sum(), trapezoidal) for p in orders]))


@pytest.mark.parametrize("trapezoidal", [False, True])
def test_ties_are_averaged_over(trapezoidal: bool) -> None:
    rng = np.random.default_rng(1)
    database, queries = rng.integers(0, 8, (7, 1), np.uint8), rng.integers(0, 8, (6, 1), np.uint8)
    labels = rng.integers(0, 2, 7), rng.integers(0, 2, 6)
    result = metrics.evaluate(database, queries, labels=labels, protocol="holidays" if trapezoidal else "hashing")
    distances = bitpool.hamming(queries, database)
    expected = [expected_over_ties(distances[q], labels[0] == labels[1][q], trapezoidal) for q in range(6)]
    np.testing.assert_allclose(result.ap, expected)
    assert result.mean_ap == pytest.approx(np.mean(expected))
    assert metrics.mean_average_precision(database, queries, labels=labels) == pytest.approx(
        metrics.evaluate(database, queries, labels=labels).mean_ap
    )


def test_a_ranking_without_ties() -> None:
    database = bitpool.pack(np.tri(9, 8, -1))  # at distances 0 to 8 from zero
    query = np.zeros((1, 1), np.uint8)
    relevant = np.array([0, 1, 1, 0, 0, 1, 0, 0, 0])
    result = metrics.evaluate(database, query, relevant=[np.flatnonzero(relevant)], at=[1, 3])
    assert result.mean_ap == pytest.approx(average_precision(relevant, 3))
    np.testing.assert_allclose(result.precision_at, [0, 2 / 3])
    np.testing.assert_allclose(result.recall_at, [0, 2 / 3])
    np.testing.assert_allclose(result.curve[:3, 0], [0, 1 / 2, 2 / 3])
    at_3 = metrics.evaluate(database, query, relevant=[np.flatnonzero(relevant)], protocol="hashing@3")
    assert at_3.mean_ap == pytest.approx(average_precision(relevant[:3], 2))
    without_first = metrics.evaluate(database, query, relevant=[np.flatnonzero(relevant)], ignored=[[0]])
    assert without_first.mean_ap == pytest.approx(average_precision(relevant[1:], 3))


def test_real_queries_break_ties(rng: np.random.Generator) -> None:
    bits = rng.integers(0, 2, (200, 12))
    weights = rng.normal(size=(10, 12)).astype(np.float32)
    labels = rng.integers(0, 3, 200), rng.integers(0, 3, 10)
    result = metrics.evaluate(bitpool.pack(bits), weights, labels=labels, n_bits=12)
    order = np.argsort(-(weights.astype(float) @ (bits * 2.0 - 1).T), axis=1, kind="stable")
    for q in range(10):
        if len(np.unique(bits, axis=0)) == len(bits):  # no ties
            right = labels[0][order[q]] == labels[1][q]
            assert result.ap[q] == pytest.approx(average_precision(right, right.sum()))
    assert result.mean_ap == pytest.approx(result.ap.mean())


def test_protocols_have_names() -> None:
    assert "rectangular" in str(metrics.Protocol.hashing()) and "trapezoidal" in str(metrics.Protocol.holidays())
    assert "100" in str(metrics.Protocol.hashing_at(100))
    codes = np.zeros((2, 1), np.uint8)
    assert metrics.evaluate(codes, codes, labels=([0, 1], [0, 1]), protocol="holidays").protocol.ap == "trapezoidal"
    for protocol in ("magic", metrics.Protocol(ap="round"), metrics.Protocol(ties="broken")):
        with pytest.raises(ValueError, match="magic|round|broken"):
            metrics.evaluate(codes, codes, labels=([0, 1], [0, 1]), protocol=protocol)


def test_mistakes_are_named() -> None:
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ValueError, match="labels or relevant"):
        metrics.evaluate(codes, codes)
    with pytest.raises(ValueError, match="3 labels for 2 codes"):
        metrics.evaluate(codes, codes, labels=([0, 1, 1], [0, 1]))
    with pytest.raises(ValueError, match=r"relevant\[1\]"):
        metrics.evaluate(codes, codes, relevant=[[0], [2]])


def test_ignored_goes_with_relevant_and_has_a_list_for_each_query() -> None:
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ValueError, match="ignored goes with relevant"):
        metrics.evaluate(codes, codes, labels=([0, 1], [0, 1]), ignored=[[0], [1]])
    for ignored in ([[1]], [[1], [0], [0]]):
        with pytest.raises(ValueError, match=f"ignored has {len(ignored)} lists, but relevant has 2"):
            metrics.evaluate(codes, codes, relevant=[[0], [1]], ignored=ignored)


@pytest.mark.parametrize("wrong", [[True, False], [0.0], ["0"], [2**70], np.array([0.5])])
def test_items_are_whole_numbers(wrong: object) -> None:
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(TypeError, match=r"relevant\[1\] has"):
        metrics.evaluate(codes, codes, relevant=[[0], wrong])
    with pytest.raises(TypeError, match=r"ignored\[0\] has"):
        metrics.evaluate(codes, codes, relevant=[[], []], ignored=[wrong, []])


def test_queries_without_a_right_answer_are_left_out() -> None:
    codes = np.zeros((2, 1), np.uint8)
    result = metrics.evaluate(codes, codes, labels=(["a", "a"], ["a", "b"]))
    assert result.queries_without_relevant == 1 and np.isnan(result.ap[1]) and result.mean_ap == 1


def test_euclidean_neighbours(rng: np.random.Generator) -> None:
    database, queries = rng.normal(size=(300, 9)), rng.normal(size=(11, 9)).astype("f2")
    found = metrics.euclidean_neighbours(database, queries, 6)
    distances = ((queries.astype(np.float64)[:, None] - database[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.ids, np.argsort(distances, axis=1)[:, :6])
    np.testing.assert_allclose(found.squared_distances, np.sort(distances, axis=1)[:, :6], rtol=1e-4)
