"""Exceptions: one for each status of the library.

Each is also the built-in exception that Python programs expect, so `except OSError` and `except
ValueError` work.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
from typing import Any, NoReturn, Optional

from . import _lib


class Error(Exception):
    """Base class of all errors of this package; `status` is the library's deja_status.

    If Sieve.add_many fails, `done` is how many keys it judged before, and `answers` has their verdicts.
    """

    status = 0
    done = 0
    answers = b""


class CapacityWarning(RuntimeWarning):
    """A filter that does not grow has more keys than its capacity: its rate is above fp_rate."""


class ArgumentError(Error, ValueError):
    """An argument breaks a rule (DEJA_EINVAL)."""


class NoMemoryError(Error, MemoryError):
    """Out of memory; nothing has changed (DEJA_ENOMEM)."""


class FileError(Error, OSError):
    """A file operation failed; `errno` gives the reason (DEJA_EIO)."""


class FileMissingError(FileError, FileNotFoundError):
    """The file does not exist."""


class FileThereError(FileError, FileExistsError):
    """The file to be created already exists."""


class FileDeniedError(FileError, PermissionError):
    """The system denies access to the file."""


class FormatError(Error, ValueError):
    """The file is not a filter, or is damaged (DEJA_EFORMAT)."""


class VersionError(Error, ValueError):
    """The file is valid but newer than the library (DEJA_EVERSION)."""


class FullError(Error):
    """The filter has no room for a key, or the sieve until you commit or settle (DEJA_EFULL).

    `done` is how many keys the call added before that one.
    """


class UnsupportedError(Error, TypeError):
    """This kind of filter lacks the operation; the message names a kind that has it (DEJA_ENOTSUP)."""


class MismatchError(Error, ValueError):
    """The filter has a different kind, size, key or URL profile (DEJA_EMISMATCH)."""


class BusyError(Error, BlockingIOError):
    """Another process is writing the file or sieve (DEJA_EBUSY)."""


class NotURLError(Error, ValueError):
    """The bytes are not a URL (DEJA_ENOTURL)."""


class ReentryError(Error, RuntimeError):
    """A signal handler or finalizer made a call that would wait for the call that it interrupted."""


class ReadOnlyError(ArgumentError):
    """The filter is open for reading only."""


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
    """Escape control characters: a terminal would interpret those in a file name."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def in_python(text: str) -> str:
    """Translate a text of the library: its options and functions are arguments and methods here."""
    for name, word in (("DEJA_OPEN_REPAIR", "repair=True"), ("deja_filter_copy", "copy"), ("deja_builder_new", "build")):
        text = text.replace(name, word)
    return re.sub(r"(?<![^ (])options\.(\w+)", lambda m: m[1] if m[1] in _lib.OPTIONS else m[0], text)


def fail(status: int, text: str = "", kind: Optional[type[Error]] = None) -> NoReturn:
    """Raise the exception for a status, or one of the given kind."""
    number = ctypes.get_errno()
    if not text:
        text = str(_lib.lib.deja_strerror(status).decode())
        if status == _lib.EIO and number:
            text += ": " + os.strerror(number)
    if not kind:
        kind = _CLASSES.get(status, Error)
        if status == _lib.EIO:
            kind = _FILE_CLASSES.get(number, kind)
    error = kind(_printable(text))
    error.status = status
    if isinstance(error, OSError):
        error.errno = number
    raise error


def check(status: int, error: Optional[_lib.Error] = None, what: str = "") -> None:
    """Raise unless the status is DEJA_OK.  The message starts with `what` unless it names it already."""
    if status == _lib.OK:
        return
    text = in_python(error.text.decode(errors="backslashreplace")) if error is not None and error.status else ""
    if text and what and what not in text:
        text = f"{what}: {text}"
    fail(status, text)


def call(function: Any, *arguments: Any, what: str = "") -> None:
    """Call a function of the library whose last argument is a deja_error, and raise on failure."""
    error = _lib.Error()
    check(function(*arguments, ctypes.byref(error)), error, what)


def make(function: Any, *arguments: Any, what: str = "") -> int:
    """The same for a function that also stores a handle; return the handle."""
    out = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(out), what=what)
    assert out.value
    return out.value
