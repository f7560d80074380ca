/* test_options.c - every refusal of options, with its message; option structs of any age.
 *
 * The table has the refusals of all files that make a plan.  Each is tried as a plan, without room
 * for a message, and as a filter.  Messages are compared in full: users see them. */
#include "unit.h"

#include "options.h"
#include "plans.h"
#include <math.h>
#include <string.h>

#define NEWEST "0.2.0"

static const uint8_t some_key[DEJA_KEY_LEN];

/* --- Refusals ----------------------------------------------------------- */

#define MULTIPLIER_RULE                                                                           \
    "options.multiplier goes with options.capacity and options.hashes (m = n k M), not with "     \
    "options.memory or options.fp_rate"

static const struct refusal {
    deja_options opt;
    int status;
    const char *text;
} refusals[] = {
    /* kind */
    {FIELDS(.kind = 10, .capacity = 1), DEJA_ENOTSUP,
     "this version of deja does not have kind 10"},
    {FIELDS(.kind = 99, .capacity = 1), DEJA_ENOTSUP,
     "this version of deja does not have kind 99"},
    {FIELDS(.kind = DEJA_CLASSIC, .part_kind = DEJA_BLOCKED, .capacity = 1), DEJA_EINVAL,
     "options.part_kind goes with kind scalable, not classic"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_SCALABLE, .capacity = 1), DEJA_EINVAL,
     "options.part_kind: a scalable filter has blocked, classic or exact parts"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = 77, .capacity = 1), DEJA_EINVAL,
     "options.part_kind: a scalable filter has blocked, classic or exact parts"},
    /* hash */
    {FIELDS(.hash = DEJA_HASH_MIXED + 1, .capacity = 1), DEJA_ENOTSUP,
     "this version of deja does not have hash 9"},
    {FIELDS(.hash = DEJA_HASH_MD5, .capacity = 1), DEJA_EINVAL,
     "options.hash md5 goes with kind classic; blocked takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_EXACT, .hash = DEJA_HASH_SHA1, .capacity = 1), DEJA_EINVAL,
     "options.hash sha1 goes with kind classic; exact takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC, .hash = DEJA_HASH_JENKINS,
            .capacity = 1),
     DEJA_EINVAL, "options.hash jenkins goes with kind classic; scalable takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .hashes = 7, .capacity = 1),
     DEJA_EINVAL, "options.hashes is 7: hash mixed has 6 functions"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_JENKINS, .memory = UINT64_C(1) << 30),
     DEJA_EINVAL,
     "options.hash jenkins has 32 bits and cannot address 8589934592 bits; use xxh3, murmur3, md5 or "
     "sha1"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MIXED, .memory = (UINT64_C(1) << 29) + 8,
            .capacity = 1000, .hashes = 2),
     DEJA_EINVAL,
     "options.hash mixed has 32 bits and cannot address 4294967360 bits; use xxh3, murmur3, md5 or "
     "sha1"},
    /* counters */
    {FIELDS(.counter_bits = 4, .capacity = 1), DEJA_EINVAL,
     "options.counter_bits goes with kind spectral, not blocked"},
    {FIELDS(.kind = DEJA_EXACT, .flags = DEJA_MINIMAL_INCREASE, .capacity = 1), DEJA_EINVAL,
     "options.minimal_increase goes with kind spectral, not exact"},
    {FIELDS(.kind = DEJA_SPECTRAL, .counter_bits = 5, .capacity = 1), DEJA_EINVAL,
     "options.counter_bits is 5: it must be 4, 8, 16 or 32"},
    {FIELDS(.kind = DEJA_SPECTRAL, .counter_bits = 64, .capacity = 1), DEJA_EINVAL,
     "options.counter_bits is 64: it must be 4, 8, 16 or 32"},
    {FIELDS(.kind = DEJA_SPECTRAL, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 17: spectral takes at most 16"},
    {FIELDS(.kind = DEJA_SPECTRAL, .hash = DEJA_HASH_MD5, .capacity = 1), DEJA_EINVAL,
     "options.hash md5 goes with kind classic; spectral takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_SPECTRAL), DEJA_EINVAL,
     "options.capacity is 0: give the number of keys to expect"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_SPECTRAL, .capacity = 1), DEJA_EINVAL,
     "options.part_kind: a scalable filter has blocked, classic or exact parts"},
    {FIELDS(.kind = DEJA_SPECTRAL, .counter_bits = 32, .capacity = UINT64_C(1) << 53,
            .fp_rate = 1e-3),
     DEJA_EINVAL,
     "no spectral filter holds 9007199254740992 keys at rate 0.001: lower options.capacity or raise "
     "options.fp_rate"},
    {FIELDS(.kind = DEJA_BLOCKED, .deletions = 1, .capacity = 1), DEJA_EINVAL,
     "options.deletions goes with kind paired, not blocked"},
    {FIELDS(.kind = DEJA_PAIRED, .deletions = (UINT64_C(1) << 53) + 1, .capacity = 1), DEJA_EINVAL,
     "options.deletions is 9007199254740993: it must be at most 2^53"},
    {FIELDS(.kind = DEJA_PAIRED, .part_kind = DEJA_CLASSIC, .capacity = 1), DEJA_EINVAL,
     "options.part_kind goes with kind scalable, not paired"},
    {FIELDS(.kind = DEJA_PAIRED, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "options.filters goes with kinds classic, blocked and spectral, not paired"},
    {FIELDS(.kind = DEJA_PAIRED), DEJA_EINVAL,
     "options.capacity is 0: give the number of keys to expect"},
    {FIELDS(.kind = DEJA_PAIRED, .deletions = 5), DEJA_EINVAL,
     "options.capacity is 0: give the number of keys to expect"},
    {FIELDS(.kind = DEJA_PAIRED, .memory = 127), DEJA_EINVAL,
     "options.memory is 127: it must be at least 128 bytes, for two filters"},
    {FIELDS(.kind = DEJA_PAIRED, .memory = 128, .deletions = 1000), DEJA_EINVAL,
     "1000 deletions at rate 1e-06 take 3968 bytes, and options.memory is 128"},
    {FIELDS(.kind = DEJA_PAIRED, .memory = 4096, .capacity = 10, .fp_rate = 0.1), DEJA_EINVAL,
     "options.capacity, options.fp_rate and options.memory: give two; deja computes the third"},
    {FIELDS(.kind = DEJA_PAIRED, .capacity = 1, .deletions = UINT64_C(1) << 53, .fp_rate = 1e-3),
     DEJA_EINVAL,
     "no blocked filter holds 9007199254740992 keys at rate 0.001: lower options.capacity or raise "
     "options.fp_rate"},
    {FIELDS(.kind = DEJA_PAIRED, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 17: blocked takes at most 16 per cache line, and the same number in each "
     "of two or three lines"},
    /* window */
    {FIELDS(.generations = 2, .capacity = 1), DEJA_EINVAL,
     "options.generations goes with kind window, not blocked"},
    {FIELDS(.kind = DEJA_EXACT, .window_seconds = 2, .capacity = 1), DEJA_EINVAL,
     "options.window_seconds goes with kind window, not exact"},
    {FIELDS(.kind = DEJA_WINDOW), DEJA_EINVAL,
     "options.capacity is 0: give the number of keys that the window holds"},
    {FIELDS(.kind = DEJA_WINDOW, .generations = 8, .capacity = 1), DEJA_EINVAL,
     "options.generations is 8: it must be at most 7"},
    {FIELDS(.kind = DEJA_WINDOW, .window_seconds = (UINT64_C(1) << 40) + 1, .capacity = 1),
     DEJA_EINVAL, "options.window_seconds is 1099511627777: it must be at most 2^40"},
    {FIELDS(.kind = DEJA_WINDOW, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "options.filters goes with kinds classic, blocked and spectral, not window"},
    {FIELDS(.kind = DEJA_WINDOW, .capacity = 1, .hashes = 2, .multiplier = 2), DEJA_EINVAL,
     "options.multiplier sizes classic, blocked and spectral filters"},
    {FIELDS(.kind = DEJA_WINDOW, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 17: window takes at most 16"},
    {FIELDS(.kind = DEJA_WINDOW, .hash = DEJA_HASH_MD5, .capacity = 1), DEJA_EINVAL,
     "options.hash md5 goes with kind classic; window takes xxh3 or siphash"},
    {FIELDS(.kind = DEJA_WINDOW, .capacity = 5, .memory = 1024, .fp_rate = 0.1), DEJA_EINVAL,
     "options.capacity, options.fp_rate and options.memory: give two; deja computes the third"},
    {FIELDS(.kind = DEJA_WINDOW, .generations = 3, .memory = 255), DEJA_EINVAL,
     "options.memory is 255: it must be at least 256 bytes"},
    {FIELDS(.kind = DEJA_WINDOW, .memory = 128, .hashes = 16, .fp_rate = 1e-40), DEJA_EINVAL,
     "options.memory is 128: too small for one key at rate 1e-40"},
    {FIELDS(.kind = DEJA_WINDOW, .capacity = UINT64_C(1) << 53, .fp_rate = 1e-3), DEJA_EINVAL,
     "no window filter holds 9007199254740992 keys at rate 0.001: lower options.capacity or raise "
     "options.fp_rate"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_WINDOW, .capacity = 1), DEJA_EINVAL,
     "options.part_kind: a scalable filter has blocked, classic or exact parts"},
    /* filters and hashes */
    {FIELDS(.kind = DEJA_CLASSIC, .filters = 17, .capacity = 1), DEJA_EINVAL,
     "options.filters is 17: it must be at most 16"},
    {FIELDS(.kind = DEJA_EXACT, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "options.filters goes with kinds classic, blocked and spectral, not exact"},
    {FIELDS(.kind = DEJA_SCALABLE, .filters = 2, .capacity = 1), DEJA_ENOTSUP,
     "options.filters goes with kinds classic, blocked and spectral, not scalable"},
    {FIELDS(.hashes = 17, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 17: blocked takes at most 16 per cache line, and the same number in each "
     "of two or three lines"},
    {FIELDS(.hashes = 18, .capacity = 1, .cache_lines = 1), DEJA_EINVAL,
     "options.hashes is 18: blocked takes at most 16"},
    {FIELDS(.hashes = 18, .capacity = 1, .format = 1), DEJA_EINVAL,
     "options.hashes is 18: blocked takes at most 16"},
    {FIELDS(.cache_lines = 4, .capacity = 1), DEJA_EINVAL,
     "options.cache_lines is 4: it must be at most 3"},
    {FIELDS(.cache_lines = 2, .capacity = 1, .format = 1), DEJA_EINVAL,
     "options.format is 1: its filters have one cache line per key; omit options.format or "
     "options.cache_lines"},
    {FIELDS(.kind = DEJA_CLASSIC, .hashes = 65, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 65: it must be at most 64"},
    {FIELDS(.kind = DEJA_EXACT, .hashes = 2, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 2: exact takes at most 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .hashes = 17, .capacity = 1), DEJA_EINVAL,
     "options.hashes is 17: blocked takes at most 16 per cache line, and the same number in each "
     "of two or three lines"},
    {FIELDS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MD5, .filters = 16, .hashes = 64,
            .capacity = 1),
     DEJA_EINVAL, "options.filters times options.hashes is 1024: it must be at most 512"},
    /* numbers */
    {FIELDS(.capacity = 1, .fp_rate = 1), DEJA_EINVAL,
     "options.fp_rate is 1: it must lie between 0 and 1"},
    {FIELDS(.capacity = 1, .fp_rate = -0.5), DEJA_EINVAL,
     "options.fp_rate is -0.5: it must lie between 0 and 1"},
    {FIELDS(.capacity = 1, .fp_rate = INFINITY), DEJA_EINVAL,
     "options.fp_rate is inf: it must lie between 0 and 1"},
    {FIELDS(.capacity = 1, .fp_rate = NAN), DEJA_EINVAL,
     "options.fp_rate is nan: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 1, .multiplier = -1), DEJA_EINVAL,
     "options.multiplier is -1: it must be positive"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 1, .multiplier = NAN), DEJA_EINVAL,
     "options.multiplier is nan: it must be positive"},
    {FIELDS(.capacity = (UINT64_C(1) << 53) + 1), DEJA_EINVAL,
     "options.capacity is 9007199254740993: it must be at most 2^53"},
    {FIELDS(.capacity = UINT64_MAX), DEJA_EINVAL,
     "options.capacity is 18446744073709551615: it must be at most 2^53"},
    {FIELDS(.kind = DEJA_SCALABLE, .tightening = 1), DEJA_EINVAL,
     "options.tightening is 1: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .tightening = -0.5), DEJA_EINVAL,
     "options.tightening is -0.5: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .tightening = NAN), DEJA_EINVAL,
     "options.tightening is nan: it must lie between 0 and 1"},
    {FIELDS(.kind = DEJA_SCALABLE, .growth = 1025), DEJA_EINVAL,
     "options.growth is 1025: it must be at most 1024"},
    {FIELDS(.capacity = 1, .flags = 64), DEJA_EVERSION,
     "flags ask for something newer than deja " NEWEST},
    {FIELDS(.kind = DEJA_BLOCKED, .capacity = 1, .flags = DEJA_DATES), DEJA_EINVAL,
     "options.dates goes with kind exact, not blocked"},
    {FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_CLASSIC, .capacity = 1, .flags = DEJA_DATES),
     DEJA_EINVAL, "options.dates goes with kind exact, not scalable"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1, .flags = DEJA_DATES, .format = 1), DEJA_EINVAL,
     "options.format is 1: options.dates needs format 2; omit options.format"},
    {FIELDS(.capacity = 1, .flags = DEJA_SPREAD), DEJA_EINVAL,
     "options.spread goes with kind spectral, not blocked"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .flags = DEJA_SPREAD), DEJA_EINVAL,
     "options.spread goes with kind spectral, not classic"},
    {FIELDS(.kind = DEJA_SPECTRAL, .capacity = 1, .flags = DEJA_SPREAD, .format = 1), DEJA_EINVAL,
     "options.format is 1: options.spread needs format 2; omit options.format"},
    {FIELDS(.kind = DEJA_SPECTRAL, .hashes = 65, .capacity = 1, .flags = DEJA_SPREAD), DEJA_EINVAL,
     "options.hashes is 65: it must be at most 64"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1000000000, .fp_rate = 1e-8, .flags = DEJA_DATES),
     DEJA_EINVAL,
     "rate 1e-08: 53-bit hashes collide at a rate of 1.1e-07 among 1000000000 keys; lower "
     "options.capacity or raise options.fp_rate"},
    {FIELDS(.capacity = 1, .key = some_key, .seed = 1), DEJA_EINVAL,
     "options.key and options.seed cannot be combined"},
    {FIELDS(.capacity = 1, .flags = DEJA_KEY_APART), DEJA_EINVAL,
     "DEJA_KEY_APART needs options.key"},
    {FIELDS(.capacity = 1, .seed = 1, .flags = DEJA_KEY_APART), DEJA_EINVAL,
     "DEJA_KEY_APART needs options.key"},
    {FIELDS(.kind = DEJA_BLOCKED), DEJA_EINVAL,
     "options.capacity is 0: give the number of keys to expect"},
    /* the rule of the thesis */
    {FIELDS(.kind = DEJA_CLASSIC, .hashes = 3, .multiplier = 2), DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .multiplier = 2), DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 3, .multiplier = 2, .memory = 64),
     DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = 1, .hashes = 3, .multiplier = 2, .fp_rate = 0.1),
     DEJA_EINVAL, MULTIPLIER_RULE},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1, .hashes = 1, .multiplier = 2), DEJA_EINVAL,
     "options.multiplier sizes classic, blocked and spectral filters"},
    {FIELDS(.kind = DEJA_SCALABLE, .capacity = 1, .hashes = 3, .multiplier = 2), DEJA_EINVAL,
     "options.multiplier sizes classic, blocked and spectral filters"},
    /* memory */
    {FIELDS(.capacity = 1000, .fp_rate = 0.1, .memory = 1000), DEJA_EINVAL,
     "options.capacity, options.fp_rate and options.memory: give two; deja computes the third"},
    {FIELDS(.kind = DEJA_SCALABLE, .memory = 1000), DEJA_ENOTSUP,
     "options.memory: a scalable filter grows with its keys; kinds blocked, classic, exact and "
     "spectral take a memory size"},
    {FIELDS(.memory = (UINT64_C(1) << 50) + 1), DEJA_EINVAL,
     "options.memory is 1125899906842625: it must be at most 2^50"},
    {FIELDS(.memory = UINT64_MAX, .fp_rate = 0.1), DEJA_EINVAL,
     "options.memory is 18446744073709551615: it must be at most 2^50"},
    {FIELDS(.memory = 63), DEJA_EINVAL, "options.memory is 63: it must be at least 64 bytes"},
    {FIELDS(.memory = 191, .filters = 3), DEJA_EINVAL,
     "options.memory is 191: it must be at least 192 bytes"},
    {FIELDS(.kind = DEJA_CLASSIC, .memory = 7), DEJA_EINVAL,
     "options.memory is 7: it must be at least 8 bytes"},
    {FIELDS(.kind = DEJA_CLASSIC, .memory = 8, .fp_rate = 1e-20), DEJA_EINVAL,
     "options.memory is 8: too small for one key at rate 1e-20"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1000, .memory = 64), DEJA_EINVAL,
     "options.memory is 64: an exact filter of that size holds 6 keys, not 1000; raise it, or use "
     "kind blocked"},
    /* too much of everything */
    {FIELDS(.capacity = UINT64_C(1) << 53, .fp_rate = 1e-3), DEJA_EINVAL,
     "no blocked filter holds 9007199254740992 keys at rate 0.001: lower options.capacity or raise "
     "options.fp_rate"},
    {FIELDS(.kind = DEJA_CLASSIC, .capacity = UINT64_C(1) << 50, .fp_rate = 1e-3), DEJA_EINVAL,
     "no classic filter holds 1125899906842624 keys at rate 0.001: lower options.capacity or raise "
     "options.fp_rate"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = UINT64_C(1) << 48), DEJA_EINVAL,
     "rate 1e-06: 64-bit hashes collide at a rate of 1.5e-05 among 281474976710656 keys; "
     "lower options.capacity or raise options.fp_rate"},
    {FIELDS(.kind = DEJA_EXACT, .capacity = 1000, .fp_rate = 1e-17), DEJA_EINVAL,
     "rate 1e-17: 64-bit hashes collide at a rate of 5.4e-17 among 1000 keys; lower "
     "options.capacity or raise options.fp_rate"},
    {FIELDS(.capacity = 1000, .fp_rate = 1e-300), DEJA_EINVAL,
     "rate 1e-300: 64-bit hashes collide at a rate of 5.4e-17 among 1000 keys; lower "
     "options.capacity or raise options.fp_rate"},
};

