/* test_plan.c - from options to numbers: every refusal with its words, and the sizes that follow.
 *
 * A plan is pure arithmetic, so sizes far beyond this machine are tested as cheaply as small
 * ones.  Words are compared in full: they are what a person sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "filters/filter.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS(...)                                                                               \
    {                                                                                             \
        .size = sizeof(deja_options), __VA_ARGS__                                                 \
    }
#define OPTIONS(...) ((deja_options)FIELDS(__VA_ARGS__))
#define NEWEST       "0.1.0"

static const uint8_t some_key[DEJA_KEY_LEN];

static deja_plan plan_of(deja_options opt)
{
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err = {0, ""};
    if (deja_plan_make(&opt, &plan, &err) != DEJA_OK)
        fail_msg("refused: %s", err.text);
    return plan;
}

static struct dj_plan resolved(deja_options opt)
{
    struct dj_plan plan;
    deja_error err = {0, ""};
    if (dj_plan_resolve(&opt, &plan, &err) != DEJA_OK)
        fail_msg("refused: %s", err.text);
    return plan;
}

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g is not within %g of %.17g", got, relative, want);
}

/* --- Refusals ----------------------------------------------------------- */

#define MULTIPLIER_RULE                                                                           \
    "the multiplier goes with capacity and hashes (m = n k M), not with memory or fp_rate"

