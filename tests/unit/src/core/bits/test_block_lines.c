/* test_block_lines.c - keys with several lines: the bits that block_lines.h defines, from every
 * kernel, in every group size. */
#include "unit.h"

#include "core/bits/block_lines.h"
#include "rng.h"
#include <stdlib.h>
#include <string.h>

#define KEYS 700 /* several groups, the last one incomplete */

static struct dj_blocks new_body(uint64_t n_blocks, uint32_t k, uint32_t lines)
{
    const size_t len = (size_t)DJ_BLOCK_BYTES * n_blocks * lines;
    struct dj_blocks b = {aligned_alloc(DJ_BLOCK_BYTES, len), n_blocks, dj_block_lane_sets(k), 1,
                          lines};
    assert_non_null(b.body);
    memset(b.body, 0, len);
    return b;
}

static void draw(uint64_t *hash, size_t n, uint64_t seed)
{
    struct rng r = rng_seeded(seed);
    for (size_t i = 0; i < n; i++)
        hash[i] = i % 5 == 4 ? hash[rng_below(&r, i)] : rng_next(&r);
}

/* One key at a time, each line as a body of its own. */
static bool plain(const struct dj_blocks *b, uint64_t hash, bool add)
{
    uint8_t all = 0, missing = 0;
    for (uint32_t j = 0; j < b->key_lines; j++) {
        struct dj_blocks line = *b;
        line.body = b->body + DJ_BLOCK_BYTES * b->n_blocks * j;
        uint64_t h = hash; /* the SplitMix64 stream that starts at the hash */
        if (j)
            h = dj_mix64(hash + j * UINT64_C(0x9e3779b97f4a7c15));
        uint8_t one;
        (add ? dj_block_portable.add : dj_block_portable.contains)(&line, &h, &h, 1, &one);
        all += one;
        missing |= one;
    }
    return add ? missing : all == b->key_lines;
}

static void every_line_gets_its_bits(void **state)
{
    static const uint64_t sizes[] = {1, 3, 50, 1000};
    static uint64_t hash[KEYS], ahead[KEYS];
    static uint8_t answer[KEYS];
    (void)state;
    draw(ahead, KEYS, 9);
    for (size_t v = 0; dj_block_at(v); v++)
        for (size_t s = 0; s < DJ_ARRAY_LEN(sizes); s++)
            for (uint32_t lines = 1; lines <= 3; lines++) {
                const uint32_t k = 1 + (uint32_t)(5 * s + lines) % 16;
                const struct dj_blocks b = new_body(sizes[s], k, lines);
                const struct dj_blocks want = new_body(sizes[s], k, lines);
                draw(hash, KEYS, 1 + s);
                dj_key_lines_prefetch(&b, hash, KEYS, true);
                dj_key_lines_add(dj_block_at(v), &b, hash, ahead, KEYS / 2, answer);
                for (size_t i = 0; i < KEYS / 2; i++)
                    assert_int_equal(answer[i], plain(&want, hash[i], true));
                assert_memory_equal(b.body, want.body, DJ_BLOCK_BYTES * sizes[s] * lines);
                dj_key_lines_contains(dj_block_at(v), &b, hash, ahead, KEYS, answer);
                for (size_t i = 0; i < KEYS; i++)
                    assert_int_equal(answer[i], plain(&want, hash[i], false));
                for (size_t i = 0; i < 5; i++) { /* single calls */
                    dj_key_lines_contains(dj_block_at(v), &b, hash + KEYS - i - 1, ahead, 1,
                                          answer);
                    assert_int_equal(answer[0], plain(&want, hash[KEYS - i - 1], false));
                }
                free(b.body);
                free(want.body);
            }
}

/* A key is absent if any line lacks one of its bits. */
static void a_key_that_one_line_lacks_is_absent(void **state)
{
    (void)state;
    for (size_t v = 0; dj_block_at(v); v++)
        for (uint32_t j = 0; j < 3; j++) {
            const struct dj_blocks b = new_body(10, 6, 3);
            const uint64_t hash = UINT64_C(0x123456789abcdef1);
            uint8_t found;
            assert_true(plain(&b, hash, true));
            memset(dj_key_line(&b, j).body, 0, 10 * DJ_BLOCK_BYTES);
            dj_key_lines_contains(dj_block_at(v), &b, &hash, &hash, 1, &found);
            assert_int_equal(found, 0);
            dj_key_lines_add(dj_block_at(v), &b, &hash, &hash, 1, &found);
            assert_int_equal(found, 1); /* new */
            dj_key_lines_contains(dj_block_at(v), &b, &hash, &hash, 1, &found);
            assert_int_equal(found, 1);
            free(b.body);
        }
}

static void bodies_of_one_two_and_three_lines_are_asked_together(void **state)
{
    enum {
        BODIES = 6
    };
    static uint64_t hash[KEYS], other[KEYS];
    static uint8_t unused[KEYS], found[KEYS];
    (void)state;
    draw(hash, KEYS, 20);
    for (size_t v = 0; dj_block_at(v); v++) {
        struct dj_blocks b[BODIES];
        const struct dj_blocks *list[BODIES];
        for (uint32_t j = 0; j < BODIES; j++) {
            b[j] = new_body(2 + 3 * j, 2 + j, 1 + j % 3);
            list[j] = &b[j];
            draw(other, KEYS, 20 + j); /* those of the first body, and others */
            dj_key_lines_add(&dj_block_portable, &b[j], other, other, 30 + 30 * j, unused);
        }
        dj_key_lines_find_any(dj_block_at(v), list, BODIES, hash, hash, KEYS, found);
        for (size_t i = 0; i < KEYS; i++) {
            bool any = false;
            for (uint32_t j = 0; j < BODIES; j++)
                any |= plain(&b[j], hash[i], false);
            assert_int_equal(found[i], any);
        }
        for (uint32_t j = 0; j < BODIES; j++)
            free(b[j].body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_gets_its_bits),
        cmocka_unit_test(a_key_that_one_line_lacks_is_absent),
        cmocka_unit_test(bodies_of_one_two_and_three_lines_are_asked_together),
    };
    return cmocka_run_group_tests_name("unit.block_lines", tests, NULL, NULL);
}