static void impossible_options_are_refused_with_a_message(void **state)
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

static void impossible_options_are_refused_without_room_for_a_message(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(refusals); i++) {
        deja_plan plan = DEJA_PLAN_INIT;
        const deja_plan before = plan;
        assert_int_equal(deja_plan_make(&refusals[i].opt, &plan, NULL), refusals[i].status);
        assert_memory_equal(&plan, &before, sizeof plan);
    }
}

static void a_new_filter_is_refused_with_the_same_message(void **state)
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

/* --- Structs of another age --------------------------------------------- */

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

/* In a program compiled when alloc was the last field, other data follows it. */
static void older_options_are_read_up_to_their_size(void **state)
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

static void newer_options_are_accepted_if_the_rest_is_zero(void **state)
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

static void without_options_the_defaults_apply(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    deja_error err;
    assert_int_equal(deja_plan_make(NULL, &plan, &err), DEJA_EINVAL);
    assert_string_equal(err.text, "options.capacity is 0: give the number of keys to expect");
}

/* --- A capacity that is only the first -------------------------------------------- */

static void a_size_becomes_a_first_size_where_the_kind_can_grow(void **state)
{
    static const uint32_t kinds[] = {0, DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        deja_options opt = FIELDS(.kind = kinds[i], .capacity = 1000000, .seed = 9);
        deja_plan fixed = DEJA_PLAN_INIT, first = DEJA_PLAN_INIT;
        assert_int_equal(deja_plan_make(&opt, &fixed, NULL), DEJA_OK);
        assert_true(deja_options_grow(&opt));
        assert_int_equal(opt.kind, DEJA_SCALABLE);
        assert_int_equal(opt.part_kind, kinds[i] ? kinds[i] : DEJA_BLOCKED);
        assert_true(opt.capacity == 1000000 && opt.seed == 9 && opt.fp_rate == 0);
        assert_int_equal(deja_plan_make(&opt, &first, NULL), DEJA_OK);
        assert_true((double)first.bytes < 1.02 * (double)fixed.bytes);
        assert_true(deja_options_grow(&opt)); /* applying it again changes nothing */
        assert_int_equal(opt.kind, DEJA_SCALABLE);
    }
    deja_options unknown = FIELDS(.kind = DEJA_BLOCKED); /* nothing is given: the usual series */
    assert_true(deja_options_grow(&unknown));
    assert_true(unknown.tightening == 0);
    deja_options chosen = FIELDS(.capacity = 10, .tightening = 0.6, .kind = DEJA_SCALABLE);
    assert_true(deja_options_grow(&chosen));
    assert_true(chosen.tightening == 0.6);
}

