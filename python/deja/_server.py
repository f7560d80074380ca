"""Filters in a Redis or Valkey server with the module, shared by many spiders.

    OneFilter   one filter on the server, using RedisBloom's commands if they suffice
    Shards      one cache over N filters, which a cluster spreads over its nodes; `deja dedup
                --redis` makes and uses the same (docs/redis.md, "One cache over many servers")

OneFilter decides and adds with one command.  In a cluster, a client repeats a command when a node
dies, and a second BF.ADD would report "seen" for a page that nobody fetched.  So Shards first
looks up the key and then adds it; both commands can be repeated safely.  Two spiders that meet a URL
at the same moment may both fetch it.  While a replica replaces a dead primary, Shards waits, as the
command does.
"""

from __future__ import annotations

import logging
import math
import re
import time
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Optional

from . import _lib
from ._checks import whole
from ._errors import ArgumentError, Error, MismatchError
from ._lib import OPTIONS, lib
from ._options import checked, make_options, spelled
from ._url import Rules

logger = logging.getLogger(__name__)

FIRST_CAPACITY = 100_000  # of a filter that grows: small, because most crawls are
MOST_SHARDS = 16384
PATIENCE = 60.0  # seconds without an answer until Shards gives up
PAUSE = 0.1


def _grown(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a filter that starts with this capacity and grows, if they allow it."""
    options = make_options(**given)
    kind = options.kind
    if "capacity" not in given or not lib.deja_options_grow(options) or options.kind == kind:
        return given
    names = {name: lib.deja_kind_name(getattr(options, name)).decode() for name in ("kind", "part_kind")}
    return {**given, **names, "tightening": options.tightening}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Check the given options and return them."""
    given = {name: value for name, value in options.items() if name not in ("url", "grow") and value is not None}
    unknown = [name for name in given if name not in OPTIONS or not OPTIONS[name].keyword]
    if unknown:
        raise ArgumentError(f"a filter on a server does not take the option {', '.join(sorted(unknown))}")
    return {name: checked(name, value) for name, value in given.items()}


def _words(given: dict[str, Any]) -> list[Any]:
    return [word for name, value in given.items() for word in spelled(name, value)]


def reserve(name: str, options: dict[str, Any]) -> list[Any]:
    """Return the command that creates a filter: RedisBloom's own if it has all the options."""
    given, fixed = _given(options), options.get("grow") is False
    kind = make_options(**given).kind
    if set(given) <= {"kind", "capacity", "fp_rate"} and (not kind or lib.deja_kind_can(kind, _lib.CAN_GROW)):
        return ["BF.RESERVE", name, given.get("fp_rate", 1e-6), given.get("capacity", FIRST_CAPACITY),
                *(["NONSCALING"] if fixed else [])]
    given = given if fixed else _grown(given)
    return ["DEJA.RESERVE", name, *_words(given)]


def shard_of(key: bytes, n: int) -> int:
    """Return the shard of a key: 64-bit FNV-1a and the finalizer of SplitMix64, scaled to n."""
    h = 0xCBF29CE484222325
    for byte in key:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    h = (h ^ h >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    h ^= h >> 31
    return h * n >> 64


class _Server:
    """A connection, with what OneFilter and Shards share."""

    def __init__(self, url: str) -> None:
        try:
            import redis
            import redis.backoff
            import redis.retry
        except ImportError:
            raise ImportError("DEJA_REDIS_URL needs redis-py (Debian: python3-redis)") from None
        errors = redis.exceptions
        self._url, self._refusal = url, redis.ResponseError
        # RedisClusterException reports the cluster's layout and is not a RedisError.
        self._failure = redis.RedisError, errors.RedisClusterException
        # Errors that pass when a failover is complete.
        self._passing = (redis.ConnectionError, redis.TimeoutError, errors.RedisClusterException, errors.ClusterError,
                         errors.TryAgainError, errors.ReadOnlyError)
        # redis-py 6 repeats a command when its connection ends, but BF.ADD must not be repeated.
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        self._client: Any = redis.Redis.from_url(url, retry=once)
        self.is_new = True

    @contextmanager
    def _naming(self, what: str) -> Iterator[None]:
        """Turn a failure into an Error that names what failed."""
        try:
            yield
        except self._failure as reason:
            raise Error(f"{what}: {reason}") from None

    def _ask(self, *command: Any) -> Any:
        with self._naming(command[1]):
            return self._client.execute_command(*command)

    def _make(self, command: list[Any]) -> None:
        try:
            self._client.execute_command(*command)
        except self._refusal as reason:
            if "exists" not in str(reason):
                raise ArgumentError(f"{self._url}: {reason}; is the module deja loaded there?") from None
            self.is_new = False

    def _account(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the stats of these filters, of all spiders together."""
        filters = []
        try:
            for name in names:
                flat = self._client.execute_command("DEJA.INFO", name)
                filters.append(flat if isinstance(flat, dict) else dict(zip(flat[0::2], flat[1::2])))
        except self._failure:
            return {}  # a module without DEJA.INFO, or the server is gone
        return {"keys": sum(int(one[b"keys"]) for one in filters), "bytes": sum(int(one[b"bytes"]) for one in filters),
                "fp_rate": sum(float(one[b"fp_now"]) for one in filters) / len(filters),
                "expected_lost": sum(float(one[b"lost"]) for one in filters), "visit": int(filters[0][b"visit"])}

    def __contains__(self, key: bytes) -> bool:
        raise NotImplementedError("a shared filter is queried by adding the key")

    def close(self) -> None:
        self._client.close()


class OneFilter(_Server):
    def __init__(self, url: str, name: str, options: dict[str, Any]) -> None:
        super().__init__(url)
        self._name = name
        self._make(reserve(name, options))

    def add(self, key: bytes) -> bool:
        return bool(self._ask("BF.ADD", self._name, key))

    def account(self) -> dict[str, Any]:
        return self._account([self._name])

    def __str__(self) -> str:
        return f"{self._name} on the server, shared"


class Shards(_Server):
    def __init__(self, url: str, name: str, options: dict[str, Any], n: int, rules: Optional[Rules]) -> None:
        n = whole("shards", n, MOST_SHARDS)
        super().__init__(url)
        if not 0 < len(name) < 200 or set(name) & set("{}"):
            raise ArgumentError(f"the name of a cache must be 1 to 199 bytes without braces, not {name!r}")
        self._name, given = name, _given(options)
        self._nodes: list[tuple[str, int]] = []
        self._go_to_cluster()
        self._n = self._agree(n, rules)
        self._names = [f"{{{name}:{i}}}" for i in range(self._n)]
        # Keys are spread at random: leave room for five standard deviations above the mean.
        if options.get("grow") is not False:
            given = _grown(given)
        given.setdefault("capacity", FIRST_CAPACITY)
        for name in given:
            if OPTIONS[name].unit == b"keys":
                mean = given[name] / self._n
                given[name] = math.ceil(mean + 5 * math.sqrt(mean)) + 1
        plain = "exact" if given.get("dates") else "blocked"
        given.setdefault("kind", "scalable" if options.get("grow") is not False else plain)
        for shard in self._names:
            self._make(["DEJA.RESERVE", shard, *_words(given)])

    def _go_to_cluster(self) -> None:
        with self._naming(self._url):
            self._is_cluster = bool(self._client.info("cluster").get("cluster_enabled"))
            if self._is_cluster:
                self._reconnect()

    def _reconnect(self) -> None:
        """Connect to the cluster as it is now, through any known node: the one in the URL may be dead.

        redis-py does this itself, but version 4.3.4 (Debian 12) fails to copy its own options.
        """
        from redis.cluster import ClusterNode, RedisCluster

        nodes = [ClusterNode(host, port) for host, port in self._nodes]
        old, self._client = self._client, RedisCluster.from_url(self._url, startup_nodes=nodes)
        self._nodes = [(node.host, node.port) for node in self._client.get_nodes()]
        old.close()

    def _agree(self, n: int, rules: Optional[Rules]) -> int:
        """Store the number of shards and the URL rules, or compare with those that another spider stored."""
        def form_of(rules: Optional[Rules]) -> str:
            return f"profile={rules.profile} rules={rules.id:x}" if rules else "profile=none rules=0"

        form = form_of(rules)
        self._ask("SET", self._name, f"deja-cache 1 shards={n} {form}", "NX")
        text = (self._ask("GET", self._name) or b"").decode(errors="replace")
        found = re.fullmatch(r"deja-cache 1 shards=(\d+) (profile=\S+ rules=\S+)", text)
        if not found or not 1 <= int(found[1]) <= MOST_SHARDS:
            raise ArgumentError(f"the server's key {self._name} is not a cache of deja; use another name")
        if int(found[1]) != n:
            raise MismatchError(f"{self._name} has {found[1]} shards, not {n}")
        self.rules = rules
        while self.rules and form_of(self.rules) != found[2]:
            self.rules = self.rules._older()
        if form_of(self.rules) != found[2]:
            raise MismatchError(f"{self._name} has other URL rules: {found[2]}, not {form}")
        return n

    def _insist(self, *command: Any) -> Any:
        """Send a command until the node that has the shard answers."""
        end, lost = time.monotonic() + PATIENCE, False
        with self._naming(command[1]):
            while True:
                try:
                    if lost and self._is_cluster:
                        self._reconnect()
                    return self._client.execute_command(*command)
                except self._passing as reason:
                    if time.monotonic() > end:
                        raise Error(f"{command[1]}: no answer for {PATIENCE:.0f} seconds: {reason}") from None
                    if not lost:
                        logger.warning("deja: %s: %s; trying again", command[1], reason)
                    lost = True
                    time.sleep(PAUSE)

    def add(self, key: bytes) -> bool:
        shard = self._names[shard_of(key, self._n)]
        if self._insist("DEJA.CHECK", shard, key)[0]:
            return False
        self._insist("DEJA.ADD", shard, key)
        return True

    def account(self) -> dict[str, Any]:
        return self._account(self._names)

    def __str__(self) -> str:
        return f"{self._name} on the server, shared, {self._n} shards"
