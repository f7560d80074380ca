/* test_sieve_sets.c - whole sieves against an exact set: unions, walks over all keys, forecasts. */
#define SIEVING_NO_SYNC
#include "sieving.h"
#include "unit.h"
#include <math.h>

enum {
    UNIVERSE = 6000,
    LOT = 64
};

/* Everything fits in the table. */
static const struct dj_shares roomy = {
    .filter = 1 << 20, .recent = 1 << 20, .pending = 16 * 700, .buffer = DJ_RUN_BUFFER};

static deja_fingerprint print_of(const deja_sieve *s, uint64_t i)
{
    char text[32];
    deja_fingerprint fp;
    const int len = snprintf(text, sizeof text, "key %llu", (unsigned long long)i);
    deja_sieve_hash_batch(s, &(deja_slice){text, (size_t)len}, 1, &fp);
    return fp;
}

static deja_sieve *open_as(const char *path, unsigned flags, uint64_t seed,
                           const struct dj_shares *share)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve *s = NULL;
    deja_error err = {0};
    opt.seed = seed;
    opt.flags = DEJA_SIEVE_NO_THREAD;
    if (dj_sieve_open(path, flags, &opt, share, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

/* Settles all pending keys; returns how many were new. */
static uint64_t settle(deja_sieve *s)
{
    deja_settled key[LOT];
    deja_error err = {0};
    uint64_t late = 0;
    size_t n = 1;
    assert_int_equal(deja_sieve_commit(s, &err), DEJA_OK);
    assert_int_equal(deja_sieve_settle(s, &err), DEJA_OK);
    while (n > 0) {
        assert_int_equal(deja_sieve_settled(s, key, LOT, &n, &err), DEJA_OK);
        for (size_t i = 0; i < n; i++)
            late += key[i].verdict == DEJA_SIEVE_NEW;
    }
    assert_int_equal(deja_sieve_commit(s, &err), DEJA_OK);
    return late;
}

/* Adds keys first .. end - 1; returns how many were new. */
static uint64_t add(deja_sieve *s, uint64_t first, uint64_t end)
{
    uint64_t is_new = 0;
    for (uint64_t at = first; at < end; at += LOT) {
        deja_fingerprint fp[LOT];
        uint8_t verdict[LOT];
        deja_error err = {0};
        size_t n = 0;
        for (; n < LOT && at + n < end; n++)
            fp[n] = print_of(s, at + n);
        int rc = deja_sieve_judge(s, fp, n, NULL, NULL, verdict, &err);
        if (rc == DEJA_EFULL) {
            is_new += settle(s);
            rc = deja_sieve_judge(s, fp, n, NULL, NULL, verdict, &err);
        }
        assert_int_equal(rc, DEJA_OK);
        for (size_t i = 0; i < n; i++)
            is_new += verdict[i] == DEJA_SIEVE_NEW;
        assert_int_equal(deja_sieve_commit(s, &err), DEJA_OK);
    }
    return is_new + settle(s);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct walk {
    uint64_t hash[UNIVERSE];
    size_t n, most;
};

static int take(void *walk, const uint64_t *hash, size_t n)
{
    struct walk *w = walk;
    if (w->n + n > w->most)
        return 7;
    memcpy(w->hash + w->n, hash, n * sizeof *hash);
    w->n += n;
    return 0;
}

/* The sieve has exactly the keys i with in[i], for lookups and for walks. */
static void has_exactly(deja_sieve *s, const bool in[UNIVERSE])
{
    static deja_fingerprint fp[UNIVERSE];
    static uint8_t found[UNIVERSE];
    static struct walk want, have;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    want.n = have.n = 0;
    have.most = UNIVERSE;
    for (size_t i = 0; i < UNIVERSE; i++) {
        fp[i] = print_of(s, i);
        if (in[i])
            want.hash[want.n++] = fp[i].hash;
    }
    assert_int_equal(deja_sieve_contains(s, fp, UNIVERSE, found, NULL), DEJA_OK);
    for (size_t i = 0; i < UNIVERSE; i++)
        assert_int_equal(found[i], in[i]);
    assert_int_equal(deja_sieve_each(s, take, &have, NULL), 0);
    assert_int_equal(have.n, want.n);
    qsort(have.hash, have.n, sizeof *have.hash, by_value);
    qsort(want.hash, want.n, sizeof *want.hash, by_value);
    if (want.n) {
        assert_memory_equal(have.hash, want.hash, want.n * sizeof *want.hash);
    }
    assert_int_equal(deja_sieve_stats(s, &r, NULL), DEJA_OK);
    assert_int_equal(r.keys, want.n);
}

static void mark(bool in[UNIVERSE], uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        in[i] = true;
}

/* --- Unions ------------------------------------------------------------------------- */

/* What a sieve has before the merge: keys in runs, then recent ones. */
struct side {
    uint64_t first, runs_end, end;
};

static deja_sieve *make(const char *path, const struct side *side)
{
    deja_sieve *s =
        open_as(path, DEJA_OPEN_CREATE, 1, side->runs_end > side->first ? &tiny : &roomy);
    add(s, side->first, side->runs_end);
    if (side->runs_end > side->first)
        assert_int_equal(dj_sieve_flush(s, NULL), DEJA_OK);
    add(s, side->runs_end, side->end);
    return s;
}

static const struct {
    const char *what;
    struct side into, from;
} unions[] = {
    {"both empty", {0, 0, 0}, {0, 0, 0}},
    {"into an empty one", {0, 0, 0}, {0, 3000, 3050}},
    {"recent keys into an empty one", {0, 0, 0}, {0, 0, 50}},
    {"from an empty one", {0, 3000, 3050}, {0, 0, 0}},
    {"recent keys only", {0, 0, 200}, {100, 100, 400}},
    {"runs only", {0, 3000, 3000}, {3000, 5000, 5000}},
    {"runs with repeats", {0, 3000, 3000}, {1500, 5000, 5000}},
    {"the same keys", {0, 3000, 3050}, {0, 3000, 3050}},
    {"recent keys of one in runs of the other", {0, 3000, 3000}, {2900, 2900, 3100}},
    {"and the other way round", {2900, 2900, 3100}, {0, 3000, 3000}},
    {"everything", {0, 3000, 3100}, {2500, 5000, 5120}},
};

static void a_union_has_exactly_the_keys_of_both(void **state)
{
    for (size_t u = 0; u < sizeof unions / sizeof unions[0]; u++) {
        const struct side *a = &unions[u].into, *b = &unions[u].from;
        bool both[UNIVERSE] = {false}, other[UNIVERSE] = {false};
        const char *path = scratch_path("a"), *from = scratch_path("b");
        deja_error err = {0};
        deja_sieve *into = make(path, a);
        deja_sieve_free(make(from, b));
        deja_sieve *reader = open_as(from, 0, 1, &tiny);
        mark(both, a->first, a->end);
        mark(both, b->first, b->end);
        mark(other, b->first, b->end);
        if (deja_sieve_merge(into, reader, &err) < 0)
            fail_msg("%s: %s", unions[u].what, err.text);
        has_exactly(into, both);
        has_exactly(reader, other);
        deja_sieve_free(reader);
        deja_sieve_free(into); /* without a sync: the merge was durable */
        assert_int_equal(deja_sieve_verify(path, &err), DEJA_OK);
        assert_int_equal(deja_sieve_verify(from, &err), DEJA_OK);
        into = open_as(path, DEJA_OPEN_WRITE, 1, &tiny);
        has_exactly(into, both);
        deja_sieve_free(into);
        scratch_clear(NULL);
    }
}

/* The filter knows the keys that a merge has brought. */
static void a_union_is_an_ordinary_sieve(void **state)
{
    for (size_t u = 0; u < sizeof unions / sizeof unions[0]; u++) {
        bool both[UNIVERSE] = {false};
        uint64_t known = 0;
        deja_sieve *into = make(scratch_path("a"), &unions[u].into);
        deja_sieve *from = make(scratch_path("b"), &unions[u].from);
        mark(both, unions[u].into.first, unions[u].into.end);
        mark(both, unions[u].from.first, unions[u].from.end);
        for (size_t i = 0; i < UNIVERSE; i++)
            known += both[i];
        assert_int_equal(deja_sieve_merge(into, from, NULL), DEJA_OK);
        assert_int_equal(add(into, 0, UNIVERSE), UNIVERSE - known);
        mark(both, 0, UNIVERSE);
        has_exactly(into, both);
        deja_sieve_free(from);
        deja_sieve_free(into);
        scratch_clear(NULL);
    }
}

static void sieves_that_differ_are_refused(void **state)
{
    bool in[UNIVERSE] = {false};
    deja_error err = {0};
    deja_url_rules *rules;
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve *into = open_as(scratch_path("a"), DEJA_OPEN_CREATE, 1, &tiny);
    deja_sieve *other = open_as(scratch_path("b"), DEJA_OPEN_CREATE, 2, &tiny), *urls;
    assert_int_equal(deja_url_rules_new(DEJA_URL_SAFE, 0, NULL, 0, NULL, 0, &rules, &err),
                     DEJA_OK);
    opt.seed = 1;
    opt.url = rules;
    assert_int_equal(deja_sieve_open(scratch_path("c"), DEJA_OPEN_CREATE, &opt, &urls, &err),
                     DEJA_OK);
    add(into, 0, 1000);
    add(other, 0, 2000);
    mark(in, 0, 1000);
    assert_int_equal(deja_sieve_merge(into, other, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "different secret keys"));
    assert_int_equal(deja_sieve_merge(into, urls, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "different URL rules"));
    assert_int_equal(deja_sieve_merge(into, into, &err), DEJA_EINVAL);
    has_exactly(into, in);
    deja_sieve_free(urls);
    deja_sieve_free(other);
    deja_sieve *reader = open_as(scratch_path("a"), 0, 1, &tiny);
    assert_int_equal(deja_sieve_merge(reader, into, &err), DEJA_EINVAL);
    deja_sieve_free(reader);
    deja_sieve_free(into);
    deja_url_rules_free(rules);
    scratch_clear(NULL);
}

static void keys_that_are_not_recorded_must_be_decided_first(void **state)
{
    bool in[UNIVERSE] = {false};
    deja_error err = {0};
    uint8_t verdict;
    deja_sieve *into = open_as(scratch_path("a"), DEJA_OPEN_CREATE, 1, &tiny);
    deja_sieve *from = open_as(scratch_path("b"), DEJA_OPEN_CREATE, 1, &tiny);
    add(from, 0, 3000);
    const deja_fingerprint old = print_of(from, 0), fresh = print_of(into, 5000);
    assert_int_equal(deja_sieve_judge(into, &fresh, 1, NULL, NULL, &verdict, &err), DEJA_OK);
    assert_int_equal(verdict, DEJA_SIEVE_NEW);
    assert_int_equal(deja_sieve_merge(into, from, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "commit"));
    assert_int_equal(deja_sieve_commit(into, &err), DEJA_OK);
    assert_int_equal(deja_sieve_judge(from, &old, 1, NULL, NULL, &verdict, &err), DEJA_OK);
    assert_int_equal(verdict, DEJA_SIEVE_PENDING);
    assert_int_equal(deja_sieve_merge(into, from, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "settle"));
    mark(in, 5000, 5001);
    has_exactly(into, in);
    assert_int_equal(settle(from), 0);
    assert_int_equal(deja_sieve_merge(into, from, &err), DEJA_OK);
    mark(in, 0, 3000);
    has_exactly(into, in);
    deja_sieve_free(from);
    deja_sieve_free(into);
    scratch_clear(NULL);
}

/* --- Walks -------------------------------------------------------------------------- */

static void a_walk_ends_when_it_is_told_to(void **state)
{
    static struct walk w;
    deja_sieve *s = open_as(scratch_path("a"), DEJA_OPEN_CREATE, 1, &tiny);
    add(s, 0, 3000);
    for (size_t most = 0; most < 3000; most += 500) {
        w.n = 0;
        w.most = most;
        assert_int_equal(deja_sieve_each(s, take, &w, NULL), 7);
        assert_true(w.n <= most);
    }
    deja_sieve_free(s);
    scratch_clear(NULL);
}

/* The hashes of a sieve are those of a filter made with deja_sieve_like. */
static void a_filter_can_be_made_of_the_hashes(void **state)
{
    static struct walk w = {.most = UNIVERSE};
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    deja_sieve *s = open_as(scratch_path("a"), DEJA_OPEN_CREATE, 0 /* a random key */, &tiny);
    add(s, 0, 3000);
    assert_int_equal(deja_sieve_like(s, &opt, NULL), DEJA_OK);
    opt.kind = DEJA_EXACT;
    opt.capacity = 3000;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_each(s, take, &w, NULL), 0);
    assert_int_equal(deja_filter_add_hashed(f, w.hash, w.n, NULL, NULL, NULL), DEJA_OK);
    for (uint64_t i = 0; i < UNIVERSE; i++) {
        char text[32];
        const int len = snprintf(text, sizeof text, "key %llu", (unsigned long long)i);
        assert_int_equal(deja_filter_contains(f, (deja_slice){text, (size_t)len}), i < 3000);
    }
    deja_filter_free(f);
    deja_sieve_free(s);
    scratch_clear(NULL);
}

/* --- Forecasts ---------------------------------------------------------------------- */

static deja_sieve_forecast forecast(uint64_t memory, uint64_t keys, uint64_t lines)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve_forecast f = DEJA_SIEVE_FORECAST_INIT;
    opt.memory = memory;
    assert_int_equal(deja_sieve_plan(&opt, keys, lines, &f, NULL), DEJA_OK);
    return f;
}

static void keys_that_fit_in_memory_cost_no_pass(void **state)
{
    const deja_sieve_forecast none = forecast(1 << 20, 0, 0), few = forecast(64 << 20, 1000, 9000);
    assert_true(none.disk == 0 && !(none.passes > 0) && !(none.wrong > 0));
    assert_true(few.disk == 12000 && !(few.late > 0) && !(few.waiting > 0) && !(few.read > 0));
    assert_true(fabs(few.written - 12000) < 1);
}

static void more_memory_and_fewer_lines_cost_less(void **state)
{
    for (uint64_t keys = 1000000; keys < 20000000000; keys *= 100) {
        const uint64_t least = keys > 8 << 20 ? keys / 8 : 1 << 20;
        deja_sieve_forecast last = forecast(least, keys, keys);
        for (uint64_t memory = 4 * least; memory < 128 * keys; memory *= 4) {
            const deja_sieve_forecast f = forecast(memory, keys, keys);
            assert_true(f.late <= last.late && f.passes <= last.passes && f.read <= last.read);
            assert_true(f.wait_rate <= last.wait_rate && f.late <= (double)keys);
            assert_true(f.disk_most >= f.disk);
            assert_true(fabs(f.wrong / ldexp((double)keys * (double)keys, -97) - 1) < 1e-9);
            last = f;
        }
        const deja_sieve_forecast once = forecast(least, keys, keys),
                                  thrice = forecast(least, keys, 3 * keys);
        assert_true(thrice.waiting > once.waiting && thrice.passes >= once.passes);
        assert_true(thrice.late <= once.late && thrice.late >= once.late);
    }
}

static void nonsense_is_refused(void **state)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve_forecast f = DEJA_SIEVE_FORECAST_INIT;
    deja_error err = {0};
    assert_int_equal(deja_sieve_plan(&opt, 10, 9, &f, &err), DEJA_EINVAL);
    opt.memory = 1000;
    assert_int_equal(deja_sieve_plan(&opt, 10, 10, &f, &err), DEJA_EINVAL);
    f.size = 0;
    assert_int_equal(deja_sieve_plan(NULL, 10, 10, &f, &err), DEJA_EINVAL);
}

