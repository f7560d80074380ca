/* test_series.c - unions, folds and common keys of filters that can grow. */
#include "unit.h"

#define EVERY .seed = 7,
#include "combining.h"
#include <math.h>

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

/* While it has one part, a growing filter behaves like that part. */
static void a_series_of_one_part_behaves_like_that_part(void **state)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        /* A size that folds: 40000 bits or more, rounded by the search below. */
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
        if (kinds[i] == DEJA_BLOCKED)
            fixed.cache_lines = dj_shape_key_lines(&a->plan.shape);
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
        add_keys(a, 10000, 40000); /* it still grows */
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

/* a has three parts and b four, in either order.  The union has all keys in four parts and reports
 * that some are overfull.  Each key was added once, or in both. */
static void grown_series_are_united_part_by_part(void **state)
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
        assert_int_equal(missing(into, 0, 12000), 0);
        const deja_stats s = stats_of(into);
        assert_int_equal(s.offered, in_a.offered + in_b.offered);
        assert_in_range(s.keys, 12000, 14000); /* 2,000 of them may be in two parts */
        assert_true(fabs(s.lost - in_a.lost - in_b.lost) < 1e-6);
        assert_true(counts_of(into).excess > 0);
        add_keys(into, 20000, 60000); /* later keys go to new parts */
        assert_int_equal(missing(into, 20000, 60000), 0);
        const deja_stats t = stats_of(into);
        assert_true(into->n_parts > 4 && t.lost >= s.lost && t.lost < s.lost + 41000 * t.fp_now);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void unions_of_growing_tables_count_their_keys(void **state)
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
    assert_int_equal(missing(a, 0, 2000), 0);
    assert_int_equal(counts_of(a).excess, 0);
    deja_filter *fixed = filled(OPTIONS(.kind = DEJA_EXACT, .capacity = 9000), 5000, 5010);
    assert_int_equal(deja_filter_merge(fixed, a, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "merge into the one that has grown"));
    assert_int_equal(stats_of(fixed).keys, 10);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(fixed);
}

/* They have the same secret key, so the parts of one are appended to the other.  A part that fits
 * into one of the same size, here the first, is combined with it. */
static void series_with_a_different_growth_are_merged(void **state)
{
    deja_options other = growing;
    deja_error err = {0, ""};
    double keys;
    deja_filter *a = filled(grown(growing, DEJA_BLOCKED), 0, 3000);
    other.growth = 4;
    deja_filter *b = filled(grown(other, DEJA_BLOCKED), 2500, 6000);
    assert_int_equal(deja_filter_overlap(a, a, &keys, NULL, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "has grown to 2 parts"));
    assert_int_equal(deja_filter_fold(a, 1, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "has grown to 2 parts and cannot be folded"));
    merge(a, b);
    assert_int_equal(a->n_parts, 4);
    assert_int_equal(missing(a, 0, 6000), 0);
    assert_int_equal(stats_of(a).merged_parts, 2);
    assert_int_equal(stats_of(a).other_keys, 0);
    assert_int_equal(deja_filter_fold(a, 1, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "has merged 4 parts and cannot be folded"));
    add_keys(a, 10000, 20000); /* later keys go to its own series */
    assert_int_equal(missing(a, 10000, 20000), 0);
    assert_int_equal(counts_of(a).excess, 0);
    deja_filter_free(a);
    deja_filter_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_of_one_part_behaves_like_that_part),
        cmocka_unit_test(grown_series_are_united_part_by_part),
        cmocka_unit_test(unions_of_growing_tables_count_their_keys),
        cmocka_unit_test(series_with_a_different_growth_are_merged),
    };
    return cmocka_run_group_tests_name("unit.series", tests, NULL, NULL);
}
