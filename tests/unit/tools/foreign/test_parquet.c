/* test_parquet.c - Parquet's filters: crafted headers and footers, and the hash function.  Files of
 * other programs are compared in cli.foreign_golden. */
#include "adding.h"
#include "tools/foreign/formats.h"

static const uint8_t block[16 + 32] = {0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c,
                                       0,    0,    0x1c, 0x1c, 0, 0, 0,    1};

static void a_block_is_read_and_written_again(void **state)
{
    struct foreign f;
    assert_ptr_equal(adding_detect(block, 15 + 32), &foreign_sbbf);
    assert_int_equal(adding_read(&f, &foreign_sbbf, block, 15 + 32, NULL), DEJA_OK);
    assert_int_equal(f.part[0].bits, 256);
    assert_int_equal(f.part[0].hashes, 8);
    assert_int_equal(foreign_bits_set(&f.part[0]), 1);
    adding_writes(&f, block, 15 + 32);
    assert_true(adding_add(&f, "a"));
    assert_true(adding_has(&f, "a"));
    assert_true(foreign_rate(&f) > 0 && foreign_rate(&f) < 1e-6);
    foreign_free(&f);
}

static void refused(size_t at, uint8_t value)
{
    uint8_t wrong[15 + 32];
    struct foreign f;
    deja_error err = {0, ""};
    memcpy(wrong, block, sizeof wrong);
    wrong[at] = value;
    assert_null(adding_detect(wrong, sizeof wrong));
    assert_int_equal(adding_read(&f, &foreign_sbbf, wrong, sizeof wrong, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "is "));
}

static void crafted_blocks_are_refused(void **state)
{
    struct foreign f;
    refused(0, 0x16);  /* an i64 */
    refused(1, 0x41);  /* a negative length */
    refused(1, 0x3e);  /* 31 bytes */
    refused(1, 0);     /* none */
    refused(1, 0x80);  /* an endless number */
    refused(3, 0x2c);  /* another algorithm */
    refused(7, 0x2c);  /* another hash function */
    refused(11, 0x2c); /* compressed */
    refused(14, 0x15); /* no end of the header */
    for (size_t len = 0; len < 15 + 32; len++)
        assert_int_equal(adding_read(&f, &foreign_sbbf, block, len, NULL), DEJA_EFORMAT);
    assert_int_equal(adding_read(&f, &foreign_sbbf, block, sizeof block, NULL), DEJA_EFORMAT);
}

/* The test vectors of XXH64 with seed 0. */
static void keys_are_hashed_with_xxh64(void **state)
{
    const deja_slice keys[] = {{"", 0}, {"a", 1}, {"abc", 3}};
    uint64_t hash[3];
    foreign_sbbf.hash(NULL, keys, 3, hash);
    assert_int_equal(hash[0], UINT64_C(0xef46db3751d8e999));
    assert_int_equal(hash[1], UINT64_C(0xd24ec4f1a98c6e5b));
    assert_int_equal(hash[2], UINT64_C(0x44bc2cf5ad770999));
}

static int read_footer(const uint8_t *footer, size_t len, deja_error *err)
{
    uint8_t file[512] = "PAR1";
    struct foreign f;
    assert_true(len + 12 <= sizeof file);
    memcpy(file + 4, footer, len);
    file[4 + len] = (uint8_t)len;
    memcpy(file + 8 + len, "PAR1", 4);
    const int rc = adding_read(&f, &foreign_parquet, file, len + 12, err);
    if (rc == DEJA_OK)
        foreign_free(&f);
    return rc;
}

#define FOOTER(why, ...)                                                                          \
    do {                                                                                          \
        const uint8_t footer[] = {__VA_ARGS__};                                                   \
        deja_error err = {0, ""};                                                                 \
        assert_int_not_equal(read_footer(footer, sizeof footer, &err), DEJA_OK);                  \
        if (!strstr(err.text, why))                                                               \
            fail_msg("'%s' instead of '%s'", err.text, why);                                      \
    } while (0)

static void crafted_footers_are_refused(void **state)
{
    FOOTER("has no Bloom filters", 0);
    FOOTER("its footer is damaged", 0x49);                         /* a list without a length */
    FOOTER("its footer is damaged", 0x49, 0xfc, 0xff, 0xff, 0x7f); /* 268 million row groups */
    FOOTER("its footer is damaged", 0x49, 0x15, 0);                /* numbers, not structs */
    FOOTER("has no Bloom filters", 0x49, 0x1c, 0x19, 0x1c, 0x3c, 0x15, 12, 0, 0, 0, 0);
    /* A column of strings named "a" whose filter is at offset 4, 2^40 or -1. */
    FOOTER("its column a has no filter where its footer says", 0x49, 0x1c, 0x19, 0x1c, 0x3c, 0x15,
           12, 0x29, 0x18, 1, 'a', 0xb6, 8, 0, 0, 0, 0);
    FOOTER("its column a has no filter where its footer says", 0x49, 0x1c, 0x19, 0x1c, 0x3c, 0x15,
           12, 0x29, 0x18, 1, 'a', 0xb6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0, 0, 0, 0);
    FOOTER("its column a has no filter where its footer says", 0x49, 0x1c, 0x19, 0x1c, 0x3c, 0x15,
           12, 0x29, 0x18, 1, 'a', 0xb6, 1, 0, 0, 0, 0);
    uint8_t deep[200];
    memset(deep, 0x1c, sizeof deep); /* structs in structs */
    deja_error err = {0, ""};
    assert_int_equal(read_footer(deep, sizeof deep, &err), DEJA_EFORMAT);
    memset(deep, 0x19, sizeof deep); /* lists in lists */
    assert_int_equal(read_footer(deep, sizeof deep, &err), DEJA_EFORMAT);
}

static void sizes_are_powers_of_two(void **state)
{
    struct foreign f = {.format = &foreign_sbbf};
    assert_int_equal(foreign_new(&f, 1, 0.1, NULL), DEJA_OK);
    assert_int_equal(f.part[0].len, 32);
    foreign_free(&f);
    assert_int_equal(foreign_new(&f, 1000, 0.01, NULL), DEJA_OK);
    assert_int_equal(f.part[0].len, 2048); /* 9,681 bits */
    foreign_free(&f);
    assert_int_equal(foreign_new(&f, UINT64_C(1) << 30, 0.01, NULL), DEJA_EINVAL);
    assert_null(foreign_parquet.plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_read_and_written_again),
        cmocka_unit_test(crafted_blocks_are_refused),
        cmocka_unit_test(keys_are_hashed_with_xxh64),
        cmocka_unit_test(crafted_footers_are_refused),
        cmocka_unit_test(sizes_are_powers_of_two),
    };
    return cmocka_run_group_tests_name("unit.parquet", tests, NULL, NULL);
}
