/* test_rbloom.c - rbloom's files, and SHA-256: the test vectors of FIPS 180.  Files that rbloom wrote
 * are compared in cli.foreign_golden. */
#include "adding.h"
#include "tools/foreign/formats.h"
#include "tools/foreign/sha256.h"
#include <stdio.h>

static void digest_is(const char *text, size_t repeat, const char *expected)
{
    struct sha256 s;
    uint8_t digest[32];
    char hex[65];
    sha256_init(&s);
    for (size_t i = 0; i < repeat; i++)
        sha256_add(&s, text, strlen(text));
    sha256_end(&s, digest);
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
}

static void sha256_has_the_published_digests(void **state)
{
    digest_is("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_is("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    digest_is("aaaaaaaaaa", 100000,
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static const uint8_t file[8 + 2] = {3, 0, 0, 0, 0, 0, 0, 0, 0xff, 1};

static void a_file_is_read_and_written_again(void **state)
{
    struct foreign f;
    assert_int_equal(adding_read(&f, &foreign_rbloom, file, sizeof file, NULL), DEJA_OK);
    assert_int_equal(f.part[0].hashes, 3);
    assert_int_equal(f.part[0].bits, 16);
    assert_int_equal(foreign_bits_set(&f.part[0]), 9);
    adding_writes(&f, file, sizeof file);
    adding_add(&f, "a");
    assert_true(adding_has(&f, "a"));
    foreign_free(&f);
}

static void crafted_files_are_refused(void **state)
{
    uint8_t wrong[sizeof file];
    struct foreign f;
    memcpy(wrong, file, sizeof file);
    for (size_t len = 0; len <= 8; len++)
        assert_int_equal(adding_read(&f, &foreign_rbloom, file, len, NULL), DEJA_EFORMAT);
    wrong[0] = 0;
    assert_int_equal(adding_read(&f, &foreign_rbloom, wrong, sizeof wrong, NULL), DEJA_EFORMAT);
    wrong[7] = 1;
    assert_int_equal(adding_read(&f, &foreign_rbloom, wrong, sizeof wrong, NULL), DEJA_EFORMAT);
    assert_null(adding_detect(file, sizeof file));
}

static void impossible_sizes_are_refused(void **state)
{
    struct foreign f = {.format = &foreign_rbloom};
    assert_int_equal(foreign_new(&f, 100, 0.6, NULL), DEJA_EINVAL); /* k is 0 */
    assert_int_equal(foreign_new(&f, UINT64_C(1) << 53, 0.01, NULL), DEJA_EINVAL);
    assert_int_equal(foreign_new(&f, 100, 0.01, NULL), DEJA_OK);
    assert_int_equal(f.part[0].hashes, 6); /* 6.6, truncated */
    assert_int_equal(f.part[0].len, 120);
    foreign_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_has_the_published_digests),
        cmocka_unit_test(a_file_is_read_and_written_again),
        cmocka_unit_test(crafted_files_are_refused),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests_name("unit.rbloom", tests, NULL, NULL);
}
