/* test_copy.c - a copy of a file is the same filter. */
#include "unit.h"

#define EVERY .seed = 7,
#include "combining.h"

static void a_copy_is_the_same_filter(void **state)
{
    const deja_options every[] = {
        OPTIONS(.memory = 8192, .capacity = 1000),
        OPTIONS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 1000, .filters = 3),
        OPTIONS(.kind = DEJA_EXACT, .capacity = 1000),
        OPTIONS(.kind = DEJA_EXACT, .capacity = 1000, .flags = DEJA_DATES),
        OPTIONS(.kind = DEJA_SCALABLE, .capacity = 100),
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        const char *path = make_file("one", every[i], 0, 900), *to = scratch_path("other");
        deja_filter *f = open_file(path, 0), *copy;
        deja_error err = {0, ""};
        works(deja_filter_copy(f, to, 0, &copy, &err), &err);
        assert_int_equal(access(to, F_OK), -1);
        sync_file(copy);
        deja_filter_free(copy);
        assert_int_equal(deja_filter_copy(f, to, 0, &copy, &err), DEJA_EINVAL);
        assert_non_null(strstr(err.text, "already exists"));
        deja_filter_free(f);
        struct bytes a = read_file(path), b = read_file(to);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.data, b.data, 3072);
        assert_memory_equal(a.data + 4096, b.data + 4096, a.len - 4096);
        f = open_file(to, 0);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.offered, 900);
        assert_true(s.keys > 890);
        deja_filter_free(f);
        free(a.data);
        free(b.data);
        unlink(path);
        unlink(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_same_filter),
    };
    return cmocka_run_group_tests_name("unit.copy", tests, scratch_open, scratch_close);
}
