/* test_redisbloom.c - RedisBloom's dumps: sizes, growth, pieces.  Dumps of a real server are compared
 * in cli.foreign_golden and redis.migration. */
#include "adding.h"
#include "tools/foreign/redisbloom.h"

#include <stdio.h>

enum {
    HEADER_LEN = 73 /* of a filter with one part */
};

static struct foreign two(void)
{
    struct foreign f = {.format = &foreign_redisbloom};
    assert_int_equal(foreign_new(&f, 2, 0.1, NULL), DEJA_OK);
    return f;
}

static void sizes_are_those_of_redisbloom(void **state)
{
    struct foreign f = two();
    assert_int_equal(f.part[0].hashes, 5); /* half of the rate is for later parts */
    assert_int_equal(f.part[0].bits, 64);
    assert_int_equal(f.part[0].capacity, 2);
    assert_int_equal(redisbloom_header_len(&f), HEADER_LEN);
    foreign_free(&f);
}

static void a_full_filter_grows(void **state)
{
    struct foreign f = two();
    char key[16];
    for (int i = 0; i < 6; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_true(adding_add(&f, key));
        assert_false(adding_add(&f, key));
    }
    assert_int_equal(f.n_parts, 2);
    assert_int_equal(f.part[0].keys, 2);
    assert_int_equal(f.part[1].keys, 4);
    assert_int_equal(f.part[1].capacity, 4);
    assert_int_equal(f.part[1].hashes, 6);
    assert_true(adding_has(&f, "k0") && adding_has(&f, "k5"));
    foreign_free(&f);
}

static void a_dump_is_read_in_pieces_of_any_size(void **state)
{
    struct foreign f = two(), again = {.format = &foreign_redisbloom};
    for (int i = 0; i < 20; i++)
        adding_add(&f, (char[2]){(char)('a' + i), 0});
    const deja_slice bytes = adding_bytes(&f);
    const size_t head = (size_t)redisbloom_header_len(&f);
    const uint8_t *data = bytes.data;
    assert_true(f.n_parts > 2);
    assert_true(redisbloom_is_header(data, head));
    assert_false(redisbloom_is_header(data, head - 1));
    assert_ptr_equal(adding_detect(data, bytes.len), &foreign_redisbloom);
    assert_null(adding_detect(data, bytes.len - 1));
    assert_int_equal(redisbloom_begin(&again, data, head, NULL), DEJA_OK);
    for (size_t at = head; at < bytes.len; at++)
        assert_int_equal(redisbloom_write(&again, at - head, data + at, 1, NULL), DEJA_OK);
    assert_int_equal(redisbloom_write(&again, bytes.len - head, data, 1, NULL), DEJA_EFORMAT);
    adding_writes(&again, data, bytes.len);
    uint8_t out[64];
    assert_int_equal(redisbloom_read(&again, 0, out, sizeof out), 8); /* to the end of a part */
    assert_memory_equal(out, data + head, 8);
    foreign_free(&again);
    for (size_t len = 0; len < bytes.len; len++)
        assert_int_equal(adding_read(&again, &foreign_redisbloom, data, len, NULL), DEJA_EFORMAT);
    free((void *)(uintptr_t)bytes.data);
    foreign_free(&f);
}

static void impossible_sizes_are_refused(void **state)
{
    struct foreign f = {.format = &foreign_redisbloom};
    assert_int_equal(foreign_new(&f, 0, 0.1, NULL), DEJA_EINVAL);
    assert_int_equal(foreign_new(&f, UINT64_C(1) << 53, 0.001, NULL), DEJA_EINVAL);
    assert_int_equal(foreign_new(&f, 1, 1e-320, NULL), DEJA_OK); /* k = 1064 */
    foreign_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_redisbloom),
        cmocka_unit_test(a_full_filter_grows),
        cmocka_unit_test(a_dump_is_read_in_pieces_of_any_size),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests_name("unit.redisbloom", tests, NULL, NULL);
}
