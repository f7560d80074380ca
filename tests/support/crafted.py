"""crafted - filters with an edited header and valid checksums, as another version, another
program or an attacker might send them."""

import struct

from reader import xxh3

PAGE = 4096
RECORD = 3072  # the sync record of an export


def repaired(data):
    """The same bytes with header and record checksums that match them."""
    data = bytearray(data)
    data[2560:2568] = struct.pack("<Q", xxh3(bytes(data[:2560])))
    data[RECORD + 296:RECORD + 304] = data[2560:2568]
    data[RECORD + 504:RECORD + 512] = struct.pack("<Q", xxh3(bytes(data[RECORD:RECORD + 504])))
    return bytes(data)


def edited(data, at, form, value):
    """The same bytes with one number changed (struct format `form`) and corrected checksums."""
    data = bytearray(data)
    struct.pack_into(form, data, at, value)
    return repaired(data)
