/* test_filter.c - seeds, keys and salts make a filter unique. */
#include "asking.h"

static void a_seed_makes_filters_reproducible(void **state)
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

/* With equal salts, three filters would agree on every false positive. */
static void spatial_filters_have_their_own_salts(void **state)
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

static void freeing_null_is_fine(void **state)
{
    deja_filter_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freeing_null_is_fine),
        cmocka_unit_test(a_seed_makes_filters_reproducible),
        cmocka_unit_test(spatial_filters_have_their_own_salts),
    };
    return cmocka_run_group_tests_name("unit.filter", tests, NULL, NULL);
}
