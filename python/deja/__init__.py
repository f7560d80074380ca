"""deja: have I seen this URL before?

    import deja

    with deja.Filter("seen.deja", capacity=10_000_000) as seen:
        if seen.add("http://example.com/"):
            ...                                   # it was new

    answers = seen.add_many(urls)                 # a list, or a buffer with a URL a line

Filter is a set of keys in 10 to 40 bits a key.  It never forgets a key; it may claim one that it
has not, at a rate that you choose, and stats() tells how many were probably lost that way.
`canonical` and `Rules` make spellings of one URL equal, `plan` tells what a filter would cost.
Every error is a deja.Error.  `deja.scrapy` has a duplicate filter and a fingerprinter for Scrapy.

The work is done by libdeja, a C library; docs/python.md in its source is the guide.
"""

from ._errors import (
    ArgumentError, BusyError, Error, FileError, FileMissingError, FileThereError, FormatError, FullError,
    MismatchError, NoMemoryError, NotURLError, ReadOnlyError, UnsupportedError, VersionError,
)
from ._filter import Filter, plan, verify
from ._lib import lib as _library
from ._records import Plan, Stats
from ._url import Rules, canonical

__version__: str = _library.deja_version().decode()
__all__ = [
    "Filter", "Plan", "Rules", "Stats", "canonical", "plan", "verify",
    "ArgumentError", "BusyError", "Error", "FileError", "FileMissingError", "FileThereError",
    "FormatError", "FullError", "MismatchError", "NoMemoryError", "NotURLError", "ReadOnlyError",
    "UnsupportedError", "VersionError",
]
