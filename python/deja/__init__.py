"""deja: have I seen this URL before?

    import deja

    with deja.Filter("seen.deja", capacity=10_000_000) as seen:
        if seen.add("http://example.com/"):
            ...                                   # it was new

        answers = seen.add_many(urls)             # a list, or a buffer with one URL per line

Filter is a set that takes 10 to 40 bits per key.  A key that was added is always found, except in
kinds that forget by design.  A key that was not added may be found too, at a rate that you choose;
stats() estimates how many keys were lost that way.

Sieve loses no key and uses fixed memory: it is a directory on disk, and keys that may be false
positives wait until they have been looked up there.

Machines is a cache of F filters on F servers, one of which may be missing.

    canonical, Rules                 the canonical form of a URL
    resolve, layers, expressions     the target of a link; the parts of a URL
    plan                             the size of a filter before you make it
    verify, guard_files              damaged and truncated files
    deja.scrapy                      a duplicate filter and a fingerprinter for Scrapy

Every error is a deja.Error.  The package calls the C library libdeja; docs/python.md in its source
is the guide.
"""

from ._errors import (
    ArgumentError, BusyError, CapacityWarning, Error, FileDeniedError, FileError, FileMissingError, FileThereError,
    FormatError, FullError, MismatchError, NoMemoryError, NotURLError, ReadOnlyError, ReentryError, UnsupportedError,
    VersionError,
)
from ._files import guard_files, verify
from ._filter import Filter
from ._lib import lib as _library
from ._machines import Machines
from ._options import plan
from ._records import Days, Layer, Plan, SievePlan, SieveStats, Stats
from ._sieve import Settled, Sieve, Verdict
from ._url import Rules, canonical, expressions, layers, resolve

__version__: str = _library.deja_version().decode()
__all__ = [
    "Days", "Filter", "Layer", "Machines", "Plan", "Rules", "Settled", "Sieve", "SievePlan", "SieveStats", "Stats", "Verdict",
    "canonical", "expressions", "guard_files", "layers", "plan", "resolve", "verify",
    "ArgumentError", "BusyError", "CapacityWarning", "Error", "FileDeniedError", "FileError", "FileMissingError",
    "FileThereError", "FormatError", "FullError", "MismatchError", "NoMemoryError", "NotURLError", "ReadOnlyError",
    "ReentryError", "UnsupportedError", "VersionError",
]
