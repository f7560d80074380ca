/* test_audit.c - the sample of found keys, and its exact check. */
#include "binom.h"
#include "cli/session/audit.h"
#include "rng.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 3000
#define KEYS  700

struct input {
    char text[LINES][12];
    deja_slice key[LINES];
    uint64_t hash[LINES];
    uint8_t answer[LINES];
    uint64_t earlier[LINES]; /* occurrences of the key before this line */
};

static deja_filter *new_hasher(void)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    opt.kind = DEJA_EXACT;
    opt.capacity = 1;
    opt.seed = 9;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    return f;
}

/* Lines with random keys, one of which is empty; every fifth has none. */
static struct input *new_input(uint64_t seed)
{
    struct input *in = calloc(1, sizeof *in);
    struct rng dice = {seed};
    uint64_t count[KEYS] = {0};
    assert_non_null(in);
    for (size_t i = 0; i < LINES; i++) {
        const uint64_t key = rng_next(&dice) % KEYS;
        const int len =
            key ? snprintf(in->text[i], sizeof in->text[i], "key%u", (unsigned)key) : 0;
        in->key[i] = (deja_slice){in->text[i], (size_t)len};
        if (i % 5 == 4)
            in->key[i] = (deja_slice){NULL, 0};
        else
            in->earlier[i] = count[key]++;
    }
    return in;
}

/* The batch of lines from .. to; answers say new if `is_new` does. */
static struct batch batch_of(struct input *in, size_t from, size_t to, const deja_filter *hasher,
                             bool (*is_new)(const struct input *, size_t))
{
    struct batch b = {.hash = in->hash, .answer = in->answer};
    b.block.keys = in->key + from;
    b.block.n = to - from;
    b.block.keyless = true;
    for (size_t i = from; i < to; i++) {
        if (!in->key[i].data)
            continue;
        deja_filter_hash_batch(hasher, &in->key[i], 1, &b.hash[b.keyed]);
        b.answer[b.keyed++] = is_new ? is_new(in, i) : 0;
    }
    return b;
}

/* A filter that mistakes every seventh new key. */
static bool mostly_right(const struct input *in, size_t i)
{
    return in->earlier[i] == 0 && i % 7 != 3;
}

static bool first_two(const struct input *in, size_t i)
{
    return in->earlier[i] < 2 && i % 7 != 3;
}

static void read_first(struct audit *a, struct input *in, const deja_filter *hasher,
                       bool (*is_new)(const struct input *, size_t))
{
    for (size_t from = 0; from < LINES; from += 250) {
        const struct batch b = batch_of(in, from, from + 250, hasher, is_new);
        assert_int_equal(audit_take(a, &b, NULL), DEJA_OK);
    }
    assert_int_equal(audit_begin_check(a, hasher, NULL), DEJA_OK);
}

static int read_again(struct audit *a, struct input *in, const deja_filter *hasher, uint64_t keep,
                      size_t lines)
{
    deja_error err;
    int rc = DEJA_OK;
    for (size_t from = 0; from < lines && rc == DEJA_OK; from += 100) {
        const struct batch b = batch_of(in, from, from + 100, hasher, NULL);
        rc = audit_check(a, &b, keep, &err);
    }
    return rc < 0 ? rc : audit_end_check(a, &err);
}

static void check_all(uint64_t keep, bool (*is_new)(const struct input *, size_t))
{
    struct input *in = new_input(1);
    deja_filter *hasher = new_hasher();
    struct audit a;
    uint64_t lost = 0, found = 0;
    for (size_t i = 0; i < LINES; i++) {
        if (!in->key[i].data || is_new(in, i))
            continue;
        found++;
        lost += in->earlier[i] < keep;
    }
    audit_init(&a, LINES, 1);
    read_first(&a, in, hasher, is_new);
    assert_int_equal(read_again(&a, in, hasher, keep, LINES), DEJA_OK);
    assert_int_equal(a.found, found);
    assert_int_equal(a.n, found);
    assert_true(lost > 50);
    assert_int_equal(a.lost, lost);
    assert_true(audit_loss(&a).low == (double)lost && audit_loss(&a).high == (double)lost);
    audit_fini(&a);
    deja_filter_free(hasher);
    free(in);
}

static void a_sample_of_all_keys_counts_every_loss(void **state)
{
    (void)state;
    check_all(1, mostly_right);
}

static void with_copies_only_the_first_lines_of_a_key_can_be_lost(void **state)
{
    (void)state;
    check_all(2, first_two);
}

/* Every key that was found is in the sample with the same probability.  With a fixed seed, the
 * number of samples that have it is within 5 sigma, on both sides, for each of 200 positions. */
static void a_sample_is_uniform(void **state)
{
    static uint32_t times[LINES];
    struct input *in = new_input(2);
    deja_filter *hasher = new_hasher();
    const uint64_t rounds = 2000, size = 40;
    uint64_t found = 0;
    (void)state;
    for (uint64_t seed = 0; seed < rounds; seed++) {
        struct audit a;
        audit_init(&a, size, seed * 1000003);
        const struct batch b = batch_of(in, 0, 500, hasher, mostly_right);
        assert_int_equal(audit_take(&a, &b, NULL), DEJA_OK);
        assert_int_equal(a.n, size);
        found = a.found;
        for (size_t i = 0; i < a.n; i++)
            times[a.key[i].at]++;
        audit_fini(&a);
    }
    size_t sampled = 0;
    for (size_t i = 0; i < LINES; i++) {
        if (!times[i])
            continue;
        sampled++;
        assert_true(binom_within(times[i], rounds, (double)size / (double)found, 5.0));
    }
    assert_int_equal(sampled, found); /* none is left out */
    deja_filter_free(hasher);
    free(in);
}

