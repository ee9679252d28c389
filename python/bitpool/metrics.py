"""How well codes answer, by protocols with names.

Distances of short codes tie heavily. Every figure here is the exact expected value over the orders inside the ties,
unless the protocol says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._codes import bits_of
from ._running import ProgressOption, run, whole_number
from ._samples import classes_of, lists_of, vectors_of


@dataclass(frozen=True)
class Protocol:
    """All that must be agreed on before two figures can be compared.

    ``str(protocol)`` says it in a line. Queries without a relevant item are left out of every mean.
    """

    ap: str = "rectangular"  #: or "trapezoidal"
    divisor: str = "existing"  #: the relevant ones that exist, are "reachable" before the cutoff, or were "found"
    cutoff: int = 0  #: only this many results count, the first; 0: all
    ties: str = "expected"  #: or "optimistic", "pessimistic", "input order"

    @staticmethod
    def hashing() -> Protocol:
        """What hashing papers mean by mAP."""
        return Protocol()

    @staticmethod
    def hashing_at(results: int) -> Protocol:
        """What hashing papers mean by mAP@R, as the published programs compute it."""
        return Protocol(divisor="found", cutoff=results)

    @staticmethod
    def holidays() -> Protocol:
        """Holidays and Oxford: trapezoidal."""
        return Protocol(ap="trapezoidal")

    def __str__(self) -> str:
        return self._to_native(()).describe()

    def _to_native(self, at: Any) -> _native.Protocol:
        return _native.Protocol(self.ap, self.divisor, self.cutoff, self.ties, [int(k) for k in at])


class Evaluation(NamedTuple):
    """How well queries were answered; means are over the queries that have a relevant item."""

    mean_ap: float
    ap: npt.NDArray[np.float64]  #: of each query; NaN where nothing is relevant
    precision_at: npt.NDArray[np.float64]  #: among the first k results, for each k of ``at``
    recall_at: npt.NDArray[np.float64]
    curve: npt.NDArray[np.float64]  #: precision, recall and share of answered queries within each Hamming radius
    queries_without_relevant: int
    protocol: Protocol


def _named(protocol: Union[str, Protocol]) -> Protocol:
    if isinstance(protocol, Protocol):
        return protocol
    name, _, results = protocol.partition("@")
    if protocol == "hashing":
        return Protocol.hashing()
    if name == "hashing" and results.isdecimal():
        return Protocol.hashing_at(int(results))
    if protocol == "holidays":
        return Protocol.holidays()
    raise ValueError(f'protocol: {protocol!r}: expected "hashing", "hashing@R", "holidays" or a Protocol')


def evaluate(
    database: npt.ArrayLike,
    queries: npt.ArrayLike,
    *,
    labels: Optional[tuple[npt.ArrayLike, npt.ArrayLike]] = None,
    relevant: Any = None,
    ignored: Any = (),
    protocol: Union[str, Protocol] = "hashing",
    at: Any = (),
    n_bits: Optional[int] = None,
    n_threads: Optional[int] = None,
    progress: ProgressOption = None,
) -> Evaluation:
    """Ranks all packed codes of the database for each query and compares with the right answers.

    ``queries`` are packed codes, ranked by Hamming distance, or real numbers (``project``), ranked by their score.
    The right answers are given by ``labels`` of (database, queries), right where they share a class, or by
    ``relevant``, the numbers of the right items of each query; beside these, ``ignored`` has the numbers of items that
    count neither way, a list for each query.
    """
    stored, asked = np.asarray(database), np.asarray(queries)
    bits = bits_of(stored, n_bits)
    if (labels is None) == (relevant is None):
        raise ValueError("expected either labels or relevant")
    if labels is not None:
        if len(ignored):
            raise ValueError("ignored goes with relevant, not with labels")
        truth = _truth_of_labels(labels, len(stored), len(asked))
    else:
        truth = _truth_of_lists(relevant, ignored, len(stored))
    chosen = _named(protocol)
    evaluate_with = _native.evaluate_by_score if asked.dtype.kind == "f" else _native.evaluate_by_distance
    result = evaluate_with(stored, asked, bits, truth, chosen._to_native(at), run(n_threads, progress=progress))
    return Evaluation(
        mean_ap=result["mean_ap"],
        ap=result["ap"],
        precision_at=np.array(result["precision_at"]),
        recall_at=np.array(result["recall_at"]),
        curve=np.array(result["curve"]).reshape(-1, 3),
        queries_without_relevant=result["queries_without_relevant"],
        protocol=chosen,
    )


def _truth_of_lists(relevant: Any, ignored: Any, n_database: int) -> _native.Truth:
    right, passed_over = lists_of(relevant, "relevant"), lists_of(ignored, "ignored")
    n_right, n_passed_over = len(right[1]), len(passed_over[1])
    if n_passed_over not in (0, n_right):
        raise ValueError(f"ignored has {n_passed_over} lists, but relevant has {n_right}: one for each query")
    return _native.Truth.listed(n_database, right, passed_over)


def _truth_of_labels(labels: Any, n_database: int, n_queries: int) -> _native.Truth:
    """Labels of both are numbered together."""
    of_database, of_queries = (np.asarray(one) for one in labels)
    if of_database.ndim != of_queries.ndim or of_database.shape[1:] != of_queries.shape[1:]:
        raise ValueError(f"labels of the shapes {of_database.shape} and {of_queries.shape} do not go together")
    for one, n in ((of_database, n_database), (of_queries, n_queries)):
        if len(one) != n:
            raise ValueError(f"labels: {len(one)} labels for {n} codes: expected (labels of database, of queries)")
    classes, ends = classes_of(np.concatenate([of_database, of_queries]), n_database + n_queries, "labels")
    split = ends[n_database - 1] if n_database else 0
    return _native.Truth.shared_classes(
        (classes[split:], ends[n_database:] - split), (classes[:split], ends[:n_database])
    )


def mean_average_precision(database: npt.ArrayLike, queries: npt.ArrayLike, **kwargs: Any) -> float:
    """The mean of the queries' average precisions. Takes what ``evaluate`` takes; ``protocol`` says which mAP it is."""
    return evaluate(database, queries, **kwargs).mean_ap


class NeighboursResult(NamedTuple):
    """The nearest database vectors of each query, the nearest first."""

    squared_distances: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int32]


def euclidean_neighbours(
    database: npt.ArrayLike,
    queries: npt.ArrayLike,
    k: int,
    *,
    n_threads: Optional[int] = None,
    progress: ProgressOption = None,
) -> NeighboursResult:
    """The exact Euclidean nearest neighbours: the usual ``relevant`` where there are no labels."""
    found = _native.euclidean_neighbours(
        vectors_of(database), vectors_of(queries), whole_number(k, "k", 1), run(n_threads, progress=progress)
    )
    return NeighboursResult(*found)


__all__ = [
    "Evaluation",
    "NeighboursResult",
    "Protocol",
    "euclidean_neighbours",
    "evaluate",
    "mean_average_precision",
]