static const struct refusal {
    deja_options opt;
    int status;
    const char *text;
} refusals[] = {
    /* kind */
    {FIELDS(.kind = 10, .capacity = 1), DEJA_ENOTSUP, "kind 10 is not in this version"},
    {FIELDS(.kind = 99, .capacity = 1), DEJA_ENOTSUP, "kind 99 is not in this version"},
    {FIELDS(.kind = DEJA_CLASSIC, .part_kind = DEJA_BLOCKED, .capacity = 1), DEJA_EINVAL,
     "part_kind goes with kind scalable"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_SCALABLE, .capacity = 1), DEJA_EINVAL,
     "a scalable filter is made of blocked, classic or exact parts"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = 77, .capacity = 1), DEJA_EINVAL,
     "a scalable filter is made of blocked, classic or exact parts"},
    /* hash */
    {FIELDS(.hash = DEJA_HASH_MIXED + 1, .capacity = 1), DEJA_ENOTSUP,
     "hash 9 is not in this version"},
    {FIELDS(.hash = DEJA_HASH_MD5, .capacity = 1), DEJA_EINVAL,
     "hash md5 works with kind classic; blocked takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_EXACT, .hash = DEJA_HASH_SHA1, .capacity = 1), DEJA_EINVAL,
     "hash sha1 works with kind classic; exact takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC, .hash = DEJA_HASH_JENKINS,
            .capacity = 1),
     DEJA_EINVAL, "hash jenkins works with kind classic; scalable takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .hashes = 7, .capacity = 1),
     DEJA_EINVAL, "mixed has 6 different functions, not 7"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_JENKINS, .memory = UINT64_C(1) << 30),
     DEJA_EINVAL,
     "hash jenkins gives 32 bits and cannot address 8589934592; take xxh3, murmur3, md5 or sha1"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = (UINT64_C(1) << 29) + 8,
            .capacity = 1000, .hashes = 2),
     DEJA_EINVAL,
     "hash mixed gives 32 bits and cannot address 4294967360; take xxh3, murmur3, md5 or sha1"},
    /* counters */
    {FIELDS(.counter_bits = 4, .capacity = 1), DEJA_EINVAL,
     "counter_bits goes with kind spectral, not blocked"},
    {FIELDS(.kind = DEJA_EXACT, .flags = DEJA_MINIMAL_INCREASE, .capacity = 1), DEJA_EINVAL,
     "minimal increase goes with kind spectral, not exact"},
    {FIELDS(.kind = DEJA_SPECTRAL, .counter_bits = 5, .capacity = 1), DEJA_EINVAL,
     "counter_bits is 5: counters have 4, 8, 16 or 32 bits"},
    {FIELDS(.kind = DEJA_SPECTRAL, .counter_bits = 64, .capacity = 1), DEJA_EINVAL,
     "counter_bits is 64: counters have 4, 8, 16 or 32 bits"},
    {FIELDS(.kind = DEJA_SPECTRAL, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "hashes is 17: spectral takes at most 16"},
    {FIELDS(.kind = DEJA_SPECTRAL, .hash = DEJA_HASH_MD5, .capacity = 1), DEJA_EINVAL,
     "hash md5 works with kind classic; spectral takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_SPECTRAL), DEJA_EINVAL, "capacity is 0: say how many keys to expect"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_SPECTRAL, .capacity = 1), DEJA_EINVAL,
     "a scalable filter is made of blocked, classic or exact parts"},
    {FIELDS(.kind = DEJA_SPECTRAL, .counter_bits = 32, .capacity = UINT64_C(1) << 53,
            .fp_rate = 1e-6),
     DEJA_EINVAL,
     "no spectral filter holds 9007199254740992 keys at rate 1e-06: lower the capacity or raise "
     "the rate"},
    {FIELDS(.kind = DEJA_BLOCKED, .deletions = 1, .capacity = 1), DEJA_EINVAL,
     "deletions goes with kind paired, not blocked"},
    {FIELDS(.kind = DEJA_PAIRED, .deletions = (UINT64_C(1) << 53) + 1, .capacity = 1), DEJA_EINVAL,
     "deletions is 9007199254740993: at most 2^53"},
    {FIELDS(.kind = DEJA_PAIRED, .part_kind = DEJA_CLASSIC, .capacity = 1), DEJA_EINVAL,
     "part_kind goes with kind scalable"},
    {FIELDS(.kind = DEJA_PAIRED, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "paired cannot be made of several filters; classic, blocked and spectral can"},
    {FIELDS(.kind = DEJA_PAIRED), DEJA_EINVAL, "capacity is 0: say how many keys to expect"},
    {FIELDS(.kind = DEJA_PAIRED, .deletions = 5), DEJA_EINVAL,
     "capacity is 0: say how many keys to expect"},
    {FIELDS(.kind = DEJA_PAIRED, .memory = 127), DEJA_EINVAL,
     "memory is 127 bytes: at least 128, for two filters"},
    {FIELDS(.kind = DEJA_PAIRED, .memory = 128, .deletions = 1000), DEJA_EINVAL,
     "1000 deletions at rate 1e-06 take 4928 bytes, and memory is 128"},
    {FIELDS(.kind = DEJA_PAIRED, .memory = 4096, .capacity = 10, .fp_rate = 0.1), DEJA_EINVAL,
     "capacity, fp_rate and memory: give two, the third follows"},
    {FIELDS(.kind = DEJA_PAIRED, .capacity = 1, .deletions = UINT64_C(1) << 53), DEJA_EINVAL,
     "no blocked filter holds 9007199254740992 keys at rate 1e-06: lower the capacity or raise "
     "the "
     "rate"},
    {FIELDS(.kind = DEJA_PAIRED, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "hashes is 17: blocked takes at most 16"},
    /* window */
    {FIELDS(.generations = 2, .capacity = 1), DEJA_EINVAL,
     "generations goes with kind window, not blocked"},
    {FIELDS(.kind = DEJA_EXACT, .window_seconds = 2, .capacity = 1), DEJA_EINVAL,
     "window_seconds goes with kind window, not exact"},
    {FIELDS(.kind = DEJA_WINDOW), DEJA_EINVAL,
     "capacity is 0: say how many keys the window is to hold"},
    {FIELDS(.kind = DEJA_WINDOW, .generations = 8, .capacity = 1), DEJA_EINVAL,
     "generations is 8: at most 7"},
    {FIELDS(.kind = DEJA_WINDOW, .window_seconds = (UINT64_C(1) << 40) + 1, .capacity = 1),
     DEJA_EINVAL, "window_seconds is 1099511627777: at most 2^40"},
    {FIELDS(.kind = DEJA_WINDOW, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "window cannot be made of several filters; classic, blocked and spectral can"},
    {FIELDS(.kind = DEJA_WINDOW, .capacity = 1, .hashes = 2, .multiplier = 2), DEJA_EINVAL,
     "the multiplier sizes classic, blocked and spectral filters"},
    {FIELDS(.kind = DEJA_WINDOW, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "hashes is 17: window takes at most 16"},
    {FIELDS(.kind = DEJA_WINDOW, .hash = DEJA_HASH_MD5, .capacity = 1), DEJA_EINVAL,
     "hash md5 works with kind classic; window takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_WINDOW, .capacity = 5, .memory = 1024, .fp_rate = 0.1), DEJA_EINVAL,
     "capacity, fp_rate and memory: give two, the third follows"},
    {FIELDS(.kind = DEJA_WINDOW, .generations = 3, .memory = 255), DEJA_EINVAL,
     "memory is 255 bytes: at least 256, at most 2^50"},
    {FIELDS(.kind = DEJA_WINDOW, .memory = 128, .hashes = 16, .fp_rate = 1e-40), DEJA_EINVAL,
     "128 bytes hold no key at rate 1e-40"},
    {FIELDS(.kind = DEJA_WINDOW, .capacity = UINT64_C(1) << 53), DEJA_EINVAL,
     "no window filter holds 9007199254740992 keys at rate 1e-06: lower the capacity or raise "
     "the rate"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_WINDOW, .capacity = 1), DEJA_EINVAL,
     "a scalable filter is made of blocked, classic or exact parts"},
    /* filters and hashes */
    {FIELDS(.kind = DEJA_CLASSIC, .filters = 17, .capacity = 1), DEJA_EINVAL,
     "filters is 17: at most 16"},
    {FIELDS(.kind = DEJA_EXACT, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "exact cannot be made of several filters; classic, blocked and spectral can"},
    {FIELDS(.kind = DEJA_SCALABLE, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "scalable cannot be made of several filters; classic, blocked and spectral can"},
    {FIELDS(.hashes = 17, .capacity = 1), DEJA_EINVAL, "hashes is 17: blocked takes at most 16"},
    {FIELDS(.kind = DEJA_CLASSIC, .hashes = 65, .capacity = 1), DEJA_EINVAL,
     "hashes is 65: classic takes at most 64"},
    {FIELDS(.kind = DEJA_EXACT, .hashes = 2, .capacity = 1), DEJA_EINVAL,
     "hashes is 2: exact takes at most 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "hashes is 17: blocked takes at most 16"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MD5, .filters = 16, .hashes = 64,
            .capacity = 1),
     DEJA_EINVAL, "filters times hashes is 1024: at most 512"},
    /* numbers */
    {FIELDS(.capacity = 1, .fp_rate = 1), DEJA_EINVAL,
     "fp_rate is 1: it must lie between 0 and 1"},
    {FIELDS(.capacity = 1, .fp_rate = -0.5), DEJA_EINVAL,
     "fp_rate is -0.5: it must lie between 0 and 1"},
    {FIELDS(.capacity = 1, .fp_rate = INFINITY), DEJA_EINVAL,
     "fp_rate is inf: it must lie between 0 and 1"},
    {FIELDS(.capacity = 1, .fp_rate = NAN), DEJA_EINVAL,
     "fp_rate is nan: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 1, .multiplier = -1), DEJA_EINVAL,
     "multiplier is -1: it must be positive"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 1, .multiplier = NAN), DEJA_EINVAL,
     "multiplier is nan: it must be positive"},
    {FIELDS(.capacity = (UINT64_C(1) << 53) + 1), DEJA_EINVAL,
     "capacity is 9007199254740993: at most 2^53"},
    {FIELDS(.capacity = UINT64_MAX), DEJA_EINVAL,
     "capacity is 18446744073709551615: at most 2^53"},
    {FIELDS(.kind = DEJA_SCALABLE, .tightening = 1), DEJA_EINVAL,
     "tightening is 1: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .tightening = -0.5), DEJA_EINVAL,
     "tightening is -0.5: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .tightening = NAN), DEJA_EINVAL,
     "tightening is nan: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .growth = 1025), DEJA_EINVAL, "growth is 1025: at most 1024"},
    {FIELDS(.capacity = 1, .flags = 16), DEJA_EVERSION,
     "flags ask for something newer than deja " NEWEST},
    {FIELDS(.capacity = 1, .key = some_key, .seed = 1), DEJA_EINVAL,
     "key and seed exclude each other"},
    {FIELDS(.capacity = 1, .flags = DEJA_KEY_APART), DEJA_EINVAL,
     "a key that is kept apart has to be given"},
    {FIELDS(.capacity = 1, .seed = 1, .flags = DEJA_KEY_APART), DEJA_EINVAL,
     "a key that is kept apart has to be given"},
    {FIELDS(.kind = DEJA_BLOCKED), DEJA_EINVAL, "capacity is 0: say how many keys to expect"},
    /* the rule of the thesis */
    {FIELDS(.kind = DEJA_CLASSIC, .hashes = 3, .multiplier = 2), DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .multiplier = 2), DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 3, .multiplier = 2, .memory = 64),
     DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 3, .multiplier = 2, .fp_rate = 0.1),
     DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1, .hashes = 1, .multiplier = 2), DEJA_EINVAL,
     "the multiplier sizes classic, blocked and spectral filters"},
    {FIELDS(.kind = DEJA_SCALABLE, .capacity = 1, .hashes = 3, .multiplier = 2), DEJA_EINVAL,
     "the multiplier sizes classic, blocked and spectral filters"},
    /* memory */
    {FIELDS(.capacity = 1000, .fp_rate = 0.1, .memory = 1000), DEJA_EINVAL,
     "capacity, fp_rate and memory: give two, the third follows"},
    {FIELDS(.kind = DEJA_SCALABLE, .memory = 1000), DEJA_ENOTSUP,
     "a scalable filter grows with its keys; blocked, classic, exact and spectral take a memory "
     "size"},
    {FIELDS(.memory = (UINT64_C(1) << 50) + 1), DEJA_EINVAL,
     "memory is 1125899906842625 bytes: at most 2^50"},
    {FIELDS(.memory = UINT64_MAX, .fp_rate = 0.1), DEJA_EINVAL,
     "memory is 18446744073709551615 bytes: at most 2^50"},
    {FIELDS(.memory = 63), DEJA_EINVAL, "memory is 63 bytes: at least 64"},
    {FIELDS(.memory = 191, .filters = 3), DEJA_EINVAL, "memory is 191 bytes: at least 192"},
    {FIELDS(.kind = DEJA_CLASSIC, .memory = 7), DEJA_EINVAL, "memory is 7 bytes: at least 8"},
    {FIELDS(.kind = DEJA_CLASSIC, .memory = 8, .fp_rate = 1e-20), DEJA_EINVAL,
     "8 bytes hold no key at rate 1e-20"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1000, .memory = 64), DEJA_EINVAL,
     "64 bytes hold 6 exact keys, not 1000: give more memory, or take blocked"},
    /* too much of everything */
    {FIELDS(.capacity = UINT64_C(1) << 53), DEJA_EINVAL,
     "no blocked filter holds 9007199254740992 keys at rate 1e-06: lower the capacity or raise "
     "the rate"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = UINT64_C(1) << 50, .fp_rate = 1e-3), DEJA_EINVAL,
     "no classic filter holds 1125899906842624 keys at rate 0.001: lower the capacity or raise "
     "the rate"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = UINT64_C(1) << 48), DEJA_EINVAL,
     "no exact filter holds 281474976710656 keys at rate 1e-06: lower the capacity or raise the "
     "rate"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1000, .fp_rate = 1e-17), DEJA_EINVAL,
     "no exact filter holds 1000 keys at rate 1e-17: lower the capacity or raise the rate"},
    {FIELDS(.capacity = 1000, .fp_rate = 1e-300), DEJA_EINVAL,
     "no blocked filter holds 1000 keys at rate 1e-300: lower the capacity or raise the rate"},
};

