/* test_filter.c - one filter through the public calls: edges of arguments, fullness, growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bodies.h"
#include "calls.h"
#include "core/base/bytes.h"
#include "filters/filter.h"
#include "options.h"
#include "rng.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of each; the rate is so low that none of the few keys here meets a false positive. */
static const struct {
    const char *name;
    deja_options opt;
} every[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1)},
    {"classic md5", FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1,
                           .hash = DEJA_HASH_MD5)},
    {"spatial",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1, .filters = 3)},
    {"spatial murmur3", FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1,
                               .filters = 3, .hash = DEJA_HASH_MURMUR3)},
    {"blocked", FIELDS(.kind = DEJA_BLOCKED, .capacity = 5000, .fp_rate = 1e-9, .seed = 1)},
    {"blocked siphash", FIELDS(.kind = DEJA_BLOCKED, .capacity = 5000, .fp_rate = 1e-9, .seed = 1,
                               .hash = DEJA_HASH_SIPHASH)},
    {"blocked spatial",
     FIELDS(.kind = DEJA_BLOCKED, .capacity = 5000, .fp_rate = 1e-9, .seed = 1, .filters = 2)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = 5000, .seed = 1)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 1000, .fp_rate = 1e-9, .seed = 1)},
    {"scalable exact", FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 1000,
                              .fp_rate = 1e-9, .seed = 1)},
};

static deja_slice text(const char *s)
{
    return (deja_slice){s, strlen(s)};
}

static deja_slice number(const uint64_t *n)
{
    return (deja_slice){n, sizeof *n};
}

static bool add(deja_filter *f, deja_slice key)
{
    bool is_new = false;
    assert_int_equal(deja_filter_add(f, key, &is_new), DEJA_OK);
    return is_new;
}

static void assert_same_bodies(const deja_filter *a, const deja_filter *b)
{
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++) {
        assert_true(bodies_equal(a->part[i], b->part[i]));
        assert_int_equal(a->part[i]->keys, b->part[i]->keys);
    }
}

/* --- Single calls ------------------------------------------------------- */

static void a_key_is_new_once_and_then_found(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt);
        assert_false(deja_filter_contains(f, text("http://a/")));
        assert_true(add(f, text("http://a/")));
        assert_true(deja_filter_contains(f, text("http://a/")));
        assert_false(add(f, text("http://a/")));
        assert_false(deja_filter_contains(f, text("http://b/")));
        deja_filter_free(f);
    }
}

static void a_single_call_is_a_batch_of_one(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *a = new_filter(every[i].opt), *b = new_filter(every[i].opt);
        for (uint64_t n = 0; n < 3000; n++) {
            const uint64_t value = n % 1000;
            const deja_slice key = number(&value);
            uint8_t is_new = 7, found = 7;
            size_t done = 7;
            assert_int_equal(deja_filter_add_batch(b, &key, 1, &is_new, &done), DEJA_OK);
            assert_int_equal(done, 1);
            assert_int_equal(add(a, key), is_new);
            deja_filter_contains_batch(b, &key, 1, &found);
            assert_int_equal(deja_filter_contains(a, key), found);
            assert_int_equal(found, 1);
        }
        assert_same_bodies(a, b);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void who_does_not_ask_what_is_new_need_not_give_room_for_it(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *a = new_filter(every[i].opt), *b = new_filter(every[i].opt);
        static uint64_t value[500];
        deja_slice keys[500];
        uint8_t is_new[500];
        for (size_t j = 0; j < 500; j++) {
            value[j] = j * j % 300;
            keys[j] = number(&value[j]);
        }
        assert_int_equal(deja_filter_add_batch(a, keys, 500, is_new, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(b, keys, 250, NULL, NULL), DEJA_OK);
        for (size_t j = 250; j < 500; j++)
            assert_int_equal(deja_filter_add(b, keys[j], NULL), DEJA_OK);
        assert_same_bodies(a, b);
        assert_int_equal(stats_of(b).keys, stats_of(a).keys);
        assert_int_equal(stats_of(b).offered, 500);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void a_batch_without_keys_changes_nothing(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *a = new_filter(every[i].opt), *b = new_filter(every[i].opt);
        size_t done = 7;
        uint8_t untouched = 7;
        assert_int_equal(deja_filter_add_batch(a, NULL, 0, NULL, &done), DEJA_OK);
        assert_int_equal(done, 0);
        assert_int_equal(deja_filter_add_hashed(a, NULL, 0, &untouched, NULL), DEJA_OK);
        deja_filter_contains_batch(a, NULL, 0, &untouched);
        deja_filter_contains_hashed(a, NULL, 0, NULL);
        deja_filter_hash_batch(a, NULL, 0, NULL);
        assert_int_equal(untouched, 7);
        assert_same_bodies(a, b);
        assert_int_equal(stats_of(a).offered, 0);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void nothing_is_also_a_key(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt);
        assert_false(deja_filter_contains(f, (deja_slice){NULL, 0}));
        assert_true(add(f, (deja_slice){NULL, 0}));
        assert_false(add(f, (deja_slice){"x", 0}));
        assert_true(deja_filter_contains(f, text("")));
        assert_true(add(f, (deja_slice){"", 1})); /* a NUL byte is something */
        deja_filter_free(f);
    }
}

static void long_keys_count_to_their_last_byte(void **state)
{
    enum { LEN = 100 * 1024 };
    static uint8_t key[LEN];
    struct rng r = rng_seeded(1);
    rng_bytes(&r, key, LEN);
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt);
        assert_true(add(f, (deja_slice){key, LEN}));
        assert_false(add(f, (deja_slice){key, LEN}));
        assert_true(add(f, (deja_slice){key, LEN - 1}));
        assert_true(add(f, (deja_slice){key + 1, LEN - 1}));
        key[LEN - 1] ^= 1;
        assert_true(add(f, (deja_slice){key, LEN}));
        key[LEN / 2] ^= 0x80;
        assert_true(add(f, (deja_slice){key, LEN}));
        deja_filter_free(f);
    }
}

