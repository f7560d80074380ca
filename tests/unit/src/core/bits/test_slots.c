/* test_slots.c - lines of fingerprints: where they are stored, and that all kernels agree. */
#include "unit.h"

#include "core/bits/slots.h"
#include "rng.h"
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES (DJ_SLOTS * sizeof(uint64_t))

static struct dj_slots new_slots(uint64_t n_lines, bool marked)
{
    struct dj_slots s = {aligned_alloc(64, LINE_BYTES * n_lines), n_lines, marked};
    assert_non_null(s.body);
    memset(s.body, 0, LINE_BYTES * n_lines);
    return s;
}

/* The rule of slots.h, one key at a time.  In a marked table, lines of a half are two apart. */
static bool plain_add(const struct dj_slots *s, uint64_t hash)
{
    const unsigned apart = s->marked ? 2 : 1;
    const uint64_t lines = s->n_lines / apart, odd = s->marked ? hash % 2 : 0;
    const uint64_t h = s->marked ? (hash < 2 ? 2 : hash - odd) : hash ? hash : 1;
    const uint64_t stride = 1 + dj_mulhi(hash * UINT64_C(0x9e3779b97f4a7c15), lines - 1);
    uint64_t at = dj_mulhi(hash, lines);
    for (unsigned hop = 1;; hop++) {
        uint64_t *line = s->body + 8 * (apart * at + odd);
        for (unsigned i = 0; i < 8; i++) {
            if (line[i] == DJ_LE64(h) || (s->marked && line[i] == DJ_LE64(h + 1)))
                return false;
            if (line[i] == 0) {
                line[i] = DJ_LE64(h);
                return true;
            }
        }
        line[hash / 2 % 8] |= DJ_LE64((uint64_t)s->marked);
        at = (at + (hop < 8 ? stride : 1)) % lines;
    }
}

/* Whether an add would find the key: marks end only the searches for absent keys. */
static bool plain_contains(const struct dj_slots *s, uint64_t hash)
{
    struct dj_slots copy = new_slots(s->n_lines, s->marked);
    memcpy(copy.body, s->body, LINE_BYTES * s->n_lines);
    const bool absent = plain_add(&copy, hash);
    free(copy.body);
    return !absent;
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
        for (uint64_t lines = 1; lines <= 127; lines = 2 * lines + 1) {
            struct dj_slots a = new_slots(lines, false), b = new_slots(lines, false);
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

/* An odd number of lines, too: then the last one is not used.  The halves are not equally full, so
 * the table is only filled to two thirds. */
static void single_keys_leave_marks_where_the_rule_says(void **state)
{
    for (size_t k = 0; dj_slots_at(k); k++)
        for (uint64_t lines = 16; lines <= 128; lines += 37) {
            struct dj_slots a = new_slots(lines, true), b = new_slots(lines, true);
            const size_t n = lines * 8 * 2 / 3;
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
static void agrees_with_the_rule(bool marked)
{
    const uint64_t lines = MANY / 8 * 16 / 15 + 1;
    draw(hash, 2 * MANY, 9);
    for (size_t k = 0; dj_slots_at(k); k++) {
        const struct dj_slots_kernel *kernel = dj_slots_at(k);
        struct dj_slots a = new_slots(lines, marked), b = new_slots(lines, marked);
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
            assert_true(i % 10 || got[i] == plain_contains(&a, hash[i]));
        }
        free(a.body);
        free(b.body);
    }
}

static void every_kernel_agrees_with_the_rule(void **state)
{
    agrees_with_the_rule(false);
}

static void every_kernel_agrees_with_the_rule_for_marks(void **state)
{
    agrees_with_the_rule(true);
}

/* Eight keys fill line 0; a ninth, of class 5, goes to another line. */
static void a_search_ends_at_a_full_line_without_its_mark(void **state)
{
    for (size_t k = 0; dj_slots_at(k); k++) {
        struct dj_slots s = new_slots(64, true);
        for (uint64_t i = 0; i < 8; i++)
            hash[i] = 16 * (i + 1);
        hash[8] = 16 * 9 + 2 * 5;
        assert_int_equal(dj_slots_at(k)->add(&s, hash, hash, 9, got), 9);
        for (unsigned i = 0; i < 8; i++)
            assert_int_equal(s.body[i] & 1, i == 5);
        dj_slots_at(k)->contains(&s, hash, hash, 9, got);
        assert_int_equal(got[8], 1);

        s.body[5] &= ~UINT64_C(1); /* as if a power cut had lost the mark: the key is absent ... */
        dj_slots_at(k)->contains(&s, hash, hash, 9, got);
        assert_int_equal(got[8], 0);
        assert_int_equal(dj_slots_at(k)->add(&s, hash, hash, 9, got),
                         9); /* ... until it is added */
        for (unsigned i = 0; i < 9; i++)
            assert_int_equal(got[i], i == 8);
        dj_slots_at(k)->contains(&s, hash, hash, 9, got);
        assert_int_equal(got[8], 1);
        free(s.body);
    }
}

/* Hashes that differ only in bit 0 have equal fingerprints, but in different lines. */
static void all_64_bits_count_in_a_marked_table(void **state)
{
    for (size_t k = 0; dj_slots_at(k); k++) {
        struct dj_slots s = new_slots(64, true);
        struct rng r = rng_seeded(5);
        for (size_t i = 0; i < 100; i++) {
            hash[i] = rng_next(&r);
            assert_int_equal(dj_slots_at(k)->add(&s, hash + i, hash + i, 1, got), 1);
            for (unsigned bit = 0; bit < 64; bit++) {
                const uint64_t other = hash[i] ^ UINT64_C(1) << bit;
                dj_slots_at(k)->contains(&s, &other, &other, 1, got);
                assert_int_equal(got[0], 0);
            }
        }
        free(s.body);
    }
}

/* A damaged file may have no free slot. */
static void a_lookup_in_a_full_table_ends(void **state)
{
    for (size_t k = 0; dj_slots_at(k); k++) {
        struct dj_slots s = new_slots(5, false);
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
        cmocka_unit_test(single_keys_leave_marks_where_the_rule_says),
        cmocka_unit_test(every_kernel_agrees_with_the_rule),
        cmocka_unit_test(every_kernel_agrees_with_the_rule_for_marks),
        cmocka_unit_test(a_search_ends_at_a_full_line_without_its_mark),
        cmocka_unit_test(all_64_bits_count_in_a_marked_table),
        cmocka_unit_test(a_lookup_in_a_full_table_ends),
        cmocka_unit_test(kernels_are_listed_from_the_fastest_to_the_portable),
    };
    return cmocka_run_group_tests_name("unit.slots", tests, NULL, NULL);
}
