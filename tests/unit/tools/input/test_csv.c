/* test_csv.c - CSV records and fields: written by hand, generated from known fields, and in
 * pieces. */
#include "rng.h"
#include "tools/input/csv_kernel.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 64

static struct rng dice = {11};

static size_t below(size_t n)
{
    return (size_t)(rng_next(&dice) % n);
}

/* --- One record ---------------------------------------------------------- */

/* The record's fields, unquoted, each followed by '|'. */
static void fields_are(const char *record, const char *want)
{
    char got[256];
    size_t len = 0;
    char *exact = malloc(strlen(record) + 1); /* one spare byte: malloc(0) may be NULL */
    assert_non_null(exact);
    memcpy(exact, record, strlen(record));
    struct csv_cursor c = csv_cursor(exact, strlen(record), ',');
    deja_slice field;
    while (csv_next(&c, &field)) {
        assert_true(len + field.len + 2 < sizeof got);
        if (csv_is_raw(field)) {
            size_t unquoted = csv_unquote(field, got + len);
            assert_true(unquoted < field.len);
            len += unquoted;
        } else {
            memcpy(got + len, field.data, field.len);
            len += field.len;
        }
        got[len++] = '|';
    }
    got[len] = 0;
    assert_string_equal(got, want);
    assert_false(csv_next(&c, &field)); /* after the end, there is nothing */
    free(exact);
}

static void plain_fields_are_cut_at_delimiters(void **state)
{
    (void)state;
    fields_are("a,bc,d", "a|bc|d|");
    fields_are("a", "a|");
    fields_are("", "|");
    fields_are(",", "||");
    fields_are("a,", "a||");
    fields_are(",,b", "||b|");
}

static void quoted_fields_lose_their_quotes(void **state)
{
    (void)state;
    fields_are("\"a\",b", "a|b|");
    fields_are("a,\"b\"", "a|b|");
    fields_are("\"\"", "|");
    fields_are("\"\",\"\"", "||");
    fields_are("\"a,b\",c", "a,b|c|");
    fields_are("\"a\nb\",c", "a\nb|c|");
    fields_are("\"a\r\nb\"", "a\r\nb|");
}

static void doubled_quotes_are_one_quote(void **state)
{
    (void)state;
    fields_are("\"a\"\"b\"", "a\"b|");
    fields_are("\"\"\"\"", "\"|");
    fields_are("\"\"\"\"\"\"", "\"\"|");
    fields_are("\"\"\"a\"\"\",b", "\"a\"|b|");
    fields_are("x,\"say \"\"hi\"\", twice\",y", "x|say \"hi\", twice|y|");
}

static void quotes_inside_unquoted_fields_are_ordinary(void **state)
{
    (void)state;
    fields_are("a\"b\"c,d", "a\"b\"c|d|");
    fields_are("a\"\"b", "a\"\"b|");
    fields_are(" \"a\",b", " \"a\"|b|");
    fields_are("a\"", "a\"|");
}

static void text_after_the_closing_quote_stays(void **state)
{
    (void)state;
    fields_are("\"a\"b,c", "ab|c|");
    fields_are("\"a\"b\"c,d", "ab\"c|d|");
    fields_are("\"a\" ,b", "a |b|");
    fields_are("\"a\"b\"\"c", "ab\"\"c|");
}

static void an_unclosed_quote_takes_the_rest(void **state)
{
    (void)state;
    fields_are("\"", "|");
    fields_are("\"a,b", "a,b|");
    fields_are("x,\"a\"\"", "x|a\"|");
    fields_are("x,\"a\"\"b", "x|a\"b|");
}

static void content_in_one_piece_is_not_copied(void **state)
{
    (void)state;
    const char record[] = "\"abc\",de,\"f\"\"g\"";
    struct csv_cursor c = csv_cursor(record, strlen(record), ',');
    deja_slice field;
    assert_true(csv_next(&c, &field));
    assert_ptr_equal(field.data, record + 1);
    assert_int_equal(field.len, 3);
    assert_true(csv_next(&c, &field));
    assert_ptr_equal(field.data, record + 6);
    assert_true(csv_next(&c, &field));
    assert_true(csv_is_raw(field));
    assert_ptr_equal(field.data, record + 9);
    assert_int_equal(field.len, 6);
}

/* --- Many records -------------------------------------------------------- */

