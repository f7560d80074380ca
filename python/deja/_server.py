"""What was seen, in a Redis or Valkey server with the module, shared by many spiders.

    OneFilter   one filter of the server, by RedisBloom's own commands where they suffice.
    Shards      one cache over N filters, which a cluster spreads over its nodes: the same that
                `deja dedup --redis` makes and uses (docs/redis.md, "One cache over many servers").

A key is new when the answer to one command says so.  In a cluster a client sends a command again when a
node dies, and the second BF.ADD of a key would say "seen" of a page that nobody fetched; so Shards
looks first and adds then.  Two spiders that meet a URL at the same moment may both fetch it.

As both may be sent again, Shards waits for a cluster in which a replica takes the place of a dead
primary, as the command does: the crawl stands still, and goes on.
"""

from __future__ import annotations

import logging
import math
import re
import time
from typing import Any, Iterable, Optional

from ._checks import whole
from ._errors import ArgumentError, Error, MismatchError
from ._lib import OPTIONS, lib
from ._options import checked, make_options, spelled
from ._url import Rules

logger = logging.getLogger(__name__)

FIRST_CAPACITY = 100_000  # of a filter that grows: a small crawl should not take 45 MB
MOST_SHARDS = 16384
PATIENCE = 60.0  # seconds without an answer, until a cache over many servers is given up
PAUSE = 0.1

