/* test_lab_baseline.c - the lists and sets of URLs hold what was added. */
#include "lab/engine/lab_baseline.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

#define N 1000u

struct url {
    char s[40];
};

static deja_slice url(unsigned i, struct url *room)
{
    const int len = snprintf(room->s, sizeof room->s, "http://host.example/%u", i);
    return (deja_slice){room->s, (size_t)len};
}

static void a_list_keeps_copies_in_order(void **state)
{
    struct lab_strings l = {0};
    struct url room;
    size_t bytes = 0;
    for (unsigned i = 0; i < N; i++) {
        bytes += url(i, &room).len + 1;
        assert_int_equal(lab_strings_add(&l, url(i, &room)), DEJA_OK);
    }
    memset(&room, 0, sizeof room);
    assert_int_equal(l.n, N);
    assert_string_equal(l.item[7], "http://host.example/7");
    assert_int_equal(l.asked, bytes + 1024 * sizeof(char *));
    lab_strings_fini(&l);
    lab_strings_fini(&l); /* empty */
}

static void a_set_holds_each_key_once(void **state)
{
    struct lab_set s = {0};
    struct url room;
    assert_false(lab_set_has(&s, url(1, &room)));
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < N; i++)
            assert_int_equal(lab_set_add(&s, url(i, &room)), DEJA_OK);
    assert_int_equal(s.n, N);
    assert_true(s.n <= s.buckets / 4 * 3);
    const size_t asked = s.asked;
    for (unsigned i = 0; i < 2 * N; i++)
        assert_int_equal(lab_set_has(&s, url(i, &room)), i < N);
    assert_false(lab_set_has(&s, (deja_slice){"", 0}));
    assert_int_equal(lab_set_add(&s, (deja_slice){"", 0}), DEJA_OK);
    assert_true(lab_set_has(&s, (deja_slice){"", 0}));
    assert_true(s.asked > asked);
    lab_set_fini(&s);
}

static void searches_find_what_is_there(void **state)
{
    static struct url text[N];
    deja_slice list[N];
    struct url room;
    for (unsigned i = 0; i < N; i++)
        list[i] = url(2 * i, &text[i]);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(lab_linear_has(list, N, url(i, &room)), i % 2 == 0);
    lab_sort(list, N);
    for (unsigned i = 0; i < 2 * N; i++)
        assert_int_equal(lab_binary_has(list, N, url(i, &room)), i % 2 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_keeps_copies_in_order),
        cmocka_unit_test(a_set_holds_each_key_once),
        cmocka_unit_test(searches_find_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
