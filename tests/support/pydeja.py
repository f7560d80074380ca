"""Use the Python package of this tree with the library under test, for tests/python/*.py.

    import pydeja                   then: import deja
    pydeja.need_scrapy()            continues in Debian's Python if this one has no Scrapy, or skips

If DEJA_TEST_PYTHON chose this Python, the test does not continue in another.
"""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["SOURCE"])
LIBRARY = Path(os.environ["LIBDEJA"])
SYSTEM = "/usr/bin/python3"
URLS = [f"http://example.com/{i}" for i in range(3000)]
TEXT = "".join(url + "\n" for url in URLS).encode()


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def in_child(code):
    """Run code in another process; return its output."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def need_scrapy():
    try:
        import scrapy  # noqa: F401
    except ImportError:
        here = "DEJA_TEST_PYTHON" in os.environ or os.path.realpath(sys.executable) == os.path.realpath(SYSTEM)
        if not here and os.path.exists(SYSTEM):
            os.execv(SYSTEM, [SYSTEM] + sys.argv)
        skip("no Scrapy for python3 (Debian: python3-scrapy)")


if sys.version_info < (3, 9):
    skip(f"Python {sys.version.split()[0]}; the package needs 3.9")
if any(mark in LIBRARY.read_bytes() for mark in (b"__asan_init", b"__tsan_init", b"__ubsan_handle")):
    skip("the library needs a sanitizer's runtime, which Python does not have")
os.environ["DEJA_LIBRARY"] = str(LIBRARY)
os.environ["PYTHONPATH"] = os.pathsep.join([str(SOURCE / "python"), os.environ.get("PYTHONPATH", "")])
sys.path[:0] = [str(SOURCE / "python"), str(SOURCE / "python" / "examples")]
