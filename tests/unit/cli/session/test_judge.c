/* test_judge.c - which lines are new, with copies. */
#include "cli/session/judge.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 2000

static deja_filter *new_filter(uint32_t kind, bool mixed)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    opt.kind = kind;
    opt.capacity = 10000;
    opt.fp_rate = 1e-9;
    opt.seed = 3;
    opt.hash = mixed ? DEJA_HASH_MIXED : 0;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    return f;
}

/* Judges the lines in batches of this size and compares with exact counts.  Every seventh line has
 * no key. */
static void compare(struct judge *j, size_t batch)
{
    static char text[LINES][8];
    static deja_slice keys[LINES];
    static uint8_t answer[LINES];
    unsigned count[100] = {0};
    const size_t words = deja_filter_hash_words(j->filter);
    uint64_t *hash = calloc(LINES * words, sizeof *hash);
    assert_non_null(hash);
    unsigned x = 1;
    for (size_t from = 0; from < LINES; from += batch) {
        struct batch b = {.hash = hash, .answer = answer};
        deja_slice keyed[LINES];
        unsigned which[LINES];
        b.block.keys = keys + from;
        b.block.n = LINES - from < batch ? LINES - from : batch;
        for (size_t i = 0; i < b.block.n; i++) {
            x = x * 1103515245 + 12345;
            const unsigned key = (x >> 16) % 100;
            const int len = snprintf(text[from + i], sizeof text[0], "key%u", key);
            b.block.keys[i] = (deja_slice){text[from + i], (size_t)len};
            if (i % 7 == 6) {
                b.block.keys[i] = (deja_slice){NULL, 0};
                continue;
            }
            which[b.keyed] = key;
            keyed[b.keyed++] = b.block.keys[i];
        }
        deja_filter_hash_batch(j->filter, keyed, b.keyed, hash);
        assert_int_equal(judge_batch(j, &b, NULL), DEJA_OK);
        for (size_t i = 0; i < b.keyed; i++)
            assert_int_equal(answer[i], ++count[which[i]] <= (j->keep ? j->keep : 1));
    }
    free(hash);
}

static void the_first_n_lines_of_a_key_are_new(void **state)
{
    (void)state;
    static const size_t batches[] = {1, 13, 300, LINES};
    static const unsigned keeps[] = {0, 1, 2, 5, 30};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++)
        for (size_t k = 0; k < sizeof keeps / sizeof keeps[0]; k++) {
            struct judge j = {.filter = new_filter(DEJA_EXACT, false), .keep = keeps[k]};
            compare(&j, batches[i]);
            deja_filter_free(j.filter);
            judge_fini(&j);
        }
}

static void pending_keys_and_rows_of_hashes_are_counted(void **state)
{
    (void)state;
    struct judge j = {.filter = new_filter(DEJA_CLASSIC, true), .keep = 4};
    assert_int_equal(deja_dedup_new(j.filter, &j.pending, NULL), DEJA_OK);
    compare(&j, 77);
    deja_dedup_free(j.pending);
    deja_filter_free(j.filter);
    judge_fini(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_n_lines_of_a_key_are_new),
        cmocka_unit_test(pending_keys_and_rows_of_hashes_are_counted),
    };
    return cmocka_run_group_tests_name("unit.judge", tests, NULL, NULL);
}
