/* test_algebra.c - unions, folds and common keys are what the keys themselves would have given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EVERY .seed = 7,
#include "binom.h"
#include "bodies.h"
#include "calls.h"
#include "core/base/bytes.h"
#include "failmem.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include "rng.h"
#include "scratch.h"
#include <math.h>

/* Sizes that fold three times. */
static const struct {
    const char *name;
    deja_options opt;
} bloom[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 4000)},
    {"classic k 1", FIELDS(.kind = DEJA_CLASSIC, .memory = 512, .capacity = 400, .hashes = 1)},
    {"classic, odd in the end", FIELDS(.kind = DEJA_CLASSIC, .memory = 64 * 3, .capacity = 50)},
    {"classic sha1",
     FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 4000, .hash = DEJA_HASH_SHA1)},
    {"classic jenkins",
     FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 4000, .hash = DEJA_HASH_JENKINS)},
    {"spatial", FIELDS(.kind = DEJA_CLASSIC, .memory = 24576, .capacity = 4000, .filters = 3)},
    {"spatial md5", FIELDS(.kind = DEJA_CLASSIC, .memory = 16384, .capacity = 4000, .filters = 2,
                           .hash = DEJA_HASH_MD5)},
    {"blocked", FIELDS(.memory = 8192, .capacity = 4000)},
    {"blocked siphash", FIELDS(.memory = 8192, .capacity = 4000, .hash = DEJA_HASH_SIPHASH)},
    {"blocked, odd in the end", FIELDS(.memory = 512 * 5, .capacity = 800)},
    {"blocked spatial", FIELDS(.memory = 16384, .capacity = 4000, .filters = 2)},
};

static bool has(const deja_filter *f, uint64_t i)
{
    return deja_filter_contains(f, key_of(&i));
}

static deja_filter *filled(deja_options opt, uint64_t from, uint64_t to)
{
    deja_filter *f = new_filter(opt);
    add_keys(f, from, to);
    return f;
}

static void works(int rc, const deja_error *err)
{
    if (rc != DEJA_OK)
        fail_msg("%d: %s", rc, err->text);
}

static void merge(deja_filter *into, const deja_filter *from)
{
    deja_error err = {0, ""};
    works(deja_filter_merge(into, from, &err), &err);
}

static void fold(deja_filter *f, uint32_t times)
{
    deja_error err = {0, ""};
    works(deja_filter_fold(f, times, &err), &err);
}

static void assert_same_bodies(const deja_filter *a, const deja_filter *b, const char *name)
{
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++)
        if (!bodies_equal(a->part[i], b->part[i]))
            fail_msg("%s: part %u differs", name, i);
}

/* The same filter with a smaller body, as options would ask for it. */
static deja_options smaller(const deja_filter *f, deja_options opt, unsigned folds)
{
    opt.memory = (f->plan.shape.bits >> folds) / 8 * f->plan.filters;
    opt.hashes = f->plan.shape.k;
    return opt;
}

/* --- Union ------------------------------------------------------------------ */

static void a_union_is_what_both_lists_would_have_left(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom); i++) {
        const uint64_t n = bloom[i].opt.capacity;
        deja_filter *a = filled(bloom[i].opt, 0, n / 2), *b = filled(bloom[i].opt, n / 3, n);
        deja_filter *both = filled(bloom[i].opt, 0, n);
        const deja_stats in_a = stats_of(a), in_b = stats_of(b);
        merge(a, b);
        assert_same_bodies(a, both, bloom[i].name);
        const deja_stats s = stats_of(a), t = stats_of(both);
        assert_int_equal(s.offered, in_a.offered + in_b.offered);
        assert_int_equal(s.unions, 1);
        assert_true(s.fp_now >= t.fp_now && s.fp_now <= t.fp_now);
        assert_in_range(s.keys, in_a.keys > in_b.keys ? in_a.keys : in_b.keys,
                        in_a.keys + in_b.keys);
        /* What was lost before stays lost, and nothing is invented. */
        assert_true(fabs(s.lost - in_a.lost - in_b.lost) < 1);
        deja_filter_free(a);
        deja_filter_free(b);
        deja_filter_free(both);
    }
}

