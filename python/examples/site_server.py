#!/usr/bin/env python3
"""Serve a generated web site on 127.0.0.1, full of loops.

    python3 site_server.py [--pages 1000] [--port 0]       print the address and serve until killed

Page i is /p/i.  It links to pages 2i+1 and 2i+2, so every page can be reached from the first, and
also to its parent, itself, the first page and random pages.  Some links use a different spelling of the
same URL: with a fragment, or with its parameters in a different order.  /count returns the number of
requests so far.
"""

from __future__ import annotations

import argparse
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def address(page: int, spelling: int = 0) -> str:
    """Return a path to a page; all spellings have the same canonical URL."""
    if page % 5 == 0:  # pages with a query
        first, second = f"id={page}", "view=full"
        return f"/q?{second}&{first}" if spelling % 2 else f"/q?{first}&{second}"
    return f"/p/{page}#top" if spelling % 2 else f"/p/{page}"


def links(page: int, pages: int) -> list[str]:
    chance = random.Random(page)
    targets = [2 * page + 1, 2 * page + 2, (page - 1) // 2, page, 0]
    targets += [chance.randrange(pages) for _ in range(5)]
    return [address(to, chance.randrange(2)) for to in targets if 0 <= to < pages]


def html(page: int, links: list[str]) -> str:
    items = "".join(f'<li><a href="{link.replace("&", "&amp;")}">{link}</a>\n' for link in links)
    return f"<!doctype html><title>page {page}</title><h1>{page}</h1>\n<ul>\n{items}</ul>\n"


def page_of(path: str) -> int | None:
    try:
        if path.startswith("/q?"):
            fields = dict(field.split("=") for field in path[3:].split("&"))
            return int(fields["id"])
        return 0 if path == "/" else int(path[3:]) if path.startswith("/p/") else None
    except (ValueError, KeyError):
        return None


class Site(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages: int, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.pages = pages
        self.asked: list[int] = []  # pages in the order of the requests
        self.lock = threading.Lock()

    def links(self, page: int) -> list[str]:
        return links(page, self.pages)

    def handle_error(self, request: object, address: object) -> None:
        pass  # the client disconnected

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def start(self) -> "Site":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        page = page_of(self.path)
        if self.path == "/count":
            self.answer(200, str(len(self.server.asked)))
        elif page is None or not 0 <= page < self.server.pages:
            self.answer(404, "no such page")
        else:
            with self.server.lock:
                self.server.asked.append(page)
            self.answer(200, html(page, self.server.links(page)))

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        head = (f"HTTP/1.1 {status} {'OK' if status == 200 else 'Not Found'}\r\n"
                f"Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n")
        self.wfile.write(head.encode() + body)  # one write: the system could delay a second

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--port", type=int, default=0)
    chosen = parser.parse_args()
    site = Site(chosen.pages, chosen.port)
    print(site.url, flush=True)
    site.serve_forever()
