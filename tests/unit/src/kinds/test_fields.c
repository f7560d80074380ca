/* test_fields.c - converting fields between a struct and bytes: right values, right offsets. */
#include "core/base/compiler.h"
#include "kinds/fields.h"
#include "unit.h"
#include <string.h>

struct inner {
    double rate;
    uint64_t keys;
};

struct sample {
    uint32_t kind;
    struct inner inner;
    uint8_t aside;
};

static const struct dj_field fields[] = {
    DJ_FIELD(1, struct sample, kind), /* bytes need no alignment */
    DJ_FIELD(16, struct sample, inner.keys),
    DJ_FIELD(5, struct sample, inner.rate),
};

static void numbers_are_little_endian_at_their_offsets(void **state)
{
    static const uint8_t want[26] = {0xee, 4,    3,    2,    1,    0,    0,    0,    0,
                                     0,    0,    0xf8, 0x3f, 0xee, 0xee, 0xee, 0xef, 0xcd,
                                     0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0xee, 0xee};
    const struct sample s = {0x01020304, {1.5, UINT64_C(0x0123456789abcdef)}, 9};
    uint8_t bytes[sizeof want];
    memset(bytes, 0xee, sizeof bytes);
    dj_fields_store(fields, DJ_ARRAY_LEN(fields), &s, bytes);
    assert_memory_equal(bytes, want, sizeof want);
}

static void loading_restores_stored_fields_and_nothing_else(void **state)
{
    const struct sample s = {UINT32_MAX, {-0x1p-1074, UINT64_MAX - 1}, 9};
    struct sample back = {1, {2, 3}, 4};
    uint8_t bytes[26] = {0};
    dj_fields_store(fields, DJ_ARRAY_LEN(fields), &s, bytes);
    dj_fields_load(fields, DJ_ARRAY_LEN(fields), bytes, &back);
    assert_int_equal(back.kind, s.kind);
    assert_true(back.inner.keys == s.inner.keys);
    assert_memory_equal(&back.inner.rate, &s.inner.rate, sizeof s.inner.rate);
    assert_int_equal(back.aside, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian_at_their_offsets),
        cmocka_unit_test(loading_restores_stored_fields_and_nothing_else),
    };
    return cmocka_run_group_tests_name("unit.fields", tests, NULL, NULL);
}
