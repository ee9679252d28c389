"""What users pass as ``X`` and ``y``, as the library takes it. Messages are worded as scikit-learn's are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: The items of several lists, one after the other, and where each list ends.
Lists = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def vectors_of(X: Any) -> npt.NDArray[Any]:
    """An ``(n_samples, n_features)`` array of numbers; what already is one is not copied."""
    if hasattr(X, "tocsr"):
        raise TypeError("X is a sparse matrix, which is not supported: expected a dense array (X.toarray())")
    array = np.asarray(X)
    if array.dtype.kind in "OSU":
        array = array.astype(np.float64)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X has complex numbers")
    if array.ndim == 1:
        raise ValueError(
            "Expected 2D array, got 1D array instead: X has one dimension. Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it is a single sample."
        )
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead: X has the shape {array.shape}. Local features of "
            "images go in as a bitpool.FeatureSet."
        )
    for size, what in zip(array.shape, ("sample(s)", "feature(s)")):
        if size == 0:
            raise ValueError(f"Found array with 0 {what} (shape={array.shape}) while a minimum of 1 is required.")
    return array


def classes_of(y: Any, n_samples: int, argument: str = "y") -> Lists:
    """The classes of each sample, as numbers from 0.

    ``y`` has one label of any kind for each sample, or is an ``(n_samples, n_classes)`` array of 0 and 1.
    """
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim not in (1, 2) or len(labels) != n_samples:
        raise ValueError(
            f"{argument} has the shape {labels.shape}: expected one label for each of the {n_samples} samples, or a "
            "row of 0 and 1 (found inconsistent numbers of samples)"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"Input {argument} contains NaN or infinity.")
    if labels.ndim == 2:
        if not np.isin(labels, (0, 1)).all():
            raise ValueError(f"{argument} has two dimensions: expected 0 and 1 only, a column for each class")
        return np.nonzero(labels)[1].astype(np.int64), np.cumsum(labels.sum(axis=1), dtype=np.int64)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64), np.arange(1, n_samples + 1, dtype=np.int64)


def lists_of(lists: Any, argument: str) -> Lists:
    """A sequence of lists of whole numbers, such as a two-dimensional array."""
    arrays = [_numbers_of(one, f"{argument}[{i}]") for i, one in enumerate(lists)]
    ends = np.cumsum([len(one) for one in arrays], dtype=np.int64)
    return (np.concatenate(arrays) if arrays else np.zeros(0, np.int64)), ends


def _numbers_of(numbers: Any, argument: str) -> npt.NDArray[np.int64]:
    array = np.asarray(numbers).ravel()
    if array.dtype.kind == "b":
        raise TypeError(
            f"{argument} has booleans: expected the numbers of items (numpy.flatnonzero makes them of a mask)"
        )
    if array.size and array.dtype.kind not in "iu":  # the type of an empty list means nothing
        raise TypeError(f"{argument} has dtype {array.dtype}: expected the numbers of items, which are whole")
    return array.astype(np.int64)
