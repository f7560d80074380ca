"""A program with the types that users write down, for python.typed and python.typed_long; it is checked, not run."""

from __future__ import annotations
from datetime import date
from array import array
from typing import List, Optional, Tuple
import deja

def crawl(urls: List[str]) -> int:
    with deja.Filter("seen.deja", capacity=10_000, url="crawl", grow=False, dates=False) as seen:
        new: bool = seen.add("http://example.com/")
        found: bool = b"x" in seen
        answers: bytes = seen.add_many(urls)
        counts: array[int] = seen.count_many(u for u in urls)
        days: Optional[deja.Days] = seen.days("a")
        if days:
            first: date = days.first
            print(first)
        seen.update(urls, b"a\nb\n", deja.Filter())
        seen |= deja.Filter(capacity=100)
        both: deja.Filter = seen | seen.copy()
        n: int = len(both)
        keys, sigma = seen.overlap(both)
        total: float = keys + sigma
        stats: deja.Stats = seen.stats()
        rules: Optional[deja.Rules] = seen.rules
        print(new, found, answers, counts, total, stats.fp_now, rules, n)
    try:
        deja.Filter.from_bytes(b"")
    except (deja.FormatError, deja.FullError) as error:
        print(error)
    with deja.Sieve("s.sieve", memory="2M") as sieve:
        verdict: deja.Verdict = sieve.add("a")
        for record, is_new in sieve.settle():
            text: Tuple[bytes, bool] = (record, is_new)
            print(text, verdict)
    with deja.Machines(["redis://a", "redis://b"], "seen", capacity=100) as machines:
        flags: List[bool] = machines.add_many(urls)
        print(flags)
    form: str = deja.canonical("http://a/", "safe")
    raw: bytes = deja.canonical(b"http://a/", "safe")
    plan: deja.Plan = deja.plan(capacity=100, fp_rate=0.01)
    print(form, raw, plan.bytes, deja.resolve("http://a/", "b"), deja.layers("http://a/"))
    return sum(answers)
