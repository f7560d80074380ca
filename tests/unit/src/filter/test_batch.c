/* test_batch.c - single calls, batches and hashed calls give the same answers. */
#include "asking.h"
#include "rng.h"
#include <stdio.h>
#include <stdlib.h>

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
            assert_int_equal(deja_filter_add_batch(b, &key, 1, &is_new, &done, NULL), DEJA_OK);
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

static void is_new_may_be_null(void **state)
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
        assert_int_equal(deja_filter_add_batch(a, keys, 500, is_new, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(b, keys, 250, NULL, NULL, NULL), DEJA_OK);
        for (size_t j = 250; j < 500; j++)
            assert_int_equal(deja_filter_add(b, keys[j], NULL, NULL), DEJA_OK);
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
        assert_int_equal(deja_filter_add_batch(a, NULL, 0, NULL, &done, NULL), DEJA_OK);
        assert_int_equal(done, 0);
        assert_int_equal(deja_filter_add_hashed(a, NULL, 0, &untouched, NULL, NULL), DEJA_OK);
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

static void the_empty_key_is_a_key(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt);
        assert_false(deja_filter_contains(f, (deja_slice){NULL, 0}));
        assert_true(add(f, (deja_slice){NULL, 0}));
        assert_false(add(f, (deja_slice){"x", 0}));
        assert_true(deja_filter_contains(f, text("")));
        assert_true(add(f, (deja_slice){"", 1})); /* a NUL byte is not empty */
        deja_filter_free(f);
    }
}

static void every_byte_of_a_long_key_counts(void **state)
{
    enum {
        LEN = 100 * 1024
    };
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

/* --- Hashes ------------------------------------------------------------- */

static void hashed_calls_equal_calls_with_keys(void **state)
{
    enum {
        KEYS = 1500
    };
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
        assert_int_equal(deja_filter_add_batch(a, keys, KEYS, one, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_hashed(b, hash, KEYS, two, &done, NULL), DEJA_OK);
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

static void the_hash_family_decides_how_many_numbers_a_key_has(void **state)
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

/* --- Read only ---------------------------------------------------------- */

static void a_filter_opened_for_reading_refuses_keys(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = new_filter(every[i].opt), *before = new_filter(every[i].opt);
        size_t done = 7;
        uint8_t is_new = 7;
        const deja_slice key = text("http://a/");
        f->read_only = true;
        assert_int_equal(deja_filter_add_batch(f, &key, 1, &is_new, &done, NULL), DEJA_EINVAL);
        assert_int_equal(done, 0);
        assert_same_bodies(f, before);
        assert_int_equal(stats_of(f).offered, 0);
        deja_filter_free(f);
        deja_filter_free(before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_new_once_and_then_found),
        cmocka_unit_test(a_single_call_is_a_batch_of_one),
        cmocka_unit_test(is_new_may_be_null),
        cmocka_unit_test(a_batch_without_keys_changes_nothing),
        cmocka_unit_test(the_empty_key_is_a_key),
        cmocka_unit_test(every_byte_of_a_long_key_counts),
        cmocka_unit_test(hashed_calls_equal_calls_with_keys),
        cmocka_unit_test(the_hash_family_decides_how_many_numbers_a_key_has),
        cmocka_unit_test(a_filter_opened_for_reading_refuses_keys),
    };
    return cmocka_run_group_tests_name("unit.batch", tests, NULL, NULL);
}
