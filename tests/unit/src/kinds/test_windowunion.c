/* test_windowunion.c - the union of two windows forgets no key early and none much later. */
#include "unit.h"

#include "combining.h"
#include <inttypes.h>

static deja_filter *window(uint64_t capacity, uint32_t generations, uint64_t seconds)
{
    return new_filter(OPTIONS(.kind = DEJA_WINDOW, .capacity = capacity, .fp_rate = 1e-9,
                              .generations = generations, .window_seconds = seconds, .seed = 7));
}

static void at(deja_filter *f, uint64_t now)
{
    assert_int_equal(deja_filter_set_clock(f, now, NULL), DEJA_OK);
}

/* By keys: each window remembers its last N keys, and so does the union, until more arrive. */
static void the_last_keys_of_both_are_found(void **state)
{
    for (uint32_t generations = 1; generations <= 7; generations++) {
        deja_filter *a = window(140, generations, 0), *b = window(140, generations, 0);
        add_keys(a, 0, 1000);
        add_keys(b, 5000, 5300);
        merge(a, b);
        assert_int_equal(missing(a, 860, 1000), 0);
        assert_int_equal(missing(a, 5160, 5300), 0);
        assert_int_equal(missing(a, 0, 700), 700); /* forgotten before */
        assert_int_equal(stats_of(a).unions, 1);
        add_keys(a, 9000, 9400);
        assert_int_equal(missing(a, 9260, 9400), 0);
        assert_int_equal(missing(a, 5000, 5300), 300);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* By time: key t is added at second 1000 + t, to one of the windows.  In the union it is found for
 * at least T seconds and for at most T + 3 d. */
static void keys_expire_in_time(void **state)
{
    for (unsigned share = 1; share < 8; share++) /* how often b gets a key, and when it is idle */
        for (uint32_t generations = 1; generations <= 4; generations++) {
            const uint64_t seconds = 120, each = seconds / generations, end = 1400;
            deja_filter *a = window(1000, generations, seconds);
            deja_filter *b = window(1000, generations, seconds);
            for (uint64_t now = 1000; now < end; now++) {
                const bool idle = share % 2 && now % 200 > 100;
                deja_filter *f = now % 8 < share && !idle ? b : a;
                at(f, now);
                add_keys(f, now, now + 1);
            }
            at(a, end);
            at(b, end);
            merge(a, b);
            for (uint64_t now = end; now < end + 3 * seconds; now += 7) {
                at(a, now);
                for (uint64_t key = 1000; key < end; key++) {
                    if (now - key < seconds && !has(a, key))
                        fail_msg("key %" PRIu64 " is missing at %" PRIu64, key, now);
                    if (now - key > seconds + 3 * each && has(a, key))
                        fail_msg("key %" PRIu64 " is still there at %" PRIu64, key, now);
                }
            }
            deja_filter_free(a);
            deja_filter_free(b);
        }
}

static void generations_from_the_future_count_as_begun_now(void **state)
{
    deja_filter *a = window(1000, 2, 100), *b = window(1000, 2, 100);
    at(a, 1000);
    add_keys(a, 0, 10);
    at(b, 5000); /* its clock is wrong */
    add_keys(b, 10, 20);
    merge(a, b);
    assert_int_equal(missing(a, 0, 20), 0);
    at(a, 1500);
    assert_int_equal(missing(a, 0, 20), 20);
    deja_filter_free(a);
    deja_filter_free(b);
}

static void an_empty_window_changes_nothing(void **state)
{
    deja_filter *a = window(100, 3, 0), *b = window(100, 3, 0), *c = window(100, 3, 0);
    add_keys(a, 0, 250);
    merge(a, b);
    assert_int_equal(missing(a, 150, 250), 0);
    merge(b, a);
    assert_int_equal(missing(b, 150, 250), 0);
    deja_filter *d = window(100, 3, 0);
    merge(c, d);
    assert_int_equal(stats_of(c).keys, 0);
    deja_filter_free(d);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(c);
}

static void windows_of_another_length_are_refused(void **state)
{
    deja_error err = {0, ""};
    deja_filter *a = window(100, 3, 0), *b = window(100, 2, 60);
    assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "generations: 3 and 2"));
    assert_non_null(strstr(err.text, "seconds of the window: 0 and 60"));
    deja_filter_free(a);
    deja_filter_free(b);
}

static void a_union_in_a_file_is_complete(void **state)
{
    const deja_options opt = OPTIONS(.kind = DEJA_WINDOW, .capacity = 300, .fp_rate = 1e-9,
                                     .generations = 3, .seed = 7);
    const char *a = make_file("a", opt, 0, 200), *b = make_file("b", opt, 200, 500);
    deja_filter *into = open_file(a, DEJA_OPEN_WRITE), *from = open_file(b, 0);
    merge(into, from);
    sync_file(into);
    deja_filter_free(into);
    deja_filter_free(from);
    assert_int_equal(deja_file_verify(a, NULL), DEJA_OK);
    into = open_file(a, 0);
    assert_int_equal(missing(into, 0, 500), 0);
    assert_int_equal(stats_of(into).unions, 1);
    assert_int_equal(stats_of(into).offered, 500);
    deja_filter_free(into);
    unlink(a);
    unlink(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_keys_of_both_are_found),
        cmocka_unit_test(keys_expire_in_time),
        cmocka_unit_test(generations_from_the_future_count_as_begun_now),
        cmocka_unit_test(an_empty_window_changes_nothing),
        cmocka_unit_test(windows_of_another_length_are_refused),
        cmocka_unit_test(a_union_in_a_file_is_complete),
    };
    return cmocka_run_group_tests_name("unit.windowunion", tests, scratch_open, scratch_close);
}