static void what_cannot_be_is_refused_in_clear_words(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        deja_plan plan = DEJA_PLAN_INIT;
        deja_error err = {0, ""};
        const int rc = deja_plan_make(&r->opt, &plan, &err);
        if (rc != r->status)
            fail_msg("%s: status %d instead of %d: %s", r->text, rc, r->status, err.text);
        assert_string_equal(err.text, r->text);
        assert_int_equal(err.status, r->status);
    }
}

static void what_cannot_be_is_refused_without_words_too(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(refusals); i++) {
        deja_plan plan = DEJA_PLAN_INIT;
        const deja_plan before = plan;
        assert_int_equal(deja_plan_make(&refusals[i].opt, &plan, NULL), refusals[i].status);
        assert_memory_equal(&plan, &before, sizeof plan);
    }
}

static void a_new_filter_is_refused_in_the_same_words(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(refusals); i++) {
        int nothing;
        deja_filter *f = (deja_filter *)(void *)&nothing;
        deja_error err = {0, ""};
        assert_int_equal(deja_filter_new(&refusals[i].opt, &f, &err), refusals[i].status);
        assert_string_equal(err.text, refusals[i].text);
        assert_null(f);
    }
}

/* --- Structures of another age ------------------------------------------ */

static void options_without_a_size_are_refused(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err;
    deja_options opt = OPTIONS(.capacity = 1000);
    static const size_t sizes[] = {0, 1, sizeof(size_t), offsetof(deja_options, memory) - 1};
    for (size_t i = 0; i < DJ_ARRAY_LEN(sizes); i++) {
        opt.size = sizes[i];
        assert_int_equal(deja_plan_make(&opt, &plan, &err), DEJA_EINVAL);
        assert_non_null(strstr(err.text, "begin with DEJA_OPTIONS_INIT"));
    }
}

