/* test_visit.c - the next visit starts empty, with different hash functions and the size it needs. */
#include "unit.h"

#define EVERY .seed = 7,
#include "binom.h"
#include "calls.h"
#include "failmem.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include "scratch.h"
#include <math.h>

#define NEXT(...)                                                                                 \
    (&(deja_options){.size = sizeof(deja_options), __VA_ARGS__}) /* no seed: the key stays */

static const struct {
    const char *name;
    deja_options opt;
} every[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01)},
    {"classic md5",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01, .hash = DEJA_HASH_MD5)},
    {"classic mixed",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01, .hash = DEJA_HASH_MIXED)},
    {"spatio-temporal",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01, .filters = 3)},
    {"blocked", FIELDS(.capacity = 1000, .fp_rate = 0.01)},
    {"blocked spatial", FIELDS(.capacity = 1000, .fp_rate = 0.01, .filters = 2)},
    {"blocked siphash", FIELDS(.capacity = 1000, .fp_rate = 0.01, .hash = DEJA_HASH_SIPHASH)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 100, .fp_rate = 0.01)},
    {"scalable classic",
     FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC, .capacity = 100, .fp_rate = 0.01)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = 1000)},
};

static void rotate(deja_filter *f, const deja_options *next)
{
    deja_error err = {0, ""};
    if (deja_filter_rotate(f, next, &err) != DEJA_OK)
        fail_msg("refused: %s", err.text);
}

static bool same_number(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void the_next_visit_is_empty_and_sized_by_the_keys_seen(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        const bool grows = every[i].opt.kind == DEJA_SCALABLE;
        deja_filter *f = new_filter(every[i].opt);
        add_keys(f, 0, 700);
        const deja_stats one = stats_of(f);
        rotate(f, NULL);
        const deja_stats s = stats_of(f);
        const uint64_t came = (uint64_t)((double)one.keys + one.lost + 0.5);
        assert_int_equal(s.visit, 2);
        assert_int_equal(s.visits_before, 1);
        assert_int_equal(s.keys + s.offered + s.bits_set, 0);
        assert_int_equal(s.parts, grows ? 1 : one.filters);
        assert_int_equal(s.kind, one.kind);
        assert_int_equal(s.part_kind, one.part_kind);
        assert_int_equal(s.hash, one.hash);
        assert_int_equal(s.filters, one.filters);
        assert_true(same_number(s.fp_rate, one.fp_rate));
        assert_in_range(s.capacity, came + came / 9, came + came / 8 + 2);
        assert_in_range(came, 690, 720);
        assert_int_equal(s.last_distinct, came);
        assert_true(same_number(s.last_lost, one.lost));
        assert_true(same_number(s.missed, one.lost / ((double)one.keys + one.lost)));
        add_keys(f, 0, 700);
        for (uint64_t j = 0; j < 700; j++)
            assert_true(deja_filter_contains(f, key_of(&j)));
        deja_filter_free(f);
    }
}

