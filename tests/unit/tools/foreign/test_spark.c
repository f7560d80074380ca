/* test_spark.c - Spark's Bloom filters: crafted headers and sizes.  The bytes that Spark writes are
 * compared in cli.foreign_golden. */
#include "adding.h"
#include "tools/foreign/formats.h"

static const uint8_t one[12 + 8] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0xff};
static const uint8_t two[16 + 8] = {0, 0, 0, 2, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xf9, 0, 0, 0, 1, 1};

static void both_versions_are_read_and_written_again(void **state)
{
    struct foreign f;
    assert_ptr_equal(adding_detect(one, sizeof one), &foreign_spark);
    assert_int_equal(adding_read(&f, &foreign_spark, one, sizeof one, NULL), DEJA_OK);
    assert_int_equal(f.variant, 1);
    assert_int_equal(foreign_bits_set(&f.part[0]), 8);
    adding_writes(&f, one, sizeof one);
    foreign_free(&f);
    assert_ptr_equal(adding_detect(two, sizeof two), &foreign_spark);
    assert_int_equal(adding_read(&f, &foreign_spark_2, two, sizeof two, NULL), DEJA_OK);
    assert_int_equal(f.variant, 2);
    assert_int_equal((int32_t)f.seed, -7);
    adding_writes(&f, two, sizeof two);
    foreign_free(&f);
}

static void refused(const uint8_t *file, size_t len, size_t at, uint8_t value, const char *why)
{
    uint8_t wrong[sizeof two + 1] = {0};
    struct foreign f;
    deja_error err = {0, ""};
    memcpy(wrong, file, len);
    wrong[at] = value;
    len += at == len; /* one more byte */
    assert_null(adding_detect(wrong, len));
    assert_int_equal(adding_read(&f, &foreign_spark, wrong, len, &err), DEJA_EFORMAT);
    if (!strstr(err.text, why))
        fail_msg("'%s' instead of '%s'", err.text, why);
}

static void crafted_headers_are_refused(void **state)
{
    struct foreign f;
    refused(one, sizeof one, 3, 3, "its version is 3");
    refused(one, sizeof one, 3, 0, "its version is 0");
    refused(one, sizeof one, 7, 0, "hash functions");
    refused(one, sizeof one, 4, 1, "hash functions");
    refused(one, sizeof one, 11, 0, "its number of words is 0");
    refused(one, sizeof one, 8, 0x80, "its number of words");
    refused(one, sizeof one, 8, 0x7f, "its bits end after 8 bytes of 17045651464");
    refused(two, sizeof two, 15, 2, "its bits end after 8 bytes of 16");
    refused(two, sizeof two, sizeof two, 0, "is longer than its header says");
    for (size_t len = 0; len < sizeof two; len++)
        assert_int_equal(adding_read(&f, &foreign_spark, two, len, NULL), DEJA_EFORMAT);
}

static void added_keys_are_found(void **state)
{
    const struct foreign_format *const formats[] = {&foreign_spark, &foreign_spark_2};
    for (size_t i = 0; i < 2; i++) {
        struct foreign f = {.format = formats[i]};
        assert_int_equal(foreign_new(&f, 100, 0.01, NULL), DEJA_OK);
        assert_int_equal(f.part[0].hashes, 7);
        assert_int_equal(f.part[0].bits, 960); /* 958, rounded up to a word */
        assert_true(adding_add(&f, "a\xff"));
        assert_false(adding_add(&f, "a\xff"));
        assert_false(adding_has(&f, "a\x7f"));
        foreign_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_are_read_and_written_again),
        cmocka_unit_test(crafted_headers_are_refused),
        cmocka_unit_test(added_keys_are_found),
    };
    return cmocka_run_group_tests_name("unit.spark", tests, NULL, NULL);
}