/* The interval of a sample covers the truth for most seeds: at 95%, 5 sigma below 500 * 0.95. */
static void the_interval_covers_the_truth(void **state)
{
    struct input *in = new_input(3);
    deja_filter *hasher = new_hasher();
    uint64_t covered = 0, narrow = 0;
    double lost = 0;
    (void)state;
    for (size_t i = 0; i < LINES; i++)
        lost += in->key[i].data && !mostly_right(in, i) && in->earlier[i] == 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct audit a;
        audit_init(&a, 100, seed * 7919);
        read_first(&a, in, hasher, mostly_right);
        assert_int_equal(read_again(&a, in, hasher, 1, LINES), DEJA_OK);
        const struct audit_loss l = audit_loss(&a);
        assert_true(l.low <= l.lost && l.lost <= l.high);
        assert_true(l.low >= (double)a.lost);
        assert_true(l.high <= (double)(a.found - (a.n - a.lost)));
        covered += l.low <= lost && lost <= l.high;
        narrow += l.high - l.low < 0.5 * (double)a.found;
        audit_fini(&a);
    }
    assert_true(covered >= 450);
    assert_int_equal(narrow, 500); /* an interval that covers everything measures nothing */
    deja_filter_free(hasher);
    free(in);
}

static void a_changed_input_is_noticed(void **state)
{
    struct input *in = new_input(4);
    deja_filter *hasher = new_hasher();
    size_t at = 700; /* a line in the sample */
    (void)state;
    while (in->earlier[at] == 0)
        at++;
    for (int change = 0; change < 4; change++) {
        struct audit a;
        const deja_slice old = in->key[at];
        audit_init(&a, LINES, 1);
        read_first(&a, in, hasher, mostly_right);
        if (change == 1)
            in->key[at] = (deja_slice){NULL, 0}; /* all positions shift */
        if (change == 2)
            in->key[at] = (deja_slice){"other", 5};
        const int rc = read_again(&a, in, hasher, 1, change == 3 ? LINES - 100 : LINES);
        in->key[at] = old;
        assert_int_equal(rc, change ? DEJA_EIO : DEJA_OK);
        audit_fini(&a);
    }
    deja_filter_free(hasher);
    free(in);
}

static void a_shorter_input_is_noticed_even_if_the_sample_is_complete(void **state)
{
    struct input *in = new_input(5);
    deja_filter *hasher = new_hasher();
    struct audit a;
    (void)state;
    audit_init(&a, 1, 3);
    read_first(&a, in, hasher, mostly_right);
    assert_true(a.key[0].at < a.total - 100); /* so the last lines are not in the sample */
    assert_int_equal(read_again(&a, in, hasher, 1, LINES - 100), DEJA_EIO);
    audit_fini(&a);
    deja_filter_free(hasher);
    free(in);
}

/* If one key was not checked, at most one more than those found was lost, and no fewer. */
static void a_nearly_complete_sample_leaves_little_doubt(void **state)
{
    struct input *in = new_input(6);
    deja_filter *hasher = new_hasher();
    struct audit a;
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < LINES; i++)
        found += in->key[i].data && !mostly_right(in, i);
    audit_init(&a, found - 1, 3);
    read_first(&a, in, hasher, mostly_right);
    assert_int_equal(read_again(&a, in, hasher, 1, LINES), DEJA_OK);
    assert_true(audit_loss(&a).low == (double)a.lost);
    assert_true(audit_loss(&a).high == (double)(a.lost + 1));
    audit_fini(&a);
    deja_filter_free(hasher);
    free(in);
}

static void nothing_found_is_nothing_lost(void **state)
{
    deja_filter *hasher = new_hasher();
    struct audit a;
    deja_error err;
    (void)state;
    audit_init(&a, 10, 1);
    assert_int_equal(audit_begin_check(&a, hasher, &err), DEJA_OK);
    assert_int_equal(audit_end_check(&a, &err), DEJA_OK);
    assert_true(audit_loss(&a).high == 0);
    audit_fini(&a);
    deja_filter_free(hasher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_of_all_keys_counts_every_loss),
        cmocka_unit_test(with_copies_only_the_first_lines_of_a_key_can_be_lost),
        cmocka_unit_test(a_sample_is_uniform),
        cmocka_unit_test(the_interval_covers_the_truth),
        cmocka_unit_test(a_changed_input_is_noticed),
        cmocka_unit_test(a_shorter_input_is_noticed_even_if_the_sample_is_complete),
        cmocka_unit_test(a_nearly_complete_sample_leaves_little_doubt),
        cmocka_unit_test(nothing_found_is_nothing_lost),
    };
    return cmocka_run_group_tests_name("unit.audit", tests, NULL, NULL);
}
