/* test_shards.c - every client, in every version, assigns a key to the same shard. */
#include "unit.h"

#include "binom.h"
#include "cli/server/lot.h"
#include "cli/server/shards.h"
#include <stdio.h>
#include <string.h>

/* Computed by another program from the formula in docs/redis.md.  If these changed, caches on
 * servers would lose their keys. */
static void shards_of_keys_never_change(void **state)
{
    static const struct {
        const char *key;
        uint32_t of_16, of_256, of_16384;
    } known[] = {
        {"", 15, 245, 15690},
        {"a", 0, 2, 176},
        {"http://example.com/", 7, 113, 7268},
        {"https://example.org/page?id=1", 4, 65, 4178},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const deja_slice key = {known[i].key, strlen(known[i].key)};
        assert_int_equal(lot_shard(key, 1), 0);
        assert_int_equal(lot_shard(key, 16), known[i].of_16);
        assert_int_equal(lot_shard(key, 256), known[i].of_256);
        assert_int_equal(lot_shard(key, SHARDS_MAX), known[i].of_16384);
    }
    uint8_t bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(lot_shard((deja_slice){bytes, sizeof bytes}, SHARDS_MAX), 15305);
    assert_int_equal(lot_shard((deja_slice){NULL, 0}, 16), 15);
}

/* 160000 keys that differ only in a number, 16 shards: each shard's count is binomial with
 * p = 1/16. */
static void keys_spread_evenly_over_shards(void **state)
{
    enum {
        N = 160000,
        SHARDS = 16
    };
    uint64_t count[SHARDS] = {0};
    char text[64];
    for (int i = 0; i < N; i++) {
        const int len = snprintf(text, sizeof text, "http://example.com/item/%d", i);
        count[lot_shard((deja_slice){text, (size_t)len}, SHARDS)]++;
    }
    for (int i = 0; i < SHARDS; i++)
        assert_true(binom_within(count[i], N, 1.0 / SHARDS, 5.0));
}

static void names_of_caches_are_checked(void **state)
{
    static const char *const bad[] = {"", "a{b", "a}b"};
    struct shards *s;
    deja_error err = {0, ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct shards_options opt = {.url = "redis://127.0.0.1:1", .name = bad[i]};
        assert_true(shards_open(&opt, &s, &err) < 0);
        assert_null(s);
        assert_true(err.text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_of_keys_never_change),
        cmocka_unit_test(keys_spread_evenly_over_shards),
        cmocka_unit_test(names_of_caches_are_checked),
    };
    return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
