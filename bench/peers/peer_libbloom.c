/* peer_libbloom.c - libbloom, as packaged by Debian. */
#include "bench/peers/peer.h"
#include <bloom.h>

static struct bloom bloom;

static void peer_open(uint64_t n, double p)
{
    if (bloom_init(&bloom, (int)n, p) != 0)
        peer_fail("bloom_init failed");
}

static void peer_close(void)
{
    bloom_free(&bloom);
}

static uint64_t peer_bits(void)
{
    return (uint64_t)bloom.bytes * 8;
}

static uint64_t peer_add(const struct peer_keys *k)
{
    uint64_t added = 0;
    for (size_t i = 0; i < k->n; i++)
        added += bloom_add(&bloom, k->key[i].data, (int)k->key[i].len) == 0;
    return added;
}

static uint64_t peer_contains(const struct peer_keys *k)
{
    uint64_t found = 0;
    for (size_t i = 0; i < k->n; i++)
        found += bloom_check(&bloom, k->key[i].data, (int)k->key[i].len) == 1;
    return found;
}

int main(int argc, char **argv)
{
    return peer_main(argc, argv);
}
