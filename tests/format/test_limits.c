/* test_limits.c - header fields that are plausible alone, but contradict each other or the body,
 * or are at the limits of operations.
 *
 * Two promises: no header field alone decides how much memory an operation takes, and whatever an
 * operation leaves can be loaded again. */
#include "crafted.h"
#include "failmem.h"
#include "rng.h"

#define MIB           ((size_t)1 << 20)
#define UNASKED       (16 * MIB) /* memory that a filter may take if no size is given */
#define LAST_SEQUENCE ((UINT64_C(1) << 63) - 1)

/* Exports the filter and loads it again. */
static deja_filter *reloaded(const deja_filter *f)
{
    const size_t len = (size_t)deja_filter_export_len(f);
    uint8_t *bytes = malloc(len);
    deja_filter *again = NULL;
    deja_error err = {0};
    MUST(bytes && deja_filter_export(f, 0, bytes, len) == len);
    if (deja_filter_import(bytes, len, NULL, &again, &err) < 0)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < 2 * N_KEYS; i++)
        assert_int_equal(deja_filter_contains(f, key_of(&i)),
                         deja_filter_contains(again, key_of(&i)));
    free(bytes);
    return again;
}

static struct bytes window, series;

static int make_all(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    make_files(state);
    opt.kind = DEJA_WINDOW;
    opt.capacity = 2 * N_KEYS;
    opt.fp_rate = 0.001;
    opt.seed = 5;
    window = make_file(&opt);
    opt.kind = DEJA_SCALABLE;
    opt.capacity = 1000;
    series = make_file(&opt);
    return 0;
}

static int drop_all(void **state)
{
    free(window.data);
    free(series.data);
    return drop_files(state);
}

/* --- Compared with the body -------------------------------------------------- */

static void with_is_refused(const struct bytes *file, const struct field *fields, size_t n,
                            const char *word)
{
    struct bytes b = copy_of(file);
    for (size_t i = 0; i < n; i++)
        set_field(b.data, &fields[i]);
    fix_written(b.data);
    const char *path = place("limits", &b);
    refused(path, 0, DEJA_EFORMAT, word);
    refused(path, DEJA_OPEN_REPAIR, DEJA_EFORMAT, word);
    unlink(path);
    free(b.data);
}

/* The capacity is in the header and in the part table. */
static void capacity_is_refused(const struct bytes *file, uint64_t n)
{
    const struct field both[] = {{32, 8, n, 0}, {AT_PART(0) + 16, 8, n, 0}};
    with_is_refused(file, both, 2, "capacity");
}

static void rate_is_refused(const struct bytes *file, double p)
{
    const struct field both[] = {{40, 0, 0, p}, {AT_PART(0) + 24, 0, 0, p}};
    with_is_refused(file, both, 2, "rate");
}

static void a_rate_that_the_body_does_not_have_is_refused(void **state)
{
    rate_is_refused(&blocked, 1e-308);
    rate_is_refused(&layered, 1e-308);
    rate_is_refused(&paired, 1e-308);
    rate_is_refused(&window, 1e-308);
    rate_is_refused(&window, 1e-6); /* it was made for 1e-3 */
}

static void a_capacity_that_the_body_does_not_have_is_refused(void **state)
{
    capacity_is_refused(&blocked, UINT64_C(1) << 31);
    capacity_is_refused(&blocked, 10 * N_KEYS);
    capacity_is_refused(&layered, UINT64_C(1) << 31);
    capacity_is_refused(&paired, UINT64_C(1) << 31);
    capacity_is_refused(&window, UINT64_C(1) << 31);
    capacity_is_refused(&exact, 1024 / 8); /* all slots of its 1024 bytes */
    capacity_is_refused(&blocked, (UINT64_C(1) << 53) + 1);
    const struct field one = {32, 8, 2 * N_KEYS + 1, 0}; /* differs from that of its part */
    with_is_refused(&blocked, &one, 1, "part 1");
}

