"""Libraries of pictures that can be searched, and coders that turn pictures into codes."""

from __future__ import annotations

import base64
import html
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Iterable, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import error_of
from ._index import Path
from ._png import png_of
from ._running import ProgressOption, run

#: A file, the bytes of one, or pixels.
PictureLike = Union[Path, bytes, npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class Picture:
    """What a library knows about one of its pictures."""

    id: int
    path: str  #: relative to the folder of pictures
    file_size: int
    width: int
    height: int
    failure: str  #: why it could not be indexed; empty: all is well


@dataclass(frozen=True)
class Match(Picture):
    """A picture that was found."""

    distance: int  #: bits in which the codes differ
    score: float  #: larger is nearer
    mirrored: bool  #: found by the mirror image of the query


@dataclass(frozen=True)
class Duplicate(Picture):
    """A picture of a group of duplicates."""

    distance: int  #: between its code and that of the first of the group
    keep: bool  #: suggested to be kept: the first of the group, and what the user marked
    marked: bool  #: the user said so
    compared_with: Optional[int]  #: the place in the group of the one it was compared with; none for the first
    kind: Optional[str]  #: what it is to that one: "exact", "edited", "part" or "similar"
    what: str  #: the same in words


@dataclass(frozen=True)
class Decision:
    """What the user decided about pictures, which all later groups respect."""

    id: int
    kind: str  #: "not duplicates" or "keep"
    paths: tuple[str, ...]


def _decision_of(native: tuple[int, str, list[bytes]]) -> Decision:
    number, kind, paths = native
    return Decision(number, kind, tuple(map(os.fsdecode, paths)))


def _fields(native: dict[str, Any]) -> dict[str, Any]:
    return {**native, "path": os.fsdecode(native["path"])}


class _Pictures(list[Any]):
    """Pictures of a library; a notebook shows them."""

    def __init__(self, library: Library, pictures: Iterable[Picture]) -> None:
        super().__init__(pictures)
        self._library = library

    def _repr_html_(self) -> str:
        cells = "".join(_figure(self._library, picture) for picture in self)
        return f'<div style="display:flex;flex-wrap:wrap;gap:8px">{cells}</div>'


def _figure(library: Library, picture: Any) -> str:
    name = html.escape(picture.path)
    jpeg = base64.b64encode(library.thumbnail(picture.id)).decode()
    shown = f'<img src="data:image/jpeg;base64,{jpeg}" alt="{name}" style="max-height:128px">' if jpeg else ""
    return (
        f'<figure style="margin:0">{shown}<figcaption style="font-size:small">{name}<br>'
        f"distance {picture.distance}</figcaption></figure>"
    )


class Matches(_Pictures):
    """What a query found, the nearest first."""


class DuplicateGroup(_Pictures):
    """Pictures that are joined by pairs of duplicates, the one to keep first.

    ``kind`` is the least certain by which a picture was joined; ``reason`` says why the first is to be kept.
    """

    def __init__(self, library: Library, kind: str, reason: str, pictures: Iterable[Picture]) -> None:
        super().__init__(library, pictures)
        self.kind = kind
        self.reason = reason


class DuplicateGroups(list[DuplicateGroup]):
    """Groups of near-duplicates; ``radius`` is the one that was used."""

    def __init__(self, radius: int, groups: Iterable[DuplicateGroup]) -> None:
        super().__init__(groups)
        self.radius = radius

    def _repr_html_(self) -> str:
        return "<hr>".join(group._repr_html_() for group in self)


@dataclass(frozen=True)
class UpdateReport:
    """What an update did."""

    added: int
    changed: int
    removed: int
    unchanged: int
    failed: list[tuple[str, str]]  #: (path, reason)
    stopped: bool  #: before all was done; what was done is kept


class Library:
    """A folder of pictures that can be searched.

    Any thread and any process may search while one updates; each answer comes from one version of the library.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.fspath(folder)
        self._native = _native.Library.open(folder)

    @classmethod
    def create(cls, folder: Path, pictures: Path) -> Library:
        """Makes a library in ``folder`` for a folder of ``pictures``. It has none before ``update``."""
        _native.Library.create(folder, pictures)
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> Library:
        """Opens a library. ``FileNotFoundError`` where there is none."""
        return cls(folder)

    def update(
        self,
        *,
        n_bits: Optional[int] = None,
        coder: Optional[Path] = None,
        allow_empty: bool = False,
        random_state: int = 1,
        n_threads: Optional[int] = None,
        progress: ProgressOption = None,
    ) -> UpdateReport:
        """Reads what is new or changed in the folder of pictures, and forgets what is gone.

        A new library takes the coder that ships with Bitpool, or that of a file (.bpc); for codes of another length,
        ``n_bits``, it learns one from its pictures. Ctrl-C ends it; what was done is kept. ``FileNotFoundError`` where
        nothing at all is found in a folder that had pictures, which may not be mounted; ``allow_empty`` forgets them.
        """
        how = run(n_threads, random_state, progress)
        return self._update(n_bits, coder, None, how, allow_empty=allow_empty)

    def _update(
        self,
        n_bits: Optional[int],
        coder: Optional[Path],
        examined: Any,
        how: _native.Run,
        *,
        allow_empty: bool = False,
    ) -> UpdateReport:
        """``examined``: the digest of a coder, and a function that knows what became of pictures with it."""
        digest, find = examined or ("", None)
        report, interruption = self._native.update(n_bits, coder or "", allow_empty, digest, find, how)
        if interruption is not None:
            raise interruption
        failed = [(os.fsdecode(path), reason) for path, reason in report.pop("failed")]
        return UpdateReport(failed=failed, **report)

    def query(
        self,
        picture: PictureLike,
        k: int = 20,
        *,
        order: str = "score",
        mirrored: bool = False,
        n_threads: Optional[int] = None,
    ) -> Matches:
        """The k pictures most like a picture: a file, its bytes, or an array of pixels.

        ``order`` is "score", so that bits the query is sure of count more, or "distance"; ``mirrored`` also searches
        with the mirror image of the picture.
        """
        if order not in ("score", "distance"):
            raise ValueError(f'order: {order!r}: expected "score" or "distance"')
        source = _source_of(picture)
        ask: Any = self._native.query_bytes if isinstance(source, bytes) else self._native.query_file
        return self._matches(ask(source, k, order == "distance", mirrored, run(n_threads)))

    def query_id(self, id: int, k: int = 20, *, n_threads: Optional[int] = None) -> Matches:
        """The k pictures most like one of the library, not counting itself, by distance."""
        if self.find(id) is None:
            raise KeyError(id)
        return self._matches(self._native.query_id(id, k, run(n_threads)))

    def duplicates(
        self,
        *,
        radius: Optional[int] = None,
        similar: bool = False,
        mirrored: bool = False,
        n_threads: Optional[int] = None,
        progress: ProgressOption = None,
    ) -> DuplicateGroups:
        """Groups of duplicates. Pictures whose codes differ by at most ``radius`` bits are looked at.

        Those that are only ``similar``, and ``mirrored`` copies, are left out unless asked for.
        """
        used, groups = self._native.duplicates(radius, similar, mirrored, run(n_threads, progress=progress))
        return DuplicateGroups(
            used,
            (
                DuplicateGroup(self, kind, reason, (Duplicate(**_fields(one)) for one in pictures))
                for kind, reason, pictures in groups
            ),
        )

    def decide_not_duplicates(self, first: int, second: int) -> Decision:
        """Keeps two pictures apart from now on."""
        return _decision_of(self._native.decide_not_duplicates(first, second))

    def decide_to_keep(self, id: int) -> Decision:
        """Marks a picture as one to keep, whatever it is a duplicate of."""
        return _decision_of(self._native.decide_to_keep(id))

    def decisions(self) -> list[Decision]:
        """What was decided so far."""
        return list(map(_decision_of, self._native.decisions()))

    def undo_decision(self, id: int) -> None:
        """Takes a decision back."""
        self._native.undo_decision(id)

    def find(self, id: int) -> Optional[Picture]:
        """What is known about a picture; ``None`` where there is none."""
        found = self._native.find(id)
        return None if found is None else Picture(**_fields(found))

    def thumbnail(self, id: int) -> bytes:
        """A JPEG; empty where there is none."""
        return self._native.thumbnail(id)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"Library({self._folder!r}): {len(self)} pictures"

    def __reduce__(self) -> tuple[Any, ...]:
        return Library, (self._folder,)

    def _matches(self, found: list[dict[str, Any]]) -> Matches:
        return Matches(self, (Match(**_fields(one)) for one in found))


def _source_of(picture: Any) -> Any:
    """A path, or the bytes of a picture."""
    if isinstance(picture, (str, os.PathLike)):
        return FilePath(picture)
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return bytes(picture)
    return png_of(picture)


class Coder:
    """Turns pictures into codes. Never changes; the same picture always gets the same code."""

    def __init__(self, path: Path) -> None:
        self._native = _native.Coder.open(path)

    @classmethod
    def open(cls, path: Path) -> Coder:
        """Opens a coder's file (.bpc)."""
        return cls(path)

    @classmethod
    def learn(
        cls,
        pictures: Iterable[Path],
        *,
        n_bits: int = 64,
        method: str = "sah",
        max_pictures: int = 2000,
        random_state: int = 1,
        n_threads: Optional[int] = None,
        progress: ProgressOption = None,
    ) -> Coder:
        """Learns a coder from files of pictures, at most ``max_pictures`` of them. Those that cannot be used are left out."""
        paths = [FilePath(path) for path in pictures]
        with tempfile.TemporaryDirectory(prefix="bitpool-") as scratch:
            native, _ = _native.Coder.learn(
                paths, method, n_bits, max_pictures, scratch=scratch, run=run(n_threads, random_state, progress)
            )
        coder = cls.__new__(cls)
        coder._native = native
        return coder

    def save(self, path: Path) -> None:
        """Writes the coder (.bpc), and replaces an existing file."""
        self._native.save(path)

    def encode(
        self,
        pictures: Iterable[PictureLike],
        *,
        errors: str = "raise",
        n_threads: Optional[int] = None,
        progress: ProgressOption = None,
    ) -> npt.NDArray[np.uint8]:
        """The packed codes of pictures: files, their bytes, or arrays of pixels.

        ``errors`` is "raise", or "zero" for a code of zeros where a picture cannot be used.
        """
        if errors not in ("raise", "zero"):
            raise ValueError(f'errors: {errors!r}: expected "raise" or "zero"')
        if isinstance(pictures, (str, bytes, os.PathLike)):
            raise TypeError("pictures: expected several pictures, such as [picture]")
        sources = [_source_of(picture) for picture in pictures]
        if all(isinstance(source, FilePath) for source in sources):
            codes, failed = self._native.encode_files(sources, run(n_threads, progress=progress))
        else:
            contents = [source if isinstance(source, bytes) else source.read_bytes() for source in sources]
            codes, failed = self._native.encode_bytes(contents, run(n_threads, progress=progress))
        if failed and errors == "raise":
            _, code, message = failed[0]
            raise error_of(code, message)
        return codes

    @property
    def n_bits(self) -> int:
        """The length of the codes."""
        return self._native.n_bits

    @property
    def digest(self) -> str:
        """A digest of everything that determines the codes: only codes of equal digests can be compared."""
        return self._native.digest

    def __repr__(self) -> str:
        return f"Coder: {self._native.method}, {self.n_bits} bits"