/* Equal options give equal bytes in the second visit too. */
static void equal_filters_have_equal_second_visits(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *a = new_filter(every[i].opt), *b = new_filter(every[i].opt);
        const deja_options *next = NEXT(.capacity = 500);
        add_keys(a, 0, 100);
        rotate(a, next);
        rotate(b, next);
        add_keys(a, 0, 400);
        add_keys(b, 0, 400);
        assert_int_equal(a->n_parts, b->n_parts);
        for (uint32_t j = 0; j < a->n_parts; j++)
            assert_memory_equal(a->part[j]->body, b->part[j]->body, a->part[j]->body_len);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* Two tiny filters; all keys are offered in both visits.  A key lost in the first is offered again
 * at the end of the second, and is found new with probability 1 - p2. */
static void a_page_lost_in_one_visit_is_found_in_the_next(void **state)
{
    for (size_t i = 0; i < 7; i++) { /* all kinds except exact and scalable */
        enum {
            MEMBERS = 300,
            PAGES = 20000
        };
        deja_options opt = every[i].opt;
        uint64_t lost = 0, again = 0;
        double rate = 0;
        opt.capacity = MEMBERS;
        opt.fp_rate = 0.3;
        for (uint64_t seed = 1; seed <= 5; seed++) {
            opt.seed = seed;
            deja_filter *one = new_filter(opt), *two = new_filter(opt);
            rotate(two, NEXT(.capacity = MEMBERS));
            add_keys(one, 0, MEMBERS);
            add_keys(two, 0, MEMBERS);
            rate += stats_of(two).fp_now / 5;
            for (uint64_t page = MEMBERS; page < MEMBERS + PAGES; page++) {
                const bool missed = deja_filter_contains(one, key_of(&page));
                lost += missed;
                again += missed && deja_filter_contains(two, key_of(&page));
            }
            deja_filter_free(one);
            deja_filter_free(two);
        }
        assert_true(lost > 10000);
        /* Blocks: the rate of these five bodies scatters around that of their fill. */
        if (!binom_within_spread(again, lost, rate, 0.02 * rate, 5))
            fail_msg("%s: %g of the lost pages are lost again, not %g", every[i].name,
                     (double)again / (double)lost, rate);
    }
}

/* Pages come in a different order on each visit; the product of the loss rates is measured. */
static void missed_by_all_is_the_product_of_the_loss_rates(void **state)
{
    enum {
        N = 20000
    };
    const deja_options opt =
        OPTIONS(.kind = DEJA_CLASSIC, .capacity = N, .hashes = 2, .multiplier = 1.0);
    deja_filter *f = new_filter(opt);
    static uint8_t missed[N];
    double product = 1, share = 0;
    memset(missed, 1, sizeof missed);
    for (int visit = 1; visit <= 3; visit++) {
        /* Visits all pages with this stride. */
        static const uint64_t strides[] = {1, 7919, 12347};
        uint64_t page = 0;
        for (uint64_t i = 0; i < N; i++, page = (page + strides[visit - 1]) % N)
            missed[page] &= !add(f, page);
        const deja_stats s = stats_of(f);
        const double rate = s.lost / ((double)s.keys + s.lost);
        product *= rate;
        assert_true(same_number(s.missed, product));
        uint64_t n = 0;
        for (uint64_t i = 0; i < N; i++)
            n += missed[i];
        share = (double)n / N;
        assert_true(normal_within(share, product, sqrt(product / N) + 0.02 * product, 5));
        rotate(f, NEXT(.capacity = N, .hashes = 2, .multiplier = 1.0));
        assert_true(same_number(stats_of(f).missed, product));
        assert_int_equal(stats_of(f).visits_before, visit);
    }
    assert_true(share > 0);
    deja_filter_free(f);
}

static void an_empty_visit_does_not_change_missed(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 1000, .fp_rate = 0.1));
    rotate(f, NULL);
    assert_true(stats_of(f).missed >= 1 && stats_of(f).missed <= 1);
    assert_int_equal(stats_of(f).capacity, 1000);
    add_keys(f, 0, 900);
    const double missed = stats_of(f).missed;
    rotate(f, NULL);
    rotate(f, NULL);
    assert_true(same_number(stats_of(f).missed, missed));
    assert_int_equal(stats_of(f).visit, 4);
    assert_int_equal(stats_of(f).last_distinct, 0);
    deja_filter_free(f);
}

static void an_overfull_filter_rotates(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 10, .fp_rate = 0.1));
    add_keys(f, 0, 5000);
    rotate(f, NULL);
    assert_in_range(stats_of(f).capacity, 10, 6000);
    assert_true(stats_of(f).missed <= 1 && stats_of(f).missed > 0.5);
    deja_filter_free(f);
}

/* A megabyte for a few keys: the rate is that of twins, which no filter of more keys can have. */
static void a_far_too_large_filter_rotates(void **state)
{
    static const uint32_t kinds[] = {DEJA_CLASSIC,  DEJA_BLOCKED, DEJA_EXACT,
                                     DEJA_SPECTRAL, DEJA_PAIRED,  DEJA_WINDOW};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        deja_filter *f = new_filter(OPTIONS(.kind = kinds[i], .capacity = 500, .memory = 1 << 20));
        deja_error err = {0};
        add_keys(f, 0, 500);
        for (int visit = 0; visit < 3; visit++) {
            if (deja_filter_rotate(f, NULL, &err) != DEJA_OK)
                fail_msg("%s", err.text);
            add_keys(f, 0, 500);
        }
        deja_filter_free(f);
    }
}

static void options_of_the_next_visit_are_applied(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.capacity = 1000, .fp_rate = 0.01));
    add_keys(f, 0, 100);
    rotate(f, NEXT(.capacity = 5000));
    assert_int_equal(stats_of(f).capacity, 5000);
    assert_true(same_number(stats_of(f).fp_rate, 0.01));
    rotate(f, NEXT(.fp_rate = 0.001));
    assert_true(same_number(stats_of(f).fp_rate, 0.001));
    assert_int_equal(stats_of(f).capacity, 5000); /* no key was seen */
    rotate(f, NEXT(.memory = 4096));
    assert_int_equal(stats_of(f).bytes, 4096);
    assert_int_equal(stats_of(f).capacity, 5000);
    rotate(f, NEXT(.memory = 4096, .fp_rate = 0.01));
    assert_int_equal(stats_of(f).bytes, 4096);
    assert_in_range(stats_of(f).capacity, 3000, 3500);
    deja_filter_free(f);
}