static void ends_are(const char *data, const size_t *want, size_t n, bool open)
{
    size_t len = strlen(data);
    for (size_t piece = 1; piece <= len; piece++) {
        struct csv_scan s = {',', '\n', CSV_START};
        size_t ends[MAX_FIELDS];
        size_t found = 0;
        for (size_t at = 0; at < len; at += piece) {
            size_t until = len - at < piece ? len : at + piece;
            found += csv_ends(&s, (deja_slice){data, until}, at, ends + found, MAX_FIELDS - found);
        }
        assert_int_equal(found, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(ends[i], want[i]);
        assert_int_equal(csv_open(&s), open);
    }
}

static void records_end_at_line_ends_outside_quotes(void **state)
{
    (void)state;
    ends_are("a,b\nc,d\n", (const size_t[]){4, 8}, 2, false);
    ends_are("\n\n", (const size_t[]){1, 2}, 2, false);
    ends_are("\"a\nb\",c\nd\n", (const size_t[]){8, 10}, 2, false);
    ends_are("\"a\"\"\nb\"\nd\n", (const size_t[]){8, 10}, 2, false);
    ends_are("\"a\"\r\nb\n", (const size_t[]){5, 7}, 2, false);
    ends_are("x,\"\n\"\ny", (const size_t[]){6}, 1, false);
}

static void stray_quotes_do_not_join_lines(void **state)
{
    (void)state;
    ends_are("a\"b\nc\n", (const size_t[]){4, 6}, 2, false);
    ends_are(" \"a\nb\n", (const size_t[]){4, 6}, 2, false);
    ends_are("\"a\"b\"\nc\n", (const size_t[]){6, 8}, 2, false);
    ends_are("a,b\"\n", (const size_t[]){5}, 1, false);
}

static void an_unclosed_quote_is_reported_at_the_end(void **state)
{
    (void)state;
    ends_are("a\n\"b\nc\n", (const size_t[]){2}, 1, true);
    ends_are("\"", NULL, 0, true);
    ends_are("\"a\"", NULL, 0, false);
    ends_are("\"a\"\"", NULL, 0, true);
}

/* Writes a field that must be read as `content`: quoted if necessary, or at random. */
static size_t put_field(char *out, const char *content, size_t len)
{
    bool special = len && content[0] == '"';
    for (size_t i = 0; i < len; i++)
        special = special || content[i] == ',' || content[i] == '\n';
    special = special || (len && content[len - 1] == '\r');
    size_t at = 0;
    if (!special && below(3)) {
        memcpy(out, content, len);
        return len;
    }
    out[at++] = '"';
    for (size_t i = 0; i < len; i++) {
        if (content[i] == '"')
            out[at++] = '"';
        out[at++] = content[i];
    }
    out[at++] = '"';
    return at;
}

#define ROWS    40
#define COLUMNS 4
#define LONGEST 70

/* Known fields are written as CSV; ends and contents must come back, for any pieces and any number
 * of ends per call. */
static void written_records_are_read_back(void **state)
{
    (void)state;
    static const char letters[] = "ab,\"\n\r\xff";
    static char content[ROWS][COLUMNS][LONGEST];
    static size_t lens[ROWS][COLUMNS];
    static char data[ROWS * COLUMNS * (2 * LONGEST + 3)];
    for (int round = 0; round < 300; round++) {
        size_t want[ROWS];
        size_t len = 0;
        for (size_t r = 0; r < ROWS; r++) {
            for (size_t f = 0; f < COLUMNS; f++) {
                lens[r][f] = below(2) ? below(LONGEST) : below(4);
                for (size_t i = 0; i < lens[r][f]; i++)
                    content[r][f][i] = below(2) ? 'x' : letters[below(sizeof letters)];
                if (f)
                    data[len++] = ',';
                len += put_field(data + len, content[r][f], lens[r][f]);
            }
            data[len++] = '\n';
            want[r] = len;
        }

        char *exact = malloc(len);
        assert_non_null(exact);
        memcpy(exact, data, len);
        struct csv_scan s = {',', '\n', CSV_START};
        size_t ends[ROWS + 1];
        size_t found = 0;
        size_t at = 0;
        size_t until = 0;
        while (at < len) {
            if (at == until)
                until += 1 + below(below(2) ? len - until : 5 < len - until ? 5 : len - until);
            size_t cap = 1 + below(ROWS + 1 - found);
            size_t got = csv_ends(&s, (deja_slice){exact, until}, at, ends + found, cap);
            found += got;
            at = got == cap ? ends[found - 1] : until;
        }
        assert_int_equal(found, ROWS);
        assert_memory_equal(ends, want, sizeof want);
        assert_false(csv_open(&s));

        size_t begin = 0;
        for (size_t r = 0; r < ROWS; r++) {
            struct csv_cursor c = csv_cursor(exact + begin, ends[r] - 1 - begin, ',');
            for (size_t f = 0; f < COLUMNS; f++) {
                char unquoted[2 * LONGEST + 2];
                deja_slice field;
                assert_true(csv_next(&c, &field));
                if (csv_is_raw(field))
                    field = (deja_slice){unquoted, csv_unquote(field, unquoted)};
                assert_int_equal(field.len, lens[r][f]);
                assert_memory_equal(field.data, content[r][f], field.len);
            }
            begin = ends[r];
        }
        free(exact);
    }
}

/* --- Against a model ------------------------------------------------------- */

/* One byte at a time; returns the state at the end. */
static enum csv_state model_ends(const char *data, size_t len, char delimiter, char terminator,
                                 size_t *ends, size_t *n)
{
    enum csv_state is = CSV_START;
    *n = 0;
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '"' && (is == CSV_START || is == CSV_CLOSED)) {
            is = CSV_QUOTED;
        } else if (is == CSV_QUOTED) {
            is = data[i] == '"' ? CSV_CLOSED : CSV_QUOTED;
        } else {
            is = data[i] == delimiter || data[i] == terminator ? CSV_START : CSV_PLAIN;
            if (data[i] == terminator)
                ends[(*n)++] = i + 1;
        }
    }
    return is;
}

