/* test_fingerprint.c - 96-bit fingerprints: a filter's hash and 32 independent bits; their order. */
#include "core/hash/papers.h"
#include "rng.h"
#include "sieve/fingerprint.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY = 20000
};

/* Any filter with the same key accepts the high 64 bits. */
static void the_hash_is_that_of_a_filter_with_the_same_key(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    struct dj_printer p;
    uint8_t key[DEJA_KEY_LEN];
    char text[300];
    opt.capacity = 100;
    opt.seed = 7;
    dj_key_from_seed(7, key);
    dj_printer_init(&p, key);
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    memset(text, 'x', sizeof text);
    for (size_t len = 0; len <= sizeof text; len++) {
        const deja_slice one = {text, len};
        const uint64_t sip[2] = {dj_key_derive(key, DJ_STREAM_SIEVE, 0),
                                 dj_key_derive(key, DJ_STREAM_SIEVE, 1)};
        deja_fingerprint fp;
        uint64_t hash;
        deja_filter_hash_batch(f, &one, 1, &hash);
        dj_printer_hash(&p, &one, 1, &fp);
        assert_int_equal(fp.hash, hash);
        assert_int_equal(fp.check, (uint32_t)dj_siphash13(sip, text, len));
        assert_int_equal(fp.tag, 0);
    }
    deja_filter_free(f);
}

static void a_batch_gives_the_same_as_single_keys(void **state)
{
    enum {
        N = 1000
    };
    static char text[N][16];
    deja_slice key[N];
    deja_fingerprint all[N], one;
    const uint8_t secret[DEJA_KEY_LEN] = {1, 2, 3};
    struct dj_printer p;
    dj_printer_init(&p, secret);
    for (int i = 0; i < N; i++)
        key[i] = (deja_slice){text[i], (size_t)snprintf(text[i], 16, "%d", i * i)};
    dj_printer_hash(&p, key, N, all);
    for (int i = 0; i < N; i++) {
        dj_printer_hash(&p, &key[i], 1, &one);
        assert_memory_equal(&one, &all[i], sizeof one);
    }
}

static int in_order(const void *a, const void *b)
{
    const deja_fingerprint *x = a, *y = b;
    if (!dj_print_equal(x, y))
        return dj_print_less(x, y) ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static void sort_and_compare(deja_fingerprint *p, size_t n)
{
    deja_fingerprint *other = malloc((n + 1) * sizeof *other);
    assert_non_null(other);
    memcpy(other, p, n * sizeof *p);
    qsort(other, n, sizeof *other, in_order);
    dj_prints_sort(p, n);
    assert_memory_equal(p, other, n * sizeof *p);
    for (size_t i = 0; i < n; i += 1 + n / 50) {
        const size_t at = dj_prints_find(p, n, &p[i]);
        assert_true(at <= i && dj_print_equal(&p[at], &p[i]));
        assert_true(at == 0 || dj_print_less(&p[at - 1], &p[i]));
    }
    free(other);
}

/* Random ones; few different ones, as when a key is pending many times; and all in one byte. */
static void sorting_agrees_with_qsort(void **state)
{
    static deja_fingerprint p[MANY];
    struct rng rng = rng_seeded(1);
    for (size_t n = 0; n < 100; n++) {
        for (size_t i = 0; i < n; i++)
            p[i] = (deja_fingerprint){rng_next(&rng), (uint32_t)rng_next(&rng), (uint32_t)i};
        sort_and_compare(p, n);
    }
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < MANY; i++) {
            const uint64_t x = kind == 0 ? rng_next(&rng) : rng_below(&rng, 5);
            p[i] = (deja_fingerprint){kind == 2 ? 9 : x, (uint32_t)rng_below(&rng, 3),
                                      (uint32_t)(kind == 3 ? MANY - i : i)};
        }
        sort_and_compare(p, MANY);
    }
}

static void a_missing_key_is_found_at_its_place(void **state)
{
    const deja_fingerprint p[] = {{5, 1, 0}, {5, 3, 0}, {9, 0, 0}};
    assert_int_equal(dj_prints_find(p, 3, &(deja_fingerprint){0, 0, 0}), 0);
    assert_int_equal(dj_prints_find(p, 3, &(deja_fingerprint){5, 2, 0}), 1);
    assert_int_equal(dj_prints_find(p, 3, &(deja_fingerprint){9, 1, 0}), 3);
    assert_int_equal(dj_prints_find(p, 0, &p[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_that_of_a_filter_with_the_same_key),
        cmocka_unit_test(a_batch_gives_the_same_as_single_keys),
        cmocka_unit_test(sorting_agrees_with_qsort),
        cmocka_unit_test(a_missing_key_is_found_at_its_place),
    };
    return cmocka_run_group_tests_name("unit.fingerprint", tests, NULL, NULL);
}
