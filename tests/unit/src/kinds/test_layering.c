/* test_layering.c - the number and sizes of layers and their parts: options, sizes and checks. */
#include "unit.h"

#define EVERY .kind = DEJA_LAYERED,
#include "filter/options.h"
#include "kinds/kind.h"
#include "options.h"
#include "plans.h"
#include <math.h>
#include <string.h>

static void options_that_make_no_layers_are_refused_with_a_message(void **state)
{
    (void)state;
    static const struct {
        deja_options opt;
        int status;
        const char *text;
    } rows[] = {
        {FIELDS(.capacity = 9, .layers = 1), DEJA_EINVAL,
         "options.layers is 1: it must be from 2 to 10"},
        {FIELDS(.capacity = 9, .layers = 11), DEJA_EINVAL,
         "options.layers is 11: it must be at most 10"},
        {FIELDS(.capacity = 9, .layers = 11, .flags = DEJA_LAYERED_WORDS), DEJA_EINVAL,
         "options.layers is 11: it must be at most 10"},
        {FIELDS(.capacity = 9, .delimiter = ','), DEJA_EINVAL,
         "options.delimiter goes with options.layered_words"},
        {FIELDS(.capacity = 9, .delimiter = 256, .flags = DEJA_LAYERED_WORDS), DEJA_EINVAL,
         "options.delimiter is 256: it must be at most 255"},
        {FIELDS(.capacity = 9, .filters = 2), DEJA_ENOTSUP,
         "options.filters goes with kinds classic, blocked and spectral, not layered"},
        {FIELDS(.capacity = 9, .hash = DEJA_HASH_MD5), DEJA_EINVAL,
         "options.hash md5 goes with kind classic; layered takes xxh3 or siphash"},
        {FIELDS(.capacity = 9, .part_kind = DEJA_BLOCKED), DEJA_EINVAL,
         "options.part_kind goes with kind scalable, not layered"},
        {FIELDS(.capacity = 9, .memory = 4096), DEJA_ENOTSUP,
         "options.memory: the layers of a layered filter grow with their segments; "
         "options.layered_paper and kinds blocked, classic, exact and spectral take a memory size"},
        {FIELDS(.capacity = 9, .hashes = 3, .multiplier = 2), DEJA_EINVAL,
         "options.multiplier goes with options.layered_paper in a layered filter: other layers grow "
         "with their segments"},
        {FIELDS(.fp_rate = 0.1), DEJA_EINVAL,
         "options.capacity is 0: give the number of keys to expect"},
        {{sizeof(deja_options), .kind = DEJA_CLASSIC, .capacity = 9, .flags = DEJA_LAYERED_PAPER},
         DEJA_EINVAL,
         "options.layered_paper goes with kind layered, not classic"},
        {{sizeof(deja_options), .capacity = 9, .flags = DEJA_LAYERED_WORDS},
         DEJA_EINVAL,
         "options.layered_words goes with kind layered, not blocked"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        struct dj_plan plan;
        deja_error err = {0, ""};
        assert_int_equal(dj_plan_resolve(&rows[i].opt, &plan, &err), rows[i].status);
        assert_string_equal(err.text, rows[i].text);
    }
}

static void defaults_are_those_of_the_header(void **state)
{
    (void)state;
    struct dj_plan p = resolved(OPTIONS(.capacity = 1000));
    assert_int_equal(p.layering.layers, 8);
    assert_int_equal(p.layering.delimiter, 0);
    assert_int_equal(dj_plan_words(&p), 10);
    p = resolved(OPTIONS(.capacity = 1000, .flags = DEJA_LAYERED_PAPER, .layers = 3));
    assert_int_equal(dj_plan_words(&p), 4);
    p = resolved(OPTIONS(.capacity = 1000, .flags = DEJA_LAYERED_WORDS));
    assert_int_equal(p.layering.layers, 0); /* the number of words ... */
    assert_int_equal(dj_layering_most(&p), 8);
    assert_int_equal(p.layering.delimiter, ' ');
    assert_int_equal(dj_plan_words(&p), 17);
    assert_int_equal(dj_layering_cut(&p).share, p.shape.k); /* ... divided by k */
}

static void the_xor_layer_is_a_classic_filter_for_all_keys(void **state)
{
    (void)state;
    struct dj_plan p = resolved(OPTIONS(.capacity = 100000, .fp_rate = 1e-3));
    struct dj_shape classic = {.layout = DJ_SPREAD};
    struct dj_part part = {0};
    assert_true(dj_shape_fit(&classic, 100000, 1e-3));
    assert_true(dj_plan_part(&p, 0, &part));
    assert_int_equal(part.shape.bits, classic.bits);
    assert_int_equal(part.shape.k, classic.k);
    assert_int_equal(part.layer, 0);
}

static void layers_are_series_whose_rates_sum_to_a_hundredth(void **state)
{
    (void)state;
    static const double asked[] = {1e-6, 1e-2, 0.2};
    for (size_t i = 0; i < DJ_ARRAY_LEN(asked); i++) {
        struct dj_plan p = resolved(OPTIONS(.capacity = 160000, .fp_rate = asked[i]));
        static const uint64_t capacity[] = {10000, 40000, 160000};
        double sum = 0;
        for (uint32_t nth = 0; nth < DJ_LAYER_PARTS; nth++) {
            struct dj_part part = {0};
            assert_true(dj_layering_part(&p, 3, nth, NULL, 0, &part));
            assert_int_equal(part.layer, 3);
            assert_int_equal(part.capacity, capacity[nth]);
            assert_int_equal(part.shape.layout, DJ_BLOCKS);
            assert_true(dj_shape_rate(&part.shape, (double)part.capacity) <= part.fp_rate);
            sum += part.fp_rate;
        }
        assert_true(fabs(sum - fmax(asked[i], 0.01)) < 1e-15);
        struct dj_part none = {0};
        assert_false(dj_layering_part(&p, 3, DJ_LAYER_PARTS, NULL, 0, &none));
    }
}

static void first_capacities_of_an_earlier_visit_are_kept(void **state)
{
    (void)state;
    struct dj_plan p = resolved(OPTIONS(.capacity = 160000, .fp_rate = 0.01));
    struct dj_part part = {0};
    p.layering.first[0] = 90000;
    p.layering.first[1] = 3;
    assert_true(dj_layering_part(&p, 1, 0, NULL, 0, &part));
    assert_int_equal(part.capacity, 90000);
    assert_true(dj_layering_part(&p, 1, 1, NULL, 0, &part)); /* not smaller than the part before */
    assert_int_equal(part.capacity, 90000);
    assert_true(dj_layering_part(&p, 1, 2, NULL, 0, &part));
    assert_int_equal(part.capacity, 160000);
    assert_true(dj_layering_part(&p, 2, 0, NULL, 0, &part)); /* no part is smaller than this */
    assert_int_equal(part.capacity, 64);
}

static void in_mode_paper_all_layers_are_equal(void **state)
{
    (void)state;
    struct dj_plan p =
        resolved(OPTIONS(.capacity = 1000, .flags = DEJA_LAYERED_PAPER, .layers = 4));
    struct dj_part part = {0};
    assert_int_equal(dj_layering_bodies(&p), 5);
    assert_true(dj_layering_part(&p, 4, 0, NULL, 0, &part));
    assert_memory_equal(&part.shape, &p.shape, sizeof p.shape);
    assert_false(dj_layering_part(&p, 4, 1, NULL, 0, &part));
    /* Memory is shared by all layers; the rule of the thesis gives each m = n k M. */
    p = resolved(OPTIONS(.memory = 5000, .flags = DEJA_LAYERED_PAPER, .layers = 4, .format = 1));
    assert_int_equal(p.shape.bits, 8000);
    /* The XOR of positions is uniform only below powers of two. */
    p = resolved(OPTIONS(.memory = 5000, .flags = DEJA_LAYERED_PAPER, .layers = 4));
    assert_int_equal(p.shape.bits, 4096);
    for (uint64_t n = 1; n < 100000; n = 2 * n + 1) {
        const struct dj_plan any = resolved(OPTIONS(.capacity = n)); /* its XOR layer is classic */
        p = resolved(OPTIONS(.capacity = n, .flags = DEJA_LAYERED_PAPER));
        assert_int_equal(p.shape.bits & (p.shape.bits - 1), 0);
        assert_in_range(p.shape.bits, any.shape.bits, 2 * any.shape.bits - 1);
    }
    p = resolved(
        OPTIONS(.capacity = 640, .hashes = 3, .multiplier = 2, .flags = DEJA_LAYERED_PAPER));
    assert_int_equal(p.shape.bits, 640 * 3 * 2);
    deja_plan plan = DEJA_PLAN_INIT;
    const deja_options opt = OPTIONS(.capacity = 1000, .flags = DEJA_LAYERED_PAPER, .layers = 4);
    assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
    assert_int_equal(plan.bits % 5, 0);
}

static void part_tables_that_make_no_layers_are_rejected(void **state)
{
    (void)state;
    const struct dj_plan salted = resolved(OPTIONS(.capacity = 1000, .layers = 3));
    const struct dj_plan paper =
        resolved(OPTIONS(.capacity = 1000, .layers = 3, .flags = DEJA_LAYERED_PAPER));
    struct dj_part part[5] = {
        {.layer = 0}, {.layer = 1}, {.layer = 2}, {.layer = 1}, {.layer = 1}};
    assert_true(dj_layering_is_sound(&salted, part, 5));
    assert_true(dj_layering_is_sound(&paper, part, 3));
    assert_false(dj_layering_is_sound(&paper, part, 4)); /* two parts of layer 1 */
    part[2].layer = 1;
    assert_false(dj_layering_is_sound(&salted, part, 5)); /* four */
    part[2].layer = 4;
    assert_false(dj_layering_is_sound(&salted, part, 5)); /* beyond the last */
    part[2].layer = 0;
    assert_false(dj_layering_is_sound(&salted, part, 5)); /* two XOR layers */
    part[0].layer = 1;
    assert_false(dj_layering_is_sound(&salted, part, 1)); /* none */
    part[0].layer = 0;
    part[1].shape.bits = 64;
    assert_false(dj_layering_is_sound(&paper, part, 2));
    part[1].shape = part[0].shape;
    part[1].shape.k = 2;
    assert_false(dj_layering_is_sound(&paper, part, 2));
    assert_true(dj_layering_is_sound(&salted, part, 2));
}

/* Weights follow the formula up to a limit for filters that are nearly full. */
static void weights_rise_with_the_rate_and_stop(void **state)
{
    (void)state;
    deja_filter *f = NULL;
    const deja_options opt = OPTIONS(.capacity = 6400, .fp_rate = 0.1, .seed = 1);
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    for (uint32_t i = 1; i < DJ_WEIGHTS; i++)
        assert_true(f->layers.weight[i] >= f->layers.weight[i - 1]);
    const double rate = dj_shape_rate(&f->plan.shape, 63.5 * 100);
    assert_true(fabs((double)f->layers.weight[63] / 0x1p32 - rate / (1 - rate)) < 1e-9);
    assert_true((double)f->layers.weight[DJ_WEIGHTS - 1] <= 1024 * 0x1p32);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_make_no_layers_are_refused_with_a_message),
        cmocka_unit_test(defaults_are_those_of_the_header),
        cmocka_unit_test(the_xor_layer_is_a_classic_filter_for_all_keys),
        cmocka_unit_test(layers_are_series_whose_rates_sum_to_a_hundredth),
        cmocka_unit_test(first_capacities_of_an_earlier_visit_are_kept),
        cmocka_unit_test(in_mode_paper_all_layers_are_equal),
        cmocka_unit_test(part_tables_that_make_no_layers_are_rejected),
        cmocka_unit_test(weights_rise_with_the_rate_and_stop),
    };
    return cmocka_run_group_tests_name("unit.layering", tests, NULL, NULL);
}
