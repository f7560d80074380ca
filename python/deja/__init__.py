"""deja: have I seen this URL before?

    import deja

    with deja.Filter("seen.deja", capacity=10_000_000) as seen:
        if seen.add("http://example.com/"):
            ...                                   # it was new

    answers = seen.add_many(urls)                 # a list, or a buffer with a URL a line

Filter is a set of keys in 10 to 40 bits a key.  It never forgets a key; it may claim one that it
has not, at a rate that you choose, and stats() tells how many were probably lost that way.
`canonical` and `Rules` make spellings of one URL equal, `plan` tells what a filter would cost;
`resolve`, `layers` and `expressions` are about URLs and their parts, `verify` and `guard_files` about files.
Every error is a deja.Error.  `deja.scrapy` has a duplicate filter and a fingerprinter for Scrapy.

The work is done by libdeja, a C library; docs/python.md in its source is the guide.
"""

from ._errors import (
    ArgumentError, BusyError, CapacityWarning, Error, FileDeniedError, FileError, FileMissingError, FileThereError,
    FormatError, FullError, MismatchError, NoMemoryError, NotURLError, ReadOnlyError, ReentryError, UnsupportedError,
    VersionError,
)
from ._filter import Filter, guard_files, verify
from ._lib import lib as _library
from ._options import plan
from ._records import Layer, Plan, Stats
from ._url import Rules, canonical, expressions, layers, resolve

__version__: str = _library.deja_version().decode()
__all__ = [
    "Filter", "Layer", "Plan", "Rules", "Stats",
    "canonical", "expressions", "guard_files", "layers", "plan", "resolve", "verify",
    "ArgumentError", "BusyError", "CapacityWarning", "Error", "FileDeniedError", "FileError", "FileMissingError",
    "FileThereError", "FormatError", "FullError", "MismatchError", "NoMemoryError", "NotURLError", "ReadOnlyError",
    "ReentryError",
    "UnsupportedError", "VersionError",
]