static void a_union_of_tables_has_every_fingerprint(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_EXACT, .capacity = 3000);
    deja_filter *a = filled(opt, 0, 2000);
    deja_filter *b = filled(OPTIONS(.kind = DEJA_EXACT, .capacity = 5000), 1500, 3000);
    deja_filter *both = filled(opt, 0, 3000);
    merge(a, b);
    assert_same_bodies(a, both, "exact");
    assert_int_equal(stats_of(a).keys, 3000);
    for (uint64_t i = 0; i < 3000; i++)
        assert_true(has(a, i));
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(both);
}

/* The fingerprint of the hash 0 is 1, which the hash 1 has as well; their ways differ. */
static void the_hash_0_is_found_in_a_union_of_tables(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_EXACT, .capacity = 30);
    deja_filter *a = new_filter(opt), *b = new_filter(opt);
    uint64_t crowd[8];
    for (uint64_t i = 0; i < 8; i++) /* the line where both begin is full */
        crowd[i] = i + 2;
    const uint64_t zero = 0;
    uint8_t found = 0;
    assert_int_equal(deja_filter_add_hashed(a, crowd, 8, NULL, NULL, NULL), DEJA_OK);
    assert_int_equal(deja_filter_add_hashed(b, &zero, 1, NULL, NULL, NULL), DEJA_OK);
    merge(a, b);
    deja_filter_contains_hashed(a, &zero, 1, &found);
    assert_true(found);
    deja_filter_free(a);
    deja_filter_free(b);
}

static void a_table_without_room_is_left_alone(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_EXACT, .capacity = 1000);
    deja_error err = {0, ""};
    deja_filter *a = filled(opt, 0, 900), *b = filled(opt, 900, 1800), *same = filled(opt, 0, 900);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "900 keys more"));
    assert_same_bodies(a, same, "exact");
    assert_int_equal(stats_of(a).keys, 900);
    assert_int_equal(stats_of(a).unions, 0);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(same);
}

static void the_larger_one_folds_onto_the_smaller_on_the_way(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom); i++) {
        const uint64_t n = bloom[i].opt.capacity;
        for (unsigned folds = 1; folds <= 2; folds++) {
            deja_error err = {0, ""};
            deja_filter *large = filled(bloom[i].opt, 0, n / 2);
            if (large->plan.shape.bits % (UINT64_C(1024) << folds)) {
                deja_filter_free(large);
                continue;
            }
            const deja_options opt = smaller(large, bloom[i].opt, folds);
            deja_filter *a = filled(opt, n / 2, n), *both = filled(opt, 0, n);
            merge(a, large);
            assert_same_bodies(a, both, bloom[i].name);
            assert_int_equal(deja_filter_merge(large, a, &err), DEJA_EMISMATCH);
            assert_non_null(strstr(err.text, "fold the first one"));
            deja_filter_free(large);
            deja_filter_free(a);
            deja_filter_free(both);
        }
    }
}

static void refused(deja_options one, deja_options other, int status, const char *words)
{
    deja_error err = {0, ""};
    double keys;
    deja_filter *a = filled(one, 0, 10), *b = filled(other, 10, 20), *same = filled(one, 0, 10);
    int rc = deja_filter_merge(a, b, &err);
    if (rc != status || !strstr(err.text, words))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, words);
    assert_same_bodies(a, same, words);
    assert_int_equal(stats_of(a).offered, 10);
    rc = deja_filter_overlap(a, b, &keys, NULL, &err);
    assert_int_equal(rc, status);
    assert_non_null(strstr(err.text, words));
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(same);
}