static void freeing_nothing_is_fine(void **state)
{
    deja_filter_free(NULL);
}

/* --- Hashes ------------------------------------------------------------- */

static void hashed_calls_do_the_same_as_calls_with_keys(void **state)
{
    enum { KEYS = 1500 };
    static uint64_t value[KEYS], hash[KEYS * DJ_MAX_WORDS];
    static deja_slice keys[KEYS];
    static uint8_t one[KEYS], two[KEYS];
    for (size_t j = 0; j < KEYS; j++) {
        value[j] = j * j % 1000;
        keys[j] = number(&value[j]);
    }
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *a = new_filter(every[i].opt), *b = new_filter(every[i].opt);
        size_t done = 0;
        assert_in_range(deja_filter_hash_words(a), 1, DJ_MAX_WORDS);
        deja_filter_hash_batch(a, keys, KEYS, hash);
        assert_int_equal(deja_filter_add_batch(a, keys, KEYS, one, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_hashed(b, hash, KEYS, two, &done), DEJA_OK);
        assert_int_equal(done, KEYS);
        assert_memory_equal(one, two, KEYS);
        assert_same_bodies(a, b);
        deja_filter_contains_batch(a, keys, KEYS, one);
        deja_filter_contains_hashed(b, hash, KEYS, two);
        assert_memory_equal(one, two, KEYS);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void a_key_is_as_many_numbers_as_its_family_makes(void **state)
{
    static const struct {
        deja_options opt;
        size_t words;
    } cases[] = {
        {FIELDS(.kind = DEJA_CLASSIC, .capacity = 10, .hashes = 5, .filters = 3), 1},
        {FIELDS(.kind = DEJA_BLOCKED, .capacity = 10, .filters = 3), 1},
        {FIELDS(.kind = DEJA_CLASSIC, .capacity = 10, .hashes = 5, .hash = DEJA_HASH_SHA1), 5},
        {FIELDS(.kind = DEJA_CLASSIC, .capacity = 10, .hashes = 5, .filters = 3,
                .hash = DEJA_HASH_JENKINS),
         15},
        {FIELDS(.kind = DEJA_CLASSIC, .capacity = 10, .hashes = 1, .hash = DEJA_HASH_MD5), 1},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(cases); i++) {
        deja_filter *f = new_filter(cases[i].opt);
        assert_int_equal(deja_filter_hash_words(f), cases[i].words);
        deja_filter_free(f);
    }
}

/* --- Keys and seeds ----------------------------------------------------- */

static void a_seed_makes_filters_repeatable_and_chance_does_not(void **state)
{
    deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .capacity = 100, .fp_rate = 1e-6);
    deja_filter *a = new_filter(opt), *b = new_filter(opt);
    uint64_t ha, hb;
    const deja_slice key = text("http://a/");
    deja_filter_hash_batch(a, &key, 1, &ha);
    deja_filter_hash_batch(b, &key, 1, &hb);
    assert_int_not_equal(ha, hb);
    assert_int_equal(stats_of(a).keyed, 1);
    deja_filter_free(a);
    deja_filter_free(b);
    opt.seed = 7;
    a = new_filter(opt);
    b = new_filter(opt);
    deja_filter_hash_batch(a, &key, 1, &ha);
    deja_filter_hash_batch(b, &key, 1, &hb);
    assert_int_equal(ha, hb);
    assert_int_equal(stats_of(a).keyed, 0);
    deja_filter_free(a);
    deja_filter_free(b);
    uint8_t secret[DEJA_KEY_LEN];
    dj_key_from_seed(7, secret);
    opt.seed = 0;
    opt.key = secret;
    a = new_filter(opt);
    deja_filter_hash_batch(a, &key, 1, &hb);
    assert_int_equal(ha, hb);
    assert_int_equal(stats_of(a).keyed, 1);
    deja_filter_free(a);
}

/* With one set of salts three filters would be one: all would agree on every false positive. */
static void spatial_filters_have_salts_of_their_own(void **state)
{
    static const uint32_t hashes[] = {DEJA_HASH_XXH3, DEJA_HASH_SIPHASH, DEJA_HASH_JENKINS,
                                      DEJA_HASH_MURMUR2, DEJA_HASH_SHA1};
    for (size_t i = 0; i < DJ_ARRAY_LEN(hashes); i++) {
        deja_filter *f = new_filter(OPTIONS(.kind = DEJA_CLASSIC, .hash = hashes[i],
                                            .capacity = 100, .fp_rate = 1e-6, .filters = 3));
        add(f, text("http://a/"));
        assert_int_equal(f->n_parts, 3);
        for (uint32_t a = 0; a < 3; a++)
            for (uint32_t b = 0; b < a; b++)
                assert_memory_not_equal(f->part[a]->body, f->part[b]->body, f->part[a]->body_len);
        deja_filter_free(f);
    }
}

/* --- Stats -------------------------------------------------------------- */

static void stats_tell_what_the_filter_is(void **state)
{
    deja_filter *f = new_filter(
        OPTIONS(.kind = DEJA_CLASSIC, .hash = DEJA_HASH_MURMUR3, .capacity = 1000, .fp_rate = 0.01,
                .filters = 2, .hashes = 4, .url = deja_url_profile(DEJA_URL_GSB), .seed = 1));
    for (uint64_t n = 0; n < 150; n++) {
        const uint64_t value = n % 100;
        add(f, number(&value));
    }
    const deja_stats s = stats_of(f);
    assert_int_equal(s.kind, DEJA_CLASSIC);
    assert_int_equal(s.part_kind, DEJA_CLASSIC);
    assert_int_equal(s.hash, DEJA_HASH_MURMUR3);
    assert_int_equal(s.hashes, 4);
    assert_int_equal(s.filters, 2);
    assert_int_equal(s.parts, 2);
    assert_int_equal(s.capacity, 1000);
    assert_true(s.fp_rate == 0.01);
    assert_int_equal(s.bits, 2 * f->part[0]->shape.bits);
    assert_int_equal(s.bytes, 2 * f->part[0]->body_len);
    assert_int_equal(s.offered, 150);
    assert_int_equal(s.keys, 100);
    assert_int_equal(s.visit, 1);
    assert_int_equal(s.syncs, 0);
    assert_int_equal(s.profile, DEJA_URL_GSB);
    assert_int_equal(s.url_rules, deja_url_rules_id(deja_url_profile(DEJA_URL_GSB)));
    assert_int_equal(s.unclean, 0);
    assert_int_equal(s.key_apart, 0);
    uint64_t set = 0;
    for (uint32_t i = 0; i < 2; i++)
        for (uint64_t b = 0; b < f->part[i]->body_len; b++)
            set += (uint64_t)__builtin_popcount(f->part[i]->body[b]);
    assert_int_equal(s.bits_set, set);
    assert_true(fabs(s.fill - (double)set / (double)s.bits) < 1e-12);
    deja_filter_free(f);
}

static void an_empty_filter_has_lost_nothing(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.bits_set + s.keys + s.offered, 0);
        assert_true(s.fill == 0 && s.distinct == 0 && s.fp_now == 0 && s.lost == 0);
        assert_true(s.bits_expected == 0 && s.bits_sigma == 0);
        deja_filter_free(f);
    }
}

