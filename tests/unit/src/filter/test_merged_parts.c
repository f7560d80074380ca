/* test_merged_parts.c - scalable filters with different secret keys: the union has the parts of
 * both, finds every key, and reports the sum of their rates. */
#include "unit.h"

#include "binom.h"
#include "combining.h"
#include "rng.h"
#include <math.h>

static deja_options growing(uint32_t part_kind, uint64_t capacity, double rate, uint64_t seed)
{
    deja_options opt =
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = capacity, .fp_rate = rate, .seed = seed);
    opt.part_kind = part_kind;
    return opt;
}

/* Random sets of keys, in filters of random sizes. */
static void every_key_of_both_is_found(void **state)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    struct rng r = rng_seeded(5);
    for (unsigned round = 0; round < 30; round++) {
        const uint32_t kind = kinds[round % DJ_ARRAY_LEN(kinds)];
        const uint64_t n = rng_next(&r) % 3000, m = rng_next(&r) % 3000;
        const uint64_t first = rng_next(&r) % 3000;
        deja_filter *a = filled(growing(kind, 1 + rng_next(&r) % 500, 1e-3, 1 + round), 0, n);
        deja_filter *b =
            filled(growing(kind, 1 + rng_next(&r) % 500, 1e-3, 100 + round), first, first + m);
        merge(a, b);
        assert_int_equal(missing(a, 0, n), 0);
        assert_int_equal(missing(a, first, first + m), 0);
        assert_int_equal(stats_of(a).other_keys, 1);
        assert_int_equal(stats_of(a).unions, 1);
        add_keys(a, 10000, 14000); /* it still grows */
        assert_int_equal(missing(a, 0, n) + missing(a, first, first + m), 0);
        assert_int_equal(missing(a, 10000, 14000), 0);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* Hits on absent keys are binomial at the rate that stats report.  At 5 sigma a correct filter
 * fails for one seed in 1.7 million, and the seeds are fixed. */
static void the_reported_rate_is_the_measured_one(void **state)
{
    enum {
        PROBES = 400000
    };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        deja_filter *a = filled(growing(DEJA_BLOCKED, 2000, 0.01, seed), 0, 5000);
        deja_filter *b = filled(growing(DEJA_BLOCKED, 3000, 0.02, seed + 10), 3000, 9000);
        deja_filter *c = filled(growing(DEJA_BLOCKED, 500, 0.005, seed + 20), 8000, 10000);
        const double rates[] = {stats_of(a).fp_now, stats_of(b).fp_now, stats_of(c).fp_now};
        merge(a, b);
        merge(a, c);
        const deja_stats s = stats_of(a);
        const double sum = 1 - (1 - rates[0]) * (1 - rates[1]) * (1 - rates[2]);
        assert_true(fabs(s.fp_now - sum) < 1e-9);
        const uint64_t hits = PROBES - missing(a, 1000000, 1000000 + PROBES);
        assert_true(binom_within(hits, PROBES, s.fp_now, 5.0));
        /* A part is sized for its rate, which it had not reached. */
        assert_true(s.fp_rate + s.merged_rate > s.fp_now);
        deja_filter_free(a);
        deja_filter_free(b);
        deja_filter_free(c);
    }
}

static void a_merged_filter_can_be_merged_again(void **state)
{
    deja_filter *f[4], *all = NULL;
    for (uint64_t i = 0; i < 4; i++)
        f[i] = filled(growing(DEJA_BLOCKED, 300, 1e-6, i + 1), 1000 * i, 1000 * i + 800);
    merge(f[0], f[1]);
    merge(f[2], f[3]);
    merge(f[0], f[2]);
    all = f[0];
    const uint32_t parts = all->n_parts;
    assert_int_equal(stats_of(all).other_keys, 3);
    assert_int_equal(stats_of(all).unions, 3);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(missing(all, 1000 * i, 1000 * i + 800), 0);
    /* A second time, every part is there already. */
    merge(all, f[2]);
    merge(all, f[1]);
    assert_int_equal(all->n_parts, parts);
    assert_int_equal(stats_of(all).other_keys, 3);
    add_keys(f[3], 3800, 3850); /* its newest part has room, also in the union */
    merge(all, f[3]);
    assert_int_equal(all->n_parts, parts);
    assert_int_equal(missing(all, 3800, 3850), 0);
    for (uint64_t i = 0; i < 4; i++)
        deja_filter_free(f[i]);
}

