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

/* Lines 11 to 16 of a file, of which 12 and 15 were removed. */
static void records_know_their_lines(void **state)
{
    (void)state;
    static const uint64_t lines[] = {11, 13, 13, 14, 16};
    struct block b;
    block_init(&b);
    assert_int_equal(block_reset(&b, 100, 8), 0);
    memcpy(b.data, "ab\ncd\nef\ngh\n", 12);
    b.line = 11;
    b.n = 5;
    b.ends[0] = 3;
    b.ends[1] = b.ends[2] = 6; /* one line with two keys */
    b.ends[3] = 9;
    b.ends[4] = 12;
    assert_true(block_gap(&b, 3) && block_gap(&b, 9));
    for (size_t i = 0; i < b.n; i++)
        assert_int_equal(block_line(&b, i), lines[i]);
    for (size_t i = b.n; i > 0; i--)
        assert_int_equal(block_line(&b, i - 1), lines[i - 1]);
    assert_int_equal(block_text(&b, 2).len, 2);
    assert_memory_equal(block_text(&b, 2).data, "cd", 2);
    assert_true(block_gap(&b, 9)); /* one more at the same place */
    assert_int_equal(block_line(&b, 4), 17);
    assert_int_equal(block_reset(&b, 100, 8), 0);
    memcpy(b.data, "ab\n", 3);
    b.n = 1;
    b.ends[0] = 3;
    assert_int_equal(block_line(&b, 0), 11);
    block_fini(&b);
}

static void only_wanted_lines_are_reported(void **state)
{
    (void)state;
    struct block b;
    block_init(&b);
    assert_int_equal(block_reset(&b, 100, 8), 0);
    block_report(&b, BLOCK_NO_KEY, 1, (deja_slice){"a", 1});
    assert_int_equal(b.n_odd, 0);
    b.odd_most = 2;
    for (uint64_t i = 1; i < 9; i++)
        block_report(&b, i % 2 ? BLOCK_NO_KEY : BLOCK_NO_URL, i, (deja_slice){"a", 1});
    assert_int_equal(b.n_odd, 4);
    assert_int_equal(b.odd[3].line, 4);
    assert_false(block_wants(&b, BLOCK_NO_URL));
    assert_true(block_wants(&b, BLOCK_NO_IDNA));
    assert_int_equal(block_reset(&b, 100, 8), 0);
    assert_int_equal(b.n_odd, 0);
    assert_true(block_wants(&b, BLOCK_NO_URL));
    block_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_that_was_taken_does_not_move),
        cmocka_unit_test(room_that_is_not_taken_is_reused),
        cmocka_unit_test(lines_may_have_no_key_or_many),
        cmocka_unit_test(records_know_their_lines),
        cmocka_unit_test(only_wanted_lines_are_reported),
    };
    return cmocka_run_group_tests_name("unit.blocks", tests, NULL, NULL);
}
