/* test_blocks.c - the room of a block, and new records for the same data. */
#include "tools/input/blocks.h"
#include "unit.h"

#include <string.h>

static void room_that_was_taken_does_not_move(void **state)
{
    (void)state;
    enum {
        N = 3000
    };
    static char *taken[N];
    struct block b;
    block_init(&b);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(block_reset(&b, 1 << 20, 100), 0);
        for (size_t i = 0; i < N; i++) {
            taken[i] = block_room(&b, 100 + i);
            assert_non_null(taken[i]);
            memset(taken[i], (int)(i % 251), 100 + i);
            block_take(&b, i % 200);
        }
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i % 200; j++)
                assert_int_equal((unsigned char)taken[i][j], i % 251);
    }
    block_fini(&b);
}

static void room_that_is_not_taken_is_reused(void **state)
{
    (void)state;
    struct block b;
    block_init(&b);
    assert_int_equal(block_reset(&b, 100, 4), 0);
    char *first = block_room(&b, 10);
    assert_ptr_equal(block_room(&b, 20), first);
    block_take(&b, 5);
    assert_ptr_equal(block_room(&b, 10), first + 5);
    block_take(&b, 0);
    assert_ptr_equal(block_room(&b, 0), first + 5);
    assert_int_equal(block_reset(&b, 100, 4), 0);
    block_fini(&b);
}

static void lines_may_have_no_key_or_many(void **state)
{
    (void)state;
    struct block b;
    block_init(&b);
    assert_int_equal(block_reset(&b, 100, 4), 0);
    memcpy(b.data, "ab\ncd\n", 6);
    for (int times = 1; times < 40; times *= 3) {
        b.n = 2;
        b.ends[0] = 3;
        b.ends[1] = 6;
        block_rekey(&b);
        for (size_t i = 0; i < b.n; i++)
            for (int j = 0; j < times; j++)
                assert_true(block_rekey_add(&b, (deja_slice){b.data, (size_t)j}, b.ends[i]));
        block_rekey_end(&b);
        assert_int_equal(b.n, 2 * times);
        assert_int_equal(b.shared, times > 1);
        for (size_t i = 0; i < b.n; i++) {
            assert_int_equal(b.ends[i], i < (size_t)times ? 3 : 6);
            assert_int_equal(b.keys[i].len, i % (size_t)times);
        }
    }
    block_rekey(&b);
    block_rekey_end(&b);
    assert_int_equal(b.n, 0);
    assert_false(b.shared);
    assert_int_equal(block_reset(&b, 100, 4), 0); /* everything shrinks again */
    assert_true(b.records_cap <= 8 && b.new_cap <= 16);
    block_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_that_was_taken_does_not_move),
        cmocka_unit_test(room_that_is_not_taken_is_reused),
        cmocka_unit_test(lines_may_have_no_key_or_many),
    };
    return cmocka_run_group_tests_name("unit.blocks", tests, NULL, NULL);
}
