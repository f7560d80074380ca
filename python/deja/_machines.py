"""F filters on F servers, one on each: `deja dedup --redis A --redis B ...` makes and uses the same
(docs/machines.md).

All servers are asked at the same time.  A key was seen if every server that answers says so.  Keys for a
missing server wait in a file (_keyspool.py), and it answers again only when it has them.
"""

from __future__ import annotations

import logging
import math
import os
import re
import secrets
import time
from typing import Any, Iterable, Optional, Sequence, Union

from ._checks import size, whole
from ._errors import ArgumentError, Error, MismatchError
from ._keyspool import KeySpool
from ._keys import Key, key_bytes
from ._peer import Peer, Refusal, packed, wait
from ._server import MOST_SHARDS, _given, _words, shard_of
from ._url import Rules

logger = logging.getLogger(__name__)

MOST = 16
PATIENCE = 60.0
BATCH = 256
SPOOL_SIZE = 64 << 20
AWAY, NAMED, SHOWN, CATCHES, READY, LOST = "away", "named", "shown", "catches", "ready", "lost"
TEXT = re.compile(r"deja-machine 1 filter=(\d+)/(\d+) (?:shards=(\d+) (profile=\S+ rules=\S+) set=([0-9a-f]{16})|making=(\S+))")
FACTS = b"filters", b"visit", b"hashes", b"capacity", b"bits", b"kind", b"hash", b"key_check"


def spool_folder() -> str:
    state = os.environ.get("XDG_STATE_HOME", "")
    return os.path.join(state if state.startswith("/") else os.path.expanduser("~/.local/state"), "deja")


class _Machine:
    """One server: from a new connection to answers."""

    def __init__(self, whole: "Machines", number: int, url: str) -> None:
        self.set, self.number, self.peer = whole, number, Peer(url)
        self.stage, self.spool = AWAY, None  # type: str, Optional[KeySpool]
        self.was_here, self.told, self.delivered, self.rate = False, False, 0, math.nan
        self.rest: Any = iter(())
        self.batch: list[bytes] = []

    @property
    def key(self) -> str:
        return f"{self.set.name}.{self.number}"

    def ask(self, *commands: Sequence[Any]) -> None:
        self.peer.send([packed(c) for c in commands])

    def give_up(self, why: str) -> None:
        self.peer.close()
        self.stage = LOST
        logger.error("deja: %s; continuing without server %d", why, self.number)

    def refuse(self, why: str) -> None:
        if not self.set.opened:
            raise MismatchError(why)
        self.give_up(why)

    def say_empty(self) -> None:
        self.give_up(f"server {self.number} at {self.peer.name} has lost its filter of {self.set.name}; restore its data")

    def go_away(self) -> None:
        if self.was_here and not self.told:
            logger.warning("deja: lost server %d at %s; continuing with the others", self.number, self.peer.why)
        self.told, self.stage = True, AWAY

    def step(self) -> None:
        """Move on if there is nothing to wait for."""
        if self.stage not in (AWAY, LOST) and not self.peer.here:
            self.go_away()
        elif self.stage == AWAY:
            if self.peer.connect():
                self.ask(*(["GET", f"{self.set.name}.{i + 1}"] for i in range(self.set.n)))
                self.stage = NAMED
        elif self.peer.busy or self.stage == LOST:
            return
        elif self.stage == NAMED and self.set.known:
            self.named()
        elif self.stage == SHOWN:
            self.shown()
        elif self.stage == CATCHES:
            self.caught()

    def described(self) -> Any:
        """Return the description as a match, or None for an empty server."""
        mine, name = self.peer.replies[self.number - 1], self.set.name
        if mine is None:
            for i, text in enumerate(self.peer.replies):
                if text is not None:
                    self.refuse(f"{self.peer.name} has filter {i + 1} of {name}, but is server {self.number} here; give the "
                                "servers in the order in which the cache was made")
            return None
        if isinstance(mine, Refusal):
            self.refuse(f"{self.peer.name}: {mine}")
            return None
        found = TEXT.fullmatch(mine.decode(errors="replace"))
        if not found or int(found[1]) != self.number:
            self.refuse(f"the key {self.key} at {self.peer.name} is not of a deja cache; use another name")
        elif int(found[2]) != self.set.n:
            self.refuse(f"{name} consists of {found[2]} filters, not {self.set.n}")
        return found

    def named(self) -> None:
        found = self.described()
        if self.stage == LOST:
            return
        if found is None:
            self.say_empty()
        elif found[6] is None and (found[3], found[4], found[5]) != self.set.known:
            self.refuse(f"{self.peer.name} has a filter of another cache named {self.set.name}")
        elif found[6] is None:
            self.stage = SHOWN
            self.ask(*(["DEJA.INFO", self.shard(i)] for i in range(self.set.shards)))

    def shard(self, i: int) -> str:
        return f"{{{self.key}:{i}}}"

    def shown(self) -> None:
        rates = []
        for flat in self.peer.replies:
            if isinstance(flat, Refusal):
                return self.say_empty() if flat == "ERR not found" else self.refuse(f"{self.peer.name}: {flat}")
            info = dict(zip(flat[0::2], flat[1::2]))
            facts = [info.get(name) for name in FACTS]
            self.set.facts = self.set.facts or facts
            if facts != self.set.facts or info.get(b"machine") != self.number:
                return self.refuse(f"the filter of {self.set.name} at {self.peer.name} was made with other parameters, or is "
                                   "in another visit, than those on the other servers")
            rates.append(float(info[b"fp_now"]))
        self.rate = sum(rates) / len(rates)
        assert self.spool
        self.rest = self.spool.batches(64 * BATCH)
        self.catch_up()

    def catch_up(self) -> None:
        self.batch = next(self.rest, [])
        if self.batch:
            self.stage = CATCHES
            self.send("DEJA.ADD", self.batch)
            return
        assert self.spool
        self.spool.clear()
        if self.told:
            logger.warning("deja: server %d at %s is back", self.number, self.peer.name)
        self.stage, self.was_here, self.told = READY, True, False

    def caught(self) -> None:
        if self.answers() is not None:
            self.delivered += len(self.batch)
            self.catch_up()

    def send(self, verb: str, keys: list[bytes]) -> None:
        """Send a command for every shard, and for every BATCH keys."""
        self.order: list[int] = []
        commands = []
        by_shard: dict[int, list[int]] = {}
        for i, key in enumerate(keys):
            by_shard.setdefault(shard_of(key, self.set.shards) if self.set.shards > 1 else 0, []).append(i)
        for shard, indices in by_shard.items():
            for at in range(0, len(indices), BATCH):
                some = indices[at:at + BATCH]
                self.order += some
                commands.append(packed([verb, self.shard(shard), *(keys[i] for i in some)]))
        self.peer.send(commands)

    def answers(self) -> Optional[list[bool]]:
        """Return an answer for each key, or None if the machine failed."""
        if not self.peer.here:
            self.go_away()
            return None
        flat: list[Any] = []
        for reply in self.peer.replies:
            flat += reply if isinstance(reply, list) else [reply]
        errors = [one for one in flat if isinstance(one, Refusal)]
        if errors and errors[0] == "ERR not found":
            self.say_empty()
        elif errors or len(flat) != len(self.order):
            self.peer.lose(errors[0] if errors else "unexpected reply")
            self.go_away()
        else:
            answers = [False] * len(flat)
            for at, one in zip(self.order, flat):
                answers[at] = bool(one)
            return answers
        return None


