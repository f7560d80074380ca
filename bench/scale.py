#!/usr/bin/env python3
"""scale.py [--shards N] [--name NAME] - how evenly a cluster of any size holds one cache.

For clusters that do not fit on this machine.  A cache is N filters {NAME:i}; the server puts each
into one of 16384 slots by CRC16 of the name, and a cluster of M primaries has 16384 / M slots in a
row on each.  So some nodes hold more filters than others, and the fullest one decides how much
memory a node needs and how fast the whole is.  Keys fall on filters like rain, which matters less
the more keys there are: at 10^6 keys a filter by 0.5 % for five standard deviations."""

import argparse


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xffff
    return crc


def shares(name, shards, nodes):
    """Filters on each node."""
    held = [0] * nodes
    for i in range(shards):
        slot = crc16(f"{name}:{i}".encode()) % 16384
        held[slot * nodes // 16384] += 1
    return held


assert crc16(b"123456789") == 0x31c3

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--shards", type=int, nargs="*", default=[16, 64, 256, 1024, 4096])
parser.add_argument("--nodes", type=int, nargs="*", default=[3, 6, 12, 24, 48, 96])
parser.add_argument("--name", default="seen")
args = parser.parse_args()

print("Filters on the fullest node over the mean:")
print("| nodes |" + "".join(f" {s} shards |" for s in args.shards))
print("|---|" + "---|" * len(args.shards))
for nodes in args.nodes:
    cells = []
    for shards in args.shards:
        held = shares(args.name, shards, nodes)
        cells.append(f"{max(held) * nodes / shards:.2f}" if shards >= nodes else "-")
    print(f"| {nodes} | " + " | ".join(cells) + " |")