/* The thesis compares filters by k and M: m = n k M, and only the salts change. */
static void k_and_the_multiplier_stay(void **state)
{
    const struct {
        deja_options opt;
        uint64_t granule, unit;
    } rows[] = {
        {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_JENKINS, .hashes = 3, .multiplier = 2.5,
                .capacity = 1000),
         64, 1},
        {FIELDS(.kind = DEJA_CLASSIC, .hashes = 9, .multiplier = 1, .filters = 2,
                .capacity = 1000),
         64, 1},
        {FIELDS(.hashes = 5, .multiplier = 3, .capacity = 1000), 512, 1},
        {FIELDS(.kind = DEJA_SPECTRAL, .hashes = 4, .multiplier = 2, .capacity = 1000), 512, 4},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        const deja_options *opt = &rows[i].opt;
        const char *path = scratch_path("multiplier");
        deja_filter *f = create_file(path, 0, opt);
        for (uint64_t visit = 1; visit <= 3; visit++) {
            add_keys(f, 0, 600 * visit);
            sync_file(f);
            deja_filter_free(f); /* the file records it */
            f = open_file(path, DEJA_OPEN_WRITE);
            rotate(f, NULL);
            const deja_stats s = stats_of(f);
            const uint64_t filters = opt->filters ? opt->filters : 1;
            const double m = (double)s.capacity * opt->hashes * opt->multiplier;
            assert_in_range(s.capacity, 600 * visit,
                            900 * visit); /* the keys seen, plus a reserve */
            assert_int_equal(s.hashes, opt->hashes);
            assert_in_range(s.bits / filters, (uint64_t)m,
                            (uint64_t)m + rows[i].granule / rows[i].unit);
        }
        deja_filter_free(f);
        unlink(path);
    }
}

static void a_given_k_stays_and_other_sizes_override_the_multiplier(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.hashes = 3, .fp_rate = 0.01, .capacity = 1000));
    add_keys(f, 0, 500);
    rotate(f, NULL);
    assert_int_equal(stats_of(f).hashes, 3);
    assert_true(same_number(stats_of(f).fp_rate, 0.01));
    deja_filter_free(f);

    f = new_filter(OPTIONS(.hashes = 3, .multiplier = 2, .capacity = 1000));
    add_keys(f, 0, 500);
    rotate(f, NEXT(.fp_rate = 0.001));
    assert_true(same_number(stats_of(f).fp_rate, 0.001));
    rotate(f, NEXT(.memory = 4096));
    assert_int_equal(stats_of(f).bytes, 4096);
    rotate(f, NEXT(.hashes = 4, .multiplier = 8, .capacity = 512));
    assert_int_equal(stats_of(f).bits, 512 * 4 * 8);
    rotate(f, NEXT(.multiplier = 4));
    assert_int_equal(stats_of(f).bits, 512 * 4 * 4);
    rotate(f, NEXT(.hashes = 2));
    assert_int_equal(stats_of(f).bits, 512 * 2 * 4);
    assert_int_equal(deja_filter_fold(f, 1, NULL), DEJA_OK); /* half the bits halve M */
    rotate(f, NULL);
    assert_int_equal(stats_of(f).bits, 512 * 2 * 2);
    deja_filter_free(f);
}

/* Files written by deja 0.1 do not record how they were sized. */
static void in_format_1_the_rate_stays(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.hashes = 3, .multiplier = 2, .capacity = 1000,
                                        .kind = DEJA_CLASSIC, .format = 1));
    const double rate = stats_of(f).fp_rate;
    add_keys(f, 0, 500);
    rotate(f, NULL);
    assert_true(same_number(stats_of(f).fp_rate, rate));
    assert_int_not_equal(stats_of(f).hashes, 3);
    deja_filter_free(f);
}

static void refused(const deja_options *next, int status, const char *words)
{
    deja_error err = {0, ""};
    deja_filter *f = new_filter(OPTIONS(.capacity = 1000, .fp_rate = 0.01));
    add_keys(f, 0, 100);
    const int rc = deja_filter_rotate(f, next, &err);
    if (rc != status || !strstr(err.text, words))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, words);
    assert_int_equal(stats_of(f).visit, 1);
    assert_int_equal(stats_of(f).offered, 100);
    deja_filter_free(f);
}