def _grown(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a filter that grows, if these can; given["capacity"] is then its first size."""
    options = make_options(**given)
    if "capacity" not in given or given.get("kind") == "scalable" or not lib.deja_options_grow(options):
        return given
    return {**given, "kind": "scalable", "part_kind": given.get("kind", "blocked"), "tightening": options.tightening}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if name not in ("url", "grow") and value is not None}
    unknown = [name for name in given if name not in OPTIONS or not OPTIONS[name].keyword]
    if unknown:
        raise ArgumentError(f"a filter in a server has no option {', '.join(sorted(unknown))}")
    return {name: checked(name, value) for name, value in given.items()}


def _words(given: dict[str, Any]) -> list[Any]:
    return [word for name, value in given.items() for word in spelled(name, value)]


def reserve(name: str, options: dict[str, Any]) -> list[Any]:
    """The command that makes a filter: RedisBloom's own where it can say it."""
    given, fixed = _given(options), options.get("grow") is False
    if set(given) <= {"kind", "capacity", "fp_rate"} and given.get("kind", "scalable") == "scalable":
        return ["BF.RESERVE", name, given.get("fp_rate", 1e-6), given.get("capacity", FIRST_CAPACITY),
                *(["NONSCALING"] if fixed else [])]
    given = given if fixed else _grown(given)
    return ["DEJA.RESERVE", name, *_words(given)]


def shard_of(key: bytes, n: int) -> int:
    """FNV-1a of 64 bits, the finalizer of SplitMix64, and the n-th part that it falls into."""
    h = 0xCBF29CE484222325
    for byte in key:
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    h = (h ^ h >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
    h ^= h >> 31
    return h * n >> 64


class _Server:
    """A connection, and what both kinds of caches do with it."""

    def __init__(self, url: str) -> None:
        try:
            import redis
            import redis.backoff
            import redis.retry
        except ImportError:
            raise ImportError("DEJA_REDIS_URL needs redis-py (Debian: python3-redis)") from None
        errors = redis.exceptions
        self._url, self._refusal = url, redis.ResponseError
        # Of the cluster's layout: no RedisError to redis-py.
        self._failure = redis.RedisError, errors.RedisClusterException
        # What a failover brings, and takes away again.
        self._passing = (redis.ConnectionError, redis.TimeoutError, errors.RedisClusterException, errors.ClusterError,
                         errors.TryAgainError, errors.ReadOnlyError)
        # redis-py 6 and newer would send a command again by itself when its connection ends; BF.ADD must not be.
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        self._client: Any = redis.Redis.from_url(url, retry=once)
        self.is_new = True

    def _ask(self, *command: Any) -> Any:
        try:
            return self._client.execute_command(*command)
        except self._failure as reason:
            raise Error(f"{command[1]}: {reason}") from None

    def _make(self, command: list[Any]) -> None:
        try:
            self._client.execute_command(*command)
        except self._refusal as reason:
            if "exists" not in str(reason):
                raise ArgumentError(f"{self._url}: {reason}; is the module deja loaded there?") from None
            self.is_new = False

    def _account(self, names: Iterable[str]) -> dict[str, Any]:
        """Of all spiders together."""
        filters = []
        try:
            for name in names:
                flat = self._client.execute_command("DEJA.INFO", name)
                filters.append(flat if isinstance(flat, dict) else dict(zip(flat[0::2], flat[1::2])))
        except self._failure:
            return {}  # another module with BF.*, or no server any more
        return {"keys": sum(int(told[b"keys"]) for told in filters), "bytes": sum(int(told[b"bytes"]) for told in filters),
                "fp_rate": sum(float(told[b"fp_now"]) for told in filters) / len(filters),
                "expected_lost": sum(float(told[b"lost"]) for told in filters), "visit": int(filters[0][b"visit"])}

    def __contains__(self, key: bytes) -> bool:
        raise NotImplementedError("what is shared is asked about by adding it")

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
            raise ArgumentError(f"the name of a cache is 1 to 199 bytes without braces, not {name!r}")
        self._name, given = name, _given(options)
        self._nodes: list[tuple[str, int]] = []
        self._go_to_cluster()
        self._n = self._agree(n, rules)
        self._names = [f"{{{name}:{i}}}" for i in range(self._n)]
        # Keys fall on shards at random: room for five standard deviations more than the mean.
        if options.get("grow") is not False:
            given = _grown(given)
        given.setdefault("capacity", FIRST_CAPACITY)
        for name in given:
            if OPTIONS[name].unit == b"keys":
                mean = given[name] / self._n
                given[name] = math.ceil(mean + 5 * math.sqrt(mean)) + 1
        given.setdefault("kind", "scalable" if options.get("grow") is not False else "blocked")
        for shard in self._names:
            self._make(["DEJA.RESERVE", shard, *_words(given)])

    def _go_to_cluster(self) -> None:
        try:
            self._is_cluster = bool(self._client.info("cluster").get("cluster_enabled"))
            if self._is_cluster:
                self._look_around()
        except self._failure as reason:
            raise Error(f"{self._url}: {reason}") from None

    def _look_around(self) -> None:
        """A new client for the cluster as it is now, from any node that was in it: the one of the URL may be gone.

        redis-py has this in itself, but that of Debian 12 (4.3.4) cannot make a copy of its own options for it."""
        from redis.cluster import ClusterNode, RedisCluster

        nodes = [ClusterNode(host, port) for host, port in self._nodes]
        old, self._client = self._client, RedisCluster.from_url(self._url, startup_nodes=nodes)
        self._nodes = [(node.host, node.port) for node in self._client.get_nodes()]
        old.close()

    def _agree(self, n: int, rules: Optional[Rules]) -> int:
        """Read the text that tells how many shards there are, or write it, whoever comes first."""
        def form_of(rules: Optional[Rules]) -> str:
            return f"profile={rules.profile} rules={rules.id:x}" if rules else "profile=none rules=0"

        form = form_of(rules)
        self._ask("SET", self._name, f"deja-cache 1 shards={n} {form}", "NX")
        text = (self._ask("GET", self._name) or b"").decode(errors="replace")
        told = re.fullmatch(r"deja-cache 1 shards=(\d+) (profile=\S+ rules=\S+)", text)
        if not told or not 1 <= int(told[1]) <= MOST_SHARDS:
            raise ArgumentError(f"the server's key {self._name} is no cache of deja")
        if int(told[1]) != n:
            raise MismatchError(f"{self._name} has {told[1]} shards, not {n}")
        self.rules = rules
        while self.rules and form_of(self.rules) != told[2]:  # made by the version before?
            self.rules = self.rules._older()
        if form_of(self.rules) != told[2]:
            raise MismatchError(f"{self._name} holds keys of another form: {told[2]}, not {form}")
        return n

    def _insist(self, *command: Any) -> Any:
        """The answer to a command that may be sent twice: of whoever has the shard by then."""
        end, lost = time.monotonic() + PATIENCE, False
        while True:
            try:
                if lost and self._is_cluster:
                    self._look_around()
                return self._client.execute_command(*command)
            except self._passing as reason:
                if time.monotonic() > end:
                    raise Error(f"{command[1]}: no answer for {PATIENCE:.0f} seconds: {reason}") from None
                if not lost:
                    logger.warning("deja: %s: %s; it is sent again", command[1], reason)
                lost = True
                time.sleep(PAUSE)
            except self._failure as reason:
                raise Error(f"{command[1]}: {reason}") from None

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