static void refusals_name_what_differs_and_both_values(void **state)
{
    const deja_options opt = OPTIONS(.memory = 4096, .capacity = 100, .hashes = 6);
    deja_options other = opt;
    other.kind = DEJA_CLASSIC;
    refused(opt, other, DEJA_EMISMATCH, "differ in kind: blocked and classic");
    other = opt;
    other.hash = DEJA_HASH_SIPHASH;
    refused(opt, other, DEJA_EMISMATCH, "differ in hash: xxh3 and siphash");
    other = opt;
    other.hashes = 5;
    refused(opt, other, DEJA_EMISMATCH, "differ in hashes (k): 6 and 5");
    other = opt;
    other.filters = 2;
    refused(opt, other, DEJA_EMISMATCH, "the number of filters (F): 1 and 2");
    other = opt;
    other.seed = 8;
    refused(opt, other, DEJA_EMISMATCH, "differ in their secret key (check values ");
    other = opt;
    other.memory = 4096 * 3;
    refused(opt, other, DEJA_EMISMATCH, "differ in size, 32768 and 98304 bits, and neither folds");
    other = opt;
    other.url = deja_url_profile(DEJA_URL_SAFE);
    refused(opt, other, DEJA_EMISMATCH, "the URL profile of their keys: none and safe");
    deja_options crawl = opt, drop = opt;
    deja_url_rules *rules = NULL;
    const deja_slice name = {"utm", 3};
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, &name, 1, NULL, 0, &rules, NULL),
                     DEJA_OK);
    crawl.url = deja_url_profile(DEJA_URL_CRAWL);
    drop.url = rules;
    refused(crawl, drop, DEJA_EMISMATCH, "differ in the URL rules of their keys: ");
    deja_url_rules_free(rules);
    const deja_options grows = OPTIONS(.kind = DEJA_SCALABLE, .capacity = 100);
    other = grows;
    other.part_kind = DEJA_CLASSIC;
    refused(grows, other, DEJA_EMISMATCH, "differ in kind: blocked and classic");
    other = grows;
    other.capacity = 777;
    refused(grows, other, DEJA_EMISMATCH, "differ in hashes (k): 12 and 16");
}

/* --- Series ------------------------------------------------------------------ */

static const deja_options growing = FIELDS(.capacity = 1000, .fp_rate = 1e-9);

static deja_options grown(deja_options opt, uint32_t kind)
{
    opt.kind = kind;
    assert_true(deja_options_grow(&opt));
    return opt;
}

static deja_stats counts_of(const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(f, 0, &o, NULL), DEJA_OK);
    return o;
}

/* As long as it has one part, a filter that can grow is one of its part's kind. */
static void a_series_of_one_part_is_united_folded_and_compared_as_its_part(void **state)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        /* A size that folds: 40000 bits and more, rounded by the search below. */
        deja_options opt = OPTIONS(.capacity = 4096, .fp_rate = 1e-3);
        deja_filter *a;
        for (a = NULL; !a || a->plan.shape.bits % 4096; opt.capacity++) {
            deja_filter_free(a);
            a = new_filter(grown(opt, kinds[i]));
        }
        opt.capacity--;
        add_keys(a, 0, 2000);
        deja_filter *b = filled(grown(opt, kinds[i]), 1000, 4000);
        deja_filter *both = filled(grown(opt, kinds[i]), 0, 4000);
        deja_options fixed = opt;
        fixed.kind = kinds[i];
        fixed.fp_rate = 0;
        fixed.memory = a->plan.shape.bits / 8;
        fixed.hashes = a->plan.shape.k;
        deja_filter *plain = filled(fixed, 1000, 4000);
        double keys, sigma;
        deja_error err = {0, ""};
        works(deja_filter_overlap(a, b, &keys, &sigma, &err), &err);
        assert_true(fabs(keys - 1000) < 5 * sigma + 1);
        works(deja_filter_overlap(a, plain, &keys, &sigma, &err), &err);
        assert_true(fabs(keys - 1000) < 5 * sigma + 1);
        deja_filter *c = filled(grown(opt, kinds[i]), 0, 2000);
        merge(a, b);
        merge(c, plain);
        assert_same_bodies(a, both, "series");
        assert_same_bodies(c, both, "series and plain");
        assert_int_equal(stats_of(a).unions, 1);
        assert_true(fabs((double)stats_of(a).keys - 4000) < 100);
        fold(a, 1);
        assert_int_equal(stats_of(a).folds, 1);
        assert_int_equal(a->plan.kind->number, DEJA_SCALABLE);
        fixed.memory /= 2;
        deja_filter *half = filled(fixed, 0, 4000);
        assert_same_bodies(a, half, "folded series");
        add_keys(a, 10000, 40000); /* and it still grows */
        assert_true(a->n_parts > 1 && has(a, 3999) && has(a, 39999));
        assert_int_equal(counts_of(a).excess, 0);
        deja_filter_free(a);
        deja_filter_free(b);
        deja_filter_free(c);
        deja_filter_free(both);
        deja_filter_free(plain);
        deja_filter_free(half);
    }
}

