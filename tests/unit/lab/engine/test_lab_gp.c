/* test_lab_gp.c - hash programs: they compute what a plain interpreter computes, and every change
 * leaves a valid program. */
#include "lab/engine/lab_gp.h"
#include "rng.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS     333 /* not a multiple of a group */
#define LEN_MOST 90

static char bytes[KEYS][LEN_MOST];
static deja_slice keys[KEYS];
static uint32_t table[LAB_GP_TABLE];

static void make_keys(uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    for (size_t i = 0; i < KEYS; i++) {
        rng_bytes(&rng, (uint8_t *)bytes[i], LEN_MOST);
        keys[i] = (deja_slice){bytes[i], (size_t)rng_below(&rng, LEN_MOST + 1)};
    }
    keys[7] = (deja_slice){NULL, 0};
    for (size_t i = 0; i < LAB_GP_TABLE; i++)
        table[i] = (uint32_t)rng_next(&rng);
}

/* --- The model: one key, one step at a time ----------------------------------- */

static void model_step(const struct lab_gp_step *s, uint32_t reg[LAB_GP_REGISTERS])
{
    const uint32_t from = s->from == LAB_GP_CONSTANT ? s->constant : reg[s->from];
    const unsigned by = lab_gp_distance(s->constant);
    uint32_t *to = &reg[s->to];
    assert_in_range(by, 1, 31);
    if (s->op == LAB_GP_XOR)
        *to ^= from;
    else if (s->op == LAB_GP_ADD)
        *to += from;
    else if (s->op == LAB_GP_MULTIPLY)
        *to *= from | 1;
    else if (s->op == LAB_GP_ROTATE)
        *to = *to << by | *to >> (32 - by);
    else if (s->op == LAB_GP_SHIFT)
        *to ^= *to >> by;
    else
        *to ^= table[from & 255];
}

static uint32_t model(const struct lab_gp *p, deja_slice key)
{
    uint32_t reg[LAB_GP_REGISTERS] = {LAB_GP_START, 2 * LAB_GP_START, 3 * LAB_GP_START};
    for (size_t at = 0; at < key.len; at += 4) {
        uint8_t word[4] = {0};
        memcpy(word, (const char *)key.data + at, key.len - at < 4 ? key.len - at : 4);
        reg[LAB_GP_W] = (uint32_t)word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 |
                        (uint32_t)word[3] << 24;
        for (unsigned i = 0; i < p->n[LAB_GP_LOOP]; i++)
            model_step(&p->step[LAB_GP_LOOP][i], reg);
    }
    reg[LAB_GP_W] = (uint32_t)key.len;
    for (unsigned i = 0; i < p->n[LAB_GP_END]; i++)
        model_step(&p->step[LAB_GP_END][i], reg);
    return reg[LAB_GP_A];
}

/* --- Running ------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The order of the keys differs, so the sorted hashes are compared. */
static bool agrees_with_model(const struct lab_gp *p, uint32_t n)
{
    struct lab_gp_keys k;
    deja_error err;
    uint32_t want[KEYS];
    uint32_t *have = calloc(lab_gp_room(n), sizeof *have);
    assert_non_null(have);
    assert_int_equal(lab_gp_keys_init(&k, keys, n, &err), DEJA_OK);
    lab_gp_hash(p, table, &k, have);
    for (size_t i = 0; i < n; i++)
        want[i] = model(p, keys[i]);
    qsort(want, n, sizeof *want, ascending);
    qsort(have, n, sizeof *have, ascending);
    const bool same = memcmp(want, have, n * sizeof *want) == 0;
    lab_gp_keys_fini(&k);
    free(have);
    return same;
}

static void programs_compute_what_the_model_computes(void **state)
{
    uint64_t dice = 11;
    make_keys(1);
    for (unsigned i = 0; i < 500; i++) {
        const struct lab_gp p = lab_gp_random(&dice);
        assert_true(agrees_with_model(&p, i % KEYS + 1));
    }
}

