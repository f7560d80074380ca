/* test_dcso.c - the bytes, sizes and positions of DCSO's bloom files.
 *
 * The expected bytes come from DCSO's own program (version 0.2.4): `bloom create -n 10 -p 0.01`,
 * with "foo" and "bar" inserted. */
#include "adding.h"
#include "tools/foreign/formats.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEADER_LEN 48
#define BODY_LEN   16

static const uint8_t golden[HEADER_LEN + BODY_LEN] = {
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* flags */
    0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* n = 10 */
    0x7b, 0x14, 0xae, 0x47, 0xe1, 0x7a, 0x84, 0x3f, /* p = 0.01 */
    0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* k = 7 */
    0x5f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* m = 95 */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* N = 2 */
    0x00, 0x81, 0x20, 0x20, 0x10, 0x50, 0x00, 0x40, 0xc4, 0x01,
};

/* --- A file of the original program ------------------------------------------------ */

static void we_write_the_bytes_of_the_original_program(void **state)
{
    struct foreign f = {.format = &foreign_dcso};
    assert_int_equal(foreign_new(&f, 10, 0.01, NULL), DEJA_OK);
    assert_true(adding_add(&f, "foo"));
    assert_true(adding_add(&f, "bar"));
    assert_false(adding_add(&f, "foo")); /* not counted again */
    adding_writes(&f, golden, sizeof golden);
    foreign_free(&f);
}

static void we_read_the_bytes_of_the_original_program(void **state)
{
    struct foreign f;
    assert_ptr_equal(adding_detect(golden, sizeof golden), &foreign_dcso);
    assert_int_equal(adding_read(&f, &foreign_dcso, golden, sizeof golden, NULL), DEJA_OK);
    assert_int_equal(f.n_parts, 1);
    assert_int_equal(f.part[0].capacity, 10);
    assert_int_equal(f.part[0].hashes, 7);
    assert_int_equal(f.part[0].bits, 95);
    assert_int_equal(f.keys, 2);
    assert_true(f.part[0].fp_rate >= 0.01 && f.part[0].fp_rate <= 0.01);
    assert_true(adding_has(&f, "foo"));
    assert_true(adding_has(&f, "bar"));
    assert_false(adding_has(&f, "baz"));
    assert_false(adding_has(&f, ""));
    assert_int_equal(foreign_bits_set(&f.part[0]), 12);
    assert_true(fabs(foreign_distinct(&f.part[0], 12) - 1.9) < 0.1);
    assert_true(fabs(foreign_rate(&f) - pow(12.0 / 95, 7)) < 1e-15);
    foreign_free(&f);
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
        struct foreign f = {.format = &foreign_dcso};
        assert_int_equal(foreign_dcso.plan(&f, rows[i].n, rows[i].p, NULL), DEJA_OK);
        assert_int_equal(f.part[0].bits, rows[i].bits);
        assert_int_equal(f.part[0].hashes, rows[i].hashes);
        assert_int_equal(f.keys, 0);
        foreign_free(&f);
    }
}

/* 64-bit FNV-1, not FNV-1a; the values are the authors' test vectors. */
static uint64_t hash_of(const char *s)
{
    const deja_slice key = {s, strlen(s)};
    uint64_t hash;
    foreign_dcso.hash(NULL, &key, 1, &hash);
    return hash;
}

static void keys_are_hashed_with_fnv_1(void **state)
{
    assert_int_equal(hash_of(""), UINT64_C(0xcbf29ce484222325));
    assert_int_equal(hash_of("a"), UINT64_C(0xaf63bd4c8601b7be));
    assert_int_equal(hash_of("foobar"), UINT64_C(0x340d8765a4dda9c2));
}

/* --- Other files ----------------------------------------------------------------- */

static void refused(size_t at, uint64_t value, const char *field)
{
    uint8_t file[sizeof golden];
    struct foreign f;
    deja_error err = {0, ""};
    memcpy(file, golden, sizeof file);
    for (size_t i = 0; i < 8; i++)
        file[at + i] = (uint8_t)(value >> 8 * i);
    if (adding_read(&f, &foreign_dcso, file, sizeof file, &err) != DEJA_EFORMAT ||
        !strstr(err.text, field))
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
    refused(24, FOREIGN_MAX_HASHES + 1, "hash functions");
    refused(24, UINT64_C(1) << 32 | 7, "hash functions");
    refused(24, UINT64_MAX, "hash functions");
    refused(32, 0, "number of bits");
    refused(32, FOREIGN_MAX_BITS + 1, "number of bits");
    refused(32, UINT64_MAX, "number of bits");
}

static void other_files_have_another_magic(void **state)
{
    assert_null(adding_detect((const uint8_t *)"DEJA\r\n\x1a\n", 8));
    assert_null(adding_detect((const uint8_t[8]){1, 1}, 8));
    assert_null(adding_detect((const uint8_t[8]){2}, 8));
}

static int plan(struct foreign *f, uint64_t n, double p)
{
    foreign_free(f);
    return foreign_dcso.plan(f, n, p, NULL);
}

static void impossible_sizes_are_refused(void **state)
{
    struct foreign f = {.format = &foreign_dcso};
    assert_int_equal(plan(&f, 0, 0.1), DEJA_EINVAL);
    assert_int_equal(plan(&f, 1, 0), DEJA_EINVAL);
    assert_int_equal(plan(&f, 1, 1), DEJA_EINVAL);
    assert_int_equal(plan(&f, 1, (double)NAN), DEJA_EINVAL);
    assert_int_equal(plan(&f, UINT64_MAX, 0.1), DEJA_EINVAL);
    assert_int_equal(plan(&f, UINT64_C(1) << 53, 0.1), DEJA_EINVAL);
    assert_int_equal(plan(&f, 1, 0.9999), DEJA_OK); /* the original program makes 0 bits */
    assert_int_equal(f.part[0].bits, 1);
    assert_int_equal(f.part[0].hashes, 1);
    assert_int_equal(plan(&f, 1, 1e-308), DEJA_OK);
    assert_true(f.part[0].hashes <= FOREIGN_MAX_HASHES);
    foreign_free(&f);
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
    };
    return cmocka_run_group_tests_name("unit.dcso", tests, NULL, NULL);
}