static void too_many_keys_or_parts_are_refused(void **state)
{
    deja_error err = {0, ""};
    deja_filter *a = filled(growing(DEJA_BLOCKED, 100, 1e-3, 1), 0, 10);
    for (uint64_t i = 2; i <= 8; i++) {
        deja_filter *b = filled(growing(DEJA_BLOCKED, 100, 1e-3, i), 10 * i, 10 * i + 10);
        merge(a, b);
        deja_filter_free(b);
    }
    deja_filter *ninth = filled(growing(DEJA_BLOCKED, 100, 1e-3, 9), 90, 100);
    assert_int_equal(stats_of(a).other_keys, 7);
    assert_int_equal(deja_filter_merge(a, ninth, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "more than 8 secret keys"));
    assert_int_equal(a->n_parts, 8);
    assert_int_equal(stats_of(a).unions, 7);
    deja_options many = growing(DEJA_BLOCKED, 1, 0.1, 1);
    many.growth = 1;
    deja_filter *c = filled(many, 0, 20), *d = NULL;
    many.seed = 2;
    d = filled(many, 100, 120);
    assert_int_equal(deja_filter_merge(c, d, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "more than 32 parts"));
    assert_int_equal(stats_of(c).other_keys, 0);
    assert_int_equal(missing(c, 0, 20), 0);
    deja_filter_free(a);
    deja_filter_free(c);
    deja_filter_free(d);
    deja_filter_free(ninth);
}

static void what_answers_depend_on_must_be_the_same(void **state)
{
    static const struct {
        deja_options opt;
        const char *words;
    } refused[] = {
        {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT), "kind: blocked and exact"},
        {FIELDS(.kind = DEJA_SCALABLE, .hash = DEJA_HASH_SIPHASH), "hash: xxh3 and siphash"},
        {FIELDS(.filters = 2), "number of filters (F): 1 and 2"},
        {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MD5),
         "kind: blocked and classic; hash: xxh3 and md5; "},
    };
    deja_error err = {0, ""}, line = {0, ""};
    deja_filter *a = filled(growing(DEJA_BLOCKED, 100, 1e-3, 1), 0, 10);
    for (size_t i = 0; i < DJ_ARRAY_LEN(refused); i++) {
        deja_options opt = refused[i].opt;
        opt.capacity = 100;
        opt.seed = 2;
        deja_filter *b = filled(opt, 10, 20);
        assert_int_equal(deja_filter_merge(a, b, &err), DEJA_EMISMATCH);
        if (!strstr(err.text, refused[i].words))
            fail_msg("\"%s\" lacks \"%s\"", err.text, refused[i].words);
        assert_true(deja_filter_difference(a, b, 0, &line));
        assert_int_equal(strncmp(line.text, refused[i].words, strlen(line.text)), 0);
        assert_false(deja_filter_difference(a, b, 16, &line));
        deja_filter_free(b);
    }
    /* A plain filter with one body is like a part. */
    deja_filter *plain = filled(OPTIONS(.capacity = 100, .seed = 3), 10, 20);
    merge(a, plain);
    assert_int_equal(missing(a, 0, 20), 0);
    assert_int_equal(deja_filter_merge(plain, a, &err), DEJA_EMISMATCH);
    deja_filter_free(a);
    deja_filter_free(plain);
}

/* The union contains secret keys, so it must not be in a file that others can read. */
static void secrets_stay_secret(void **state)
{
    static const uint8_t key[DEJA_KEY_LEN] = "an example of 32 bytes as a key";
    deja_error err = {0, ""};
    deja_options apart = growing(DEJA_BLOCKED, 100, 1e-3, 0);
    apart.key = key;
    apart.flags = DEJA_KEY_APART;
    deja_filter *seeded = filled(growing(DEJA_BLOCKED, 100, 1e-3, 1), 0, 10);
    deja_filter *secret = filled(growing(DEJA_BLOCKED, 100, 1e-3, 0), 10, 20);
    deja_filter *elsewhere = filled(apart, 20, 30);
    assert_int_equal(deja_filter_merge(seeded, secret, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "secrecy of the key"));
    assert_int_equal(deja_filter_merge(secret, elsewhere, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "a file does not contain its own"));
    assert_int_equal(deja_filter_merge(elsewhere, secret, &err), DEJA_EMISMATCH);
    merge(secret, seeded);
    assert_int_equal(missing(secret, 0, 20), 0);
    deja_filter_free(seeded);
    deja_filter_free(secret);
    deja_filter_free(elsewhere);
}

