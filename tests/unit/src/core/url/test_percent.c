/* test_percent.c - percent encoding: the bytes of each set, and the normal spelling of the rest. */
#include "unit.h"

#include "core/url/percent.h"
#include "rng.h"
#include <stdio.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static void written(dj_percent_writer *write, deja_slice in, unsigned set, char *out, size_t cap)
{
    struct dj_text text = dj_text_in(out, cap - 1);
    write(&text, in, set);
    assert_false(text.short_of_room);
    out[text.len] = '\0';
}

static void assert_written(dj_percent_writer *write, const char *in, unsigned set,
                           const char *want)
{
    char out[256];
    written(write, (deja_slice){in, strlen(in)}, set, out, sizeof out);
    assert_string_equal(out, want);
}

/* The printable bytes that a set encodes, in ascending order. */
static void members(unsigned set, char *out)
{
    for (int c = ' '; c < 0x7f; c++) {
        const char byte = (char)c;
        char spelled[8];
        written(dj_percent_encode, (deja_slice){&byte, 1}, set, spelled, sizeof spelled);
        if (spelled[0] == '%' && c != '%')
            *out++ = byte;
    }
    *out = '\0';
}

static void the_sets_are_those_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        unsigned set;
        const char *members;
    } rows[] = {
        {DJ_SET_OPAQUE, " "},         {DJ_SET_FRAGMENT, " \"<>`"},
        {DJ_SET_QUERY, " \"#<>"},     {DJ_SET_SPECIAL_QUERY, " \"#'<>"},
        {DJ_SET_PATH, " \"#<>?^`{}"}, {DJ_SET_USERINFO, " \"#/:;<=>?@[\\]^`{|}"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        char got[128];
        members(rows[i].set, got);
        assert_string_equal(got, rows[i].members);
    }
}

static void controls_and_bytes_from_0x7f_are_in_every_set(void **state)
{
    (void)state;
    for (unsigned set = 1; set <= DJ_SET_USERINFO; set *= 2)
        for (int c = 0; c < 256; c++) {
            const char byte = (char)c;
            char spelled[8], want[8];
            if (c >= ' ' && c < 0x7f)
                continue;
            snprintf(want, sizeof want, "%%%02X", c);
            written(dj_percent_encode, (deja_slice){&byte, 1}, set, spelled, sizeof spelled);
            assert_string_equal(spelled, want);
        }
}

static void encode_keeps_triplets(void **state)
{
    (void)state;
    assert_written(dj_percent_encode, "%41%c3%zz% %", DJ_SET_PATH, "%41%c3%zz%%20%");
}

static void normal_decodes_only_unreserved_bytes(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char in[8], want[8], got[8];
        const bool unreserved = c && c < 128 &&
                                strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-._~",
                                       c);
        snprintf(in, sizeof in, "%%%02x", c);
        if (unreserved)
            snprintf(want, sizeof want, "%c", c);
        else
            snprintf(want, sizeof want, "%%%02X", c);
        written(dj_percent_normal, (deja_slice){in, 3}, DJ_SET_PATH, got, sizeof got);
        assert_string_equal(got, want);
    }
}

/* A decoded digit must not turn a literal % into a triplet. */
static void decoding_creates_no_new_triplet(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"%2541", "%2541"}, /* %25 is a percent sign, followed by 41 */
        {"%4%31", "%4%31"},     {"%%34%31", "%%341"}, {"%%341", "%%341"}, {"%%34", "%%34"},
        {"%%67", "%g"}, /* not a hex digit, so no triplet */
        {"%4%67", "%4g"},       {"%g%31", "%g1"},     {"%44%31", "D1"},   {"%zz%41", "%zzA"},
        {"%%%41", "%%%41"},     {"%", "%"},           {"%4", "%4"},       {"a%", "a%"},
        {"%a%b%c%", "%a%b%c%"}, {"%e%34%", "%e%34%"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        assert_written(dj_percent_normal, rows[i][0], DJ_SET_PATH, rows[i][1]);
        assert_written(dj_percent_normal, rows[i][1], DJ_SET_PATH, rows[i][1]);
    }
}

/* Decodes triplets once, as a server does. */
static size_t decode(const char *s, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const int value = dj_percent_triplet(s, len, i);
        out[n++] = value < 0 ? s[i] : (char)value;
        i += value < 0 ? 0 : 2;
    }
    return n;
}

static void normal_keeps_the_meaning_and_is_idempotent(void **state)
{
    (void)state;
    struct rng r = rng_seeded(41);
    for (int round = 0; round < 20000; round++) {
        static const char letters[] = "%%%%0134aAfFgG7zZ2eE/~ \xff";
        char in[24], once[96], twice[256], meant[24], means[96];
        const size_t len = (size_t)rng_below(&r, sizeof in);
        for (size_t i = 0; i < len; i++)
            in[i] = letters[rng_below(&r, sizeof letters - 1)];
        written(dj_percent_normal, (deja_slice){in, len}, DJ_SET_PATH, once, sizeof once);
        written(dj_percent_normal, (deja_slice){once, strlen(once)}, DJ_SET_PATH, twice,
                sizeof twice);
        assert_string_equal(twice, once);
        const size_t n = decode(in, len, meant);
        assert_int_equal(decode(once, strlen(once), means), n);
        assert_memory_equal(means, meant, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sets_are_those_of_the_standard),
        cmocka_unit_test(controls_and_bytes_from_0x7f_are_in_every_set),
        cmocka_unit_test(encode_keeps_triplets),
        cmocka_unit_test(normal_decodes_only_unreserved_bytes),
        cmocka_unit_test(decoding_creates_no_new_triplet),
        cmocka_unit_test(normal_keeps_the_meaning_and_is_idempotent),
    };
    return cmocka_run_group_tests_name("unit.percent", tests, NULL, NULL);
}
