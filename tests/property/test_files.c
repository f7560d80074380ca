/* test_files.c - reading a file restores the filter that was written, for every kind.
 *
 * The tests walk the list of kinds, which has one more kind here than in the library
 * (kind_probe.c). */
#include "unit.h"

#include "bodies.h"
#include "kinds/kind.h"
#include "scratch.h"
#include <stdlib.h>
#include <string.h>

#define KEYS 5000

static deja_filter *make(uint32_t kind, const char *path)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_builder *b;
    char key[32];
    opt.kind = kind;
    opt.capacity = KEYS;
    opt.fp_rate = 1e-3;
    opt.seed = 11;
    const bool built = deja_kind_can(kind, DEJA_CAN_BUILD);
    if (built)
        assert_int_equal(deja_builder_new(&opt, &b, NULL), DEJA_OK);
    else
        assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    for (int i = 0; i < KEYS; i++) {
        const deja_slice slice = {key, (size_t)snprintf(key, sizeof key, "http://h/%d/a", i)};
        assert_int_equal(built ? deja_builder_add(b, slice, NULL)
                               : deja_filter_add(f, slice, NULL, NULL),
                         DEJA_OK);
    }
    if (built) {
        assert_int_equal(deja_builder_finish(b, path, 0, &f, NULL), DEJA_OK);
        deja_builder_free(b);
    }
    return f;
}

/* The same bytes, answers and statistics. */
static void compare(const deja_filter *a, const deja_filter *b)
{
    deja_stats x = DEJA_STATS_INIT, y = DEJA_STATS_INIT;
    char key[32];
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++)
        assert_true(bodies_equal(a->part[i], b->part[i]));
    for (int i = 0; i < KEYS; i++) {
        const deja_slice slice = {key, (size_t)snprintf(key, sizeof key, "http://h/%d/a", i)};
        assert_true(deja_filter_contains(b, slice));
    }
    assert_int_equal(deja_filter_stats(a, 0, &x, NULL), DEJA_OK);
    assert_int_equal(deja_filter_stats(b, 0, &y, NULL), DEJA_OK);
    x.syncs = y.syncs; /* 0 in memory */
    assert_memory_equal(&x, &y, sizeof x);
}

static void a_file_gives_back_the_filter(void **state)
{
    for (uint32_t kind = 0; (kind = deja_kind_next(kind)) != 0;) {
        const char *path = scratch_path("kind.deja");
        deja_filter *f = make(kind, path), *again;
        deja_error err = {0};
        assert_int_equal(deja_filter_sync(f, &err), DEJA_OK);
        assert_int_equal(deja_file_verify(path, &err), DEJA_OK);
        assert_int_equal(deja_filter_open(path, 0, NULL, &again, &err), DEJA_OK);
        compare(f, again);
        deja_filter_free(again);
        deja_filter_free(f);
        assert_int_equal(remove(path), 0);
    }
}

static void an_export_gives_back_the_filter(void **state)
{
    for (uint32_t kind = 0; (kind = deja_kind_next(kind)) != 0;) {
        deja_filter *f = make(kind, scratch_path("exported.deja")), *again;
        const size_t len = (size_t)deja_filter_export_len(f);
        uint8_t *bytes = malloc(len);
        assert_non_null(bytes);
        assert_int_equal(deja_filter_export(f, 0, bytes, len), len);
        assert_int_equal(deja_filter_import(bytes, len, NULL, &again, NULL), DEJA_OK);
        compare(f, again);
        free(bytes);
        deja_filter_free(again);
        deja_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_back_the_filter),
        cmocka_unit_test(an_export_gives_back_the_filter),
    };
    return cmocka_run_group_tests_name("property.files", tests, scratch_open, scratch_close);
}
