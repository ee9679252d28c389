"""Arrays of pixels as PNG: pictures go into the library as the bytes of a file."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np


def png_of(pixels: Any) -> bytes:
    """A lossless picture of an ``(height, width)`` or ``(height, width, 3 or 4)`` array of bytes."""
    array = np.asarray(pixels)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise ValueError(
            f"a picture of the shape {array.shape} and dtype {array.dtype}: expected uint8 of (height, width) or "
            "(height, width, 3 or 4)"
        )
    if array.size == 0:
        raise ValueError(f"a picture of the shape {array.shape} has no pixels")
    colour_type = 0 if array.ndim == 2 else {3: 2, 4: 6}[array.shape[2]]
    height, width = array.shape[:2]
    rows = np.zeros((height, 1 + array[0].size), np.uint8)  # every row begins with its filter, here none
    rows[:, 1:] = array.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, chunks))


def _chunk(chunk: tuple[bytes, bytes]) -> bytes:
    kind, data = chunk
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
