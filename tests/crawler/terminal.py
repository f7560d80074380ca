"""On a terminal, a line shows the progress and is then erased; in a pipe there is no such line."""

import os
import pty
import subprocess
import sys

from crawling import PATIENCE, arguments, check, same
from webserver import Answer, Server, page, site

pages = {"/": page(*[f"/{i}" for i in range(8)]),
         **{f"/{i}": Answer(page(), wait=0.15) for i in range(8)}}


def read_all(fd):
    text = b""
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:  # the other side is gone
            return text
        if not piece:
            return text
        text += piece


try:
    ours, theirs = pty.openpty()
except OSError:
    print("skipped: no pseudo terminals here, as in a chroot without /dev/pts")
    sys.exit(77)
with Server(site(pages)) as server:
    process = subprocess.Popen(arguments(server.url, "--output", "tty"), stderr=theirs,
                               stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = read_all(ours)
    same(process.wait(PATIENCE), 0, "exit")
    check(b"visit 1: " in shown and b"waiting" in shown and b"at work" in shown, f"status: {shown}")
    check(b"visit 1, done: 9 pages" in shown, "the summary at the end")
    done = subprocess.run(arguments(server.url, "--output", "pipe"), capture_output=True,
                          timeout=PATIENCE)
    check(b"at work" not in done.stderr and b"done: 9 pages" in done.stderr, "a pipe")
