"""Filter files: creating, verifying and guarding them; verifying sieves."""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Optional, Union

from . import _lib
from ._checks import file_name
from ._errors import FileThereError, call, fail
from ._extension import fast
from ._lib import lib

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def create_flags(path: Optional[str], replace: bool, permissions: Optional[int]) -> int:
    """Return the flags for a new file; refuse to replace an existing one unless asked to."""
    if permissions is not None and (isinstance(permissions, bool) or not isinstance(permissions, int)
                                    or not 0 < permissions <= 0o777):
        fail(_lib.EINVAL, f"permissions must be a number from 0o001 to 0o777, not {permissions!r}")
    if permissions is not None and path is None:
        fail(_lib.EINVAL, "permissions apply to files; give a path")
    if path is not None and not replace and os.path.lexists(path):
        ctypes.set_errno(errno.EEXIST)
        fail(_lib.EINVAL, f"{path}: the file already exists", FileThereError)
    return (_lib.CREATE_REPLACE if replace else 0) | (permissions or 0) << _lib.CREATE_MODE_SHIFT


def verify(path: Path) -> None:
    """Read a whole filter file, or all files of a sieve, and compare the checksums.

    FormatError names the damage.  BusyError means that the file was not synced after its last add,
    so it has no valid checksum.
    """
    name = file_name(path)
    encoded = os.fsencode(name)
    verify_it = lib.deja_sieve_verify if lib.deja_sieve_exists(encoded) else lib.deja_file_verify
    call(verify_it, encoded, what=name)


guarded = False  # whether lookups must check the file


def guard_files() -> None:
    """Turn access to a truncated file into a FileError, for all filters of this process.

    Without it, the system kills the process with SIGBUS.  Afterwards every call on a filter whose
    file was truncated or overwritten raises FileError, including `in`.

    This permanently installs a signal handler that passes any other SIGBUS to the previous handler.
    A handler that is installed later, as by faulthandler.enable(), replaces it: call guard_files()
    last.
    """
    global guarded
    call(lib.deja_files_guard)
    guarded = True
    if fast:
        fast.guard()