/* First capacity, growth and tightening determine a series. */
static void a_series_with_other_sizes_is_refused(void **state)
{
    static const struct field fields[] = {
        {32, 8, UINT64_C(1) << 31, 0},
        {32, 8, N_KEYS / 2 + 1, 0},
        {40, 0, 0, 1e-9},
        {48, 4, 1024, 0},
        {48, 4, 1, 0},
        {56, 0, 0, 1e-9},
        {AT_PART(0) + 16, 8, 1, 0},
        {AT_PART(1) + 16, 8, 1, 0},
        {AT_PART(1) + 16, 8, UINT64_C(1) << 40, 0},
        {AT_PART(0) + 24, 0, 0, 0.5},
        {AT_PART(1) + 24, 0, 0, 1e-300},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(fields); i++)
        with_is_refused(&grown, &fields[i], 1, "part ");
    /* All numbers agree on a tenth of the keys that the body can hold: the next part would come
     * soon. */
    const struct field few[] = {{32, 8, 100, 0}, {AT_PART(0) + 16, 8, 100, 0}};
    with_is_refused(&series, few, 2, "part 1");
}

static void folds_of_an_impossible_size_are_refused(void **state)
{
    static const uint64_t folds[] = {41, 53}; /* of 2^13 bits; 2^53 is the maximum */
    for (size_t i = 0; i < DJ_ARRAY_LEN(folds); i++)
        with_is_refused(&blocked, &(struct field){208, 4, folds[i], 0}, 1, "number of folds");
}

/* --- Nothing else is rejected ----------------------------------------------- */

static deja_options random_options(struct rng *rng)
{
    static const double rates[] = {0,    0.999, 0.5,   0.1,   0.01, 1e-3,
                                   1e-6, 1e-9,  1e-12, 1e-15, 1e-30};
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.seed = 1;
    opt.kind = 1 + (uint32_t)rng_below(rng, 9);
    opt.capacity = rng_below(rng, 5) ? 1 + rng_next(rng) % (UINT64_C(1) << rng_below(rng, 20)) : 0;
    opt.fp_rate = rates[rng_below(rng, DJ_ARRAY_LEN(rates))];
    if (!rng_below(rng, 3))
        opt.memory = 64 + rng_next(rng) % (UINT64_C(1) << rng_below(rng, 20));
    if (!rng_below(rng, 3))
        opt.hashes = (uint32_t)rng_below(rng, 20);
    if (opt.hashes && !rng_below(rng, 2))
        opt.multiplier = (double)(1 + rng_below(rng, 40)) / 8;
    if (!rng_below(rng, 3))
        opt.filters = (uint32_t)rng_below(rng, 17);
    if (opt.kind == DEJA_CLASSIC)
        opt.hash = (uint32_t)rng_below(rng, 9);
    if (opt.kind == DEJA_SCALABLE && rng_below(rng, 2)) {
        static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
        opt.part_kind = kinds[rng_below(rng, 3)];
        opt.growth = 1 + (uint32_t)rng_below(rng, 1024);
        opt.tightening = rates[1 + rng_below(rng, DJ_ARRAY_LEN(rates) - 1)];
    }
    if (opt.kind == DEJA_WINDOW)
        opt.generations = (uint32_t)rng_below(rng, 8);
    if (opt.kind == DEJA_PAIRED && rng_below(rng, 2))
        opt.deletions = 1 + rng_next(rng) % (UINT64_C(1) << rng_below(rng, 20));
    if (opt.kind == DEJA_LAYERED && rng_below(rng, 2))
        opt.flags = 4 * (uint32_t)rng_below(rng, 4);
    if (opt.kind == DEJA_SPECTRAL)
        opt.counter_bits = 4u << rng_below(rng, 4);
    return opt;
}

