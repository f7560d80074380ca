"""A connection to one of several servers that are asked at the same time.

Nothing here blocks: wait() moves bytes for all peers until the busy ones have their replies or are
lost.  A server that is silent for SILENCE seconds while a reply is due is lost, and is tried again after
a rest that doubles each time.
"""

from __future__ import annotations

import select
import socket
import time
from typing import Any, Iterable, Optional
from urllib.parse import unquote

from ._errors import ArgumentError

SILENCE = 5.0
REST_LEAST, REST_MOST = 0.2, 30.0
PASSING = ("LOADING", "BUSY ", "MASTERDOWN", "READONLY")  # errors of a server that may answer later


class Refusal(str):
    """An error instead of a reply, or inside one."""


def parse_url(url: str) -> tuple[str, int, list[list[str]]]:
    """Return host, port and the commands to begin with; redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]."""
    rest = url[len("redis://"):] if url.startswith("redis://") else url
    place, _, db = rest.partition("/")
    secret, _, place = place.rpartition("@")
    host, _, port = place.rpartition(":") if not place.endswith("]") and ":" in place else (place, "", "6379")
    user, _, password = secret.rpartition(":") if ":" in secret else ("", "", secret)
    good = "://" not in rest and host.strip("[]") and port.isdecimal() and 0 < int(port) < 65536 and (db or "0").isdecimal()
    if not good:
        raise ArgumentError(f"{('...@' + place) if secret else url!r} is not the URL of a server; use "
                            "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]")
    greeting = []
    if password:
        greeting.append(["AUTH", *([unquote(user)] if user else []), unquote(password)])
    if db and int(db):
        greeting.append(["SELECT", db])
    return host.strip("[]"), int(port), greeting or [["PING"]]


def packed(words: Iterable[Any]) -> bytes:
    data = [w if isinstance(w, bytes) else str(w).encode("utf-8", "surrogateescape") for w in words]
    return b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in data)


class _Partial(Exception):
    """The reply has not arrived completely."""


def _line(data: bytearray, at: int) -> tuple[bytes, int]:
    end = data.find(b"\r\n", at)
    if end < 0:
        raise _Partial
    return bytes(data[at:end]), end + 2


def parse_reply(data: bytearray, at: int = 0, depth: int = 0) -> tuple[Any, int]:
    """Return a reply (protocol version 2) and where it ends; _Partial or ValueError if it cannot be read."""
    line, at = _line(data, at)
    mark, rest = line[:1], line[1:]
    if mark in (b"+", b"-"):
        return (Refusal(rest.decode(errors="replace")) if mark == b"-" else rest), at
    number = int(rest)
    if mark == b":":
        return number, at
    if mark == b"$" and number <= 1 << 29:
        if number < 0:
            return None, at
        if len(data) < at + number + 2:
            raise _Partial
        return bytes(data[at:at + number]), at + number + 2
    if mark != b"*" or depth > 7 or number > 1 << 24:
        raise ValueError(f"unexpected reply {line[:20]!r}")
    items = []
    for _ in range(number):
        item, at = parse_reply(data, at, depth + 1)
        items.append(item)
    return items, at


class Peer:
    def __init__(self, url: str) -> None:
        self._host, self._port, self._greeting = parse_url(url)
        self.name = f"{self._host}:{self._port}"
        self.why = ""
        self.replies: list[Any] = []
        self._socket: Optional[socket.socket] = None
        self._out, self._in = bytearray(), bytearray()
        self._due = self._greetings = 0
        self._heard = self._again = 0.0
        self._rest = REST_LEAST

    @property
    def here(self) -> bool:
        return self._socket is not None

    @property
    def busy(self) -> bool:
        return self.here and bool(self._due or self._greetings)

    def connect(self) -> bool:
        """Start to connect unless it is too early; return whether there is a connection."""
        if not self.here and time.monotonic() >= self._again:
            try:
                family, kind, proto, _, address = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)[0]
                self._socket = socket.socket(family, kind, proto)
                self._socket.setblocking(False)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._socket.connect_ex(address)
            except OSError as reason:
                self.lose(str(reason))
                return False
            self._heard, self._greetings = time.monotonic(), len(self._greeting)
            self._out += b"".join(map(packed, self._greeting))
        return self.here

    def send(self, commands: list[bytes]) -> None:
        """Send packed commands; their replies will be in `replies`."""
        self.replies, self._due, self._heard = [], len(commands), time.monotonic()
        self._out += b"".join(commands)

    def lose(self, why: str) -> None:
        self.why = f"{self.name}: {why}"
        self.close()
        self._again = time.monotonic() + self._rest
        self._rest = min(2 * self._rest, REST_MOST)

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket, self._due, self._greetings = None, 0, 0
        self._out.clear()
        self._in.clear()

    def hurry(self) -> None:
        """Allow the next attempt to connect at once."""
        self._again = 0.0

    # --- The loop ---

    def fileno(self) -> int:
        assert self._socket
        return self._socket.fileno()

    @property
    def writes(self) -> bool:
        return bool(self._out)

    def transmit(self) -> None:
        assert self._socket
        try:
            del self._out[:self._socket.send(self._out)]
        except BlockingIOError:
            pass
        except OSError as reason:
            self.lose(reason.strerror or str(reason))

    def receive(self) -> None:
        assert self._socket
        try:
            data = self._socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError as reason:
            self.lose(reason.strerror or str(reason))
            return
        if not data:
            self.lose("the server closed the connection")
            return
        self._heard = time.monotonic()
        self._in += data
        try:
            while self.here and self._in:
                reply, end = parse_reply(self._in)
                del self._in[:end]
                self._take(reply)
        except _Partial:
            pass
        except ValueError as reason:
            self.lose(str(reason))

    def _take(self, reply: Any) -> None:
        refused = isinstance(reply, Refusal)
        if refused and (self._greetings or reply.startswith(PASSING)):
            self.lose(reply)
        elif self._greetings:
            self._greetings -= 1
            self._rest = REST_LEAST
        elif self._due:
            self._due -= 1
            self.replies.append(reply)
        else:
            self.lose("sent a reply that nobody asked for")

    def check_silence(self) -> None:
        if self.busy and time.monotonic() - self._heard > SILENCE:
            self.lose("no reply in time")


def wait(peers: Iterable[Peer], seconds: float) -> None:
    """Wait until one of the busy peers is no longer busy, or the time is over."""
    busy = [p for p in peers if p.busy]
    end = time.monotonic() + seconds
    while busy and all(p.busy for p in busy):
        poll = select.poll()
        by_number = {p.fileno(): p for p in busy}
        for p in busy:
            poll.register(p, select.POLLIN | (select.POLLOUT if p.writes else 0))
        for number, events in poll.poll(max(0, min(100, 1000 * (end - time.monotonic())))):
            peer = by_number[number]
            if events & select.POLLOUT:
                peer.transmit()
            if peer.here and events & (select.POLLIN | select.POLLERR | select.POLLHUP):
                peer.receive()
        for p in busy:
            p.check_silence()
        if time.monotonic() >= end:
            return
