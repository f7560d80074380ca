/* test_sieve_memory.c - a sieve that is opened with more or less memory than before: its filter takes
 * what the keys need, and no line is lost or repeated. */
#define SIEVING_NO_SYNC
#include "sieving.h"
#include "unit.h"

enum {
    LINES = 20000,
    FIRST = 5000 /* of these, fed with little memory */
};

static const uint64_t kib = 1024, much = (uint64_t)1 << 40;

static struct sieving w;

static deja_sieve_report report(void)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    assert_int_equal(deja_sieve_stats(w.s, &r, NULL), DEJA_OK);
    return r;
}

static void reopen(uint64_t filter)
{
    if (w.s)
        sieving_forget(&w);
    w.share.filter = filter;
    sieving_open(&w);
    assert_string_equal(w.wrong, "");
}

static int begin(void **state)
{
    (void)state;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    w.share.recent = 34 * 500;
    w.share.pending = 16 * 5000;
    reopen(4 * kib);
    sieving_feed(&w, 0, FIRST);
    assert_string_equal(w.wrong, "");
    return 0;
}

static int end(void **state)
{
    (void)state;
    sieving_end(&w);
    scratch_clear(NULL);
    return 0;
}

/* Every line that was fed came out once and is known. */
static void check(void)
{
    deja_error err = {0};
    if (sieving_settle(&w, &err) < 0)
        WRONG(&w, "settle: %s", err.text);
    sieving_check(&w);
    assert_string_equal(w.wrong, "");
}

/* A filter of this size would make the system clear a terabyte. */
static void a_filter_takes_what_the_keys_need(void **state)
{
    (void)state;
    reopen(much);
    const deja_sieve_report before = report();
    assert_in_range(before.filter_bytes, 8 * (before.keys - before.recent), 160 * kib);
    const uint64_t waited = before.waited;
    uint64_t last = before.filter_bytes, grown = 0;
    for (uint64_t from = FIRST; from < LINES; from += 500) {
        sieving_feed(&w, from, from + 500);
        const deja_sieve_report r = report();
        const uint64_t in_runs = r.keys - r.recent;
        assert_in_range(r.filter_bytes, 8 * in_runs, 40 * in_runs + 64 * kib);
        grown += r.filter_bytes != last;
        last = r.filter_bytes;
    }
    assert_in_range(grown, 1, 3);
    /* At p <= 2 in 10^5, 0.3 of 15,000 new lines wait; one seed in a million has 6 or more. */
    assert_in_range(report().waited - waited, 0, 5);
    check();
}

static void a_large_enough_saved_filter_is_kept(void **state)
{
    (void)state;
    reopen(8 * FIRST); /* all of it */
    const uint64_t saved = report().filter_bytes;
    assert_in_range(saved, 7 * FIRST, 8 * FIRST);
    assert_int_equal(deja_sieve_save(w.s, NULL), DEJA_OK);
    reopen(9 * FIRST); /* there is room for more, and 64 bytes per key would be more */
    assert_int_equal(report().filter_bytes, saved);
    sieving_feed(&w, FIRST, FIRST + 3000);
    assert_in_range(report().filter_bytes, 8 * FIRST + 1, 9 * FIRST);
    check();
}

static void a_small_saved_filter_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(deja_sieve_save(w.s, NULL), DEJA_OK);
    assert_in_range(report().filter_bytes, 1, 4 * kib);
    reopen(much);
    assert_in_range(report().filter_bytes, 64 * kib, 160 * kib);
    check();
}

static void less_memory_again_makes_it_small(void **state)
{
    (void)state;
    reopen(much);
    sieving_feed(&w, FIRST, 2 * FIRST);
    assert_int_equal(deja_sieve_save(w.s, NULL), DEJA_OK);
    reopen(2 * kib);
    assert_in_range(report().filter_bytes, 1, 2 * kib);
    sieving_feed(&w, FIRST, 3 * FIRST); /* half of them are known */
    check();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_filter_takes_what_the_keys_need),
        CASE(a_large_enough_saved_filter_is_kept),
        CASE(a_small_saved_filter_is_replaced),
        CASE(less_memory_again_makes_it_small),
    };
    return cmocka_run_group_tests_name("property.sieve_memory", tests, scratch_open,
                                       scratch_close);
}