static void a_filter_with_every_bit_set_says_yes_to_all(void **state)
{
    deja_filter *f = new_filter(
        OPTIONS(.kind = DEJA_CLASSIC, .capacity = 10, .fp_rate = 0.5, .hashes = 1, .seed = 1));
    for (uint64_t n = 0; n < 10000; n++)
        assert_int_equal(deja_filter_add(f, number(&n), NULL), DEJA_OK);
    const deja_stats s = stats_of(f);
    assert_int_equal(s.bits_set, s.bits);
    assert_true(s.fp_now == 1);
    assert_true(isinf(s.distinct));
    assert_true(deja_filter_contains(f, text("anything")));
    deja_filter_free(f);
}

static void stats_of_any_age_are_filled_as_far_as_they_go(void **state)
{
    deja_filter *f = new_filter(every[0].opt);
    for (uint64_t n = 0; n < 100; n++)
        add(f, number(&n));
    const deja_stats whole = stats_of(f);
    for (size_t size = 0; size <= sizeof(deja_stats) + 64; size++) {
        uint64_t room[sizeof(deja_stats) / 8 + 16];
        deja_stats *s = (deja_stats *)(void *)room;
        memset(room, 0xee, sizeof room);
        s->size = size;
        const bool enough = size >= sizeof(size_t);
        assert_int_equal(deja_filter_stats(f, s), enough ? DEJA_OK : DEJA_EINVAL);
        assert_int_equal(s->size, size);
        const size_t known = !enough ? sizeof(size_t) : size < sizeof whole ? size : sizeof whole;
        assert_memory_equal((uint8_t *)room + sizeof(size_t),
                            (const uint8_t *)&whole + sizeof(size_t), known - sizeof(size_t));
        for (size_t i = known; i < sizeof room; i++)
            assert_int_equal(((uint8_t *)room)[i], 0xee);
    }
    assert_int_equal(deja_filter_stats(f, NULL), DEJA_EINVAL);
    deja_filter_free(f);
}

