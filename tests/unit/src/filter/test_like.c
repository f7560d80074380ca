/* test_like.c - options that make a filter like another: both can be merged body by body. */
#include "unit.h"

#include "combining.h"

static const struct {
    const char *name;
    deja_options opt;
} kinds[] = {
    {"blocked", FIELDS(.capacity = 500, .fp_rate = 1e-3)},
    {"blocked by memory", FIELDS(.memory = 8192, .capacity = 500)},
    {"blocked with two lines", FIELDS(.capacity = 500, .fp_rate = 1e-6)},
    {"blocked with three lines", FIELDS(.capacity = 500, .fp_rate = 1e-9)},
    {"blocked with as many lines as given",
     FIELDS(.memory = 8192, .capacity = 500, .cache_lines = 1)},
    {"classic by k and M",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 500, .hashes = 4, .multiplier = 1.5)},
    {"classic with given k", FIELDS(.kind = DEJA_CLASSIC, .capacity = 500, .hashes = 3)},
    {"spatial", FIELDS(.kind = DEJA_CLASSIC, .capacity = 500, .filters = 3)},
    {"sha1", FIELDS(.kind = DEJA_CLASSIC, .capacity = 500, .hash = DEJA_HASH_SHA1)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = 1500)},
    {"exact by memory", FIELDS(.kind = DEJA_EXACT, .memory = 65536)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 500)},
    {"spectral", FIELDS(.kind = DEJA_SPECTRAL, .capacity = 500, .counter_bits = 8)},
    {"spectral, spread",
     FIELDS(.kind = DEJA_SPECTRAL, .capacity = 500, .counter_bits = 8, .flags = DEJA_SPREAD)},
    {"window", FIELDS(.kind = DEJA_WINDOW, .capacity = 1500, .generations = 3)},
    {"layered", FIELDS(.kind = DEJA_LAYERED, .capacity = 500)},
    {"format 1", FIELDS(.capacity = 500, .format = 1)},
};

static void filters_made_alike_have_the_same_sizes_and_key(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++) {
        deja_filter *a = filled(kinds[i].opt, 0, 300), *b = NULL;
        deja_options opt = DEJA_OPTIONS_INIT;
        deja_error err = {0, ""};
        works(deja_options_like(a, &opt, &err), &err);
        works(deja_filter_new(&opt, &b, &err), &err);
        assert_memory_equal(a->key, b->key, DEJA_KEY_LEN);
        if (!dj_shape_same(&a->part[0]->shape, &b->part[0]->shape))
            fail_msg("%s: sizes differ", kinds[i].name);
        add_keys(b, 300, 450);
        works(deja_filter_merge(a, b, &err), &err);
        assert_int_equal(missing(a, 0, 450), 0);
        assert_int_equal(stats_of(a).merged_parts, 0);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void a_folded_filter_has_its_size_in_bytes(void **state)
{
    for (uint32_t lines = 1; lines <= DJ_KEY_LINES; lines++) {
        const deja_options made =
            OPTIONS(.memory = 3 << 13, .capacity = 500, .cache_lines = lines);
        deja_filter *a = filled(made, 0, 300), *b = NULL;
        deja_options opt = DEJA_OPTIONS_INIT;
        deja_error err = {0, ""};
        fold(a, 2);
        works(deja_options_like(a, &opt, &err), &err);
        works(deja_filter_new(&opt, &b, &err), &err);
        assert_true(dj_shape_same(&a->plan.shape, &b->plan.shape));
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

static void old_programs_get_the_fields_they_know(void **state)
{
    deja_filter *a = filled(OPTIONS(.capacity = 500), 0, 3);
    struct {
        deja_options opt;
    } caller = {DEJA_OPTIONS_INIT};
    caller.opt.size = offsetof(deja_options, flags);
    assert_int_equal(deja_options_like(a, &caller.opt, NULL), DEJA_OK);
    assert_int_equal(caller.opt.size, offsetof(deja_options, flags));
    assert_int_equal(caller.opt.capacity, 500);
    assert_int_equal(caller.opt.format, 0);
    caller.opt.size = 3;
    assert_int_equal(deja_options_like(a, &caller.opt, NULL), DEJA_EINVAL);
    deja_filter_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_made_alike_have_the_same_sizes_and_key),
        cmocka_unit_test(a_folded_filter_has_its_size_in_bytes),
        cmocka_unit_test(old_programs_get_the_fields_they_know),
    };
    return cmocka_run_group_tests_name("unit.like", tests, NULL, NULL);
}