/* Every plan passes the checks: they reject no filter that options can make. */
static void every_plan_makes_a_filter_that_loads(void **state)
{
    struct rng rng = rng_seeded(3);
    unsigned made = 0;
    for (int i = 0; i < 4000; i++) {
        const deja_options opt = random_options(&rng);
        deja_plan plan = DEJA_PLAN_INIT;
        deja_filter *f = NULL;
        deja_error err = {0};
        if (opt.kind == DEJA_STATIC || deja_plan_make(&opt, &plan, NULL) < 0 ||
            plan.bytes > 4 * MIB)
            continue;
        if (deja_filter_new(&opt, &f, &err) < 0)
            fail_msg("%d: %s", i, err.text);
        made++;
        for (uint32_t k = 0; k < 200; k++)
            (void)!deja_filter_add(f, key_of(&k), NULL, NULL);
        deja_filter_free(reloaded(f));
        if (deja_filter_fold(f, 1, NULL) == DEJA_OK)
            deja_filter_free(reloaded(f));
        /* A rate that follows from a generous size can be too small for more keys in any body. */
        if (deja_filter_rotate(f, NULL, &err) < 0 && !strstr(err.text, "(options.capacity)"))
            fail_msg("%d: rotate: %s", i, err.text);
        deja_filter_free(reloaded(f));
        deja_filter_free(f);
    }
    assert_true(made > 800);
}

/* --- Memory that follows from counts --------------------------------------- */

struct hoard {
    struct failmem memory;
    deja_options expect;
};

static deja_filter *import_with(struct hoard *h, struct bytes *b)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    const deja_options init = DEJA_OPTIONS_INIT;
    const size_t newest = newest_record(b->data);
    dj_store32(b->data + newest + 8, 1); /* sealed */
    dj_store64(b->data + newest + 24, dj_checksum(b->data + HEADER_LEN, b->len - HEADER_LEN));
    fix_written(b->data);
    failmem_init(&h->memory, 0);
    h->expect = init;
    h->expect.alloc = &h->memory.hook;
    if (deja_filter_import(b->data, b->len, &h->expect, &f, &err) < 0)
        fail_msg("%s", err.text);
    return f;
}

static void keys_are_claimed(struct bytes *b, uint64_t n)
{
    const size_t newest = newest_record(b->data);
    dj_store64(b->data + newest + 16, n);
    for (uint32_t i = 0; i < dj_load32(b->data + 76); i++)
        dj_store64(b->data + newest + 40 + 8 * i, n);
}