/* A program compiled when alloc was the last field has something else behind it. */
static void older_options_are_read_as_far_as_they_go(void **state)
{
    deja_options opt;
    memset(&opt, 0xff, sizeof opt);
    opt.size = offsetof(deja_options, memory);
    opt.kind = DEJA_CLASSIC;
    opt.hashes = 7;
    opt.capacity = 1000;
    opt.fp_rate = 0.01;
    opt.key = NULL;
    opt.seed = 5;
    opt.alloc = NULL;
    const deja_plan old = plan_of(opt);
    const deja_plan now = plan_of(
        OPTIONS(.kind = DEJA_CLASSIC, .hashes = 7, .capacity = 1000, .fp_rate = 0.01, .seed = 5));
    assert_memory_equal(&old, &now, sizeof now);
}

struct newer_options {
    deja_options known;
    uint64_t later[2];
};

static void newer_options_are_accepted_when_they_ask_for_nothing(void **state)
{
    struct newer_options opt = {.known = FIELDS(.capacity = 1000)};
    opt.known.size = sizeof opt;
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err = {0, ""};
    assert_int_equal(deja_plan_make(&opt.known, &plan, &err), DEJA_OK);
    opt.later[1] = UINT64_C(1) << 56; /* the very last byte */
    assert_int_equal(deja_plan_make(&opt.known, &plan, &err), DEJA_EVERSION);
    assert_string_equal(err.text, "options ask for something newer than deja " NEWEST);
    opt.later[1] = 0;
    opt.later[0] = 1;
    assert_int_equal(deja_plan_make(&opt.known, &plan, &err), DEJA_EVERSION);
}

static void no_options_are_the_defaults(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err;
    assert_int_equal(deja_plan_make(NULL, &plan, &err), DEJA_EINVAL);
    assert_string_equal(err.text, "capacity is 0: say how many keys to expect");
}