/* --- Exact: full -------------------------------------------------------- */

/* 160 slots, of which 150 may be used; more would make searching slow. */
#define ROOM 150
static const deja_options small_exact = FIELDS(.kind = DEJA_EXACT, .capacity = 128, .seed = 1);

static deja_filter *new_full(void)
{
    deja_filter *f = new_filter(small_exact);
    for (uint64_t n = 0; n < ROOM; n++)
        assert_true(add(f, number(&n)));
    return f;
}

static void a_full_exact_filter_refuses_new_keys_and_takes_known_ones(void **state)
{
    deja_filter *f = new_full(), *before = new_full();
    bool is_new = true;
    for (uint64_t n = ROOM; n < 2 * ROOM; n++) {
        assert_int_equal(deja_filter_add(f, number(&n), &is_new), DEJA_EFULL);
        assert_false(deja_filter_contains(f, number(&n)));
    }
    assert_same_bodies(f, before);
    assert_int_equal(stats_of(f).offered, ROOM);
    for (uint64_t n = 0; n < ROOM; n++) {
        assert_int_equal(deja_filter_add(f, number(&n), &is_new), DEJA_OK);
        assert_false(is_new);
    }
    deja_filter_free(f);
    deja_filter_free(before);
}

static void a_batch_stops_at_the_key_that_does_not_fit(void **state)
{
    enum { KEYS = 400 };
    static uint64_t value[KEYS];
    static deja_slice keys[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = number(&value[i]);
    for (uint64_t known = 0; known <= 300; known += 17) {
        deja_filter *f = new_full();
        uint8_t is_new[KEYS];
        size_t done = 999;
        for (uint64_t i = 0; i < KEYS; i++)
            value[i] = i < known ? i % ROOM : 1000 + i;
        memset(is_new, 7, sizeof is_new);
        assert_int_equal(deja_filter_add_batch(f, keys, KEYS, is_new, &done), DEJA_EFULL);
        assert_int_equal(done, known);
        for (size_t i = 0; i < known; i++)
            assert_int_equal(is_new[i], 0);
        for (size_t i = known; i < KEYS; i++)
            assert_false(deja_filter_contains(f, keys[i]));
        assert_int_equal(stats_of(f).keys, ROOM);
        assert_int_equal(stats_of(f).offered, ROOM + known);
        deja_filter_free(f);
    }
}

/* Repeats in a batch take no room: where single calls would go on, so does the batch. */
static void a_batch_stops_at_the_same_key_as_single_calls(void **state)
{
    enum { KEYS = 600 };
    static uint64_t value[KEYS];
    static deja_slice keys[KEYS];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        deja_filter *a = new_filter(small_exact), *b = new_filter(small_exact);
        struct rng r = rng_seeded(seed);
        uint8_t one[KEYS], many[KEYS];
        size_t taken = 0, done;
        for (size_t i = 0; i < KEYS; i++) {
            value[i] = rng_below(&r, 250);
            keys[i] = number(&value[i]);
        }
        int rc = DEJA_OK;
        for (; taken < KEYS && rc == DEJA_OK; taken += rc == DEJA_OK)
            rc = deja_filter_add_batch(a, &keys[taken], 1, &one[taken], NULL);
        assert_int_equal(rc, DEJA_EFULL);
        assert_int_equal(deja_filter_add_batch(b, keys, KEYS, many, &done), DEJA_EFULL);
        assert_int_equal(done, taken);
        assert_memory_equal(one, many, taken);
        assert_same_bodies(a, b);
        assert_int_equal(stats_of(b).bits_set, ROOM);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* Threads count their keys after a batch, so another one may see room where there is none any
 * more.  Such a key is refused; it is never taken for seen. */
static void a_table_that_others_have_filled_refuses_the_key(void **state)
{
    enum { SLOTS = 160 };
    deja_filter *f = new_full();
    atomic_store(&f->part[0]->keys, 0); /* as if the others were still at it */
    atomic_store(&f->writer.shared, true);
    for (uint64_t n = ROOM; n < SLOTS; n++)
        assert_true(add(f, number(&n)));
    for (uint64_t n = SLOTS; n < 2 * SLOTS; n++) {
        assert_int_equal(deja_filter_add(f, number(&n), NULL), DEJA_EFULL);
        assert_false(deja_filter_contains(f, number(&n)));
    }
    for (uint64_t n = 0; n < SLOTS; n++)
        assert_false(add(f, number(&n)));
    deja_filter_free(f);
}

static void the_hash_0_is_a_key_like_any_other(void **state)
{
    deja_filter *f = new_filter(small_exact);
    const uint64_t zero = 0;
    uint8_t answer = 7;
    deja_filter_contains_hashed(f, &zero, 1, &answer);
    assert_int_equal(answer, 0);
    assert_int_equal(deja_filter_add_hashed(f, &zero, 1, &answer, NULL), DEJA_OK);
    assert_int_equal(answer, 1);
    assert_int_equal(deja_filter_add_hashed(f, &zero, 1, &answer, NULL), DEJA_OK);
    assert_int_equal(answer, 0);
    deja_filter_contains_hashed(f, &zero, 1, &answer);
    assert_int_equal(answer, 1);
    assert_int_equal(stats_of(f).bits_set, 1);
    deja_filter_free(f);
}

/* All keys want the last line, so the table wraps around to the first. */
static void a_full_line_overflows_into_the_next_and_around(void **state)
{
    deja_filter *f = new_filter(small_exact);
    uint8_t answer;
    for (uint64_t i = 0; i < ROOM; i++) {
        const uint64_t hash = UINT64_MAX - i;
        assert_int_equal(deja_filter_add_hashed(f, &hash, 1, &answer, NULL), DEJA_OK);
        assert_int_equal(answer, 1);
    }
    for (uint64_t i = 0; i < 2 * ROOM; i++) {
        const uint64_t hash = UINT64_MAX - i;
        deja_filter_contains_hashed(f, &hash, 1, &answer);
        assert_int_equal(answer, i < ROOM);
    }
    deja_filter_free(f);
}

/* --- Scalable: growth --------------------------------------------------- */

static void a_growing_filter_opens_a_part_for_each_power_of_its_growth(void **state)
{
    static const uint32_t part_kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    for (size_t i = 0; i < DJ_ARRAY_LEN(part_kinds); i++) {
        deja_filter *f =
            new_filter(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = part_kinds[i], .capacity = 100,
                               .fp_rate = 1e-6, .growth = 3, .seed = 1));
        uint64_t sum = 0, part = 100;
        for (uint64_t n = 0; n < 4001; n++) {
            const bool opens = n == sum + part;
            const uint32_t before = f->n_parts;
            assert_true(add(f, number(&n)));
            assert_int_equal(f->n_parts, before + opens);
            if (opens) {
                sum += part;
                part *= 3;
                assert_int_equal(f->part[f->n_parts - 1]->capacity, part);
            }
        }
        assert_int_equal(stats_of(f).parts, 5); /* 100 + 300 + 900 + 2700 and one more key */
        assert_int_equal(stats_of(f).keys, 4001);
        assert_int_equal(stats_of(f).capacity, 100 + 300 + 900 + 2700 + 8100);
        for (uint64_t n = 0; n < 4001; n++)
            assert_true(deja_filter_contains(f, number(&n)));
        deja_filter_free(f);
    }
}

/* A batch may be larger than all parts so far: none gets more keys than it was sized for, or
 * the rate that it promises would be gone. */
static void a_large_batch_does_not_overfill_a_small_part(void **state)
{
    static const uint32_t part_kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    enum { KEYS = 20000 };
    static uint64_t hash[KEYS];
    struct rng r = rng_seeded(3);
    rng_fill(&r, hash, KEYS);
    for (size_t i = 0; i < DJ_ARRAY_LEN(part_kinds); i++)
        for (uint64_t first = 1; first <= 1000; first *= 10) {
            deja_filter *f = new_filter(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = part_kinds[i],
                                                .capacity = first, .fp_rate = 1e-3, .seed = 1));
            size_t done = 0;
            const int rc = deja_filter_add_hashed(f, hash, KEYS, NULL, &done);
            if (rc != DEJA_OK)
                fail_msg("%s parts, first of %zu: %s after %zu of %d keys",
                         deja_kind_name(part_kinds[i]), (size_t)first, deja_strerror(rc), done,
                         KEYS);
            for (uint32_t part = 0; part < f->n_parts; part++)
                if (f->part[part]->keys > f->part[part]->capacity)
                    fail_msg("%s parts, first of %zu: part %u has %zu keys for %zu",
                             deja_kind_name(part_kinds[i]), (size_t)first, part,
                             (size_t)f->part[part]->keys, (size_t)f->part[part]->capacity);
            deja_filter_free(f);
        }
}

