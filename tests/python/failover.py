"""failover - a crawl over shards in a cluster loses no page when a primary dies and its replica takes over.

One of two spiders connects to the cluster through the node that dies.
"""

import os
import unittest

import pydeja

pydeja.need_scrapy()
os.environ.setdefault("MODULE", os.environ.get("DEJA_MODULE", os.path.join(os.environ["BUILD"], "redis", "deja.so")))
from crawling import Crawl, Site  # noqa: E402
from redisrun import Server, until  # noqa: E402

PAGES = 120
PRIMARIES = 3  # fewer cannot elect a new primary


class Cluster:
    """Three primaries and a replica of the first."""

    def __init__(self):
        self.nodes = [Server("--cluster-enabled", "yes", "--cluster-node-timeout", "5000",
                             "--cluster-replica-validity-factor", "0") for _ in range(PRIMARIES + 1)]

    def __enter__(self):
        ask = [node.raw() for node in self.nodes]
        for one in ask[1:]:
            one("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
        for i, one in enumerate(ask[:PRIMARIES]):
            one("CLUSTER", "ADDSLOTSRANGE", 16384 * i // PRIMARIES, 16384 * (i + 1) // PRIMARIES - 1)
        name = ask[0]("CLUSTER", "MYID")
        until("a replica", lambda: ask[-1]("CLUSTER", "REPLICATE", name) == "OK")  # fails until the node knows the name
        until("a cluster", lambda: all(b"cluster_state:ok" in one("CLUSTER", "INFO") for one in ask))
        until("data at the replica", lambda: b"master_link_status:up" in ask[-1]("INFO", "replication"))
        until("the replica known to all", lambda: all(b"slave" in one("CLUSTER", "NODES") for one in ask))
        return self

    def __exit__(self, kind, *_):
        for node in self.nodes:
            if kind:
                print(node.last_words())
            node.stop()


def hold(held, sites):
    """Pause each site that has served a fifth of its pages; return how many are paused."""
    for site in sites:
        if site not in held and len(site.asked) > PAGES // 5:
            site.lock.acquire()
            held.append(site)
    return len(held)


class Failover(unittest.TestCase):
    def begin(self, cluster, number):
        """Start a crawl with its own site and cache, connected through this node."""
        site = Site(PAGES).start()
        self.addCleanup(site.server_close)
        self.addCleanup(site.shutdown)
        url = f"redis://127.0.0.1:{cluster.nodes[number].port}"
        return site, Crawl(site, DEJA_REDIS_URL=url, DEJA_REDIS_KEY=f"cache{number}", DEJA_REDIS_SHARDS=12,
                           DEJA_FP_RATE=1e-9, CONCURRENT_REQUESTS=1, DOWNLOAD_DELAY=0.01)

    def test_crawls_continue_without_the_primary(self):
        with Cluster() as cluster:
            dead, *_, replica = cluster.nodes
            crawls = [self.begin(cluster, number) for number in (0, 1)]
            held = []
            until("some pages of each", lambda: hold(held, (site for site, _ in crawls)) == len(crawls))
            self.assertGreater(len(dead.client().keys("{cache*}")), 2)
            dead.kill()
            before = [len(site.asked) for site, _ in crawls]
            for site in held:
                site.lock.release()
            runs = [run.wait() for _, run in crawls]
            self.assertIn(b"role:master", replica.raw()("INFO", "replication"))
        for (site, _), run, asked in zip(crawls, runs, before):
            self.assertLess(asked, PAGES)  # the primary died in the middle
            self.assertEqual(sorted(set(run.pages)), list(range(PAGES)), run.log[-3000:])
            self.assertIn("trying again", run.log)
            self.assertEqual(run.stats["finish_reason"], "finished")
            print(f"{asked} requests before, {len(site.asked)} in all for {PAGES} pages")


if __name__ == "__main__":
    unittest.main()
