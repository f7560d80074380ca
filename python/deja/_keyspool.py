"""Keys for a server that is missing, in a file until it returns: the files of `deja dedup --spool`
(docs/machines.md), so the command and this package deliver each other's keys.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
import time
from typing import Iterator

from ._errors import FileError, FormatError, FullError

FILES = 64
HEADER, RECORD = 64, 12
SYNC = 1.0  # seconds between syncs
_M = (1 << 64) - 1


def _fnv(data: bytes, h: int = 0xCBF29CE484222325) -> int:
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & _M
    return h


def _mix(h: int) -> int:
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & _M
    h = (h ^ h >> 27) * 0x94D049BB133111EB & _M
    return h ^ h >> 31


def _record(at: int, key: bytes) -> bytes:
    return struct.pack("<IQ", len(key), _mix(_fnv(key, _fnv(struct.pack("<QI", at, len(key)))))) + key


class KeySpool:
    def __init__(self, folder: str, cache: str, machine: int, key_check: int, limit: int) -> None:
        self._folder, self._machine, self._limit = folder, machine, limit
        head = struct.pack("<11s5xIIQ16xQ", b"deja-spool\n", 1, machine, key_check, _mix(_fnv(cache.encode())))
        self._head = head + struct.pack("<Q", _mix(_fnv(head)))
        name = re.sub(rb"[^A-Za-z0-9-]", b"_", cache.encode()[:40]).decode()
        self._stem = os.path.join(folder, f"{name}-{key_check:016x}-{machine}")
        self._fd, self._path, self._synced = -1, "", 0.0
        self.keys = self._len = self.damaged = 0
        for number in range(FILES):
            self._take_over(number)

    def _open(self, number: int, flags: int) -> int:
        """Open and lock a file; -1 if it is missing, or of another process."""
        path = f"{self._stem}.{number}.spool"
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)
        except FileNotFoundError:
            return -1
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise FormatError(f"{path} is not a regular file; move it away")
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_nlink:
                return fd
        except BlockingIOError:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return -1

    def _read(self, fd: int, path: str) -> list[bytes]:
        """Return the keys of a file, and cut off what is damaged."""
        data = os.pread(fd, os.fstat(fd).st_size, 0)
        if len(data) < HEADER:
            os.ftruncate(fd, 0)
            os.pwrite(fd, self._head, 0)
            return []
        if data[:HEADER] != self._head:
            raise FormatError(f"{path} is not the spool of this cache, or is damaged; move it away: the server will "
                              "miss the keys in it")
        keys, at = [], HEADER
        while at + RECORD <= len(data):
            key = data[at + RECORD:at + RECORD + struct.unpack_from("<I", data, at)[0]]
            if data[at:at + RECORD + len(key)] != _record(at, key):
                break
            keys.append(key)
            at += RECORD + len(key)
        self.damaged += len(data) - at
        os.ftruncate(fd, at)
        return keys

    def _take_over(self, number: int) -> None:
        fd = self._open(number, 0)
        if fd < 0:
            return
        path = f"{self._stem}.{number}.spool"
        try:
            keys = self._read(fd, path)
            if self._fd < 0:
                self._fd, self._path, self.keys, self._len = fd, path, len(keys), os.fstat(fd).st_size
                return
            self._append(keys)
            os.unlink(path)
            os.close(fd)
        except BaseException:
            if fd != self._fd:
                os.close(fd)
            raise

    def _create(self) -> None:
        os.makedirs(self._folder, 0o700, exist_ok=True)
        for number in range(FILES):
            self._fd = self._open(number, os.O_CREAT)
            if self._fd >= 0:
                self._path = f"{self._stem}.{number}.spool"
                self._read(self._fd, self._path)
                self._len = HEADER
                return
        raise FileError(f"{self._folder}: {FILES} processes spool here; use another folder")

    def check_room(self, keys: list[bytes]) -> None:
        if max(self._len, HEADER) + sum(RECORD + len(key) for key in keys) > self._limit:
            raise FullError(f"the spool for server {self._machine} is full ({self.keys} keys, {self._limit} bytes): start "
                            "that server, or allow more")

    def put(self, keys: list[bytes]) -> None:
        """Append keys: all of them or none."""
        self.check_room(keys)
        self._append(keys)

    def _append(self, keys: list[bytes]) -> None:
        try:
            if self._fd < 0:
                self._create()
            data = bytearray()
            for key in keys:
                data += _record(self._len + len(data), key)
            if os.pwrite(self._fd, data, self._len) != len(data):
                os.ftruncate(self._fd, self._len)
                raise FileError(f"{self._path}: cannot write; free space, or use another folder")
            if time.monotonic() > self._synced + SYNC:
                os.fdatasync(self._fd)
                self._synced = time.monotonic()
        except OSError as reason:
            if isinstance(reason, FileError):
                raise
            raise FileError(f"{self._path or self._folder}: {reason.strerror}; free space, or use another folder") from None
        self._len += len(data)
        self.keys += len(keys)

    def batches(self, most: int) -> Iterator[list[bytes]]:
        """Return all keys in order, in lists."""
        keys = self._read(self._fd, self._path) if self._fd >= 0 else []
        for at in range(0, len(keys), most):
            yield keys[at:at + most]

    def clear(self) -> None:
        if self._fd >= 0:
            os.ftruncate(self._fd, HEADER)
        self._len, self.keys = HEADER if self._fd >= 0 else 0, 0

    def close(self) -> None:
        if self._fd >= 0:
            if self.keys:
                os.fdatasync(self._fd)
            else:
                os.unlink(self._path)
            os.close(self._fd)
        self._fd = -1