/* Compound rate of parts that hold what they were made for: less than p, and stats know it. */
static void the_rate_of_a_grown_filter_stays_under_p(void **state)
{
    deja_filter *f = new_filter(
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = 100, .fp_rate = 1e-2, .growth = 2, .seed = 1));
    double none = 1;
    for (uint64_t n = 0; n < 100 * (1 + 2 + 4 + 8 + 16 + 32); n++)
        assert_int_equal(deja_filter_add(f, number(&n), NULL), DEJA_OK);
    for (uint32_t i = 0; i < f->n_parts; i++)
        none *= 1 - dj_shape_rate(&f->part[i]->shape, (double)f->part[i]->keys);
    assert_int_equal(f->n_parts, 6);
    assert_true(1 - none < 1e-2);
    assert_true(fabs(stats_of(f).fp_now - (1 - none)) < 0.1 * (1 - none));
    deja_filter_free(f);
}

static void a_filter_that_cannot_grow_further_is_full_and_keeps_what_it_has(void **state)
{
    deja_filter *f = new_filter(OPTIONS(.kind = DEJA_SCALABLE, .capacity = 50, .fp_rate = 1e-3,
                                        .growth = 1, .tightening = 0.9, .seed = 1));
    uint64_t n = 0;
    int rc = DEJA_OK;
    for (; n < 3000 && rc == DEJA_OK; n += rc == DEJA_OK)
        rc = deja_filter_add(f, number(&n), NULL);
    assert_int_equal(rc, DEJA_EFULL);
    assert_int_equal(f->n_parts, DJ_MAX_PARTS);
    assert_in_range(n, 50 * DJ_MAX_PARTS, 50 * DJ_MAX_PARTS + 20); /* some met false positives */
    assert_int_equal(stats_of(f).offered, n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(deja_filter_contains(f, number(&i)));
    deja_filter_free(f);
}

/* --- Read only ---------------------------------------------------------- */

static void a_filter_opened_for_reading_takes_no_key(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt), *before = new_filter(every[i].opt);
        size_t done = 7;
        uint8_t is_new = 7;
        const deja_slice key = text("http://a/");
        f->read_only = true;
        assert_int_equal(deja_filter_add_batch(f, &key, 1, &is_new, &done), DEJA_EINVAL);
        assert_int_equal(done, 0);
        assert_same_bodies(f, before);
        assert_int_equal(stats_of(f).offered, 0);
        deja_filter_free(f);
        deja_filter_free(before);
    }
}

