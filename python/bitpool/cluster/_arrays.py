"""Arrays in files, written and read piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ._parts import replacing

_ROWS = 1 << 16


class ArrayWriter:
    """Writes the rows of a .npy file one after the other."""

    def __init__(self, file: Any, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self._file = file
        self._shape = shape
        self._dtype = np.dtype(dtype)
        self._rows = 0
        formats: Any = np.lib.format
        header = {"descr": formats.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        formats.write_array_header_1_0(file, header)

    def append(self, rows: npt.NDArray[Any]) -> None:
        if rows.shape[1:] != self._shape[1:]:
            raise ValueError(f"rows of the shape {rows.shape[1:]}: expected {self._shape[1:]}")
        self._file.write(np.ascontiguousarray(rows, self._dtype).tobytes())
        self._rows += len(rows)

    def close(self) -> None:
        """Says that all rows have been written."""
        if self._rows != self._shape[0]:
            raise ValueError(f"{self._rows} rows: expected {self._shape[0]}")


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Writes a .npy file as NumPy does; where the disk is full, the error says so, which NumPy's does not."""
    with path.open("wb") as file:
        writer = ArrayWriter(file, array.shape, array.dtype)
        writer.append(array)
        writer.close()


def append_arrays(path: Path, pieces: Sequence[Path], blank: npt.NDArray[Any]) -> None:
    """Writes a .npy file of the rows of others; ``blank`` says what kind they are."""
    mapped = [np.load(piece, mmap_mode="r") for piece in pieces]
    with replacing(path) as file:
        writer = ArrayWriter(file, (sum(map(len, mapped)), *blank.shape[1:]), blank.dtype)
        for rows in mapped:
            for first in range(0, len(rows), _ROWS):
                writer.append(rows[first : first + _ROWS])
        writer.close()


def merge_best(
    found: Sequence[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]], k: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The k best of what several searches found for the same queries, by (distance, id); id −1: nothing."""
    distances = np.concatenate([one for one, _ in found], axis=1)
    ids = np.concatenate([one for _, one in found], axis=1)
    ranks = np.where(ids < 0, np.iinfo(np.int32).max, distances)
    best = np.lexsort((ids, ranks), axis=1)[:, :k]
    return np.take_along_axis(distances, best, 1), np.take_along_axis(ids, best, 1)


def merge_sorted(
    parts: Sequence[Sequence[npt.NDArray[Any]]], at_once: int = _ROWS
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Merges tables that are sorted by their first two columns, in blocks of rows that follow each other.

    A table is a sequence of columns, which may be mapped. About ``at_once`` rows of each are in memory at once, and
    more only where that many have the same first number.
    """
    places = [0] * len(parts)
    while True:
        left = [n for n, part in enumerate(parts) if places[n] < len(part[0])]
        if not left:
            return
        # All rows up to this first number are within reach of every table.
        bound = min(parts[n][0][min(places[n] + at_once, len(parts[n][0])) - 1] for n in left)
        taken = []
        for n in left:
            end = places[n] + int(np.searchsorted(parts[n][0][places[n] :], bound, side="right"))
            taken.append([column[places[n] : end] for column in parts[n]])
            places[n] = end
        columns = [np.concatenate(column) for column in zip(*taken)]
        order = np.lexsort((columns[1], columns[0]))
        yield tuple(column[order] for column in columns)
