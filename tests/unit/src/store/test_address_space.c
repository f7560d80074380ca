/* test_address_space.c - a 32-bit system refuses what it cannot address, with a message. */
#include "unit.h"

#include "deja.h"
#include "scratch.h"
#include "store/file.h"

#define TOO_MUCH ((uint64_t)3 << 30) /* bytes, for 32 bits */

static void a_filter_that_is_too_large_is_refused(void **state)
{
    const deja_options opt = {
        .size = sizeof opt, .kind = DEJA_BLOCKED, .memory = TOO_MUCH, .capacity = 1000000000};
    deja_error err = {0, ""};
    deja_filter *f = NULL;
    assert_int_equal(deja_filter_new(&opt, &f, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "cannot address a filter of that size"));
    assert_null(f);
}

/* Before, the length was cut to 32 bits, and the rest of the file was read past the mapping. */
static void a_file_that_is_too_large_is_refused(void **state)
{
    const char *path = scratch_path("large.deja");
    deja_error err = {0, ""};
    uint8_t *map = NULL;
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    MUST(fd >= 0 && ftruncate(fd, (off_t)(2 * TOO_MUCH)) == 0);
    assert_int_equal(dj_map(fd, 2 * TOO_MUCH, false, path, &map, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "large.deja: 6442 MB are more than a 32-bit system can map"));
    assert_null(map);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_that_is_too_large_is_refused),
        cmocka_unit_test(a_file_that_is_too_large_is_refused),
    };
    return cmocka_run_group_tests_name("unit.address_space", tests, scratch_open, scratch_close);
}
