/* test_union.c - a union equals a filter to which the keys of both were added. */
#include "unit.h"

#define EVERY .seed = 7,
#include "binom.h"
#include "combining.h"
#include <math.h>

static void a_union_equals_a_filter_of_both_lists(void **state)
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
        /* Lost keys are counted once, and none are invented. */
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
    assert_int_equal(missing(a, 0, 3000), 0);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(both);
}

/* The hashes 0 and 1 have the same fingerprint, 1, but start at different lines. */
static void the_hash_0_is_found_in_a_union_of_tables(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_EXACT, .capacity = 30);
    deja_filter *a = new_filter(opt), *b = new_filter(opt);
    uint64_t crowd[8];
    for (uint64_t i = 0; i < 8; i++) /* the line where both start is full */
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

static void a_table_without_room_stays_unchanged(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_EXACT, .capacity = 1000);
    deja_error err = {0, ""};
    deja_filter *a = filled(opt, 0, 900), *b = filled(opt, 900, 1800), *same = filled(opt, 0, 900);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "900 more keys"));
    assert_same_bodies(a, same, "exact");
    assert_int_equal(stats_of(a).keys, 900);
    assert_int_equal(stats_of(a).unions, 0);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(same);
}

static void a_larger_filter_is_folded_for_the_union(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom); i++) {
        const uint64_t n = bloom[i].opt.capacity;
        for (unsigned folds = 1; folds <= 2; folds++) {
            deja_error err = {0, ""};
            deja_filter *large = filled(bloom[i].opt, 0, n / 2);
            if (large->plan.shape.bits % (2 * dj_shape_granule(&large->plan.shape) << folds)) {
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

static void an_error_names_the_difference_and_both_values(void **state)
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
    refused(opt, other, DEJA_EMISMATCH, "differ in number of filters (F): 1 and 2");
    other = opt;
    other.seed = 8;
    refused(opt, other, DEJA_EMISMATCH, "differ in secret key: check values ");
    other = opt;
    other.memory = 4096 * 3;
    refused(opt, other, DEJA_EMISMATCH, "differ in size: 32768 and 98304 bits, and neither folds");
    other = opt;
    other.url = deja_url_profile(DEJA_URL_SAFE);
    refused(opt, other, DEJA_EMISMATCH, "URL profile of their keys: none and safe");
    deja_options crawl = opt, drop = opt;
    deja_url_rules *rules = NULL;
    const deja_slice name = {"utm", 3};
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, &name, 1, NULL, 0, &rules, NULL),
                     DEJA_OK);
    crawl.url = deja_url_profile(DEJA_URL_CRAWL);
    drop.url = rules;
    refused(crawl, drop, DEJA_EMISMATCH,
            "differ in URL rules of profile crawl (parameters, version or IDNA): ");
    deja_url_rules_free(rules);
    const deja_options grows = OPTIONS(.kind = DEJA_SCALABLE, .capacity = 100);
    other = grows;
    other.part_kind = DEJA_CLASSIC;
    refused(grows, other, DEJA_EMISMATCH, "differ in kind: blocked and classic");
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

static void the_number_of_keys_in_a_union_is_estimated_well(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .capacity = 100000, .fp_rate = 0.01);
    deja_filter *a = filled(opt, 0, 40000), *b = filled(opt, 20000, 70000);
    merge(a, b);
    const deja_stats s = stats_of(a);
    const double x = (double)s.hashes * 70000 / (double)s.bits;
    const double sigma = sqrt((double)s.bits * (expm1(x) - x)) / s.hashes;
    assert_true(normal_within((double)s.keys + s.lost, 70000, sigma, 5));
    /* The union is still a usable filter. */
    add_keys(a, 70000, 90000);
    const deja_stats t = stats_of(a);
    assert_true(t.lost > s.lost && t.lost < s.lost + 200);
    assert_true(normal_within((double)t.keys + t.lost, 90000, sigma + 20, 5));
    deja_filter_free(a);
    deja_filter_free(b);
}

static void a_union_in_a_file_survives_the_sync(void **state)
{
    const deja_options opt = OPTIONS(.memory = 8192, .capacity = 1000);
    const char *a = make_file("a", opt, 0, 600), *b = make_file("b", opt, 500, 1000);
    deja_filter *into = open_file(a, DEJA_OPEN_WRITE), *from = open_file(b, 0);
    merge(into, from);
    assert_int_equal(deja_file_verify(a, NULL), DEJA_EBUSY);
    sync_file(into);
    const deja_stats said = stats_of(into);
    deja_filter_free(into);
    deja_filter_free(from);
    assert_int_equal(deja_file_verify(a, NULL), DEJA_OK);
    into = open_file(a, 0);
    const deja_stats s = stats_of(into);
    assert_int_equal(missing(into, 0, 1000), 0);
    assert_int_equal(s.unions, 1);
    assert_int_equal(s.keys, said.keys);
    assert_int_equal(s.offered, 1100);
    assert_true(s.lost >= said.lost && s.lost <= said.lost);
    deja_filter_free(into);
    unlink(a);
    unlink(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_union_equals_a_filter_of_both_lists),
        cmocka_unit_test(a_union_of_tables_has_every_fingerprint),
        cmocka_unit_test(the_hash_0_is_found_in_a_union_of_tables),
        cmocka_unit_test(a_table_without_room_stays_unchanged),
        cmocka_unit_test(a_larger_filter_is_folded_for_the_union),
        cmocka_unit_test(an_error_names_the_difference_and_both_values),
        cmocka_unit_test(filters_of_different_visits_are_refused),
        cmocka_unit_test(a_union_with_itself_changes_nothing),
        cmocka_unit_test(the_number_of_keys_in_a_union_is_estimated_well),
        cmocka_unit_test(a_union_in_a_file_survives_the_sync),
    };
    return cmocka_run_group_tests_name("unit.union", tests, scratch_open, scratch_close);
}
