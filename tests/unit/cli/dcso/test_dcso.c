/* test_dcso.c - the bytes, sizes and positions of DCSO's bloom files.
 *
 * The expected bytes come from DCSO's own program (version 0.2.4): `bloom create -n 10 -p 0.01`,
 * with "foo" and "bar" inserted. */
#include "cli/dcso/dcso.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BODY_LEN 16

static const uint8_t golden[DCSO_HEADER_LEN + BODY_LEN] = {
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* flags */
    0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* n = 10 */
    0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x84, 0x3f, /* p = 0.01 */
    0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* k = 7 */
    0x5f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* m = 95 */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* N = 2 */
    0x00, 0x81, 0x20, 0x20, 0x10, 0x50, 0x00, 0x40, 0xc4, 0x01,
};

static deja_slice text(const char *s)
{
    return (deja_slice){s, strlen(s)};
}

static uint64_t hash_of(const char *s)
{
    const deja_slice key = text(s);
    uint64_t hash;
    dcso_hash(NULL, &key, 1, &hash);
    return hash;
}

static bool has(const struct dcso *d, const char *s)
{
    const uint64_t hash = hash_of(s);
    uint8_t found;
    dcso_contains(d, &hash, 1, &found);
    return found;
}

static bool add(struct dcso *d, const char *s)
{
    const uint64_t hash = hash_of(s);
    uint8_t is_new;
    dcso_add(d, &hash, 1, &is_new);
    return is_new;
}

/* --- A file of the original program ------------------------------------------------ */

static void we_write_the_bytes_of_the_original_program(void **state)
{
    uint8_t header[DCSO_HEADER_LEN], body[BODY_LEN] = {0};
    struct dcso d;
    assert_int_equal(dcso_plan(&d, 10, 0.01, NULL), DEJA_OK);
    assert_int_equal(dcso_body_len(&d), BODY_LEN);
    d.body = body;
    assert_true(add(&d, "foo"));
    assert_true(add(&d, "bar"));
    assert_false(add(&d, "foo")); /* not counted again */
    dcso_encode(&d, header);
    assert_memory_equal(header, golden, DCSO_HEADER_LEN);
    assert_memory_equal(body, golden + DCSO_HEADER_LEN, BODY_LEN);
}

static void we_read_the_bytes_of_the_original_program(void **state)
{
    uint8_t body[BODY_LEN];
    struct dcso d;
    memcpy(body, golden + DCSO_HEADER_LEN, BODY_LEN);
    assert_true(dcso_is_magic(golden));
    assert_int_equal(dcso_decode(golden, &d, NULL), DEJA_OK);
    assert_int_equal(d.capacity, 10);
    assert_int_equal(d.hashes, 7);
    assert_int_equal(d.bits, 95);
    assert_int_equal(d.keys, 2);
    assert_true(d.fp_rate >= 0.01 && d.fp_rate <= 0.01);
    d.body = body;
    assert_true(has(&d, "foo"));
    assert_true(has(&d, "bar"));
    assert_false(has(&d, "baz"));
    assert_false(has(&d, ""));
    assert_int_equal(dcso_bits_set(&d), 12);
    assert_true(fabs(dcso_distinct(&d, 12) - 1.9) < 0.1);
    assert_true(fabs(dcso_rate(&d, 12) - pow(12.0 / 95, 7)) < 1e-15);
}

/* As `bloom show` prints them. */
static void sizes_are_those_of_the_original_program(void **state)
{
    static const struct {
        uint64_t n;
        double p;
        uint64_t bits;
        uint32_t hashes;
    } rows[] = {
        {1, 0.5, 1, 1},    {2, 0.5, 2, 1},           {3, 0.5, 4, 1},
        {10, 0.01, 95, 7}, {1000, 0.001, 14377, 10}, {3000000, 1e-9, 129398288, 30},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dcso d;
        assert_int_equal(dcso_plan(&d, rows[i].n, rows[i].p, NULL), DEJA_OK);
        assert_int_equal(d.bits, rows[i].bits);
        assert_int_equal(d.hashes, rows[i].hashes);
        assert_int_equal(d.keys, 0);
    }
}

/* 64-bit FNV-1, not FNV-1a; the values are the authors' test vectors. */
static void keys_are_hashed_with_fnv_1(void **state)
{
    assert_int_equal(hash_of(""), UINT64_C(0xcbf29ce484222325));
    assert_int_equal(hash_of("a"), UINT64_C(0xaf63bd4c8601b7be));
    assert_int_equal(hash_of("foobar"), UINT64_C(0x340d8765a4dda9c2));
}

/* --- Other files ----------------------------------------------------------------- */