static void a_plan_without_a_size_is_refused(void **state)
{
    const deja_options opt = OPTIONS(.capacity = 1000);
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err;
    plan.size = 0;
    assert_int_equal(deja_plan_make(&opt, &plan, &err), DEJA_EINVAL);
    assert_string_equal(err.text, "plan.size is not set: begin with DEJA_PLAN_INIT");
    assert_int_equal(deja_plan_make(&opt, NULL, &err), DEJA_EINVAL);
}

static void a_plan_of_any_age_is_filled_as_far_as_it_goes(void **state)
{
    const deja_plan whole = plan_of(OPTIONS(.capacity = 1000));
    for (size_t size = sizeof(size_t); size <= sizeof(deja_plan) + 64; size++) {
        uint64_t room[sizeof(deja_plan) / 8 + 16];
        deja_plan *plan = (deja_plan *)(void *)room;
        memset(room, 0xee, sizeof room);
        plan->size = size;
        const deja_options opt = OPTIONS(.capacity = 1000);
        assert_int_equal(deja_plan_make(&opt, plan, NULL), DEJA_OK);
        assert_int_equal(plan->size, size);
        const size_t known = size < sizeof whole ? size : sizeof whole;
        assert_memory_equal((uint8_t *)room + sizeof(size_t),
                            (const uint8_t *)&whole + sizeof(size_t), known - sizeof(size_t));
        for (size_t i = known; i < sizeof room; i++)
            assert_int_equal(((uint8_t *)room)[i], 0xee);
    }
}

/* --- Any two of capacity, rate and memory ------------------------------- */

static const uint64_t some_n[] = {1, 2, 100, 10000, 1000000, 100000000};
static const double some_p[] = {0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-8};
static const uint32_t plain_kinds[] = {DEJA_CLASSIC, DEJA_BLOCKED, DEJA_EXACT};

static void the_defaults_are_blocked_xxh3_and_one_in_a_million(void **state)
{
    const deja_plan plan = plan_of(OPTIONS(.capacity = 1000000));
    assert_int_equal(plan.kind, DEJA_BLOCKED);
    assert_int_equal(plan.hash, DEJA_HASH_XXH3);
    assert_int_equal(plan.filters, 1);
    assert_int_equal(plan.capacity, 1000000);
    assert_true(plan.fp_rate <= 1e-6 && plan.fp_rate > 0.99e-6);
    const struct dj_plan inner = resolved(OPTIONS(.capacity = 1000000));
    assert_int_equal(inner.growth, 2);
    assert_true(inner.tightening == 0.7);
    assert_int_equal(inner.visit, 1);
    assert_false(inner.seeded);
    assert_true(resolved(OPTIONS(.capacity = 1, .seed = 3)).seeded);
}

static void capacity_and_rate_give_the_smallest_memory(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(plain_kinds); i++)
        for (size_t n = 0; n < DJ_ARRAY_LEN(some_n); n++)
            for (size_t p = 0; p < DJ_ARRAY_LEN(some_p); p++) {
                const deja_options opt =
                    OPTIONS(.kind = plain_kinds[i], .capacity = some_n[n], .fp_rate = some_p[p]);
                const deja_plan plan = plan_of(opt);
                const struct dj_shape s = resolved(opt).shape;
                struct dj_shape least = {plain_kinds[i], 0, 0};
                assert_true(dj_shape_fit(&least, some_n[n], some_p[p]));
                assert_int_equal(plan.bits, least.bits);
                assert_int_equal(plan.hashes, least.k);
                assert_int_equal(plan.capacity, some_n[n]);
                assert_true(plan.fp_rate <= some_p[p]);
                assert_true(plan.fp_rate == dj_shape_rate(&s, (double)some_n[n]));
                assert_true(plan.lost == dj_shape_lost(&s, (double)some_n[n]));
                assert_int_equal(plan.bytes % 64, 0);
                assert_in_range(plan.bytes, plan.bits / 8, plan.bits / 8 + 63);
                assert_near(plan.bits_per_key, (double)plan.bits / (double)some_n[n], 1e-12);
            }
}

static void memory_and_rate_give_the_largest_capacity(void **state)
{
    static const uint64_t memories[] = {128, 1000, 65536, 10000001, UINT64_C(1) << 40};
    for (size_t i = 0; i < DJ_ARRAY_LEN(plain_kinds); i++)
        for (size_t m = 0; m < DJ_ARRAY_LEN(memories); m++)
            for (size_t p = 0; p < DJ_ARRAY_LEN(some_p); p++) {
                const deja_options opt =
                    OPTIONS(.kind = plain_kinds[i], .memory = memories[m], .fp_rate = some_p[p]);
                const deja_plan plan = plan_of(opt);
                const struct dj_shape s = resolved(opt).shape;
                assert_true(plan.capacity > 0);
                assert_true(plan.fp_rate <= some_p[p]);
                assert_true(plan.bits / 8 <= memories[m]);
                assert_true(plan.bits / 8 + 64 > memories[m]);
                if (plain_kinds[i] == DEJA_EXACT)
                    assert_int_equal(plan.capacity, plan.bits / 64 * 4 / 5);
                else
                    assert_true(dj_shape_rate(&s, (double)(plan.capacity + 1)) > some_p[p]);
            }
}