class Machines:
    """A cache of F filters on F servers, which may be missing one at a time: see docs/machines.md.

    servers    their URLs, redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], in the order of the filters
    name       the name of the cache
    capacity, fp_rate, memory, kind, hashes, multiplier, seed ...
               of all F filters together, for a cache that does not exist yet
    shards     split the filter on each server (default: as the cache has it, 1 for a new one)
    url        the form of the keys, as recorded on the servers; keys must already be in that form
    spool, spool_size
               the folder for keys of a missing server, and the most bytes for each of them
    """

    def __init__(self, servers: Iterable[str], name: str, *, shards: Optional[int] = None, url: Optional[Rules] = None,
                 spool: Optional[Union[str, "os.PathLike[str]"]] = None, spool_size: Union[int, str] = SPOOL_SIZE,
                 **options: Any) -> None:
        urls = [servers] if isinstance(servers, str) else list(servers)
        if not 2 <= len(urls) <= MOST:
            raise ArgumentError(f"servers: give 2 to {MOST} URLs, not {len(urls)}")
        if not 0 < len(name) < 180 or set(name) & set("{}"):
            raise ArgumentError(f"the name of a cache must be 1 to 179 bytes without braces, not {name!r}")
        if options.get("kind") not in (None, "blocked", "classic"):
            raise ArgumentError("kind must be blocked or classic: adding a key again never changes these filters")
        self.name, self.n, self.rules, self.opened = name, len(urls), url, False
        self.known: Any = None
        self.facts: Any = None
        self.shards = 0
        self._wanted = whole("shards", shards, MOST_SHARDS) if shards else 0
        self._spool = (os.fspath(spool) if spool else spool_folder(), size("spool_size", spool_size))
        self._by: dict[tuple[int, ...], int] = {}
        self._machines = [_Machine(self, i + 1, one) for i, one in enumerate(urls)]
        try:
            self._open(_given({"kind": "blocked", **options}))
        except BaseException:
            self.close()
            raise
        self.opened = True

    # --- The loop ---

    def _turn(self, seconds: float) -> None:
        wait([m.peer for m in self._machines], seconds)
        for m in self._machines:
            m.step()

    def _settle(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            self._turn(0.1)
            moving = [m for m in self._machines if m.stage in (SHOWN, CATCHES) or m.peer.busy
                      or (m.stage == NAMED and self.known) or (m.stage == AWAY and not m.peer.why)]
            if not moving or time.monotonic() > end:
                return

    def _ready(self) -> list[_Machine]:
        return [m for m in self._machines if m.stage == READY]

    def _wait_for_any(self) -> list[_Machine]:
        end = time.monotonic() + PATIENCE
        self._turn(0)
        while not self._ready():
            if time.monotonic() > end or all(m.stage == LOST for m in self._machines):
                self._none_answers()
            time.sleep(0.05)
            self._turn(0.05)
        return self._ready()

    def _none_answers(self) -> None:
        why = "; ".join("lost its filter" if m.stage == LOST else m.peer.why for m in self._machines)
        raise Error(f"none of the {self.n} servers answers: {why}")

    # --- Opening ---

    def _form(self, rules: Optional[Rules]) -> str:
        return f"profile={rules.profile} rules={rules.id:x}" if rules else "profile=none rules=0"

    def _open(self, given: dict[str, Any]) -> None:
        self._settle(6.0)
        named = [m for m in self._machines if m.stage == NAMED and not m.peer.busy]
        if not named:
            self._none_answers()
        texts = [m.described() for m in named]
        self.known = next(((t[3], t[4], t[5]) for t in texts if t and t[6] is None), None)
        if self.known is None:
            self.known = self._make(given)
        self.shards = int(self.known[0])
        if self._wanted and self._wanted != self.shards:
            raise MismatchError(f"{self.name} has {self.shards} shards, not {self._wanted}")
        while self.rules and self._form(self.rules) != self.known[1]:
            self.rules = self.rules._older()
        if self._form(self.rules) != self.known[1]:
            raise MismatchError(f"{self.name} has other URL rules: {self.known[1]}")
        for m in self._machines:
            m.spool = KeySpool(self._spool[0], self.name, m.number, int(self.known[2], 16), self._spool[1])
            m.told = m.stage == AWAY
            if m.spool.damaged:
                logger.warning("deja: the spool for server %d was damaged: %d bytes are lost", m.number, m.spool.damaged)
            if m.told:
                logger.warning("deja: server %d at %s; continuing without it", m.number, m.peer.why)
        self._settle(PATIENCE)
        if not self._ready():
            self._none_answers()

    def _tell(self, m: _Machine, *commands: Sequence[Any]) -> list[Any]:
        m.ask(*commands)
        while m.peer.busy:
            wait([m.peer], 1)
        if not m.peer.here:
            raise Error(m.peer.why)
        for reply in m.peer.replies:
            if isinstance(reply, Refusal) and "item exists" not in reply:
                raise Error(f"{m.peer.name}: {reply}; is the module deja loaded there?")
        return m.peer.replies

    def _make(self, given: dict[str, Any]) -> tuple[str, str, str]:
        """Make a new cache on all machines, or complete one whose maker has stopped (machines_make.c)."""
        missing = [m for m in self._machines if m.stage != NAMED]
        if missing:
            raise Error(f"a new cache needs all its servers; start this one: {missing[0].peer.why}")
        if not given.keys() & {"capacity", "memory"}:
            raise ArgumentError("how many keys? give capacity: filters on several servers do not grow")
        shards, first = self._wanted or 1, self._machines[0]
        secret = f"seed:{given.pop('seed')}" if "seed" in given else secrets.token_hex(32)
        front = f"deja-machine 1 filter=1/{self.n} making="
        _, text = self._tell(first, ["SET", first.key, front + secret, "NX"], ["GET", first.key])
        if not text or not text.decode().startswith(front):
            raise Error(f"another process is making {self.name} at this moment; try again")
        secret = text.decode()[len(front):]
        for name in given:
            if name == "capacity" and shards > 1:
                mean = given[name] / shards
                given[name] = math.ceil(mean + 5 * math.sqrt(mean)) + 1
        if secret.startswith("seed:"):
            given["seed"] = int(secret[5:])
        else:
            given["key"] = bytes.fromhex(secret)
        for m in self._machines:
            words = _words({**given, "filters": self.n, "machine": m.number})
            self._tell(m, *(["DEJA.RESERVE", m.shard(i), *words] for i in range(shards)))
        flat = self._tell(first, ["DEJA.INFO", first.shard(0)])[0]
        known = str(shards), self._form(self.rules), dict(zip(flat[0::2], flat[1::2]))[b"key_check"].decode()
        for m in reversed(self._machines):
            self._tell(m, ["SET", m.key, f"deja-machine 1 filter={m.number}/{self.n} shards={known[0]} {known[1]} "
                           f"set={known[2]}"])
        for m in self._machines:
            m.ask(*(["GET", f"{self.name}.{i + 1}"] for i in range(self.n)))
        return known

    # --- Keys ---

    def _ask_all(self, verb: str, keys: list[bytes]) -> dict[_Machine, list[bool]]:
        """Ask all machines that are ready; return the answers of those that gave any."""
        asked = self._ready()
        for m in asked:
            m.send(verb, keys)
        while any(m.peer.busy for m in asked):
            wait([m.peer for m in asked], 1)
        return {m: a for m in asked for a in [m.answers()] if a is not None}

    def _check(self, keys: list[bytes]) -> list[bool]:
        while True:
            self._wait_for_any()
            answers = self._ask_all("DEJA.CHECK", keys)
            if answers:
                by = tuple(m.number for m in answers)
                self._by[by] = self._by.get(by, 0) + len(keys)
                return [all(each) for each in zip(*answers.values())]

    def _add(self, keys: list[bytes]) -> None:
        for m in self._machines:
            if m.stage not in (READY, LOST) and m.spool:
                m.spool.check_room(keys)
        done = self._ask_all("DEJA.ADD", keys)
        for m in self._machines:
            if m not in done and m.stage != LOST and m.spool:
                m.spool.put(keys)

    def contains_many(self, keys: Iterable[Key]) -> list[bool]:
        """Return for each key whether it was added, or is a false positive."""
        data = [key_bytes(key) for key in keys]
        return self._check(data) if data else []

    def add_many(self, keys: Iterable[Key]) -> list[bool]:
        """Add keys; return for each whether it is new: not in the cache, and not earlier in `keys`."""
        data = [key_bytes(key) for key in keys]
        first = {key: i for i, key in reversed(list(enumerate(data)))}
        seen = self._check(data) if data else []
        new = [not was and first[key] == i for i, (key, was) in enumerate(zip(data, seen))]
        fresh = [key for key, is_new in zip(data, new) if is_new]
        if fresh:
            self._add(fresh)
        return new

    def add(self, key: Key) -> bool:
        """Add a key; return whether it is new."""
        return self.add_many([key])[0]

    def __contains__(self, key: Key) -> bool:
        return self.contains_many([key])[0]

    # --- The end ---

    def answered(self) -> list[tuple[int, int, float]]:
        """Return (servers, keys, rate): how many keys were answered by all servers, by one less, ... and at
        which rate, as of the last connection."""
        rates = {m.number: m.rate for m in self._machines}
        rows = []
        for by in range(self.n, 0, -1):
            groups = [(keys, math.prod(rates[i] for i in some)) for some, keys in self._by.items() if len(some) == by]
            total = sum(keys for keys, _ in groups)
            rows.append((by, total, sum(keys * rate for keys, rate in groups) / total if total else math.nan))
        return rows

    def waiting(self) -> dict[str, int]:
        """Return the number of keys that wait for each missing server."""
        return {m.peer.name: m.spool.keys for m in self._machines if m.spool and m.spool.keys}

    def account(self) -> dict[str, Any]:
        """Return the stats of this client."""
        for m in self._ready():
            m.ask(*(["DEJA.INFO", m.shard(i)] for i in range(self.shards)))
            m.stage = SHOWN
        for m in self._machines:
            if m.stage == AWAY and m.spool and m.spool.keys:
                m.peer.hurry()
        self._settle(6.0)
        rows = self.answered()
        total = sum(keys for _, keys, _ in rows)
        known = [(keys, rate) for _, keys, rate in rows if keys and not math.isnan(rate)]
        account: dict[str, Any] = {f"answered_by_{by}": keys for by, keys, _ in rows}
        account["waiting"] = sum(self.waiting().values())
        if total:
            account["fp_rate"] = sum(keys * rate for keys, rate in known) / total
        return account

    def close(self) -> None:
        for m in self._machines:
            m.peer.close()
            if m.spool:
                m.spool.close()
                m.spool = None

    def __enter__(self) -> "Machines":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __str__(self) -> str:
        return f"{self.name} on {self.n} servers"
