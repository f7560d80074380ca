/* test_dates.c - when was a key seen: days, expiry, merging, in one table and in a series, in memory
 * and in a file. */
#include "unit.h"

#include "asking.h"
#include "scratch.h"

#define DAY UINT64_C(86400)

static const deja_options plain =
    FIELDS(.kind = DEJA_EXACT, .capacity = 3000, .seed = 3, .flags = DEJA_DATES);
static const deja_options series =
    FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 100, .fp_rate = 1e-6,
           .seed = 3, .flags = DEJA_DATES);
static const struct {
    const deja_options *opt;
    bool in_file;
} every_dated[] = {{&plain, false}, {&series, false}, {&plain, true}, {&series, true}};

static deja_filter *dated(size_t i)
{
    return every_dated[i].in_file
               ? create_file(scratch_path("dated.deja"), DEJA_CREATE_REPLACE, every_dated[i].opt)
               : new_filter(*every_dated[i].opt);
}

static void set_day(deja_filter *f, uint64_t day)
{
    assert_int_equal(deja_filter_set_clock(f, day * DAY + DAY / 2, NULL), DEJA_OK);
    assert_int_equal(deja_filter_today(f), day);
}

static void add_on(deja_filter *f, uint64_t day, uint64_t from, uint64_t to)
{
    set_day(f, day);
    for (uint64_t n = from; n < to; n++)
        add(f, number(&n));
}

static void assert_days(const deja_filter *f, uint64_t n, uint32_t first, uint32_t last)
{
    deja_days days = {9, 9};
    assert_int_equal(deja_filter_days(f, number(&n), &days, NULL), DEJA_OK);
    assert_int_equal(days.first, first);
    assert_int_equal(days.last, last);
}

static uint64_t older(const deja_filter *f, uint32_t before)
{
    uint64_t keys = 99;
    assert_int_equal(deja_filter_older(f, before, &keys, NULL), DEJA_OK);
    return keys;
}

static void an_add_sets_the_days_of_a_key(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every_dated); i++) {
        deja_filter *f = dated(i);
        assert_true(deja_filter_can(f, DEJA_CAN_DATE));
        add_on(f, 100, 0, 1000); /* the series grows: the first keys are in older parts */
        add_on(f, 130, 500, 1500);
        add_on(f, 120, 0, 10); /* the clock was set back */
        add_on(f, 90, 600, 610);
        for (uint64_t n = 0; n < 1500; n++)
            assert_days(f, n, n < 1000 ? 100 : 130, n >= 500 ? 130 : n < 10 ? 120 : 100);
        assert_days(f, 1500, 0, 0);
        assert_int_equal(stats_of(f).keys, 1500);
        assert_int_equal(stats_of(f).oldest_day, 100);
        assert_int_equal(stats_of(f).newest_day, 130);
        assert_int_equal(older(f, 100), 0);
        assert_int_equal(older(f, 101), 490);
        assert_int_equal(older(f, 130), 500);
        assert_int_equal(older(f, 131), 1500);
        deja_filter_free(f);
    }
}

static void days_of_a_batch_equal_those_of_single_keys(void **state)
{
    enum {
        N = 1000
    };
    static uint64_t value[N], hash[N];
    static deja_slice keys[N];
    static deja_days days[N], hashed[N];
    deja_filter *f = new_filter(series);
    add_on(f, 7, 0, 600);
    for (uint64_t i = 0; i < N; i++) {
        value[i] = i;
        keys[i] = number(&value[i]);
    }
    deja_filter_hash_batch(f, keys, N, hash);
    assert_int_equal(deja_filter_days_batch(f, keys, N, days, NULL), DEJA_OK);
    assert_int_equal(deja_filter_days_hashed(f, hash, N, hashed, NULL), DEJA_OK);
    for (uint64_t i = 0; i < N; i++) {
        assert_days(f, i, days[i].first, days[i].last);
        assert_int_equal(days[i].last, i < 600 ? 7 : 0);
    }
    assert_memory_equal(days, hashed, sizeof days);
    deja_filter_free(f);
}