static void memory_alone_goes_with_the_default_rate(void **state)
{
    const deja_plan plan = plan_of(OPTIONS(.memory = 1 << 20));
    const deja_plan same = plan_of(OPTIONS(.memory = 1 << 20, .fp_rate = 1e-6));
    assert_memory_equal(&plan, &same, sizeof same);
}

static void capacity_and_memory_give_the_lowest_rate(void **state)
{
    const deja_plan plan =
        plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .memory = 1250000));
    assert_int_equal(plan.bits, 10000000);
    assert_int_equal(plan.bytes, 1250048); /* whole cache lines */
    assert_int_equal(plan.hashes, 7);
    assert_near(plan.fp_rate, 0.00819, 1e-3);
    const deja_plan more = plan_of(
        OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .memory = 1250000, .hashes = 6));
    assert_true(more.fp_rate > plan.fp_rate);
    const deja_plan blocked = plan_of(OPTIONS(.capacity = 1000000, .memory = 1250000));
    assert_int_equal(blocked.bits % 512, 0);
    assert_true(blocked.fp_rate > plan.fp_rate);
}

/* Ten lines of eight slots, of which four in five are for keys. */
static void exact_has_room_for_its_capacity_or_refuses(void **state)
{
    const deja_options more = OPTIONS(.kind = DEJA_EXACT, .capacity = 65, .memory = 640);
    deja_plan plan = DEJA_PLAN_INIT;
    assert_int_equal(plan_of(OPTIONS(.kind = DEJA_EXACT, .capacity = 64, .memory = 640)).bits,
                     5120);
    assert_int_equal(deja_plan_make(&more, &plan, NULL), DEJA_EINVAL);
}

/* --- The rule of the thesis --------------------------------------------- */

/* m = n k M (equation 5.1): 1,000,000 keys, k = 3, M = 2 make 6,000,000 bits, and tables 5.5 to
 * 5.7 measured 6.09 to 6.10 % for k = 3, 15.46 to 15.50 % for 2, 39.33 to 39.37 % for 1. */
static void the_multiplier_gives_the_sizes_and_rates_of_the_thesis(void **state)
{
    static const double rate[] = {0.39347, 0.15482, 0.06092};
    for (uint32_t k = 1; k <= 3; k++) {
        const deja_plan plan = plan_of(
            OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .hashes = k, .multiplier = 2));
        assert_int_equal(plan.bits, 2000000 * k);
        assert_int_equal(plan.hashes, k);
        assert_near(plan.fp_rate, rate[k - 1], 1e-4);
    }
    assert_int_equal(
        plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000, .hashes = 3, .multiplier = 1.7))
            .bits,
        5120 /* 5100, in words of 64 */);
    assert_int_equal(plan_of(OPTIONS(.capacity = 1000, .hashes = 3, .multiplier = 1.7)).bits,
                     5120 /* 9.96 blocks */);
}

/* Each of the F filters has m = n k M bits: the rate of the thesis to the power of F. */
static void the_multiplier_sizes_each_of_several_filters(void **state)
{
    const deja_plan plan = plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1000000, .hashes = 3,
                                           .multiplier = 2, .filters = 2));
    assert_int_equal(plan.bits, 12000000);
    assert_near(plan.fp_rate, 0.06092 * 0.06092, 2e-4);
}

/* --- Several filters ---------------------------------------------------- */

static void f_filters_share_the_rate_and_the_memory(void **state)
{
    static const uint32_t kinds[] = {DEJA_CLASSIC, DEJA_BLOCKED};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        for (uint32_t filters = 1; filters <= DJ_MAX_FILTERS; filters++) {
            const deja_options by_rate =
                OPTIONS(.kind = kinds[i], .capacity = 10000, .fp_rate = 1e-3, .filters = filters);
            const deja_plan plan = plan_of(by_rate);
            const struct dj_shape one = resolved(by_rate).shape;
            assert_int_equal(plan.filters, filters);
            assert_int_equal(plan.bits, one.bits * filters);
            struct dj_shape least = {kinds[i], 0, 0};
            assert_true(dj_shape_fit(&least, 10000, pow(1e-3, 1.0 / filters)));
            assert_int_equal(one.bits, least.bits);
            assert_true(plan.fp_rate <= 1e-3 * (1 + 1e-12)); /* pow and its root */
            assert_near(plan.fp_rate, pow(dj_shape_rate(&one, 10000), filters), 1e-12);
            const deja_plan by_memory = plan_of(
                OPTIONS(.kind = kinds[i], .memory = 100000, .fp_rate = 1e-3, .filters = filters));
            assert_true(by_memory.bits <= 800000 && by_memory.bits + 512 * filters > 800000);
            assert_true(by_memory.fp_rate <= 1e-3 * (1 + 1e-12));
        }
}

