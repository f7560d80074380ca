/* test_kinds.c - names of kinds, words of statuses, and the version. */
#include "core/base/compiler.h"
#include "deja.h"
#include "unit.h"
#include <stdio.h>

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
        cmocka_unit_test(names_of_kinds_are_read_as_they_are_written),
        cmocka_unit_test(every_status_has_words),
    };
    return cmocka_run_group_tests_name("unit.kinds", tests, NULL, NULL);
}