enum {
    MODEL_LEN = 700
};

static const struct csv_kernel *variants[2];

static int find_variants(void **state)
{
    (void)state;
    variants[0] = &csv_portable;
    variants[1] = csv_best();
    return 0;
}

static void compare_with_model(const struct csv_kernel *variant, const char *data, size_t len,
                               size_t piece, size_t cap)
{
    size_t want[MODEL_LEN], got[MODEL_LEN + MODEL_LEN], n_want, n = 0;
    const enum csv_state is = model_ends(data, len, ',', '\n', want, &n_want);
    struct csv_scan s = {',', '\n', CSV_START};
    for (size_t at = 0, until = 0; until < len || at < len;) {
        until = len - until < piece ? len : until + piece;
        for (size_t found = cap; found == cap;) {
            found = variant->ends(&s, (deja_slice){data, until}, at, got + n, cap);
            n += found;
            at = found == cap ? got[n - 1] : until;
        }
    }
    assert_int_equal(n, n_want);
    assert_memory_equal(got, want, n * sizeof *got);
    assert_int_equal(s.state, is);
}

/* Every column of a record, which has exactly its size in memory, is the field that csv_next
 * finds. */
static void compare_columns(const struct csv_kernel *variant, const char *record, size_t len)
{
    char *exact = malloc(len ? len : 1);
    assert_non_null(exact);
    memcpy(exact, record, len);
    struct csv_cursor c = csv_cursor(exact, len, ',');
    deja_slice want, got;
    unsigned column = 1;
    for (; csv_next(&c, &want); column++) {
        assert_true(variant->cut((deja_slice){exact, len}, ',', column, &got));
        assert_ptr_equal(got.data, want.data);
        assert_int_equal(got.len, want.len);
    }
    assert_false(variant->cut((deja_slice){exact, len}, ',', column, &got));
    free(exact);
}

/* Mostly valid CSV with long and short fields, and some quotes anywhere. */
static void every_variant_agrees_with_a_model_that_reads_single_bytes(void **state)
{
    static const char *const text[] = {
        "abcdefgh", ",",      "\n",          "\",\"",     "\"x\"\"y\"",
        "\"\n\"",   "\"\"\"", "a\"b\"",      "\n\n",      ",\"long text, ",
        "\"",       "x",      "\"q\"z\"w\"", ",\"a,b\"\n"};
    for (int round = 0; round < 20000; round++) {
        char data[MODEL_LEN];
        size_t len = 0;
        const size_t most = below(MODEL_LEN - 16),
                     kinds = round % 4 ? sizeof text / sizeof *text : 4;
        while (len < most) {
            const char *add = text[below(kinds)];
            memcpy(data + len, add, strlen(add));
            len += strlen(add);
        }
        const size_t piece = round % 3 ? 1 + below(200) : MODEL_LEN;
        const size_t cap = round % 5 ? MODEL_LEN : 1 + below(100);
        char *exact = malloc(len ? len : 1);
        assert_non_null(exact);
        memcpy(exact, data, len);
        for (size_t v = 0; v < 2; v++) {
            compare_with_model(variants[v], exact, len, piece, cap);
            compare_columns(variants[v], exact, len); /* line ends are bytes of the fields */
            compare_columns(variants[v], exact, below(len + 1));
        }
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_fields_are_cut_at_delimiters),
        cmocka_unit_test(quoted_fields_lose_their_quotes),
        cmocka_unit_test(doubled_quotes_are_one_quote),
        cmocka_unit_test(quotes_inside_unquoted_fields_are_ordinary),
        cmocka_unit_test(text_after_the_closing_quote_stays),
        cmocka_unit_test(an_unclosed_quote_takes_the_rest),
        cmocka_unit_test(content_in_one_piece_is_not_copied),
        cmocka_unit_test(records_end_at_line_ends_outside_quotes),
        cmocka_unit_test(stray_quotes_do_not_join_lines),
        cmocka_unit_test(an_unclosed_quote_is_reported_at_the_end),
        cmocka_unit_test(written_records_are_read_back),
        cmocka_unit_test(every_variant_agrees_with_a_model_that_reads_single_bytes),
    };
    return cmocka_run_group_tests_name("unit.csv", tests, find_variants, NULL);
}
