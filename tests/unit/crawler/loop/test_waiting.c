/* test_waiting.c - how a URL that waits in a sieve is stored, and what is refused when it is read. */
#include "crawler/loop/waiting.h"
#include "rng.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static struct link link_of(const char *url, uint32_t depth, uint32_t hops, bool hidden)
{
    return (struct link){{url, strlen(url)}, depth, hops, hidden, 0};
}

static void a_link_comes_back(void **state)
{
    (void)state;
    const struct link links[] = {link_of("http://a/", 0, 0, false),
                                 link_of("https://a.example/b?c", 1, 0, true),
                                 link_of("http://a/", UINT32_MAX, 1000, true)};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        struct link back;
        assert_true(waiting_read(waiting_token(&links[i]), links[i].url, &back));
        assert_ptr_equal(back.url.data, links[i].url.data);
        assert_int_equal(back.url.len, links[i].url.len);
        assert_int_equal(back.depth, links[i].depth);
        assert_int_equal(back.hops, links[i].hops);
        assert_int_equal(back.hidden, links[i].hidden);
    }
}

static void the_parent_comes_back(void **state)
{
    (void)state;
    static const int64_t parents[] = {0, 1, 256, 123456789012345, INT64_MAX};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        struct link link = link_of("http://a/b", 1, 0, false), back;
        struct buffer record = {0};
        link.parent = parents[i];
        assert_true(waiting_record(&link, &record));
        assert_int_equal(record.len, parents[i] ? 19 : 10);
        assert_true(waiting_read(waiting_token(&link), buffer_slice(&record), &back));
        assert_int_equal(back.url.len, 10);
        assert_true(back.parent == parents[i]);
        for (size_t len = 11; len < record.len; len++)
            assert_false(waiting_read(0, (deja_slice){record.data, len}, &back));
        buffer_fini(&record);
    }
}

static void a_damaged_token_is_refused(void **state)
{
    (void)state;
    const struct link plain = link_of("http://a/", 3, 1, false);
    struct link back;
    for (unsigned bit = 0; bit < 64; bit++) {
        const bool harmless = bit < 42 || bit == 63; /* another depth, hops or hidden */
        assert_int_equal(
            waiting_read(waiting_token(&plain) ^ UINT64_C(1) << bit, plain.url, &back), harmless);
    }
    assert_false(waiting_read(UINT64_C(1001) << 32, plain.url, &back));
}

static void a_damaged_record_is_refused(void **state)
{
    (void)state;
    static char huge[65537];
    struct link back;
    const deja_slice bad[] = {{NULL, 0},
                              {"", 0},
                              {"ftp://a/", 8},
                              {"http://a/\0b", 11},
                              {huge, 65537},
                              {"http://a/\0\0\0\0\0\0\0\0\0", 18}, /* no parent is 0 */
                              {"http://a/\1\0\0\0\0\0\0\0\x80", 18},
                              {"\0\1\0\0\0\0\0\0\0", 9}};
    memset(huge, 'a', sizeof huge);
    memcpy(huge, "http://a/", 9);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(waiting_read(0, bad[i], &back));
    assert_true(waiting_read(0, (deja_slice){huge, 65536}, &back));
}

static void random_bytes_are_harmless(void **state)
{
    (void)state;
    struct rng rng = rng_seeded(1);
    for (int i = 0; i < 10000; i++) {
        char text[24] = "http://";
        struct link back;
        const size_t len = (size_t)rng_below(&rng, sizeof text);
        for (size_t at = rng_below(&rng, 2) ? 7 : 0; at < sizeof text; at++)
            text[at] = (char)rng_below(&rng, 256);
        char *exact = malloc(len + 1); /* for sanitizers */
        assert_non_null(exact);
        memcpy(exact, text, len);
        if (waiting_read(rng_next(&rng), (deja_slice){exact, len}, &back))
            assert_true(back.url.len == len && back.hops <= 1000);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_comes_back),
        cmocka_unit_test(the_parent_comes_back),
        cmocka_unit_test(a_damaged_token_is_refused),
        cmocka_unit_test(a_damaged_record_is_refused),
        cmocka_unit_test(random_bytes_are_harmless),
    };
    return cmocka_run_group_tests_name("unit.waiting", tests, NULL, NULL);
}
