/* test_slots.c - lines of fingerprints: where they are stored, and that all kernels agree. */
#include "unit.h"

#include "core/bits/slots.h"
#include "rng.h"
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES (DJ_SLOTS * sizeof(uint64_t))

static struct dj_slots new_slots(uint64_t n_lines)
{
    struct dj_slots s = {aligned_alloc(64, LINE_BYTES * n_lines), n_lines};
    assert_non_null(s.body);
    memset(s.body, 0, LINE_BYTES * n_lines);
    return s;
}

/* The rule of slots.h, one key at a time. */
static bool plain_add(const struct dj_slots *s, uint64_t hash)
{
    const uint64_t h = hash ? hash : 1;
    uint64_t line = dj_mulhi(hash, s->n_lines);
    const uint64_t stride = 1 + dj_mulhi(hash * UINT64_C(0x9e3779b97f4a7c15), s->n_lines - 1);
    for (unsigned hop = 1;; hop++) {
        for (unsigned i = 0; i < 8; i++) {
            uint64_t *slot = s->body + 8 * line + i;
            if (*slot == h)
                return false;
            if (*slot == 0) {
                *slot = h;
                return true;
            }
        }
        line = (line + (hop < 8 ? stride : 1)) % s->n_lines;
    }
}

/* Random hashes, extreme ones, and repeats, some of them adjacent. */
static void draw(uint64_t *hash, size_t n, uint64_t seed)
{
    struct rng r = rng_seeded(seed);
    for (size_t i = 0; i < n; i++)
        hash[i] = i < 2        ? UINT64_MAX * i
                  : i % 7 == 6 ? hash[rng_below(&r, i)]
                  : i % 7 == 5 ? hash[i - 1]
                               : rng_next(&r);
}

enum {
    MANY = 4000
};
static uint64_t hash[2 * MANY];
static uint8_t want[2 * MANY], got[2 * MANY];

/* One key at a time leaves no freedom in the order: the bytes are the same. */
static void single_keys_are_stored_where_the_rule_says(void **state)
{
    for (size_t k = 0; dj_slots_at(k); k++)
        for (uint64_t lines = 1; lines <= 65; lines = 2 * lines + 1) {
            struct dj_slots a = new_slots(lines), b = new_slots(lines);
            const size_t n = lines * 8 - 1;
            draw(hash, n, lines);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(dj_slots_at(k)->add(&b, hash + i, hash + i, 1, got + i), 1);
                assert_int_equal(got[i], plain_add(&a, hash[i]));
            }
            assert_memory_equal(a.body, b.body, LINE_BYTES * lines);
            free(a.body);
            free(b.body);
        }
}

/* At 15/16 load, where most lines are full and searches are long. */
static void every_kernel_agrees_with_the_rule(void **state)
{
    const uint64_t lines = MANY / 8 * 16 / 15 + 1;
    draw(hash, 2 * MANY, 9);
    for (size_t k = 0; dj_slots_at(k); k++) {
        const struct dj_slots_kernel *kernel = dj_slots_at(k);
        struct dj_slots a = new_slots(lines), b = new_slots(lines);
        for (size_t i = 0; i < MANY; i++)
            want[i] = plain_add(&a, hash[i]);
        for (size_t at = 0, n; at < MANY; at += n) { /* batches of all sizes */
            n = at % 100 < MANY - at ? at % 100 + 1 : MANY - at;
            assert_int_equal(kernel->add(&b, hash + at, hash + at, n, got + at), n);
        }
        assert_memory_equal(got, want, MANY);
        kernel->contains(&b, hash, hash, 2 * MANY, got);
        for (size_t i = 0; i < 2 * MANY; i++) {
            uint8_t one;
            dj_slots_portable.contains(&a, hash + i, hash + i, 1, &one);
            assert_int_equal(got[i], one);
            assert_true(got[i] || i >= MANY);
        }
        free(a.body);
        free(b.body);
    }
}

/* A damaged file may have no free slot. */
static void a_lookup_in_a_full_table_ends(void **state)
{
    for (size_t k = 0; dj_slots_at(k); k++) {
        struct dj_slots s = new_slots(5);
        memset(s.body, 0xaa, LINE_BYTES * 5);
        draw(hash, 100, 3);
        dj_slots_at(k)->contains(&s, hash, hash, 100, got);
        for (size_t i = 0; i < 100; i++)
            assert_false(got[i]);
        assert_int_equal(dj_slots_at(k)->add(&s, hash, hash, 100, got), 0);
        for (size_t i = 0; i < 40; i++)
            assert_int_equal(s.body[i], UINT64_C(0xaaaaaaaaaaaaaaaa));
        free(s.body);
    }
}

static void kernels_are_listed_from_the_fastest_to_the_portable(void **state)
{
    size_t n = 0;
    while (dj_slots_at(n))
        n++;
    assert_in_range(n, 1, 2);
    assert_ptr_equal(dj_slots_best(), dj_slots_at(0));
    assert_ptr_equal(dj_slots_at(n - 1), &dj_slots_portable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_keys_are_stored_where_the_rule_says),
        cmocka_unit_test(every_kernel_agrees_with_the_rule),
        cmocka_unit_test(a_lookup_in_a_full_table_ends),
        cmocka_unit_test(kernels_are_listed_from_the_fastest_to_the_portable),
    };
    return cmocka_run_group_tests_name("unit.slots", tests, NULL, NULL);
}
