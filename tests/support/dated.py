"""dated - add the lines of standard input to a filter file as if it were some days ago.

    dated.py FILE DAYS

The command has no option for the time, so that no one can set it by mistake; the library has."""

import ctypes
import os
import sys
import time


class Slice(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("len", ctypes.c_size_t)]


lib = ctypes.CDLL(os.environ["LIBDEJA"])
lib.deja_filter_set_clock.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
lib.deja_filter_add.argtypes = [ctypes.c_void_p, Slice, ctypes.c_void_p, ctypes.c_void_p]
f = ctypes.c_void_p()
path, days = sys.argv[1], int(sys.argv[2])
assert lib.deja_filter_open(os.fsencode(path), 1, None, ctypes.byref(f), None) == 0, path
assert lib.deja_filter_set_clock(f, int(time.time()) - 86400 * days, None) == 0, path
for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
    assert lib.deja_filter_add(f, Slice(line, len(line)), None, None) == 0, line
assert lib.deja_filter_sync(f, None) == 0, path
lib.deja_filter_free(f)
