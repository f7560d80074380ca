"""A small web server for tests: it answers from a function, counts everything, and can misbehave.

    with Server(answer) as server:
        ... server.url, server.log

`answer(request)` gives an Answer.  One thread runs an event loop for any number of addresses of
127.0.0.0/8, which share a port; a test stops it when it ends."""

import asyncio
import socket
import threading
import time
from dataclasses import dataclass, field


@dataclass
class Request:
    host: str  # the Host header
    path: str  # with its query
    headers: dict
    address: str  # the address of the server


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    type: str = "text/html"  # None: no Content-Type
    headers: list = field(default_factory=list)
    raw: bytes = None  # sent instead of everything else
    chunked: bool = False
    wait: float = 0  # seconds before anything is sent
    drip: float = 0  # seconds between pieces of the body
    cut: int = None  # this many bytes of the body, then the connection ends
    length: int = None  # a wrong Content-Length


@dataclass
class Seen:
    at: float  # seconds of a steady clock
    host: str
    path: str
    agent: str
    headers: dict
    answered: float = 0  # when the answer started: before the client can have it


REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 304: "Not Modified",
           404: "Not Found", 500: "Internal Server Error", 503: "Service Unavailable"}


def page(*links, text="", head=""):
    """A page with links."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>\n' for link in links)
    return (f"<!DOCTYPE html><html><head><title>t</title>{head}</head><body>{text}<ul>\n{items}"
            "</ul></body></html>\n").encode()


def head_of(answer):
    lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Some Status')}"]
    if answer.type:
        lines.append(f"Content-Type: {answer.type}")
    if answer.chunked:
        lines.append("Transfer-Encoding: chunked")
    elif answer.status != 304:
        length = len(answer.body) if answer.length is None else answer.length
        lines.append(f"Content-Length: {length}")
    lines += [f"{name}: {value}" for name, value in answer.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Server:
    def __init__(self, answer, addresses=("127.0.0.1",)):
        self.answer = answer
        self.addresses = addresses
        self.log = []
        self.open = 0
        self.most_open = {}  # per host: the most requests open at once
        self.hold_after = None  # requests after this many wait until it is None again
        self.busy = {}
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    # --- its thread --------------------------------------------------------------

    def _sockets(self):
        """One for each address; the first finds a free port.  With the protocol named, asyncio
        sends without delay."""
        self.port = 0
        sockets = []
        for address in self.addresses:
            s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((address, self.port))
            self.port = s.getsockname()[1]
            sockets.append(s)
        return sockets

    def _run(self):
        asyncio.set_event_loop(self.loop)
        for s in self._sockets():
            self.loop.run_until_complete(asyncio.start_server(self._serve, sock=s, backlog=1000))
        self.ready.set()
        self.loop.run_forever()
        self.loop.run_until_complete(self._end())
        self.loop.close()

    async def _end(self):
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def _serve(self, reader, writer):
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def _one(self, reader, writer):
        """Answer one request; return False if the connection must close."""
        try:
            text = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return False
        lines = text.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip().lower()] = value.strip()
        path = lines[0].split(" ")[1]
        host = headers.get("host", "")
        seen = Seen(time.monotonic(), host, path, headers.get("user-agent", ""), headers)
        self.log.append(seen)
        self.busy[host] = self.busy.get(host, 0) + 1
        self.most_open[host] = max(self.most_open.get(host, 0), self.busy[host])
        try:
            address = writer.get_extra_info("sockname")[0]
            number = len(self.log)
            while self.hold_after is not None and number > self.hold_after:
                await asyncio.sleep(0.005)
            answer = self.answer(Request(host, path, headers, address))
            if answer.wait:
                await asyncio.sleep(answer.wait)
            seen.answered = time.monotonic()
            return await self._send(writer, answer)
        finally:
            self.busy[host] -= 1

    async def _send(self, writer, answer):
        if answer.raw is not None:
            writer.write(answer.raw)
            await writer.drain()
            return False
        writer.write(head_of(answer))
        if answer.status == 304:
            await writer.drain()
            return True
        body = answer.body if answer.cut is None else answer.body[:answer.cut]
        step = 16 if answer.drip else max(1, len(body))
        for at in range(0, len(body), step):
            piece = body[at:at + step]
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if answer.chunked else piece)
            if answer.drip:
                await writer.drain()
                await asyncio.sleep(answer.drip)
        if answer.chunked and answer.cut is None:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return answer.cut is None and answer.length is None

    # --- for tests ----------------------------------------------------------------

    def __enter__(self):
        self.thread.start()
        if not self.ready.wait(600):
            raise RuntimeError("the server does not start")
        self.url = f"http://{self.addresses[0]}:{self.port}/"
        return self

    def __exit__(self, *unused):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(600)

    def paths(self, robots=False):
        """The requested paths, in order."""
        return [s.path for s in self.log if robots or s.path != "/robots.txt"]

    def clear(self):
        self.log.clear()
        self.most_open.clear()


def site(pages, missing=404):
    """A function that answers from a dict: path -> bytes or Answer."""
    def answer(request):
        found = pages.get(request.path)
        if found is None:
            return Answer(b"nothing here", missing, "text/plain")
        return found if isinstance(found, Answer) else Answer(found)
    return answer