static void refused(size_t at, uint64_t value, const char *field)
{
    uint8_t header[DCSO_HEADER_LEN];
    struct dcso d;
    deja_error err = {0, ""};
    memcpy(header, golden, sizeof header);
    for (size_t i = 0; i < 8; i++)
        header[at + i] = (uint8_t)(value >> 8 * i);
    if (dcso_decode(header, &d, &err) != DEJA_EFORMAT || !strstr(err.text, field))
        fail_msg("%zu: not refused for its %s: '%s'", at, field, err.text);
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void the_error_for_a_crafted_header_names_the_field(void **state)
{
    refused(0, 0, "version");
    refused(0, 2, "version");
    refused(0, 0x101, "flags");
    refused(0, UINT64_C(1) << 63 | 1, "flags");
    refused(16, bits_of(0), "rate");
    refused(16, bits_of(1), "rate");
    refused(16, bits_of(-0.5), "rate");
    refused(16, bits_of((double)INFINITY), "rate");
    refused(16, bits_of((double)NAN), "rate");
    refused(24, 0, "hash functions");
    refused(24, DCSO_MAX_HASHES + 1, "hash functions");
    refused(24, UINT64_C(1) << 32 | 7, "hash functions");
    refused(24, UINT64_MAX, "hash functions");
    refused(32, 0, "number of bits");
    refused(32, DCSO_MAX_BITS + 1, "number of bits");
    refused(32, UINT64_MAX, "number of bits");
}

static void other_files_have_another_magic(void **state)
{
    assert_false(dcso_is_magic((const uint8_t *)"DEJA\r\n\x1a\n"));
    assert_false(dcso_is_magic((const uint8_t[8]){1, 1}));
    assert_false(dcso_is_magic((const uint8_t[8]){2}));
}

static void impossible_sizes_are_refused(void **state)
{
    struct dcso d;
    assert_int_equal(dcso_plan(&d, 0, 0.1, NULL), DEJA_EINVAL);
    assert_int_equal(dcso_plan(&d, 1, 0, NULL), DEJA_EINVAL);
    assert_int_equal(dcso_plan(&d, 1, 1, NULL), DEJA_EINVAL);
    assert_int_equal(dcso_plan(&d, 1, (double)NAN, NULL), DEJA_EINVAL);
    assert_int_equal(dcso_plan(&d, UINT64_MAX, 0.1, NULL), DEJA_EINVAL);
    assert_int_equal(dcso_plan(&d, UINT64_C(1) << 53, 0.1, NULL), DEJA_EINVAL);
    assert_int_equal(dcso_plan(&d, 1, 0.9999, NULL),
                     DEJA_OK); /* the original program makes 0 bits */
    assert_int_equal(d.bits, 1);
    assert_int_equal(d.hashes, 1);
    assert_int_equal(dcso_plan(&d, 1, 1e-308, NULL), DEJA_OK);
    assert_true(d.hashes <= DCSO_MAX_HASHES);
}

/* --- Bits ------------------------------------------------------------------------- */

static void bits_after_the_last_one_are_ignored(void **state)
{
    uint8_t body[8];
    struct dcso d = {.bits = 3, .hashes = 1, .body = body};
    memset(body, 0xff, sizeof body);
    assert_int_equal(dcso_bits_set(&d), 3);
    assert_true(isinf(dcso_distinct(&d, 3))); /* full: any number of keys */
    d.bits = 1;
    assert_true(isinf(dcso_distinct(&d, 1)));
    d.bits = 3;
    body[0] = 0xf8;
    assert_int_equal(dcso_bits_set(&d), 0);
    assert_true(dcso_distinct(&d, 0) <= 0 && dcso_rate(&d, 0) <= 0);
    d.bits = 64;
    assert_int_equal(dcso_bits_set(&d), 61);
}

static void added_keys_are_found(void **state)
{
    uint8_t body[2400] = {0};
    struct dcso d;
    uint64_t claimed = 0;
    char key[32];
    assert_int_equal(dcso_plan(&d, 2000, 0.01, NULL), DEJA_OK);
    assert_true(dcso_body_len(&d) <= sizeof body);
    d.body = body;
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "https://a.example/%d", i);
        add(&d, key);
        assert_true(has(&d, key));
    }
    for (int i = 2000; i < 22000; i++) {
        snprintf(key, sizeof key, "https://a.example/%d", i);
        claimed += has(&d, key);
    }
    assert_in_range(claimed, 130, 270); /* 200 plus five standard deviations */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(we_write_the_bytes_of_the_original_program),
        cmocka_unit_test(we_read_the_bytes_of_the_original_program),
        cmocka_unit_test(sizes_are_those_of_the_original_program),
        cmocka_unit_test(keys_are_hashed_with_fnv_1),
        cmocka_unit_test(the_error_for_a_crafted_header_names_the_field),
        cmocka_unit_test(other_files_have_another_magic),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(bits_after_the_last_one_are_ignored),
        cmocka_unit_test(added_keys_are_found),
    };
    return cmocka_run_group_tests_name("unit.dcso", tests, NULL, NULL);
}