/* --- Names -------------------------------------------------------------- */

static void names_of_kinds_are_read_as_they_are_written(void **state)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } kinds[] = {{"classic", DEJA_CLASSIC},
                 {"blocked", DEJA_BLOCKED},
                 {"scalable", DEJA_SCALABLE},
                 {"exact", DEJA_EXACT}};
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        assert_string_equal(deja_kind_name(kinds[i].kind), kinds[i].name);
        assert_int_equal(deja_kind_parse(kinds[i].name), kinds[i].kind);
    }
    assert_null(deja_kind_name(0));
    assert_null(deja_kind_name(1000));
    assert_int_equal(deja_kind_parse(""), 0);
    assert_int_equal(deja_kind_parse("Blocked"), 0);
}

static void every_status_has_words(void **state)
{
    for (int status = DEJA_OK; status >= DEJA_EBUSY; status--) {
        assert_string_not_equal(deja_strerror(status), "unknown status");
        for (int other = DEJA_OK; other > status; other--)
            assert_string_not_equal(deja_strerror(status), deja_strerror(other));
    }
    assert_string_equal(deja_strerror(1), "unknown status");
    assert_string_equal(deja_strerror(-999), "unknown status");
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", DEJA_VERSION_MAJOR, DEJA_VERSION_MINOR,
             DEJA_VERSION_PATCH);
    assert_string_equal(deja_version(), version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_new_once_and_then_found),
        cmocka_unit_test(a_single_call_is_a_batch_of_one),
        cmocka_unit_test(who_does_not_ask_what_is_new_need_not_give_room_for_it),
        cmocka_unit_test(a_batch_without_keys_changes_nothing),
        cmocka_unit_test(nothing_is_also_a_key),
        cmocka_unit_test(long_keys_count_to_their_last_byte),
        cmocka_unit_test(freeing_nothing_is_fine),
        cmocka_unit_test(hashed_calls_do_the_same_as_calls_with_keys),
        cmocka_unit_test(a_key_is_as_many_numbers_as_its_family_makes),
        cmocka_unit_test(a_seed_makes_filters_repeatable_and_chance_does_not),
        cmocka_unit_test(spatial_filters_have_salts_of_their_own),
        cmocka_unit_test(stats_tell_what_the_filter_is),
        cmocka_unit_test(an_empty_filter_has_lost_nothing),
        cmocka_unit_test(a_filter_with_every_bit_set_says_yes_to_all),
        cmocka_unit_test(stats_of_any_age_are_filled_as_far_as_they_go),
        cmocka_unit_test(a_full_exact_filter_refuses_new_keys_and_takes_known_ones),
        cmocka_unit_test(a_batch_stops_at_the_key_that_does_not_fit),
        cmocka_unit_test(a_batch_stops_at_the_same_key_as_single_calls),
        cmocka_unit_test(a_table_that_others_have_filled_refuses_the_key),
        cmocka_unit_test(the_hash_0_is_a_key_like_any_other),
        cmocka_unit_test(a_full_line_overflows_into_the_next_and_around),
        cmocka_unit_test(a_growing_filter_opens_a_part_for_each_power_of_its_growth),
        cmocka_unit_test(a_large_batch_does_not_overfill_a_small_part),
        cmocka_unit_test(the_rate_of_a_grown_filter_stays_under_p),
        cmocka_unit_test(a_filter_that_cannot_grow_further_is_full_and_keeps_what_it_has),
        cmocka_unit_test(a_filter_opened_for_reading_takes_no_key),
        cmocka_unit_test(names_of_kinds_are_read_as_they_are_written),
        cmocka_unit_test(every_status_has_words),
    };
    return cmocka_run_group_tests_name("unit.filter", tests, NULL, NULL);
}
