/* test_digest.c - the crawler's two hashes, against the standards' own examples. */
#include "crawler/archive/digest.h"
#include "unit.h"

/* From RFC 3174, and the empty text. */
static void sha1_is_written_in_base_32(void **state)
{
    (void)state;
    const deja_slice abc = {"abc", 3};
    struct digest d;
    assert_int_equal(digest_make(&abc, 1, &d), DEJA_OK);
    assert_string_equal(d.text, "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
    assert_int_equal(digest_make(NULL, 0, &d), DEJA_OK);
    assert_string_equal(d.text, "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
}

static void hashing_in_pieces_equals_hashing_at_once(void **state)
{
    (void)state;
    const deja_slice pieces[] = {{"a", 1}, {NULL, 0}, {"bc", 2}};
    struct digest d;
    assert_int_equal(digest_make(pieces, 3, &d), DEJA_OK);
    assert_string_equal(d.text, "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
}

/* The first eight bytes of the digest in FIPS 180-2. */
static void the_number_is_the_start_of_the_sha256(void **state)
{
    (void)state;
    int64_t number;
    assert_int_equal(digest_number((deja_slice){"abc", 3}, &number), DEJA_OK);
    assert_int_equal((uint64_t)number, UINT64_C(0xba7816bf8f01cfea));
    assert_int_equal(digest_number((deja_slice){NULL, 0}, &number), DEJA_OK);
    assert_int_equal((uint64_t)number, UINT64_C(0xe3b0c44298fc1c14));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha1_is_written_in_base_32),
        cmocka_unit_test(hashing_in_pieces_equals_hashing_at_once),
        cmocka_unit_test(the_number_is_the_start_of_the_sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