/* a has three parts and b four, in either order; the union has all keys, four parts, and says that
 * some of them are crowded.  Numbers: each key came once, or in both. */
static void series_that_have_grown_unite_part_by_part(void **state)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC};
    for (size_t i = 0; i < 2 * DJ_ARRAY_LEN(kinds); i++) {
        const deja_options opt = grown(growing, kinds[i / 2]);
        deja_filter *a = filled(opt, 0, 5000), *b = filled(opt, 3000, 12000);
        deja_filter *into = i % 2 ? a : b, *from = i % 2 ? b : a;
        const deja_stats in_a = stats_of(a), in_b = stats_of(b);
        assert_int_equal(a->n_parts, 3);
        assert_int_equal(b->n_parts, 4);
        merge(into, from);
        assert_int_equal(into->n_parts, 4);
        for (uint64_t key = 0; key < 12000; key++)
            assert_true(has(into, key));
        const deja_stats s = stats_of(into);
        assert_int_equal(s.offered, in_a.offered + in_b.offered);
        assert_in_range(s.keys, 12000, 14000); /* 2,000 of them may lie in two parts */
        assert_true(fabs(s.lost - in_a.lost - in_b.lost) < 1e-6);
        assert_true(counts_of(into).excess > 0);
        add_keys(into, 20000, 60000); /* the next keys go to new parts */
        for (uint64_t key = 20000; key < 60000; key++)
            assert_true(has(into, key));
        const deja_stats t = stats_of(into);
        assert_true(into->n_parts > 4 && t.lost >= s.lost && t.lost < s.lost + 41000 * t.fp_now);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void series_of_tables_unite_and_are_counted(void **state)
{
    const deja_options opt = grown(OPTIONS(.capacity = 100), DEJA_EXACT);
    deja_filter *a = filled(opt, 0, 150), *b = filled(opt, 100, 2000);
    double keys, sigma;
    deja_error err = {0, ""};
    works(deja_filter_overlap(a, b, &keys, &sigma, &err), &err);
    assert_true(keys >= 50 && keys <= 50 && sigma <= 0);
    merge(a, b);
    assert_int_equal(stats_of(a).keys, 2000);
    assert_int_equal(stats_of(a).offered, 150 + 1900);
    for (uint64_t key = 0; key < 2000; key++)
        assert_true(has(a, key));
    assert_int_equal(counts_of(a).excess, 0);
    deja_filter *fixed = filled(OPTIONS(.kind = DEJA_EXACT, .capacity = 9000), 5000, 5010);
    assert_int_equal(deja_filter_merge(fixed, a, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "merge into the one that has grown"));
    assert_int_equal(stats_of(fixed).keys, 10);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(fixed);
}

static void series_with_other_steps_are_refused(void **state)
{
    deja_options other = growing;
    deja_error err = {0, ""};
    double keys;
    deja_filter *a = filled(grown(growing, DEJA_BLOCKED), 0, 3000);
    other.growth = 4;
    deja_filter *b = filled(grown(other, DEJA_BLOCKED), 0, 3000);
    const deja_stats before = counts_of(a);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "have grown in different steps: part 2 has "));
    deja_filter *c = filled(grown(growing, DEJA_BLOCKED), 0, 100);
    assert_int_equal(deja_filter_merge(c, b, &err), DEJA_EMISMATCH); /* part 2 would differ */
    assert_int_equal(c->n_parts, 1);
    assert_int_equal(counts_of(a).keys, before.keys);
    assert_int_equal(deja_filter_overlap(a, a, &keys, NULL, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "has grown to 2 parts"));
    assert_int_equal(deja_filter_fold(a, 1, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "has grown to 2 parts and cannot be folded"));
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(c);
}