static void a_claimed_number_of_keys_does_not_size_the_next_visit(void **state)
{
    const struct bytes *files[] = {&blocked, &exact, &paired, &layered, &grown};
    for (size_t i = 0; i < DJ_ARRAY_LEN(files); i++) {
        struct bytes b = copy_of(files[i]);
        struct hoard h;
        deja_error err = {0};
        keys_are_claimed(&b, UINT64_C(1) << 40);
        deja_filter *f = import_with(&h, &b);
        const int rc = deja_filter_rotate(f, NULL, &err);
        if (rc < 0) {
            assert_true(strstr(err.text, "options.capacity") ||
                        (SIZE_MAX == UINT32_MAX && strstr(err.text, "cannot address")));
            assert_true(deja_filter_contains(f, key_of(&(uint32_t){1}))); /* unchanged */
        }
        for (uint32_t k = 0; k < 100; k++) /* a layer may not have any part yet */
            (void)!deja_filter_add(f, key_of(&k), NULL, NULL);
        assert_true(h.memory.largest <= UNASKED);
        /* An explicit number is accepted. */
        deja_options asked = DEJA_OPTIONS_INIT;
        asked.capacity = asked.deletions = 1000;
        if (files[i] != &paired)
            asked.deletions = 0;
        assert_int_equal(deja_filter_rotate(f, &asked, NULL), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(h.memory.live, 0);
        free(b.data);
    }
}

/* The first parts of the next visit's layers, as a header claims them. */
static void first_capacities_of_layers_stay_in_proportion(void **state)
{
    struct bytes b = copy_of(&layered);
    struct hoard h;
    for (size_t i = 0; i < 10; i++)
        dj_store64(b.data + 224 + 8 * i, UINT64_C(1) << 53);
    deja_filter *f = import_with(&h, &b);
    for (uint32_t i = 0; i < 200; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://h/%u/%u/%u/%u", i, i, i, i);
        assert_int_equal(deja_filter_add(f, (deja_slice){url, strlen(url)}, NULL, NULL), DEJA_OK);
    }
    assert_true(h.memory.largest < MIB);
    deja_filter_free(f);
    free(b.data);
}

/* Each part has a billionth of the rate of the one before: the fourth would take terabytes. */
static void a_part_out_of_proportion_is_not_made(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    struct failmem memory;
    deja_filter *f = NULL;
    uint32_t added = 0;
    int rc = DEJA_OK;
    failmem_init(&memory, 0);
    opt.alloc = &memory.hook;
    opt.kind = DEJA_SCALABLE;
    opt.capacity = 10;
    opt.fp_rate = 0.01;
    opt.growth = 1;
    opt.tightening = 1e-9;
    opt.seed = 1;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    for (; rc == DEJA_OK && added < 1000; added++)
        rc = deja_filter_add(f, key_of(&added), NULL, NULL);
    assert_int_equal(rc, DEJA_EFULL);
    assert_true(memory.largest <= UNASKED);
    for (uint32_t i = 0; i + 1 < added; i++)
        assert_true(deja_filter_contains(f, key_of(&i)));
    deja_filter_free(f);
}

/* --- At the limits of operations -------------------------------------------- */

static void survives_export(const deja_filter *f)
{
    deja_filter_free(reloaded(f));
}

static void a_filter_folds_as_far_as_it_can_be_loaded(void **state)
{
    struct bytes b = copy_of(&blocked);
    struct hoard h;
    dj_store32(b.data + 208, 40); /* originally 2^53, now 2^13 bits */
    deja_filter *f = import_with(&h, &b);
    for (int folds = 40; deja_filter_fold(f, 1, NULL) == DEJA_OK; folds++) {
        assert_true(folds < 44); /* 512 bits are one block */
        survives_export(f);
    }
    deja_filter_free(f);
    free(b.data);
}

static void the_last_visit_is_not_followed_by_another(void **state)
{
    struct bytes b = copy_of(&blocked);
    struct hoard h;
    deja_error err = {0};
    dj_store64(b.data + 64, (UINT64_C(1) << 47) - 2);
    deja_filter *f = import_with(&h, &b);
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    survives_export(f);
    assert_int_equal(deja_filter_rotate(f, NULL, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "visit"));
    survives_export(f);
    deja_filter_free(f);
    free(b.data);
}

/* Counts saturate instead of wrapping around, whatever operation raises them. */
static void counts_stop_at_their_limit(void **state)
{
    struct bytes b = copy_of(&blocked);
    struct hoard h, other;
    deja_stats s = DEJA_STATS_INIT;
    const size_t newest = newest_record(b.data);
    static const size_t fields[] = {16, 40, 304, 312, 320, 336, 344};
    for (size_t i = 0; i < DJ_ARRAY_LEN(fields); i++)
        dj_store64(b.data + newest + fields[i], UINT64_MAX);
    deja_filter *f = import_with(&h, &b), *g = import_with(&other, &b);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(deja_filter_merge(f, g, NULL), DEJA_OK);
        take_keys(f, N_KEYS, 2 * N_KEYS);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        assert_true(s.offered >= UINT64_C(1) << 58 && s.unions >= UINT64_C(1) << 58);
        survives_export(f);
    }
    deja_filter_free(f);
    deja_filter_free(g);
    free(b.data);
}

