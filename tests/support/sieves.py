"""Sieves in which most keys wait, for tests/python/*.py."""

import deja

OLD = 3_000_000  # keys; a filter of 512 KiB then takes three of four new ones for seen


def crowded(path):
    """Fill a sieve with many keys, quickly; then most keys wait if it is opened with the least memory, "1M"."""
    with deja.Sieve(path, memory="256M", seed=1) as s:
        for begin in range(0, OLD, 100_000):
            verdicts = s.add_many(b"".join(b"old %d\n" % i for i in range(begin, begin + 100_000)))
            assert verdicts.count(deja.Verdict.NEW) == 100_000
            s.commit()
    return path
