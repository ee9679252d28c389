"""The library's errors, each also of the class that Python has for such a mistake."""

from __future__ import annotations


class Error(Exception):
    """What the library refuses, in one line that can be shown as it is.

    ``code`` says what a caller can do about it: "invalid argument", "not found", "corrupt", "unsupported",
    "resources", "I/O", "cancelled" or "internal".
    """

    code: str = "internal"


class InvalidArgumentError(Error, ValueError):
    """An invalid argument; also a ``ValueError``."""

    code = "invalid argument"


class NotFoundError(Error, FileNotFoundError):
    """A file or an entry that is not there; also a ``FileNotFoundError``."""

    code = "not found"


class ResourcesError(Error, MemoryError):
    """Memory, disk space or another limit is used up; also a ``MemoryError``."""

    code = "resources"


class FileError(Error, OSError):
    """The operating system refused a file operation; also an ``OSError``."""

    code = "I/O"


_CLASSES: dict[str, type[Error]] = {
    one.code: one for one in (InvalidArgumentError, NotFoundError, ResourcesError, FileError)
}


def error_of(code: str, message: str) -> Error:
    """The error with this code; the extension module raises what this returns."""
    error = _CLASSES.get(code, Error)(message)
    error.code = code
    return error