static void filters_of_different_visits_are_refused(void **state)
{
    const deja_options opt = OPTIONS(.memory = 4096, .capacity = 100);
    deja_error err = {0, ""};
    deja_options same = OPTIONS(.memory = 4096, .capacity = 100);
    same.seed = 0;
    deja_filter *a = filled(opt, 0, 10), *b = filled(opt, 0, 10);
    assert_int_equal(deja_filter_rotate(b, &same, NULL), DEJA_OK);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "differ in visit: 1 and 2"));
    deja_filter_free(a);
    deja_filter_free(b);
}

static void a_union_with_itself_changes_nothing(void **state)
{
    deja_filter *a = filled(bloom[0].opt, 0, 100), *same = filled(bloom[0].opt, 0, 100);
    merge(a, a);
    assert_same_bodies(a, same, "self");
    assert_int_equal(stats_of(a).offered, 100);
    deja_filter_free(a);
    deja_filter_free(same);
}

static void the_keys_of_a_union_are_estimated_well(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .capacity = 100000, .fp_rate = 0.01);
    deja_filter *a = filled(opt, 0, 40000), *b = filled(opt, 20000, 70000);
    merge(a, b);
    const deja_stats s = stats_of(a);
    const double x = (double)s.hashes * 70000 / (double)s.bits;
    const double sigma = sqrt((double)s.bits * (expm1(x) - x)) / s.hashes;
    assert_true(normal_within((double)s.keys + s.lost, 70000, sigma, 5));
    /* It can still be used like any filter. */
    add_keys(a, 70000, 90000);
    const deja_stats t = stats_of(a);
    assert_true(t.lost > s.lost && t.lost < s.lost + 200);
    assert_true(normal_within((double)t.keys + t.lost, 90000, sigma + 20, 5));
    deja_filter_free(a);
    deja_filter_free(b);
}

/* --- Fold -------------------------------------------------------------------- */

static void a_folded_filter_is_the_smaller_one(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom); i++) {
        const uint64_t n = bloom[i].opt.capacity;
        for (unsigned folds = 1; folds <= 3; folds++) {
            deja_filter *f = filled(bloom[i].opt, 0, n);
            if (f->plan.shape.bits % (UINT64_C(64) << folds)) {
                deja_filter_free(f);
                continue;
            }
            deja_filter *small = filled(smaller(f, bloom[i].opt, folds), 0, n);
            const deja_stats before = stats_of(f);
            fold(f, folds);
            assert_same_bodies(f, small, bloom[i].name);
            const deja_stats s = stats_of(f), t = stats_of(small);
            assert_int_equal(s.folds, folds);
            assert_int_equal(s.bits, t.bits);
            assert_int_equal(s.capacity, t.capacity);
            assert_true(s.fp_rate >= t.fp_rate && s.fp_rate <= t.fp_rate);
            assert_true(s.fp_now >= t.fp_now && s.fp_now <= t.fp_now);
            assert_int_equal(s.keys, before.keys);
            assert_int_equal(s.offered, before.offered);
            assert_true(fabs(s.lost - before.lost) < 1e-6 * (1 + before.lost));
            /* It takes keys as the smaller one does. */
            add_keys(f, n, n + 100);
            add_keys(small, n, n + 100);
            assert_same_bodies(f, small, bloom[i].name);
            deja_filter_free(f);
            deja_filter_free(small);
        }
    }
}

static void two_folds_are_one_of_two(void **state)
{
    deja_filter *a = filled(bloom[0].opt, 0, 500), *b = filled(bloom[0].opt, 0, 500);
    fold(a, 1);
    fold(a, 1);
    fold(b, 2);
    fold(b, 0);
    assert_same_bodies(a, b, "twice");
    assert_int_equal(stats_of(a).folds, 2);
    deja_filter_free(a);
    deja_filter_free(b);
}

static void no_fold(deja_options opt, uint32_t times, int status, const char *words)
{
    deja_error err = {0, ""};
    deja_filter *f = filled(opt, 0, 20), *same = filled(opt, 0, 20);
    const int rc = deja_filter_fold(f, times, &err);
    if (rc != status || !strstr(err.text, words))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, words);
    assert_same_bodies(f, same, words);
    deja_filter_free(f);
    deja_filter_free(same);
}

