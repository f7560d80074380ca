/* test_guava.c - Guava's Bloom filters: crafted headers, sizes, and keys as characters.  The bytes
 * that Guava writes are compared in cli.foreign_golden. */
#include "adding.h"
#include "tools/foreign/formats.h"
#include "tools/foreign/utf16.h"

static const uint8_t file[6 + 8] = {1, 2, 0, 0, 0, 1, 0xff, 0, 0, 0, 0, 0, 0, 1};

static void a_file_is_read_and_written_again(void **state)
{
    struct foreign f;
    assert_ptr_equal(adding_detect(file, sizeof file), &foreign_guava);
    assert_int_equal(adding_read(&f, &foreign_guava, file, sizeof file, NULL), DEJA_OK);
    assert_int_equal(f.part[0].hashes, 2);
    assert_int_equal(f.part[0].bits, 64);
    assert_int_equal(foreign_bits_set(&f.part[0]), 9);
    adding_writes(&f, file, sizeof file);
    foreign_free(&f);
}

static void refused(size_t at, uint8_t value, const char *why)
{
    uint8_t wrong[sizeof file];
    struct foreign f;
    deja_error err = {0, ""};
    memcpy(wrong, file, sizeof file);
    wrong[at] = value;
    assert_null(adding_detect(wrong, sizeof wrong));
    assert_int_equal(adding_read(&f, &foreign_guava, wrong, sizeof wrong, &err), DEJA_EFORMAT);
    if (!strstr(err.text, why))
        fail_msg("'%s' instead of '%s'", err.text, why);
}

static void crafted_headers_are_refused(void **state)
{
    struct foreign f;
    deja_error err = {0, ""};
    refused(0, 2, "its strategy is 2");
    refused(1, 0, "hash functions");
    refused(5, 0, "its number of words is 0");
    refused(5, 2, "its bits end after 8 bytes of 16");
    refused(2, 0x7f, "its bits end after 8 bytes of 17045651464");
    refused(2, 0x80, "its number of words");
    for (size_t len = 0; len < sizeof file; len++)
        assert_int_equal(adding_read(&f, &foreign_guava, file, len, &err), DEJA_EFORMAT);
    uint8_t longer[sizeof file + 1] = {0};
    memcpy(longer, file, sizeof file);
    assert_int_equal(adding_read(&f, &foreign_guava, longer, sizeof longer, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "is longer than its header says"));
}

static void units_are(const char *text, size_t len, const uint16_t *expected, size_t n)
{
    for (size_t cap = 4; cap < 64; cap++) { /* in pieces of any size */
        uint8_t out[128];
        size_t have = 0;
        deja_slice rest = {text, len};
        while (rest.len > 0)
            have += utf16_le(&rest, out + have, cap);
        assert_int_equal(have, 2 * n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[2 * i] | out[2 * i + 1] << 8, expected[i]);
    }
}

#define UNITS(text, ...)                                                                          \
    do {                                                                                          \
        const uint16_t units[] = {__VA_ARGS__};                                                   \
        units_are(text, sizeof text - 1, units, sizeof units / sizeof units[0]);                  \
    } while (0)

static void characters_are_those_of_java(void **state)
{
    UNITS("a\x7f", 'a', 0x7f);
    UNITS("\xc3\xa9\xe2\x82\xac", 0xe9, 0x20ac);
    UNITS("\xf0\x9f\x98\x80z", 0xd83d, 0xde00, 'z');
    UNITS("\xef\xbf\xbf\xee\x80\x80", 0xffff, 0xe000);
    /* Replaced, as OpenJDK 17 does: */
    UNITS("\xff\xf0\x9f\x98z", 0xfffd, 0xfffd, 'z');
    UNITS("\xed\xa0\x80x", 0xfffd, 'x');
    UNITS("\xed\xa0", 0xfffd);
    UNITS("\xe2\x82z", 0xfffd, 'z');
    UNITS("\xf4\x90\x80\x80", 0xfffd, 0xfffd, 0xfffd, 0xfffd);
    UNITS("\xe0\x80\x80", 0xfffd, 0xfffd, 0xfffd);
    UNITS("\xc1\x80", 0xfffd, 0xfffd);
    UNITS("\xc3", 0xfffd);
}

static void added_keys_are_found(void **state)
{
    const struct foreign_format *const formats[] = {&foreign_guava, &foreign_guava_chars};
    for (size_t i = 0; i < 2; i++) {
        struct foreign f = {.format = formats[i]};
        assert_int_equal(foreign_new(&f, 100, 0.01, NULL), DEJA_OK);
        assert_int_equal(f.part[0].hashes, 7);
        assert_int_equal(f.part[0].bits, 960); /* 958, rounded up to a word */
        assert_false(adding_has(&f, "a"));
        assert_true(adding_add(&f, "a"));
        assert_false(adding_add(&f, "a"));
        assert_true(adding_has(&f, "a"));
        assert_true(adding_add(&f, ""));
        foreign_free(&f);
    }
}

static void impossible_sizes_are_refused(void **state)
{
    struct foreign f = {.format = &foreign_guava};
    assert_int_equal(foreign_new(&f, 0, 0.1, NULL), DEJA_EINVAL);
    assert_int_equal(foreign_new(&f, UINT64_C(1) << 40, 0.1, NULL), DEJA_EINVAL); /* 2^31 words */
    assert_int_equal(foreign_new(&f, 1, 1e-300, NULL), DEJA_EINVAL);              /* k > 255 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_and_written_again),
        cmocka_unit_test(crafted_headers_are_refused),
        cmocka_unit_test(characters_are_those_of_java),
        cmocka_unit_test(added_keys_are_found),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests_name("unit.guava", tests, NULL, NULL);
}
