#!/usr/bin/env python3
"""scale.py - how many nodes one cache needs, and how evenly they are filled.

For clusters that do not fit on this machine.  A cache is N filters {NAME:i}; the server puts each
into one of 16384 slots by CRC16 of the name, and each of M primaries has 16384 / M consecutive
slots.  So some nodes hold more filters than others, and the fullest one determines how much memory
a node needs and how fast the cluster is.  The number of keys per filter varies at random, which
matters less the more keys there are: at 10^6 keys per filter, five standard deviations are 0.5%,
and shards are made that much larger.

Memory is as `deja plan` computes it for a scalable filter with the keys of a shard.  A node is
full with --node gigabytes of filters."""

import argparse
import json
import math
import subprocess
from pathlib import Path

SLOTS = 16384
DEJA = Path(__file__).parent.parent / "build/release/deja"


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc


def slots_of(name, shards):
    return [crc16(f"{name}:{i}".encode()) % SLOTS for i in range(shards)]


def fullest(slots, nodes):
    """Number of filters on the fullest node."""
    held = [0] * nodes
    for slot in slots:
        held[slot * nodes // SLOTS] += 1
    return max(held)


def shard_bytes(keys, rate, shards):
    """Memory of one filter, sized as by `deja dedup --redis -n`."""
    mean = keys / shards
    capacity = math.ceil(mean + 5 * math.sqrt(mean)) + 1
    out = subprocess.run([DEJA, "plan", "-n", str(capacity), "-p", str(rate), "--json"],
                         check=True, stdout=subprocess.PIPE).stdout
    return next(k["bytes"] for k in json.loads(out)["kinds"] if k["kind"].startswith("scalable"))


def nodes_for(slots, size, room):
    """The smallest number of primaries whose fullest has room; a cluster has at least three."""
    if len(slots) * size <= room:
        return 1, 1.0
    nodes = 3
    while fullest(slots, nodes) * size > room:
        nodes += 1
    return nodes, fullest(slots, nodes) * nodes / len(slots)


def table(title, head, rows):
    print(f"{title}\n\n| {head[0]} |" + "".join(f" {h} |" for h in head[1:]))
    print("|---|" + "---|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def capacity_table(args, slots):
    rows = []
    for keys in args.keys:
        row = [f"10^{math.log10(keys):g}"]
        for rate in args.rates:
            size = shard_bytes(keys, rate, args.cache)
            nodes, uneven = nodes_for(slots, size, args.node * 1e9)
            row.append(f"{args.cache * size / 1e9:.3g} GB: {nodes}" +
                       (f" ({uneven:.2f})" if nodes > 1 else ""))
        rows.append(row)
    table(f"Memory and nodes of {args.node:g} GB, {args.cache} shards (fullest node over the mean)",
          ["keys", *(f"p = {r:g}" for r in args.rates)], rows)


def evenness_table(args):
    rows = []
    for nodes in args.nodes:
        row = [str(nodes)]
        for shards in args.shards:
            most = fullest(slots_of(args.name, shards), nodes)
            row.append(f"{most * nodes / shards:.2f}" if shards >= nodes else "-")
        rows.append(row)
    table("Filters on the fullest node over the mean",
          ["nodes", *(f"{s} shards" for s in args.shards)], rows)


assert crc16(b"123456789") == 0x31c3

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--shards", type=int, nargs="*", default=[16, 64, 256, 1024, 4096])
parser.add_argument("--nodes", type=int, nargs="*", default=[3, 6, 12, 24, 48, 96])
parser.add_argument("--name", default="seen")
parser.add_argument("--keys", type=float, nargs="*", default=[1e9, 1e10, 1e11])
parser.add_argument("--rates", type=float, nargs="*", default=[1e-2, 1e-3, 1e-4, 1e-6])
parser.add_argument("--cache", type=int, default=4096, help="shards of the caches in the first table")
parser.add_argument("--node", type=float, default=30, help="gigabytes of filters on a node")
arguments = parser.parse_args()
if DEJA.exists():
    capacity_table(arguments, slots_of(arguments.name, arguments.cache))
else:
    print(f"{DEJA} is not built: no table of nodes\n")
evenness_table(arguments)
