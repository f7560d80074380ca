/* test_machine.c - F filters on F machines: each holds one of them, bit for bit. */
#include "unit.h"

#include "combining.h"

enum {
    F = 3,
    KEYS = 3000,
    PROBES = 20000
};

static const struct {
    const char *name;
    deja_options opt;
} kinds[] = {
    {"blocked", FIELDS(.capacity = KEYS, .fp_rate = 0.05, .seed = 7, .filters = F)},
    {"blocked by memory", FIELDS(.memory = 3 << 10, .capacity = KEYS, .seed = 7, .filters = F)},
    {"classic",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = KEYS, .fp_rate = 0.05, .seed = 7, .filters = F)},
    {"classic by k and M", FIELDS(.kind = DEJA_CLASSIC, .capacity = KEYS, .hashes = 2, .seed = 7,
                                  .multiplier = 1, .filters = F)},
    {"md5", FIELDS(.kind = DEJA_CLASSIC, .capacity = KEYS, .fp_rate = 0.05, .seed = 7,
                   .hash = DEJA_HASH_MD5, .filters = F)},
    {"spectral",
     FIELDS(.kind = DEJA_SPECTRAL, .capacity = KEYS, .fp_rate = 0.05, .seed = 7, .filters = F)},
};

/* The whole filter, and the F filters of the machines. */
struct set {
    deja_filter *whole, *one[F];
};

static struct set set_of(const deja_options *opt)
{
    struct set s = {filled(*opt, 0, KEYS), {NULL}};
    for (uint32_t i = 0; i < F; i++) {
        deja_options mine = *opt;
        mine.machine = i + 1;
        s.one[i] = filled(mine, 0, KEYS);
    }
    return s;
}

static void free_set(struct set *s)
{
    deja_filter_free(s->whole);
    for (uint32_t i = 0; i < F; i++)
        deja_filter_free(s->one[i]);
}

static void same_bits(const struct set *s, const char *name)
{
    for (uint32_t i = 0; i < F; i++) {
        const struct dj_part *p = s->whole->part[i], *q = s->one[i]->part[0];
        if (s->one[i]->n_parts != 1 || p->body_len != q->body_len ||
            memcmp(p->body, q->body, p->body_len) != 0)
            fail_msg("%s: machine %u has other bits", name, i + 1);
    }
}

static bool finds(const deja_filter *f, int i)
{
    char text[32];
    const int n = snprintf(text, sizeof text, "probe %d", i);
    return deja_filter_contains(f, (deja_slice){text, (size_t)n});
}

static void same_answers(const struct set *s, const char *name)
{
    int hits = 0;
    for (int i = 0; i < PROBES; i++) {
        const bool all = finds(s->one[0], i) && finds(s->one[1], i) && finds(s->one[2], i);
        if (finds(s->whole, i) != all)
            fail_msg("%s: probe %d differs", name, i);
        hits += all;
    }
    if (!hits)
        fail_msg("%s: no false positive: nothing was compared", name);
}

static void machines_together_answer_as_one_filter(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        struct set s = set_of(&kinds[i].opt);
        same_bits(&s, kinds[i].name);
        same_answers(&s, kinds[i].name);
        for (uint32_t j = 0; j < F; j++)
            assert_int_equal(missing(s.one[j], 0, KEYS), 0);
        free_set(&s);
    }
}

static void the_next_visit_of_all_machines_is_that_of_one_filter(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        struct set s = set_of(&kinds[i].opt);
        deja_options next = OPTIONS(.capacity = KEYS);
        deja_error err = {0, ""};
        if (kinds[i].opt.memory)
            next.memory = kinds[i].opt.memory;
        works(deja_filter_rotate(s.whole, &next, &err), &err);
        add_keys(s.whole, 0, KEYS);
        for (uint32_t j = 0; j < F; j++) {
            works(deja_filter_rotate(s.one[j], &next, &err), &err);
            add_keys(s.one[j], 0, KEYS);
        }
        same_bits(&s, kinds[i].name);
        same_answers(&s, kinds[i].name);
        free_set(&s);
    }
}

/* The rate of all machines is the product of theirs, within what the twins of all add. */
static void each_machine_reports_its_own_rate_and_size(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        struct set s = set_of(&kinds[i].opt);
        deja_stats all = stats_of(s.whole);
        double product = 1;
        uint64_t bytes = 0;
        for (uint32_t j = 0; j < F; j++) {
            const deja_stats one = stats_of(s.one[j]);
            assert_int_equal(one.machine, j + 1);
            assert_int_equal(one.filters, F);
            product *= one.fp_now;
            bytes += one.bytes;
        }
        assert_int_equal(all.machine, 0);
        assert_int_equal(bytes, all.bytes);
        assert_true(product > all.fp_now * (1 - 1e-9) && product < all.fp_now * (1 + 1e-9));
        free_set(&s);
    }
}

static void an_impossible_machine_is_refused(void **state)
{
    const struct {
        deja_options opt;
        const char *text;
    } bad[] = {
        {OPTIONS(.capacity = 10, .machine = 1), "options.machine is 1: it must be"},
        {OPTIONS(.capacity = 10, .filters = 3, .machine = 4), "options.machine is 4: it must be"},
        {OPTIONS(.capacity = 10, .filters = 3, .machine = 99), "options.machine is 99"},
        {OPTIONS(.capacity = 10, .filters = 3, .machine = 1, .format = 1), "needs format 2"},
        {OPTIONS(.kind = DEJA_WINDOW, .capacity = 10, .filters = 3, .machine = 1),
         "options.filters goes with"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(bad); i++) {
        deja_filter *f = NULL;
        deja_error err = {0, ""};
        assert_true(deja_filter_new(&bad[i].opt, &f, &err) < 0);
        if (!strstr(err.text, bad[i].text))
            fail_msg("%s", err.text);
    }
}

static void filters_of_two_machines_do_not_merge(void **state)
{
    struct set s = set_of(&kinds[0].opt);
    deja_error err = {0, ""};
    assert_int_equal(deja_filter_merge(s.one[0], s.one[1], &err), DEJA_EMISMATCH);
    if (!strstr(err.text, "machine"))
        fail_msg("%s", err.text);
    works(deja_filter_merge(s.one[0], s.one[0], &err), &err);
    free_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_together_answer_as_one_filter),
        cmocka_unit_test(the_next_visit_of_all_machines_is_that_of_one_filter),
        cmocka_unit_test(each_machine_reports_its_own_rate_and_size),
        cmocka_unit_test(an_impossible_machine_is_refused),
        cmocka_unit_test(filters_of_two_machines_do_not_merge),
    };
    return cmocka_run_group_tests_name("unit.machine", tests, NULL, NULL);
}
