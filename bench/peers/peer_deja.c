/* peer_deja.c - deja itself: in batches, or with a fifth argument, one key per call. */
#include "bench/peers/peer.h"
#include "deja.h"

#define BATCH 1024

static deja_filter *filter;
static bool single;
static deja_slice slice[BATCH];
static uint8_t answer[BATCH];

static void peer_open(uint64_t n, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_error err;
    opt.capacity = n;
    opt.fp_rate = p;
    if (deja_filter_new(&opt, &filter, &err) < 0)
        peer_fail(err.text);
}

static void peer_close(void)
{
    deja_filter_free(filter);
}

static uint64_t peer_bits(void)
{
    deja_stats stats = DEJA_STATS_INIT;
    if (deja_filter_stats(filter, 0, &stats, NULL) < 0)
        peer_fail("no statistics");
    return stats.bytes * 8;
}

static uint64_t ones(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    return sum;
}

static size_t next_batch(const struct peer_keys *k, size_t at)
{
    const size_t n = k->n - at < BATCH ? k->n - at : BATCH;
    for (size_t i = 0; i < n; i++)
        slice[i] = (deja_slice){k->key[at + i].data, k->key[at + i].len};
    return n;
}

static uint64_t peer_add(const struct peer_keys *k)
{
    uint64_t added = 0;
    for (size_t at = 0, n; at < k->n; at += n) {
        n = next_batch(k, at);
        int rc = single ? DEJA_OK : deja_filter_add_batch(filter, slice, n, answer, NULL, NULL);
        for (size_t i = 0; single && i < n && rc == DEJA_OK; i++) {
            bool is_new = false;
            rc = deja_filter_add(filter, slice[i], &is_new, NULL);
            answer[i] = is_new;
        }
        if (rc < 0)
            peer_fail(deja_strerror(rc));
        added += ones(n);
    }
    return added;
}

static uint64_t peer_contains(const struct peer_keys *k)
{
    uint64_t found = 0;
    for (size_t at = 0, n; at < k->n; at += n) {
        n = next_batch(k, at);
        if (!single)
            deja_filter_contains_batch(filter, slice, n, answer);
        for (size_t i = 0; single && i < n; i++)
            answer[i] = deja_filter_contains(filter, slice[i]);
        found += ones(n);
    }
    return found;
}

int main(int argc, char **argv)
{
    single = argc == 6;
    return peer_main(argc, argv);
}
