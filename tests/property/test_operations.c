/* test_operations.c - a million random operations on a filter of each class.
 *
 * Random calls on random keys: adds and lookups, single and in batches.  Each key has a flag that
 * says whether it was added; a filter must answer "seen" for every key whose flag is set.
 * property.operations_long does the same at length, with threads. */
#include "unit.h"

#include "kinds/kind.h"
#include "rng.h"
#include <string.h>

#define NUMBERS 20000
static bool was_added[NUMBERS];
static uint64_t n_wrong, n_unsure;

static void weigh(uint64_t number, bool seen)
{
    n_wrong += was_added[number] && !seen;
    n_unsure += !was_added[number] && seen;
}

static void one_call(deja_filter *f, struct rng *r)
{
    enum {
        MOST = 200
    };
    const uint64_t dice = rng_next(r);
    const size_t n = dice % 4 ? 1 : (size_t)rng_below(r, MOST);
    static uint64_t number[MOST];
    static deja_slice keys[MOST];
    static uint8_t answer[MOST];
    for (size_t i = 0; i < n; i++) {
        number[i] = rng_below(r, NUMBERS);
        keys[i] = (deja_slice){&number[i], sizeof number[i]};
    }
    if (dice >> 63) {
        deja_filter_contains_batch(f, keys, n, answer);
        for (size_t i = 0; i < n; i++)
            weigh(number[i], answer[i]);
    } else {
        assert_int_equal(deja_filter_add_batch(f, keys, n, answer, NULL, NULL), DEJA_OK);
        for (size_t i = 0; i < n; i++) {
            weigh(number[i], !answer[i]);
            was_added[number[i]] = true;
        }
    }
}

static void a_million_random_operations_forget_nothing(void **state)
{
    static const deja_options classes[] = {
        {.kind = DEJA_CLASSIC, .capacity = NUMBERS, .fp_rate = 1e-3},
        {.kind = DEJA_CLASSIC,
         .capacity = NUMBERS,
         .fp_rate = 1e-3,
         .filters = 2,
         .hash = DEJA_HASH_MURMUR3},
        {.kind = DEJA_BLOCKED, .capacity = NUMBERS, .fp_rate = 1e-3},
        {.kind = DEJA_BLOCKED, .capacity = NUMBERS, .fp_rate = 1e-3, .filters = 2},
        {.kind = DEJA_EXACT, .capacity = NUMBERS},
        {.kind = DEJA_SCALABLE, .capacity = 500, .fp_rate = 1e-3},
        {.kind = DEJA_SCALABLE, .capacity = 500, .part_kind = DEJA_CLASSIC, .fp_rate = 1e-3},
        {.kind = DEJA_SCALABLE, .capacity = 500, .part_kind = DEJA_EXACT},
    };
    for (size_t c = 0; c < DJ_ARRAY_LEN(classes); c++) {
        deja_options opt = classes[c];
        struct rng r = rng_seeded(c);
        opt.size = sizeof opt;
        opt.seed = c + 1;
        deja_filter *f = NULL;
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        const bool exact = f->plan.part_kind->number == DEJA_EXACT;
        memset(was_added, 0, sizeof was_added);
        n_wrong = n_unsure = 0;
        for (int call = 0; call < 1000000 / 26; call++) /* 26 operations per call on average */
            one_call(f, &r);
        if (n_wrong)
            fail_msg("class %zu: %zu keys were forgotten", c, (size_t)n_wrong);
        if (n_unsure > (exact ? 0 : 1000))
            fail_msg("class %zu: %zu false positives", c, (size_t)n_unsure);
        deja_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_random_operations_forget_nothing),
    };
    return cmocka_run_group_tests_name("property.operations", tests, NULL, NULL);
}