static void options_that_a_visit_keeps_cannot_change(void **state)
{
    static const char keeps[] = "cannot change between visits";
    const uint8_t key[DEJA_KEY_LEN] = {1};
    refused(NEXT(.kind = DEJA_CLASSIC), DEJA_EINVAL, keeps);
    refused(NEXT(.hash = DEJA_HASH_SIPHASH), DEJA_EINVAL,
            "options.hash cannot change between visits: omit it");
    refused(NEXT(.filters = 2), DEJA_EINVAL, keeps);
    refused(NEXT(.seed = 7), DEJA_EINVAL, keeps);
    refused(NEXT(.key = key), DEJA_EINVAL, keeps);
    refused(NEXT(.url = deja_url_profile(DEJA_URL_SAFE)), DEJA_EINVAL, keeps);
    refused(NEXT(.fp_rate = 2), DEJA_EINVAL, "options.fp_rate is 2");
    refused(NEXT(.capacity = UINT64_MAX), DEJA_EINVAL, "options.capacity is");
    refused(NEXT(.capacity = UINT64_C(1) << 52), DEJA_EINVAL, "no blocked filter holds");
}

static void without_memory_the_visit_continues(void **state)
{
    struct failmem mem;
    for (size_t i = 1; i < 4; i++) {
        failmem_init(&mem, 0);
        deja_options opt = OPTIONS(.capacity = 1000, .fp_rate = 0.01);
        opt.alloc = &mem.hook;
        deja_filter *f = new_filter(opt);
        add_keys(f, 0, 100);
        mem.fail_at = mem.asked + i;
        assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_ENOMEM);
        assert_int_equal(stats_of(f).visit, 1);
        for (uint64_t j = 0; j < 100; j++)
            assert_true(deja_filter_contains(f, key_of(&j)));
        mem.fail_at = 0;
        rotate(f, NULL);
        deja_filter_free(f);
        assert_int_equal(mem.live, 0);
        assert_int_equal(mem.mistakes, 0);
    }
}

/* --- Files -------------------------------------------------------------------- */

static void a_rotated_file_is_sealed_and_stays_usable(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        const char *path = scratch_path("visit");
        deja_options opt = every[i].opt;
        deja_filter *f;
        opt.url = deja_url_profile(DEJA_URL_CRAWL);
        assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
        add_keys(f, 0, 700);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        const deja_stats one = stats_of(f);
        rotate(f, NULL);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        add_keys(f, 0, 10);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_OK);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.visit, 2);
        assert_int_equal(s.syncs, 3);
        assert_int_equal(s.keys, 10);
        assert_int_equal(s.profile, DEJA_URL_CRAWL);
        assert_int_equal(s.url_rules, one.url_rules);
        assert_int_equal(s.keyed, 0);
        assert_true(same_number(s.last_lost, one.lost));
        for (uint64_t j = 0; j < 10; j++)
            assert_true(deja_filter_contains(f, key_of(&j)));
        assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_EINVAL); /* read-only */
        deja_filter_free(f);
        unlink(path);
    }
}

static void a_separate_key_stays_separate(void **state)
{
    const char *path = scratch_path("apart");
    const uint8_t key[DEJA_KEY_LEN] = {1, 2, 3};
    deja_options opt = OPTIONS(.capacity = 1000);
    deja_filter *f;
    opt.seed = 0;
    opt.key = key;
    opt.flags = DEJA_KEY_APART;
    assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    rotate(f, NULL);
    deja_filter_free(f);
    assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_EMISMATCH);
    assert_int_equal(deja_filter_open(path, 0, NEXT(.key = key), &f, NULL), DEJA_OK);
    assert_true(stats_of(f).flags & DEJA_KEY_APART);
    deja_filter_free(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_visit_is_empty_and_sized_by_the_keys_seen),
        cmocka_unit_test(equal_filters_have_equal_second_visits),
        cmocka_unit_test(a_page_lost_in_one_visit_is_found_in_the_next),
        cmocka_unit_test(missed_by_all_is_the_product_of_the_loss_rates),
        cmocka_unit_test(an_empty_visit_does_not_change_missed),
        cmocka_unit_test(an_overfull_filter_rotates),
        cmocka_unit_test(a_far_too_large_filter_rotates),
        cmocka_unit_test(options_of_the_next_visit_are_applied),
        cmocka_unit_test(k_and_the_multiplier_stay),
        cmocka_unit_test(a_given_k_stays_and_other_sizes_override_the_multiplier),
        cmocka_unit_test(in_format_1_the_rate_stays),
        cmocka_unit_test(options_that_a_visit_keeps_cannot_change),
        cmocka_unit_test(without_memory_the_visit_continues),
        cmocka_unit_test(a_rotated_file_is_sealed_and_stays_usable),
        cmocka_unit_test(a_separate_key_stays_separate),
    };
    return cmocka_run_group_tests_name("unit.visit", tests, scratch_open, scratch_close);
}