static void sizes_that_cannot_be_halved_are_refused(void **state)
{
    no_fold(OPTIONS(.memory = 512 * 5, .capacity = 100), 4, DEJA_EINVAL,
            "its 20480 bits can be halved 3 times, not 4");
    no_fold(OPTIONS(.memory = 64, .capacity = 20), 1, DEJA_EINVAL, "halved 0 times, not 1");
    no_fold(OPTIONS(.kind = DEJA_CLASSIC, .memory = 24, .capacity = 20), 1, DEJA_EINVAL,
            "its 192 bits can be halved 0 times");
    no_fold(OPTIONS(.memory = 4096, .capacity = 100), UINT32_MAX, DEJA_EINVAL, "6 times, not");
    no_fold(OPTIONS(.kind = DEJA_EXACT, .capacity = 100), 1, DEJA_ENOTSUP,
            "exact filters cannot be folded; classic and blocked filters can");
    no_fold(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 100), 1,
            DEJA_ENOTSUP, "exact filters cannot be folded");
}

static void without_memory_the_filter_stays(void **state)
{
    struct failmem mem;
    for (size_t i = 1; i < 4; i++) {
        failmem_init(&mem, 0);
        deja_options opt = bloom[10].opt;
        opt.alloc = &mem.hook;
        deja_filter *f = filled(opt, 0, 500), *same = filled(bloom[10].opt, 0, 500);
        deja_error err = {0, ""};
        mem.fail_at = mem.asked + i;
        assert_int_equal(deja_filter_fold(f, 1, &err), DEJA_ENOMEM);
        assert_same_bodies(f, same, "no memory");
        mem.fail_at = 0;
        fold(f, 1);
        deja_filter_free(f);
        deja_filter_free(same);
        assert_int_equal(mem.live, 0);
        assert_int_equal(mem.mistakes, 0);
    }
}

/* --- Files ------------------------------------------------------------------- */

static const char *make_file(const char *name, deja_options opt, uint64_t from, uint64_t to)
{
    const char *path = scratch_path(name);
    deja_filter *f;
    assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    add_keys(f, from, to);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    return path;
}

static void a_folded_file_is_the_smaller_file(void **state)
{
    const deja_options opt = OPTIONS(.memory = 8192, .capacity = 1000, .hashes = 12);
    const char *path = make_file("large", opt, 0, 1000);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    const char *small = make_file("small", smaller(f, opt, 2), 0, 1000);
    fold(f, 2);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK); /* at once, without a sync */
    add_keys(f, 1000, 1100);                                 /* and it is still open for writing */
    deja_filter_free(f);
    f = open_file(path, 0);
    for (uint64_t i = 0; i < 1100; i++)
        assert_true(has(f, i));
    assert_int_equal(stats_of(f).folds, 2);
    assert_int_equal(stats_of(f).syncs, 2);
    deja_filter_free(f);
    struct bytes a = read_file(path), b = read_file(small);
    assert_int_equal(a.len, b.len);
    assert_int_equal(dj_load32(a.data + 208), 2);
    memset(a.data + 208, 0, 4); /* the number of folds is all that differs, up to the checksum */
    assert_memory_equal(a.data, b.data, 2560);
    free(a.data);
    free(b.data);
    unlink(path);
    unlink(small);
}

static void a_new_file_can_be_folded_before_it_has_its_name(void **state)
{
    const deja_options opt = OPTIONS(.memory = 8192, .capacity = 1000);
    const char *path = scratch_path("new");
    deja_filter *f;
    assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    add_keys(f, 0, 500);
    fold(f, 1);
    assert_int_equal(access(path, F_OK), -1);
    add_keys(f, 500, 600);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    f = open_file(path, 0);
    for (uint64_t i = 0; i < 600; i++)
        assert_true(has(f, i));
    assert_int_equal(stats_of(f).bytes, 4096);
    deja_error err = {0, ""};
    assert_int_equal(deja_filter_fold(f, 1, &err), DEJA_EINVAL); /* for reading only */
    assert_int_equal(deja_filter_merge(f, f, &err), DEJA_EINVAL);
    deja_filter_free(f);
    unlink(path);
}

