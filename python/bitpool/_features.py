"""Images as sets of local features, and vectors in files."""

from __future__ import annotations

import os
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._index import Path
from ._running import whole_number


class FeatureSet:
    """Images, each an ``(nᵢ, D)`` array of local descriptors with its own nᵢ.

    Made of arrays, which are not copied, or in a file (``open``), which is mapped and may be larger than memory. Views
    stand after their picture: with ``images_per_picture=3`` every picture is followed by two views of it.
    """

    def __init__(
        self,
        images: Union[Sequence[npt.ArrayLike], npt.NDArray[Any]],
        names: Optional[Sequence[str]] = None,
        images_per_picture: int = 1,
    ) -> None:
        arrays = [np.asarray(image) for image in images]
        self._names = None if names is None else [str(name) for name in names]
        self._images: Any = arrays
        self._native = _native.Features(
            arrays,
            list(map(os.fsencode, self._names or [])),
            whole_number(images_per_picture, "images_per_picture", 1),
        )

    @classmethod
    def open(cls, path: Path) -> FeatureSet:
        """Maps a feature file (.bpf)."""
        return cls._of(_native.Features.open(path), os.path.abspath(path))

    def save(self, path: Path, precision: str = "half") -> None:
        """Writes a feature file (.bpf) in "half" or "single" precision, and replaces an existing file."""
        if precision not in ("half", "single"):
            raise ValueError(f'precision: {precision!r}: expected "half" or "single"')
        self._native.save(path, precision == "half")

    def parts(self, n_parts: int, random_state: int = 0) -> FeatureSet:
        """The same images, each followed by disjoint random parts of its features that stand in for its views."""
        return self._of(self._native.parts(n_parts, random_state), (self, n_parts, random_state))

    @property
    def dimension(self) -> int:
        """D, the numbers of a descriptor."""
        return self._native.dimension

    @property
    def images_per_picture(self) -> int:
        """Images of one picture, itself and its views; 1: there are no views."""
        return self._native.images_per_picture

    @property
    def names(self) -> list[str]:
        """The name of each image."""
        return [os.fsdecode(self._native.name(i)) for i in range(len(self))]

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, image: int) -> npt.NDArray[Any]:
        """The descriptors of an image as they are kept: a read-only view."""
        if not -len(self) <= image < len(self):
            raise IndexError(f"image {image} of {len(self)}")
        return self._native.descriptors(image % len(self))

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        views = f", {self.images_per_picture} images per picture" if self.images_per_picture > 1 else ""
        return f"FeatureSet: {len(self)} images of dimension {self.dimension}{views}"

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._images, str):
            return FeatureSet.open, (self._images,)
        if isinstance(self._images, tuple):
            return FeatureSet.parts, self._images
        return FeatureSet, (self._images, self._names, self.images_per_picture)

    @classmethod
    def _of(cls, native: _native.Features, made_of: Any) -> FeatureSet:
        features = cls.__new__(cls)
        features._native = native
        features._names = None
        features._images = made_of  # what pickling needs: a path, the arrays, or the arguments of parts()
        return features


def feature_set_of(X: Any) -> FeatureSet:
    """A feature set, a list of ``(nᵢ, D)`` arrays or an ``(n, m, D)`` array as a feature set."""
    if isinstance(X, FeatureSet):
        return X
    if isinstance(X, np.ndarray) and X.ndim != 3:
        raise ValueError(
            f"X has the shape {X.shape}: expected local features of images, as a FeatureSet, a list of (n_i, D) "
            "arrays or one (n, m, D) array"
        )
    return FeatureSet(X)


def open_vectors(path: Path) -> npt.NDArray[Any]:
    """The vectors of a file as a read-only view of it, whatever its size.

    Takes .npy, .fvecs, .bvecs, .ivecs, .siftgeo, .bpv, IDX and CIFAR-10. Estimators read such an array block by block.
    """
    return _native.open_vectors(path)
