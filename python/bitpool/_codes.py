"""Packed binary codes: bit i of a code is bit i % 8 of its byte i // 8, as in Faiss."""

from __future__ import annotations

from typing import Optional

import numpy as np
import numpy.typing as npt

from . import _native
from ._running import thread_count


def pack(bits: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Packs an ``(n, n_bits)`` array, 1 where a number is positive, into ``(n, ⌈n_bits/8⌉)`` bytes.

    The same as ``numpy.packbits(bits > 0, axis=1, bitorder="little")``, which also packs the −1 and +1 of other
    programs.
    """
    return _native.pack(np.asarray(bits))


def unpack(codes: npt.ArrayLike, n_bits: Optional[int] = None) -> npt.NDArray[np.uint8]:
    """The bits of packed codes, an ``(n, n_bits)`` array of 0 and 1."""
    packed = np.asarray(codes)
    return _native.unpack(packed, bits_of(packed, n_bits))


def hamming(
    a: npt.ArrayLike, b: npt.ArrayLike, n_bits: Optional[int] = None, n_threads: Optional[int] = None
) -> npt.NDArray[np.int32]:
    """The number of bits in which every code of ``a`` differs from every code of ``b``: ``(len(a), len(b))``."""
    first, second = np.asarray(a), np.asarray(b)
    return _native.hamming(first, second, bits_of(first, n_bits), thread_count(n_threads))


def bits_of(codes: npt.NDArray[np.generic], n_bits: Optional[int]) -> int:
    """The length of codes: as given, or all bits of their bytes."""
    if n_bits is not None:
        if not 1 <= n_bits <= _native.MAX_BITS:
            raise ValueError(f"n_bits: {n_bits}: expected 1 to {_native.MAX_BITS}")
        return n_bits
    if codes.ndim != 2 or not 8 <= 8 * codes.shape[1] <= _native.MAX_BITS:
        raise ValueError(f"codes of the shape {codes.shape}: expected (n, bytes), up to {_native.MAX_BITS // 8} bytes")
    return 8 * int(codes.shape[1])
