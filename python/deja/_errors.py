"""Exceptions: one for each way in which the library says no, and beside it the built-in one that
Python programs expect, so that `except OSError` and `except ValueError` do what they look like.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
from typing import NoReturn, Optional

from . import _lib


class Error(Exception):
    """What every call of this package may raise; `status` is the library's deja_status."""

    status = 0


class CapacityWarning(RuntimeWarning):
    """A filter that does not grow holds more keys than it was sized for: its rate is above fp_rate."""


class ArgumentError(Error, ValueError):
    """An argument breaks a rule (DEJA_EINVAL)."""


class NoMemoryError(Error, MemoryError):
    """There is not enough memory; nothing has changed (DEJA_ENOMEM)."""


class FileError(Error, OSError):
    """A file operation failed; `errno` tells which way (DEJA_EIO)."""


class FileMissingError(FileError, FileNotFoundError):
    """There is no such file."""


class FileThereError(FileError, FileExistsError):
    """There is such a file, and it was to be new."""


class FileDeniedError(FileError, PermissionError):
    """The system does not allow it."""


class FormatError(Error, ValueError):
    """The file is no filter, or a damaged one (DEJA_EFORMAT)."""


class VersionError(Error, ValueError):
    """The file is sound, but newer than the library (DEJA_EVERSION)."""


class FullError(Error):
    """There is no room for this key, and it was not added (DEJA_EFULL).

    `done` keys of the call were taken before it."""

    done = 0


class UnsupportedError(Error, TypeError):
    """This kind cannot; the text says which kind can (DEJA_ENOTSUP)."""


class MismatchError(Error, ValueError):
    """Another kind, size, key or URL profile (DEJA_EMISMATCH)."""


class BusyError(Error, BlockingIOError):
    """Another process writes this file (DEJA_EBUSY)."""


class NotURLError(Error, ValueError):
    """These bytes are no URL (DEJA_ENOTURL)."""


class ReentryError(Error, RuntimeError):
    """A signal handler or finalizer made a call that would have to wait for the call it interrupted."""


class ReadOnlyError(ArgumentError):
    """The filter was opened for reading."""


_CLASSES: dict[int, type[Error]] = {
    _lib.EINVAL: ArgumentError,
    _lib.ENOMEM: NoMemoryError,
    _lib.EIO: FileError,
    _lib.EFORMAT: FormatError,
    _lib.EVERSION: VersionError,
    _lib.EFULL: FullError,
    _lib.ESPACE: ArgumentError,
    _lib.ENOTSUP: UnsupportedError,
    _lib.EMISMATCH: MismatchError,
    _lib.EBUSY: BusyError,
    _lib.ENOTURL: NotURLError,
}
_FILE_CLASSES: dict[int, type[Error]] = {
    errno.ENOENT: FileMissingError,
    errno.EEXIST: FileThereError,
    errno.EACCES: FileDeniedError,
    errno.EPERM: FileDeniedError,
}


def _printable(text: str) -> str:
    """Text that a terminal shows instead of obeying it: names of files can contain escape sequences."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def in_python(text: str) -> str:
    """A text of the library in Python's words: options and flags are keyword arguments."""
    for name, word in (("DEJA_OPEN_REPAIR", "repair=True"), ("deja_filter_copy", "copy"), ("deja_builder_new", "build")):
        text = text.replace(name, word)
    return re.sub(r"(?<![^ (])options\.(\w+)", lambda m: m[1] if m[1] in _lib.OPTIONS else m[0], text)


def fail(status: int, text: Optional[str] = None) -> NoReturn:
    """Raise the exception for a status, with a text for people."""
    number = ctypes.get_errno()
    if not text:
        text = str(_lib.lib.deja_strerror(status).decode())
        if status == _lib.EIO and number:
            text += ": " + os.strerror(number)
    kind = _CLASSES.get(status, Error)
    if status == _lib.EIO:
        kind = _FILE_CLASSES.get(number, kind)
    error = kind(_printable(text))
    error.status = status
    if isinstance(error, OSError):
        error.errno = number
    raise error


def check(status: int, error: Optional[_lib.Error] = None, what: str = "") -> None:
    """Raise unless the status is DEJA_OK.  `what` goes before a text that names no file."""
    if status == _lib.OK:
        return
    text = in_python(error.text.decode(errors="backslashreplace")) if error is not None and error.status else ""
    if text and what and what not in text:
        text = f"{what}: {text}"
    fail(status, text)