static void a_union_in_a_file_is_there_after_the_sync(void **state)
{
    const deja_options opt = OPTIONS(.memory = 8192, .capacity = 1000);
    const char *a = make_file("a", opt, 0, 600), *b = make_file("b", opt, 500, 1000);
    deja_filter *into = open_file(a, DEJA_OPEN_WRITE), *from = open_file(b, 0);
    merge(into, from);
    assert_int_equal(deja_file_verify(a, NULL), DEJA_EBUSY);
    assert_int_equal(deja_filter_sync(into, NULL), DEJA_OK);
    const deja_stats said = stats_of(into);
    deja_filter_free(into);
    deja_filter_free(from);
    assert_int_equal(deja_file_verify(a, NULL), DEJA_OK);
    into = open_file(a, 0);
    const deja_stats s = stats_of(into);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(has(into, i));
    assert_int_equal(s.unions, 1);
    assert_int_equal(s.keys, said.keys);
    assert_int_equal(s.offered, 1100);
    assert_true(s.lost >= said.lost && s.lost <= said.lost);
    deja_filter_free(into);
    unlink(a);
    unlink(b);
}

static void a_copy_is_the_same_filter_in_another_file(void **state)
{
    const deja_options every[] = {
        OPTIONS(.memory = 8192, .capacity = 1000),
        OPTIONS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 1000, .filters = 3),
        OPTIONS(.kind = DEJA_EXACT, .capacity = 1000),
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = 100),
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        const char *path = make_file("one", every[i], 0, 900), *to = scratch_path("other");
        deja_filter *f = open_file(path, 0), *copy;
        deja_error err = {0, ""};
        works(deja_filter_copy(f, to, 0, &copy, &err), &err);
        assert_int_equal(access(to, F_OK), -1);
        assert_int_equal(deja_filter_sync(copy, NULL), DEJA_OK);
        deja_filter_free(copy);
        assert_int_equal(deja_filter_copy(f, to, 0, &copy, &err), DEJA_EINVAL);
        assert_non_null(strstr(err.text, "exists already"));
        deja_filter_free(f);
        struct bytes a = read_file(path), b = read_file(to);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data, b.data, 3072);
        assert_memory_equal(a.data + 4096, b.data + 4096, a.len - 4096);
        f = open_file(to, 0);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.offered, 900);
        assert_true(s.keys > 890);
        deja_filter_free(f);
        free(a.data);
        free(b.data);
        unlink(path);
        unlink(to);
    }
}

/* --- Common keys -------------------------------------------------------------- */

static void common(deja_options opt, uint64_t a, uint64_t b, uint64_t both, double slack)
{
    deja_filter *x = filled(opt, 0, a), *y = filled(opt, a - both, a - both + b);
    double keys = -1, sigma = -1;
    deja_error err = {0, ""};
    works(deja_filter_overlap(x, y, &keys, &sigma, &err), &err);
    assert_true(sigma > 0);
    if (!normal_within(keys, (double)both, sigma * slack, 5))
        fail_msg("%g +- %g instead of %g", keys, sigma, (double)both);
    deja_filter_free(x);
    deja_filter_free(y);
}

static void common_keys_are_estimated_within_their_error(void **state)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .capacity = 20000, .fp_rate = 0.01);
        opt.seed = seed;
        common(opt, 10000, 8000, 3000, 1);
        common(opt, 10000, 8000, 0, 1);
        common(opt, 10000, 10000, 10000, 1);
        common(opt, 20000, 500, 100, 1);
        opt.kind = DEJA_BLOCKED; /* crowds add a few percent to the deviation */
        common(opt, 10000, 8000, 3000, 1.1);
        common(opt, 3000, 20000, 2000, 1.1);
        opt.filters = 2;
        common(opt, 10000, 8000, 3000, 1.1);
    }
}