static void expect_keys(const deja_filter *f)
{
    assert_int_equal(missing(f, 0, 1700), 0);
    assert_int_equal(stats_of(f).other_keys, 1);
    assert_true(stats_of(f).keys >= 1700);
}

static void files_copies_and_exports_keep_the_parts(void **state)
{
    const char *a = make_file("a", growing(DEJA_BLOCKED, 200, 1e-4, 1), 0, 1000);
    const char *b = make_file("b", growing(DEJA_BLOCKED, 300, 1e-4, 2), 700, 1700);
    deja_filter *into = open_file(a, DEJA_OPEN_WRITE), *from = open_file(b, 0), *f = NULL;
    deja_error err = {0, ""};
    merge(into, from); /* into a file that has its name */
    expect_keys(into);
    works(deja_filter_copy(into, scratch_path("copy"), 0, &f, &err), &err);
    sync_file(f);
    deja_filter_free(f);
    const uint64_t len = deja_filter_export_len(into);
    uint8_t *bytes = malloc((size_t)len);
    assert_int_equal(deja_filter_export(into, 0, bytes, (size_t)len), len);
    works(deja_filter_import(bytes, (size_t)len, NULL, &f, &err), &err);
    expect_keys(f);
    deja_filter_free(f);
    free(bytes);
    sync_file(into);
    deja_filter_free(into);
    deja_filter_free(from);
    static const char *const names[] = {"a", "copy"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = scratch_path(names[i]);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        f = open_file(path, DEJA_OPEN_WRITE);
        expect_keys(f);
        add_keys(f, 2000, 5000); /* grows the file */
        assert_int_equal(missing(f, 0, 1700) + missing(f, 2000, 5000), 0);
        sync_file(f);
        works(deja_filter_rotate(f, NULL, &err), &err); /* the next visit is empty */
        assert_int_equal(stats_of(f).merged_parts + stats_of(f).other_keys, 0);
        assert_int_equal(stats_of(f).keys, 0);
        add_keys(f, 0, 100);
        assert_int_equal(missing(f, 0, 100), 0);
        deja_filter_free(f);
        unlink(path);
    }
    unlink(b);
}

/* Rules of deja 0.1 hash short keys differently; the parts keep theirs. */
static void formats_and_visits_may_differ(void **state)
{
    deja_options old = growing(DEJA_BLOCKED, 200, 1e-4, 1);
    old.format = 1;
    deja_filter *a = filled(growing(DEJA_BLOCKED, 200, 1e-4, 1), 0, 500);
    deja_filter *b = filled(old, 500, 1000),
                *c = filled(growing(DEJA_BLOCKED, 200, 1e-4, 1), 0, 1);
    assert_int_equal(deja_filter_rotate(c, NULL, NULL), DEJA_OK);
    add_keys(c, 1000, 1500);
    merge(a, b);
    merge(a, c);
    assert_int_equal(missing(a, 0, 1500), 0);
    assert_int_equal(stats_of(a).other_keys, 2);
    deja_filter_free(a);
    deja_filter_free(b);
    deja_filter_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_both_is_found),
        cmocka_unit_test(the_reported_rate_is_the_measured_one),
        cmocka_unit_test(a_merged_filter_can_be_merged_again),
        cmocka_unit_test(too_many_keys_or_parts_are_refused),
        cmocka_unit_test(what_answers_depend_on_must_be_the_same),
        cmocka_unit_test(secrets_stay_secret),
        cmocka_unit_test(files_copies_and_exports_keep_the_parts),
        cmocka_unit_test(formats_and_visits_may_differ),
    };
    return cmocka_run_group_tests_name("unit.merged_parts", tests, scratch_open, scratch_close);
}