static void the_days_begin_with_1_and_end_with_65535(void **state)
{
    deja_filter *f = new_filter(plain);
    const uint64_t a = 1, b = 2;
    assert_int_equal(deja_filter_set_clock(f, 1, NULL), DEJA_OK);
    assert_int_equal(deja_filter_today(f), 1);
    add(f, number(&a));
    assert_int_equal(deja_filter_set_clock(f, 70000 * DAY, NULL), DEJA_OK);
    assert_int_equal(deja_filter_today(f), 65535);
    add(f, number(&b));
    assert_days(f, 1, 1, 1);
    assert_days(f, 2, 65535, 65535);
    assert_int_equal(deja_filter_set_clock(f, 0, NULL), DEJA_OK);
    assert_in_range(deja_filter_today(f), 20000, 65535); /* the system's clock, after 2024 */
    deja_filter_free(f);
}

static void expiry_drops_old_keys_and_keeps_the_days_of_the_others(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every_dated); i++) {
        deja_filter *f = dated(i);
        uint64_t removed = 99;
        add_on(f, 100, 0, 1000);
        add_on(f, 130, 500, 1500);
        const uint64_t capacity = stats_of(f).capacity, offered = stats_of(f).offered;
        assert_int_equal(deja_filter_expire(f, 100, &removed, NULL), DEJA_OK);
        assert_int_equal(removed, 0);
        assert_int_equal(deja_filter_expire(f, 130, &removed, NULL), DEJA_OK);
        assert_int_equal(removed, 500);
        for (uint64_t n = 0; n < 1500; n++) {
            assert_days(f, n, n < 500 ? 0 : n < 1000 ? 100 : 130, n < 500 ? 0 : 130);
            assert_int_equal(deja_filter_contains(f, number(&n)), n >= 500);
        }
        assert_int_equal(stats_of(f).keys, 1000);
        assert_int_equal(stats_of(f).offered, offered);
        assert_int_equal(f->n_parts, 1);
        if (every_dated[i].opt == &plain)
            assert_int_equal(stats_of(f).capacity, capacity);
        add_on(f, 140, 0, 2000); /* it still takes keys */
        assert_int_equal(stats_of(f).keys, 2000);
        assert_days(f, 1999, 140, 140);
        assert_int_equal(deja_filter_expire(f, 1000, &removed, NULL), DEJA_OK);
        assert_int_equal(removed, 2000);
        assert_int_equal(stats_of(f).keys, 0);
        assert_int_equal(stats_of(f).oldest_day, 0);
        deja_filter_free(f);
    }
}