/* FNV-1a needs bytes, so here is its relative for words, with the digest computed by hand. */
static void a_known_program_gives_a_known_hash(void **state)
{
    const struct lab_gp p = {.n = {2, 1},
                             .step = {{{LAB_GP_XOR, LAB_GP_A, LAB_GP_W, 0},
                                       {LAB_GP_MULTIPLY, LAB_GP_A, LAB_GP_CONSTANT, 0x01000193}},
                                      {{LAB_GP_ADD, LAB_GP_A, LAB_GP_W, 0}}}};
    const deja_slice key = {"abcde", 5};
    const uint32_t first = (UINT32_C(0x9e3779b9) ^ UINT32_C(0x64636261)) * UINT32_C(0x01000193);
    const uint32_t second = (first ^ 0x65) * UINT32_C(0x01000193);
    struct lab_gp_keys k;
    uint32_t hash[LAB_GP_LANES];
    assert_int_equal(lab_gp_keys_init(&k, &key, 1, NULL), DEJA_OK);
    lab_gp_hash(&p, table, &k, hash);
    assert_int_equal(hash[0], second + 5);
    lab_gp_keys_fini(&k);
}

static void too_many_or_too_long_keys_are_refused(void **state)
{
    struct lab_gp_keys k;
    deja_error err;
    const deja_slice huge = {bytes, SIZE_MAX / 2};
    assert_int_equal(lab_gp_keys_init(&k, keys, 0, &err), DEJA_EINVAL);
    lab_gp_keys_fini(&k);
    assert_int_equal(lab_gp_keys_init(&k, keys, LAB_GP_KEYS_MOST + 1, &err), DEJA_EINVAL);
    lab_gp_keys_fini(&k);
    assert_int_equal(lab_gp_keys_init(&k, &huge, 1, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "too long"));
    lab_gp_keys_fini(&k);
}

/* --- Breeding ------------------------------------------------------------------- */

static bool valid(const struct lab_gp *p)
{
    for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
        if (p->n[part] > LAB_GP_STEPS)
            return false;
        for (unsigned i = 0; i < p->n[part]; i++) {
            const struct lab_gp_step *s = &p->step[part][i];
            if (s->op >= LAB_GP_OPS || s->to >= LAB_GP_REGISTERS || s->from > LAB_GP_CONSTANT)
                return false;
        }
    }
    return true;
}

/* Thousands of changes in a row, through programs without steps and full ones. */
static void changes_leave_valid_programs(void **state)
{
    uint64_t dice = 5;
    struct lab_gp p = lab_gp_random(&dice), q = {0};
    unsigned shortest = 99, longest = 0;
    make_keys(2);
    for (unsigned i = 0; i < 50000; i++) {
        lab_gp_mutate(&p, &dice);
        assert_true(valid(&p));
        q = lab_gp_cross(&q, &p, &dice);
        assert_true(valid(&q));
        shortest = lab_gp_length(&p) < shortest ? lab_gp_length(&p) : shortest;
        longest = lab_gp_length(&p) > longest ? lab_gp_length(&p) : longest;
        if (i % 500 == 0)
            assert_true(agrees_with_model(&p, 40) && agrees_with_model(&q, 40));
    }
    assert_true(shortest <= 2 && longest >= 2 * LAB_GP_STEPS - 2);
}

static void a_child_has_the_head_of_one_parent_and_the_tail_of_the_other(void **state)
{
    uint64_t dice = 6;
    struct lab_gp a = lab_gp_random(&dice), b = lab_gp_random(&dice);
    for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
        a.n[part] = b.n[part] = LAB_GP_STEPS;
        for (unsigned i = 0; i < LAB_GP_STEPS; i++) {
            a.step[part][i] = (struct lab_gp_step){0, 0, 0, 100 + i};
            b.step[part][i] = (struct lab_gp_step){0, 0, 0, 200 + i};
        }
    }
    for (unsigned i = 0; i < 1000; i++) {
        const struct lab_gp c = lab_gp_cross(&a, &b, &dice);
        for (unsigned part = 0; part < LAB_GP_PARTS; part++)
            for (unsigned j = 1; j < c.n[part]; j++) {
                const uint32_t left = c.step[part][j - 1].constant,
                               here = c.step[part][j].constant;
                assert_true(here == left + 1 || (left < 200 && here >= 200));
            }
    }
}

