/* test_kinds.c - names of kinds, messages of statuses, and the version. */
#include "core/base/compiler.h"
#include "deja.h"
#include "unit.h"
#include <stdio.h>

static void names_of_kinds_parse_back(void **state)
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

static void kinds_are_listed_once_in_the_order_of_their_numbers(void **state)
{
    uint32_t kind = 0, last = 0, n = 0;
    while ((kind = deja_kind_next(kind)) != 0) {
        assert_true(kind > last && deja_kind_name(kind) && deja_kind_help(kind));
        assert_true(deja_kind_can(kind, DEJA_CAN_ADD) != deja_kind_can(kind, DEJA_CAN_BUILD));
        last = kind;
        n++;
    }
    assert_true(n >= 9);
    assert_int_equal(deja_kind_next(1000), 0);
    assert_null(deja_kind_help(1000));
    assert_false(deja_kind_can(1000, 0));
}

static deja_filter *make(uint32_t kind, uint32_t flags)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    opt.kind = kind;
    opt.flags = flags;
    opt.capacity = 64;
    opt.seed = 1;
    if (!deja_kind_can(kind, DEJA_CAN_BUILD)) {
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        return f;
    }
    deja_builder *b;
    assert_int_equal(deja_builder_new(&opt, &b, NULL), DEJA_OK);
    assert_int_equal(deja_builder_finish(b, NULL, 0, &f, NULL), DEJA_OK);
    deja_builder_free(b);
    return f;
}

/* A call returns DEJA_ENOTSUP if, and only if, the filter cannot do it. */
static void check_calls(deja_filter *f)
{
    const deja_slice key = {"http://h/a", 10};
    deja_layer layer = DEJA_LAYER_INIT;
    uint64_t count;
    double keys;
    const struct {
        uint32_t capability;
        int status;
    } calls[] = {
        {DEJA_CAN_ADD, deja_filter_add(f, key, NULL, NULL)},
        {DEJA_CAN_REMOVE, deja_filter_remove(f, key, NULL, NULL)},
        {DEJA_CAN_COUNT, deja_filter_count(f, key, &count, NULL)},
        {DEJA_CAN_MERGE, deja_filter_merge(f, f, NULL)},
        {DEJA_CAN_FOLD, deja_filter_fold(f, 0, NULL)},
        {DEJA_CAN_OVERLAP, deja_filter_overlap(f, f, &keys, NULL, NULL)},
        {DEJA_CAN_PREFIX, deja_filter_prefix_batch(f, NULL, 0, NULL, NULL)},
        {DEJA_CAN_LAYER, deja_filter_layer(f, 0, &layer, NULL)},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(calls); i++)
        assert_int_equal(calls[i].status,
                         deja_filter_can(f, calls[i].capability) ? DEJA_OK : DEJA_ENOTSUP);
    deja_filter_free(f);
}

static void calls_agree_with_what_a_filter_says_it_can(void **state)
{
    for (uint32_t kind = 0; (kind = deja_kind_next(kind)) != 0;)
        check_calls(make(kind, 0));
    check_calls(make(DEJA_SPECTRAL, DEJA_MINIMAL_INCREASE));
    check_calls(make(DEJA_LAYERED, DEJA_LAYERED_PAPER));
    check_calls(make(DEJA_LAYERED, DEJA_LAYERED_WORDS));
}

static void a_filter_that_has_grown_cannot_fold(void **state)
{
    static const uint32_t part_kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    for (size_t i = 0; i < DJ_ARRAY_LEN(part_kinds); i++) {
        deja_options opt = DEJA_OPTIONS_INIT;
        deja_filter *f;
        opt.kind = DEJA_SCALABLE;
        opt.part_kind = part_kinds[i];
        opt.capacity = 64;
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        assert_true(deja_filter_can(f, DEJA_CAN_GROW | DEJA_CAN_MERGE));
        for (uint32_t key = 0; key < 100; key++)
            assert_int_equal(deja_filter_add(f, (deja_slice){&key, sizeof key}, NULL, NULL),
                             DEJA_OK);
        assert_false(deja_filter_can(f, DEJA_CAN_FOLD));
        check_calls(f);
    }
}

static void every_status_has_a_message(void **state)
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
        cmocka_unit_test(names_of_kinds_parse_back),
        cmocka_unit_test(kinds_are_listed_once_in_the_order_of_their_numbers),
        cmocka_unit_test(calls_agree_with_what_a_filter_says_it_can),
        cmocka_unit_test(a_filter_that_has_grown_cannot_fold),
        cmocka_unit_test(every_status_has_a_message),
    };
    return cmocka_run_group_tests_name("unit.kinds", tests, NULL, NULL);
}