static void what_f_filters_lose_is_the_sum_of_their_rates(void **state)
{
    for (uint32_t filters = 1; filters <= 3; filters++) {
        const deja_options opt =
            OPTIONS(.kind = DEJA_CLASSIC, .capacity = 3000, .fp_rate = 0.1, .filters = filters);
        const struct dj_shape one = resolved(opt).shape;
        double sum = 0;
        for (int before = 0; before < 3000; before++)
            sum += pow(dj_shape_rate(&one, before), filters);
        if (!(fabs(plan_of(opt).lost - sum) < 0.1)) /* of about 90: a tenth of a key */
            fail_msg("%u filters: %g, not %g", filters, plan_of(opt).lost, sum);
    }
}

/* --- Hash families ------------------------------------------------------ */

static void mixed_never_takes_more_functions_than_it_has(void **state)
{
    static const deja_options opts[] = {
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .capacity = 1000),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .capacity = 1000, .fp_rate = 1e-9),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .capacity = 1000, .memory = 8000),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = 8000),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = 8000, .fp_rate = 1e-4),
        FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = 8000, .filters = 3),
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(opts); i++) {
        const deja_plan plan = plan_of(opts[i]);
        if (plan.hashes > 6)
            fail_msg("case %zu takes %u functions", i, plan.hashes);
        if (!opts[i].capacity || !opts[i].memory)
            assert_true(plan.fp_rate <=
                        (opts[i].fp_rate != 0 ? opts[i].fp_rate : 1e-6) * (1 + 1e-12));
    }
}

static void a_key_becomes_one_number_or_one_for_each_position(void **state)
{
    struct dj_plan plan = resolved(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 5,
                                           .filters = 3, .hash = DEJA_HASH_SIPHASH));
    assert_int_equal(dj_plan_words(&plan), 1);
    plan = resolved(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 5, .filters = 3,
                            .hash = DEJA_HASH_MURMUR3));
    assert_int_equal(dj_plan_words(&plan), 15);
    plan = resolved(OPTIONS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 64, .filters = 8,
                            .hash = DEJA_HASH_MD5));
    assert_int_equal(dj_plan_words(&plan), DJ_MAX_WORDS);
}

/* --- Growing filters ---------------------------------------------------- */

static void the_rates_of_all_parts_sum_to_less_than_p(void **state)
{
    static const uint32_t growths[] = {1, 2, 4, 1024};
    static const double tightenings[] = {0.1, 0.5, 0.7, 0.99};
    for (size_t g = 0; g < DJ_ARRAY_LEN(growths); g++)
        for (size_t t = 0; t < DJ_ARRAY_LEN(tightenings); t++) {
            const struct dj_plan plan =
                resolved(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 1000, .fp_rate = 1e-3,
                                 .growth = growths[g], .tightening = tightenings[t]));
            double sum = 0, n = 1000;
            struct dj_part part;
            for (uint32_t i = 0; i < DJ_MAX_PARTS && dj_plan_part(&plan, i, &part); i++) {
                const double rate = dj_shape_rate(&part.shape, (double)part.capacity);
                assert_true((double)part.capacity == n);
                assert_near(part.fp_rate, 1e-3 * (1 - tightenings[t]) * pow(tightenings[t], i),
                            1e-9);
                assert_true(rate <= part.fp_rate);
                sum += rate;
                n *= growths[g];
            }
            assert_true(sum > 0 && sum < 1e-3);
        }
}

static void a_growing_filter_begins_with_four_million_keys(void **state)
{
    assert_int_equal(plan_of(OPTIONS(.kind = DEJA_SCALABLE)).capacity, 8000000);
    assert_int_equal(resolved(OPTIONS(.kind = DEJA_SCALABLE)).part_kind, DEJA_BLOCKED);
    assert_int_equal(resolved(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT)).shape.kind,
                     DEJA_EXACT);
}

static void a_part_too_large_to_count_is_refused(void **state)
{
    const struct dj_plan plan = resolved(
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = 1000000, .fp_rate = 0.01, .growth = 1024));
    struct dj_part part;
    uint32_t i = 0;
    while (dj_plan_part(&plan, i, &part))
        i++;
    assert_int_equal(i, 3); /* 1e6, 1e9, 1e12 keys; 1e15 would need more than 2^53 bits */
    /* 79^21 is 1.6e14 modulo 2^64, which would be a possible size. */
    const struct dj_plan wraps =
        resolved(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 1, .fp_rate = 0.9, .growth = 79));
    assert_false(dj_plan_part(&wraps, 21, &part));
}

/* --- Windows -------------------------------------------------------------- */

