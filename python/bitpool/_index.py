"""Codes under ids, searched exactly."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._running import ProgressOption, run, thread_count, whole_number

Path = Union[str, "os.PathLike[str]"]


class SearchResult(NamedTuple):
    """What each query found, the nearest first; id −1 where there are fewer codes than asked for."""

    distances: npt.NDArray[np.int32]
    ids: npt.NDArray[np.int64]


class RealSearchResult(NamedTuple):
    """What each query of real numbers found, the highest score first; id −1 where there are fewer codes."""

    scores: npt.NDArray[np.float64]
    ids: npt.NDArray[np.int64]


class RangeSearchResult(NamedTuple):
    """What query i found is at ``lims[i]:lims[i + 1]`` of the other two, the nearest first."""

    lims: npt.NDArray[np.int64]
    distances: npt.NDArray[np.int32]
    ids: npt.NDArray[np.int64]


class Pairs(NamedTuple):
    """Ids of codes that are near each other, ``first < second``, sorted."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    distances: npt.NDArray[np.int32]


class Index:
    """Binary codes of one length under ids, searched exactly.

    Any thread may search while another adds and removes: a search sees the codes of one moment. Results are sorted
    by (distance, id), at any number of threads.

    ``layout`` affects time, never results: "flat" scans all codes, "mih" looks them up by parts of them,
    and "auto" takes whichever costs less for the codes at hand.
    """

    def __init__(self, n_bits: int, layout: str = "auto") -> None:
        self._native = _native.Index(n_bits, layout)

    @classmethod
    def open(cls, path: Path) -> Index:
        """Maps a saved index: ready at once at any size, verified in the background during the first search."""
        return cls._of(_native.Index.open(path))

    @classmethod
    def load(cls, path: Path) -> Index:
        """Reads a saved index into memory, and verifies it."""
        return cls._of(_native.Index.load(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> Index:
        """The index that ``to_bytes`` gave."""
        return cls._of(_native.Index.from_bytes(bytes(data)))

    def save(self, path: Path) -> None:
        """Writes the index as it is at this moment (.bpi), and replaces an existing file."""
        self._native.save(path)

    def to_bytes(self) -> bytes:
        """What ``save`` would write."""
        return self._native.to_bytes()

    @property
    def n_bits(self) -> int:
        """The length of the codes."""
        return self._native.n_bits

    @property
    def layout(self) -> str:
        """How new codes are kept."""
        return self._native.layout

    def add(self, codes: npt.ArrayLike, ids: Optional[npt.ArrayLike] = None) -> npt.NDArray[np.int64]:
        """Adds packed codes and returns their ids.

        Without ``ids`` they get ids that were never used in this index, not even by codes that were removed. All are
        added or, where an id is negative, is already there or appears twice, none.
        """
        return self._native.add(np.asarray(codes), None if ids is None else np.asarray(ids))

    def remove(self, ids: npt.ArrayLike) -> int:
        """Removes ids; those that are not there are passed over. Returns how many were there."""
        return self._native.remove(np.atleast_1d(np.asarray(ids)))

    def replace(self, ids: npt.ArrayLike, codes: npt.ArrayLike) -> None:
        """Gives ids new codes, whether they had some or not, as one change: a search sees all of it or nothing."""
        self._native.replace(np.atleast_1d(np.asarray(ids)), np.atleast_2d(np.asarray(codes)))

    def reconstruct(self, ids: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        """The codes of ids. ``KeyError`` for one that is not there."""
        wanted = np.asarray(ids)
        codes = self._native.reconstruct(np.atleast_1d(wanted))
        return codes.reshape(wanted.shape + codes.shape[1:])

    def search(
        self, q: npt.ArrayLike, k: int, among: Optional[npt.ArrayLike] = None, n_threads: Optional[int] = None
    ) -> SearchResult:
        """The k nearest codes of each packed query, of all codes or only of those whose ids are in ``among``.

        A single query, given as an array of one dimension, gives results of one dimension.
        """
        queries, one = _queries(q)
        n = whole_number(k, "k", 1)
        distances, ids = self._native.search(queries, n, _optional_array(among), thread_count(n_threads))
        return SearchResult(distances[0], ids[0]) if one else SearchResult(distances, ids)

    def search_real(
        self, h: npt.ArrayLike, k: int, among: Optional[npt.ArrayLike] = None, n_threads: Optional[int] = None
    ) -> RealSearchResult:
        """The k codes with the highest score Σ hᵢbᵢ, b in {−1, +1}, for queries of real numbers (``project``)."""
        queries, one = _queries(h)
        n = whole_number(k, "k", 1)
        scores, ids = self._native.search_real(queries, n, _optional_array(among), thread_count(n_threads))
        return RealSearchResult(scores[0], ids[0]) if one else RealSearchResult(scores, ids)

    def range_search(self, q: npt.ArrayLike, radius: int, n_threads: Optional[int] = None) -> RangeSearchResult:
        """All codes within ``radius`` bits of each query."""
        queries, _ = _queries(q)
        return RangeSearchResult(*self._native.range_search(queries, _radius(radius), thread_count(n_threads)))

    def pairs(self, radius: int, n_threads: Optional[int] = None, progress: ProgressOption = None) -> Pairs:
        """All pairs of codes within ``radius`` bits of each other."""
        return Pairs(*self._native.pairs(_radius(radius), run(n_threads, progress=progress)))

    def groups(
        self, radius: int, n_threads: Optional[int] = None, progress: ProgressOption = None
    ) -> list[npt.NDArray[np.int64]]:
        """Groups of two or more ids whose codes form chains, each within ``radius`` bits of the next."""
        return self._native.groups(_radius(radius), run(n_threads, progress=progress))

    def __len__(self) -> int:
        return len(self._native)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, (int, np.integer)) and 0 <= int(id) < 2**63 and int(id) in self._native

    def __repr__(self) -> str:
        return f"Index(n_bits={self.n_bits}, layout={self.layout!r}): {len(self)} codes"

    def __copy__(self) -> Index:
        return self._of(self._native.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Index:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    @classmethod
    def _of(cls, native: _native.Index) -> Index:
        index = cls.__new__(cls)
        index._native = native
        return index


def _radius(radius: int) -> int:
    return whole_number(radius, "radius", 0, 2**31 - 1)


def _queries(q: npt.ArrayLike) -> tuple[npt.NDArray[Any], bool]:
    queries = np.asarray(q)
    return (queries[np.newaxis], True) if queries.ndim == 1 else (queries, False)


def _optional_array(values: Optional[npt.ArrayLike]) -> Optional[npt.NDArray[Any]]:
    return None if values is None else np.asarray(values)
