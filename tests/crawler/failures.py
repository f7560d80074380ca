"""The n-th call of a function fails while a crawl runs (tests/fault/failnth.c): full or broken disks,
no memory, no descriptors, interrupted calls.  The crawl ends with a message, or the failure is
harmless.  When it is resumed, it fetches every page, once, into a complete archive."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import urlparse

import warcfile
from crawling import PATIENCE, arguments, check, fail, looped_site, same
from webserver import Server, site

PAGES = 12
# malloc: ours and the libraries'; their failures end requests or the run.
FAULTS = {"pwrite": ("ENOSPC", "EINTR", "short"), "pread": ("EIO", "EINTR"),
          "open": ("EMFILE",), "fsync": ("EIO",), "msync": ("EIO",), "ftruncate": ("EIO",),
          "fallocate": ("ENOSPC",), "rename": ("EACCES",), "link": ("EACCES",), "mmap": ("ENOMEM",),
          "malloc": ("ENOMEM",)}


def compile_shim():
    shim = Path("failnth.so").resolve()
    source = Path(os.environ["SOURCE"]) / "tests" / "fault" / "failnth.c"
    subprocess.run([os.environ.get("CC") or "cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o",
                    shim, source], check=True)
    return shim


def crawl(server, name, cache, environment=None):
    return subprocess.run(arguments("-q", server.url, "--output", name, "--retries", "0",
                                    "--sync-every", "0", "--max-file", "4000", *cache),
                          capture_output=True, timeout=PATIENCE,
                          env={**os.environ, **(environment or {})})


def trial(server, pages, shim, fault, cache):
    """False if the call was never made."""
    shutil.rmtree("crawl", ignore_errors=True)
    mark = Path("mark").resolve()
    mark.unlink(missing_ok=True)
    done = crawl(server, "crawl", cache, {"LD_PRELOAD": str(shim), "DEJA_FAIL": fault,
                                          "DEJA_FAIL_MARK": str(mark)})
    text = done.stderr.decode(errors="replace")
    check(done.returncode in (0, 1, 2), f"{fault}: exit {done.returncode}: {text}")
    if done.returncode == 2:
        check(text.startswith("deja") and len(text) > 20, f"{fault}: no words: {text!r}")
    if not mark.exists():
        same(done.returncode, 0, f"{fault}: untouched")
        return False
    again = crawl(server, "crawl", cache)
    if again.returncode == 2:
        fail(f"{fault}: it cannot go on: {again.stderr.decode()}; before: {text!r}")
    try:
        found = Counter(urlparse(r.url).path for r in warcfile.read_folder("crawl"))
    except (warcfile.Wrong, OSError) as wrong:
        fail(f"{fault}: {wrong}; before: {text!r}")
    twice = [p for p, n in found.items() if n > 1]
    check(not twice, f"{fault}: archived twice: {twice}")
    missing = set(pages) - set(found)
    # Without memory, a library may report that a host does not answer.
    check(not missing or fault.startswith(("malloc", "mmap", "open")),
          f"{fault}: lost {sorted(missing)}; before: {text!r}")
    return True


def main(step, *cache):
    pages = looped_site(PAGES)
    shim = compile_shim()
    with Server(site(pages)) as server:
        trials = 0
        for call, kinds in FAULTS.items():
            for kind in kinds:
                n = 1
                while trial(server, pages, shim, f"{call} {n} {kind}", cache):
                    n = max(n + 1, int(n * step))
                    trials += 1
                print(f"{call} {kind}: up to number {n}", flush=True)
        print(f"{trials} faults")


if __name__ == "__main__":
    main(2)