static void options_that_pin_the_body_stay_as_they_are(void **state)
{
    static const deja_options pinned[] = {
        FIELDS(.capacity = 1000, .memory = 4096),
        FIELDS(.memory = 4096),
        FIELDS(.capacity = 1000, .hashes = 4),
        FIELDS(.capacity = 1000, .hashes = 4, .multiplier = 2, .kind = DEJA_CLASSIC),
        FIELDS(.capacity = 1000, .filters = 2),
        FIELDS(.capacity = 1000, .kind = DEJA_CLASSIC, .hash = DEJA_HASH_MURMUR3),
        FIELDS(.capacity = 1000, .kind = DEJA_SPECTRAL),
        FIELDS(.capacity = 1000, .kind = DEJA_PAIRED),
        FIELDS(.capacity = 1000, .kind = DEJA_WINDOW),
        FIELDS(.capacity = 1000, .kind = DEJA_LAYERED),
        FIELDS(.capacity = 1000, .kind = DEJA_STATIC),
        FIELDS(.capacity = 1000, .generations = 2), /* no filter can have these options ... */
        FIELDS(.capacity = 1000, .fp_rate = 2),
        FIELDS(.capacity = 1000, .fp_rate = 5.6e-17), /* ... or nearly so: 1000 / 2^64 */
        FIELDS(.kind = 99),
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(pinned); i++) {
        deja_options opt = pinned[i];
        assert_false(deja_options_grow(&opt));
        assert_memory_equal(&opt, &pinned[i], sizeof opt);
    }
    deja_options old = FIELDS(.capacity = 1000);
    old.size = offsetof(deja_options, memory); /* there is no room for the answer */
    assert_false(deja_options_grow(&old));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_options_are_refused_with_a_message),
        cmocka_unit_test(impossible_options_are_refused_without_room_for_a_message),
        cmocka_unit_test(a_new_filter_is_refused_with_the_same_message),
        cmocka_unit_test(options_without_a_size_are_refused),
        cmocka_unit_test(older_options_are_read_up_to_their_size),
        cmocka_unit_test(newer_options_are_accepted_if_the_rest_is_zero),
        cmocka_unit_test(without_options_the_defaults_apply),
        cmocka_unit_test(a_size_becomes_a_first_size_where_the_kind_can_grow),
        cmocka_unit_test(options_that_pin_the_body_stay_as_they_are),
    };
    return cmocka_run_group_tests_name("unit.options", tests, NULL, NULL);
}