static void a_file_keeps_days_and_expiry_without_a_sync(void **state)
{
    const char *path = scratch_path("kept.deja");
    deja_filter *f = create_file(path, 0, &series);
    uint64_t removed;
    add_on(f, 100, 0, 1000);
    add_on(f, 130, 500, 1500);
    sync_file(f);
    deja_filter_free(f);
    f = open_file(path, 0);
    assert_days(f, 0, 100, 100);
    assert_days(f, 600, 100, 130);
    assert_int_equal(deja_filter_expire(f, 130, &removed, NULL), DEJA_EINVAL); /* read only */
    deja_filter_free(f);
    f = open_file(path, DEJA_OPEN_WRITE);
    assert_int_equal(deja_filter_expire(f, 130, &removed, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    f = open_file(path, 0);
    assert_days(f, 499, 0, 0);
    assert_days(f, 500, 100, 130);
    assert_int_equal(stats_of(f).keys, 1000);
    assert_true(stats_of(f).flags & DEJA_DATES);
    deja_filter_free(f);
}

static void a_union_has_the_earliest_and_the_latest_day(void **state)
{
    for (size_t i = 0; i < 4; i++) { /* into and from: plain, series */
        deja_filter *a = new_filter(i & 1 ? series : plain);
        deja_filter *b = new_filter(i & 2 ? series : plain);
        deja_error err = {0, ""};
        add_on(a, 100, 0, 1000);
        add_on(b, 90, 500, 700);
        add_on(b, 120, 600, 1500);
        if (deja_filter_merge(a, b, &err) < 0)
            fail_msg("%s", err.text);
        for (uint64_t n = 0; n < 1500; n++)
            assert_days(a, n,
                        n >= 500 && n < 700 ? 90
                        : n < 1000          ? 100
                                            : 120,
                        n < 600 ? 100 : 120);
        assert_int_equal(stats_of(a).keys, 1500);
        assert_int_equal(stats_of(a).offered, 1000 + 200 + 900);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void an_impossible_union_is_refused_and_changes_nothing(void **state)
{
    deja_filter *a =
        new_filter(OPTIONS(.kind = DEJA_EXACT, .capacity = 100, .seed = 3, .flags = DEJA_DATES));
    deja_filter *b = new_filter(plain),
                *none = new_filter((deja_options){
                    .size = sizeof plain, .seed = 3, .kind = DEJA_EXACT, .capacity = 100});
    deja_error err = {0, ""};
    add_on(b, 100, 0, 1000);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "the union has 1000 more keys"));
    assert_int_equal(stats_of(a).keys, 0);
    assert_int_equal(deja_filter_merge(none, b, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "dates: only one of them has dates"));
    assert_int_equal(deja_filter_merge(b, none, &err), DEJA_EMISMATCH);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(none);
}

static void filters_without_dates_say_what_they_need(void **state)
{
    static const struct {
        uint32_t kind;
        const char *text;
    } cases[] = {
        {DEJA_EXACT, "has no dates: make a new filter of kind exact with options.dates"},
        {DEJA_BLOCKED, "report when a key was seen"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(cases); i++) {
        deja_filter *f = new_filter(
            (deja_options){.size = sizeof plain, .kind = cases[i].kind, .capacity = 100});
        deja_days days;
        uint64_t keys;
        deja_error err = {0, ""};
        assert_false(deja_filter_can(f, DEJA_CAN_DATE));
        assert_int_equal(deja_filter_days(f, text("a"), &days, &err), DEJA_ENOTSUP);
        if (!strstr(err.text, cases[i].text))
            fail_msg("%s", err.text);
        assert_int_equal(deja_filter_older(f, 1, &keys, &err), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_expire(f, 1, &keys, &err), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_set_clock(f, 1, &err), DEJA_ENOTSUP);
        deja_filter_free(f);
    }
}

/* The next visit begins empty, with dates. */
static void a_rotated_filter_keeps_its_dates(void **state)
{
    deja_filter *f = new_filter(series);
    const deja_options same = {.size = sizeof same};
    add_on(f, 100, 0, 1000);
    assert_int_equal(deja_filter_rotate(f, &same, NULL), DEJA_OK);
    assert_days(f, 1, 0, 0);
    add_on(f, 120, 0, 10);
    assert_days(f, 1, 120, 120);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_add_sets_the_days_of_a_key),
        cmocka_unit_test(days_of_a_batch_equal_those_of_single_keys),
        cmocka_unit_test(the_days_begin_with_1_and_end_with_65535),
        cmocka_unit_test(expiry_drops_old_keys_and_keeps_the_days_of_the_others),
        cmocka_unit_test(a_file_keeps_days_and_expiry_without_a_sync),
        cmocka_unit_test(a_union_has_the_earliest_and_the_latest_day),
        cmocka_unit_test(an_impossible_union_is_refused_and_changes_nothing),
        cmocka_unit_test(filters_without_dates_say_what_they_need),
        cmocka_unit_test(a_rotated_filter_keeps_its_dates),
    };
    return cmocka_run_group_tests_name("unit.dates", tests, scratch_open, scratch_close);
}
