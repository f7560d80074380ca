"""The extension _fast, which calls the library without ctypes; None if it is missing.

$DEJA_EXTENSION names its file, for work on deja itself; "no" chooses ctypes.  Otherwise the extension
is next to this module, if the package was built where a C compiler and Python.h were available.  It
needs the interpreter's lock: a free-threaded Python, which would switch its lock on to load the
extension, always uses ctypes.  It is not linked with libdeja: it gets the addresses of the functions from the library that _lib.py
loaded.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import sysconfig
import warnings
from typing import Any

from ._lib import lib


def _load() -> Any:
    chosen = os.environ.get("DEJA_EXTENSION")
    if chosen == "no" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    if not chosen:
        try:
            return importlib.import_module("deja._fast")
        except ModuleNotFoundError:
            return None
        except ImportError as reason:
            warnings.warn(f"deja uses ctypes, which is slower, because its extension does not load: {reason}",
                          RuntimeWarning)
            return None
    spec = importlib.util.spec_from_file_location("deja._fast", chosen)
    if not spec or not spec.loader:
        raise ImportError(f"DEJA_EXTENSION={chosen}: not an extension of Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _connected(module: Any) -> Any:
    if module:
        module.connect(*map(_address, (
            lib.deja_filter_add, lib.deja_filter_contains, lib.deja_filter_remove, lib.deja_filter_count,
            lib.deja_filter_check_file, lib.deja_url_canon)))
    return module


fast = _connected(_load())