static void all_generations_together_stay_below_p(void **state)
{
    for (uint32_t generations = 1; generations <= 7; generations++) {
        const struct dj_plan plan = resolved(OPTIONS(.kind = DEJA_WINDOW, .capacity = 100001,
                                                     .fp_rate = 1e-3, .generations = generations));
        const struct dj_shape s = dj_window_generation(&plan.shape, generations + 1);
        const double rate = dj_shape_rate(&s, (double)dj_window_quota(&plan));
        assert_true(dj_window_quota(&plan) * generations >= 100001);
        assert_true(rate * (generations + 1) <= 1e-3);
        assert_true(plan.shape.bits % (DJ_BLOCK_BITS * (generations + 1)) == 0);
        const deja_plan told = plan_of(OPTIONS(.kind = DEJA_WINDOW, .capacity = 100001,
                                               .fp_rate = 1e-3, .generations = generations));
        assert_int_equal(told.generations, generations);
        assert_int_equal(told.bits, plan.shape.bits);
        assert_true(told.fp_rate <= 1e-3 && told.fp_rate > 0.9e-3);
        assert_true(told.lost > 0 && told.lost < 100);
    }
}

static void memory_tells_the_keys_of_a_window_or_its_rate(void **state)
{
    const deja_plan keys =
        plan_of(OPTIONS(.kind = DEJA_WINDOW, .memory = 1 << 20, .fp_rate = 0.01));
    assert_int_equal(keys.generations, 1);
    assert_in_range(keys.bytes, (1 << 20) - 128, 1 << 20);
    assert_true(keys.fp_rate <= 0.01);
    assert_in_range(keys.capacity, 350000, 380000);
    const deja_plan rate =
        plan_of(OPTIONS(.kind = DEJA_WINDOW, .memory = 1 << 20, .capacity = keys.capacity));
    assert_true(rate.fp_rate <= keys.fp_rate * 1.0001);
}

/* --- Large sizes -------------------------------------------------------- */

static void sizes_that_just_fit_are_planned_without_overflow(void **state)
{
    const deja_plan petabyte = plan_of(OPTIONS(.memory = UINT64_C(1) << 50, .fp_rate = 0.01));
    assert_int_equal(petabyte.bits, UINT64_C(1) << 53);
    assert_int_equal(petabyte.bytes, UINT64_C(1) << 50);
    const deja_plan many = plan_of(OPTIONS(.memory = UINT64_C(1) << 50, .filters = 16));
    assert_true(many.bytes <= UINT64_C(1) << 50);
    const deja_plan product = plan_of(OPTIONS(.kind = DEJA_CLASSIC, .capacity = UINT64_C(1) << 47,
                                              .hashes = 64, .multiplier = 1));
    assert_int_equal(product.bits, UINT64_C(1) << 53);
}

static void a_product_beyond_2_to_the_53_bits_is_refused(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    const deja_options product = OPTIONS(.kind = DEJA_CLASSIC, .capacity = UINT64_C(1) << 53,
                                         .hashes = 64, .multiplier = 9e8);
    assert_int_equal(deja_plan_make(&product, &plan, NULL), DEJA_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_is_refused_in_clear_words),
        cmocka_unit_test(what_cannot_be_is_refused_without_words_too),
        cmocka_unit_test(a_new_filter_is_refused_in_the_same_words),
        cmocka_unit_test(options_without_a_size_are_refused),
        cmocka_unit_test(older_options_are_read_as_far_as_they_go),
        cmocka_unit_test(newer_options_are_accepted_when_they_ask_for_nothing),
        cmocka_unit_test(no_options_are_the_defaults),
        cmocka_unit_test(a_plan_without_a_size_is_refused),
        cmocka_unit_test(a_plan_of_any_age_is_filled_as_far_as_it_goes),
        cmocka_unit_test(the_defaults_are_blocked_xxh3_and_one_in_a_million),
        cmocka_unit_test(capacity_and_rate_give_the_smallest_memory),
        cmocka_unit_test(memory_and_rate_give_the_largest_capacity),
        cmocka_unit_test(memory_alone_goes_with_the_default_rate),
        cmocka_unit_test(capacity_and_memory_give_the_lowest_rate),
        cmocka_unit_test(exact_has_room_for_its_capacity_or_refuses),
        cmocka_unit_test(the_multiplier_gives_the_sizes_and_rates_of_the_thesis),
        cmocka_unit_test(the_multiplier_sizes_each_of_several_filters),
        cmocka_unit_test(f_filters_share_the_rate_and_the_memory),
        cmocka_unit_test(what_f_filters_lose_is_the_sum_of_their_rates),
        cmocka_unit_test(mixed_never_takes_more_functions_than_it_has),
        cmocka_unit_test(a_key_becomes_one_number_or_one_for_each_position),
        cmocka_unit_test(the_rates_of_all_parts_sum_to_less_than_p),
        cmocka_unit_test(a_growing_filter_begins_with_four_million_keys),
        cmocka_unit_test(a_part_too_large_to_count_is_refused),
        cmocka_unit_test(all_generations_together_stay_below_p),
        cmocka_unit_test(memory_tells_the_keys_of_a_window_or_its_rate),
        cmocka_unit_test(sizes_that_just_fit_are_planned_without_overflow),
        cmocka_unit_test(a_product_beyond_2_to_the_53_bits_is_refused),
    };
    return cmocka_run_group_tests_name("unit.plan", tests, NULL, NULL);
}