/* The deviation is that of many trials: neither too small nor too large. */
static void the_error_of_common_keys_is_the_one_stated(void **state)
{
    enum {
        TRIALS = 200
    };
    double sum = 0, squares = 0, stated = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        deja_options opt =
            OPTIONS(.kind = DEJA_CLASSIC, .memory = 2048, .capacity = 2000, .hashes = 5);
        double keys, sigma;
        opt.seed = seed;
        deja_filter *x = filled(opt, 0, 1500), *y = filled(opt, 900, 2400);
        assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, NULL), DEJA_OK);
        sum += keys - 600;
        squares += (keys - 600) * (keys - 600);
        stated += sigma * sigma;
        deja_filter_free(x);
        deja_filter_free(y);
    }
    assert_true(fabs(sum / TRIALS) < 5 * sqrt(stated / TRIALS / TRIALS));
    /* A sum of 200 squares scatters by a tenth. */
    assert_true(squares > 0.5 * stated && squares < 1.5 * stated);
}

static void common_keys_of_two_sizes_and_of_tables(void **state)
{
    double keys, sigma;
    const deja_options opt = OPTIONS(.memory = 65536, .capacity = 20000);
    deja_filter *x = filled(opt, 0, 10000);
    deja_filter *y = filled(smaller(x, opt, 1), 6000, 12000);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(deja_filter_overlap(turn ? y : x, turn ? x : y, &keys, &sigma, NULL),
                         DEJA_OK);
        assert_true(normal_within(keys, 4000, sigma * 1.1, 5));
    }
    deja_filter_free(x);
    deja_filter_free(y);
    const deja_options exact = OPTIONS(.kind = DEJA_EXACT, .capacity = 5000);
    x = filled(exact, 0, 3000);
    y = filled(exact, 1000, 5000);
    assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, NULL), DEJA_OK);
    assert_true(keys >= 2000 && keys <= 2000 && sigma <= 0);
    deja_filter_free(x);
    deja_filter_free(y);
}

static void nothing_is_common_with_nothing_and_nothing_is_told_by_full_filters(void **state)
{
    double keys, sigma;
    deja_error err = {0, ""};
    const deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .memory = 64, .capacity = 10);
    deja_filter *x = new_filter(opt), *y = new_filter(opt);
    assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, NULL), DEJA_OK);
    assert_true(keys <= 0 && sigma <= 0);
    add_keys(x, 0, 5000);
    assert_int_equal(deja_filter_overlap(x, y, &keys, &sigma, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "all bits of the union are set"));
    deja_filter_free(x);
    deja_filter_free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_union_is_what_both_lists_would_have_left),
        cmocka_unit_test(a_union_of_tables_has_every_fingerprint),
        cmocka_unit_test(the_hash_0_is_found_in_a_union_of_tables),
        cmocka_unit_test(a_table_without_room_is_left_alone),
        cmocka_unit_test(the_larger_one_folds_onto_the_smaller_on_the_way),
        cmocka_unit_test(refusals_name_what_differs_and_both_values),
        cmocka_unit_test(a_series_of_one_part_is_united_folded_and_compared_as_its_part),
        cmocka_unit_test(series_that_have_grown_unite_part_by_part),
        cmocka_unit_test(series_of_tables_unite_and_are_counted),
        cmocka_unit_test(series_with_other_steps_are_refused),
        cmocka_unit_test(filters_of_different_visits_are_refused),
        cmocka_unit_test(a_union_with_itself_changes_nothing),
        cmocka_unit_test(the_keys_of_a_union_are_estimated_well),
        cmocka_unit_test(a_folded_filter_is_the_smaller_one),
        cmocka_unit_test(two_folds_are_one_of_two),
        cmocka_unit_test(sizes_that_cannot_be_halved_are_refused),
        cmocka_unit_test(without_memory_the_filter_stays),
        cmocka_unit_test(a_folded_file_is_the_smaller_file),
        cmocka_unit_test(a_new_file_can_be_folded_before_it_has_its_name),
        cmocka_unit_test(a_union_in_a_file_is_there_after_the_sync),
        cmocka_unit_test(a_copy_is_the_same_filter_in_another_file),
        cmocka_unit_test(common_keys_are_estimated_within_their_error),
        cmocka_unit_test(the_error_of_common_keys_is_the_one_stated),
        cmocka_unit_test(common_keys_of_two_sizes_and_of_tables),
        cmocka_unit_test(nothing_is_common_with_nothing_and_nothing_is_told_by_full_filters),
    };
    return cmocka_run_group_tests_name("unit.algebra", tests, scratch_open, scratch_close);
}