/* This number determines the generation that accepts keys; it must not wrap around. */
static void turns_of_a_window_do_not_wrap(void **state)
{
    struct bytes b = copy_of(&window);
    struct hoard h;
    dj_store64(b.data + newest_record(b.data) + 360, (UINT64_C(1) << 63) - 1);
    deja_filter *f = import_with(&h, &b);
    for (uint32_t i = 0; i < 20 * N_KEYS; i++) {
        assert_int_equal(deja_filter_add(f, key_of(&i), NULL, NULL), DEJA_OK);
        if (i % N_KEYS == 0) {
            deja_filter *again = reloaded(f);
            deja_filter_free(f);
            f = again;
        }
        for (uint32_t j = i < 2 * N_KEYS ? 0 : i - 2 * N_KEYS + 1; j <= i; j++)
            assert_true(deja_filter_contains(f, key_of(&j)));
    }
    deja_filter_free(f);
    free(b.data);
}

static struct bytes with_sequence(uint64_t odd)
{
    struct bytes b = copy_of(&blocked);
    memmove(b.data + RECORD_A, b.data + newest_record(b.data), RECORD_LEN);
    dj_store64(b.data + RECORD_A, odd);
    fix_record(b.data, RECORD_A);
    return b;
}

static void a_file_without_a_next_sequence_is_read_and_not_written(void **state)
{
    static const uint64_t late[] = {LAST_SEQUENCE, LAST_SEQUENCE - 2};
    for (size_t i = 0; i < DJ_ARRAY_LEN(late); i++) {
        const struct bytes b = with_sequence(late[i]);
        const char *path = place("sequence", &b), *other = scratch_path("other");
        deja_error err = {0};
        deja_filter *f = NULL, *copy = NULL;
        opens(path);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err), DEJA_EFORMAT);
        assert_non_null(strstr(err.text, "sync sequence"));
        assert_non_null(strstr(err.text, "deja_filter_copy"));
        const unsigned repair = DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR;
        assert_int_equal(deja_filter_open(path, repair, NULL, &f, &err), DEJA_EFORMAT);
        /* A copy starts with a new sequence, as the message says. */
        assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_copy(f, other, 0, &copy, NULL), DEJA_OK);
        take_keys(copy, N_KEYS, 2 * N_KEYS);
        assert_int_equal(deja_filter_sync(copy, NULL), DEJA_OK);
        deja_filter_free(f);
        deja_filter_free(copy);
        opens(other);
        unlink(other);
        unlink(path);
        free(b.data);
    }
    const struct bytes b = with_sequence(LAST_SEQUENCE - (UINT64_C(1) << 32));
    const char *path = place("sequence", &b);
    deja_filter *f = NULL;
    assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
    take_keys(f, N_KEYS, 2 * N_KEYS);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    opens(path);
    unlink(path);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_that_the_body_does_not_have_is_refused),
        cmocka_unit_test(a_capacity_that_the_body_does_not_have_is_refused),
        cmocka_unit_test(a_series_with_other_sizes_is_refused),
        cmocka_unit_test(folds_of_an_impossible_size_are_refused),
        cmocka_unit_test(every_plan_makes_a_filter_that_loads),
        cmocka_unit_test(a_claimed_number_of_keys_does_not_size_the_next_visit),
        cmocka_unit_test(first_capacities_of_layers_stay_in_proportion),
        cmocka_unit_test(a_part_out_of_proportion_is_not_made),
        cmocka_unit_test(a_filter_folds_as_far_as_it_can_be_loaded),
        cmocka_unit_test(the_last_visit_is_not_followed_by_another),
        cmocka_unit_test(counts_stop_at_their_limit),
        cmocka_unit_test(turns_of_a_window_do_not_wrap),
        cmocka_unit_test(a_file_without_a_next_sequence_is_read_and_not_written),
    };
    return cmocka_run_group_tests_name("format.limits", tests, make_all, drop_all);
}
