/* kind_probe.c - a kind that exists only in the tests.
 *
 * It proves that a kind needs only one file and one line: this file, and DJ_EXTRA_KIND in the
 * list in kinds.c.  It is a Bloom filter over the whole array whose positions run from the end of
 * the body to its beginning, so its bytes differ from those of every other kind and its rates are
 * known. */
#include "core/bits/bitset.h"
#include "kinds/spatial.h"

extern const struct dj_kind dj_probe;

static uint64_t position(const struct dj_part *p, uint64_t hash, uint32_t i)
{
    return p->shape.bits - 1 - dj_mulhi(dj_nth64(hash, i), p->shape.bits);
}

static void probe_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    for (size_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < (for_add ? p->shape.k : 1); i++)
            dj_bit_prefetch(p->body, position(p, hash[j], i));
}

static size_t probe_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                        uint8_t *is_new, bool shared)
{
    (void)ahead;
    for (size_t j = 0; j < n; j++) {
        is_new[j] = 0;
        for (uint32_t i = 0; i < p->shape.k; i++)
            is_new[j] |= dj_bit_set(p->body, position(p, hash[j], i), shared);
    }
    return n;
}

static void probe_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                           size_t n, uint8_t *found)
{
    (void)ahead;
    for (size_t j = 0; j < n; j++) {
        found[j] = 1;
        for (uint32_t i = 0; i < p->shape.k && found[j]; i++)
            found[j] = dj_bit_test(p->body, position(p, hash[j], i));
    }
}

const struct dj_kind dj_probe = {
    .name = "probe",
    .number = 63,
    .help = "a kind of the tests: positions from the end of the array",
    .can = DEJA_CAN_ADD | DEJA_CAN_REPEAT,
    .layout = DJ_SPREAD,
    .plan = dj_plan_plain,
    .by_multiplier = dj_plan_always,
    .prefetch = dj_spatial_prefetch,
    .add = dj_spatial_add,
    .contains = dj_spatial_contains,
    .stats = dj_spatial_stats,
    .body = {.prefetch = probe_prefetch,
             .add = probe_add,
             .contains = probe_contains,
             .bits_set = dj_part_count_bits},
};