/* The forecast counts recent keys as if they were in the filter, so fewer keys wait than it says: as
 * many as in a sieve that lags by one table.  At 5 sigma, one seed in 3 million fails. */
static void a_sieve_costs_what_was_predicted(void **state)
{
    const uint64_t keys = 250000, memory = 1 << 20;
    const deja_sieve_forecast f = forecast(memory, keys, keys);
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    deja_sieve *s;
    opt.seed = 1;
    opt.memory = memory;
    opt.flags = DEJA_SIEVE_NO_THREAD;
    assert_int_equal(deja_sieve_open(scratch_path("a"), DEJA_OPEN_CREATE, &opt, &s, NULL),
                     DEJA_OK);
    assert_int_equal(add(s, 0, keys), keys);
    assert_int_equal(deja_sieve_save(s, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_stats(s, &r, NULL), DEJA_OK);
    const double before = forecast(memory, keys - 2 * r.recent - 20000, keys).late;
    const double late = (double)r.late;
    assert_true(late <= f.late + 5 * sqrt(f.late));
    assert_true(late >= before * 0.8 - 5 * sqrt(f.late));
    assert_true(fabs((double)r.disk / (double)f.disk - 1) < 0.25);
    assert_true(r.passes >= (uint64_t)f.passes - 1 && r.passes <= (uint64_t)f.passes + 2);
    assert_true(fabs(r.wait_rate / f.wait_rate - 1) < 0.25);
    deja_sieve_free(s);
    scratch_clear(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_union_has_exactly_the_keys_of_both),
        cmocka_unit_test(a_union_is_an_ordinary_sieve),
        cmocka_unit_test(sieves_that_differ_are_refused),
        cmocka_unit_test(keys_that_are_not_recorded_must_be_decided_first),
        cmocka_unit_test(a_walk_ends_when_it_is_told_to),
        cmocka_unit_test(a_filter_can_be_made_of_the_hashes),
        cmocka_unit_test(keys_that_fit_in_memory_cost_no_pass),
        cmocka_unit_test(more_memory_and_fewer_lines_cost_less),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(a_sieve_costs_what_was_predicted),
    };
    return cmocka_run_group_tests_name("property.sieve_sets", tests, scratch_open, scratch_close);
}