/* --- Records -------------------------------------------------------------------- */

static void a_program_survives_the_journal(void **state)
{
    uint64_t dice = 8;
    for (unsigned i = 0; i < 1000; i++) {
        double number[LAB_GP_NUMBERS], again[LAB_GP_NUMBERS];
        const struct lab_gp p = lab_gp_random(&dice);
        lab_gp_pack(&p, number);
        for (size_t j = 0; j < LAB_GP_NUMBERS; j++) {
            char text[40];
            snprintf(text, sizeof text, "%.17g", number[j]);
            number[j] = strtod(text, NULL);
        }
        const struct lab_gp q = lab_gp_unpack(number);
        lab_gp_pack(&q, again);
        assert_memory_equal(number, again, sizeof number);
        for (unsigned part = 0; part < LAB_GP_PARTS; part++) {
            char a[LAB_GP_TEXT], b[LAB_GP_TEXT];
            lab_gp_text(&p, part, a);
            lab_gp_text(&q, part, b);
            assert_string_equal(a, b);
        }
    }
}

static void numbers_from_an_edited_journal_give_a_valid_program(void **state)
{
    static const double odd[] = {-1, 1e300, -1e300, 0.5, 0x1p41, 0x1p41 - 1, 511};
    struct rng rng = rng_seeded(3);
    for (unsigned i = 0; i < 2000; i++) {
        double number[LAB_GP_NUMBERS];
        for (size_t j = 0; j < LAB_GP_NUMBERS; j++)
            number[j] = rng_below(&rng, 4) ? (double)rng_below(&rng, UINT64_C(1) << 42)
                                           : odd[rng_below(&rng, sizeof odd / sizeof odd[0])];
        const struct lab_gp p = lab_gp_unpack(number);
        assert_true(valid(&p));
    }
    double number[LAB_GP_NUMBERS];
    for (size_t j = 0; j < LAB_GP_NUMBERS; j++)
        number[j] = strtod("nan", NULL);
    const struct lab_gp p = lab_gp_unpack(number);
    assert_int_equal(lab_gp_length(&p), 0);
}

static void programs_are_readable(void **state)
{
    const struct lab_gp p = {.n = {4, 2},
                             .step = {{{LAB_GP_XOR, LAB_GP_A, LAB_GP_W, 0},
                                       {LAB_GP_MULTIPLY, LAB_GP_A, LAB_GP_CONSTANT, 0x10},
                                       {LAB_GP_MULTIPLY, LAB_GP_B, LAB_GP_C, 0},
                                       {LAB_GP_ROTATE, LAB_GP_W, LAB_GP_A, 12}},
                                      {{LAB_GP_SHIFT, LAB_GP_A, LAB_GP_A, 15},
                                       {LAB_GP_LOOKUP, LAB_GP_C, LAB_GP_W, 0}}}};
    char text[LAB_GP_TEXT];
    lab_gp_text(&p, LAB_GP_LOOP, text);
    assert_string_equal(text, "a ^= w; a *= 0x11; b *= c | 1; w = w <<< 13");
    lab_gp_text(&p, LAB_GP_END, text);
    assert_string_equal(text, "a ^= a >> 16; c ^= T[w & 255]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_compute_what_the_model_computes),
        cmocka_unit_test(a_known_program_gives_a_known_hash),
        cmocka_unit_test(too_many_or_too_long_keys_are_refused),
        cmocka_unit_test(changes_leave_valid_programs),
        cmocka_unit_test(a_child_has_the_head_of_one_parent_and_the_tail_of_the_other),
        cmocka_unit_test(a_program_survives_the_journal),
        cmocka_unit_test(numbers_from_an_edited_journal_give_a_valid_program),
        cmocka_unit_test(programs_are_readable),
    };
    return cmocka_run_group_tests_name("unit.lab_gp", tests, NULL, NULL);
}
