/* test_header.c - keys that are fields of records, by number or by the name in a header.
 *
 * Known fields are written as CSV in every way that CSV allows. */
#include "reading.h"
#include "tools/input/input.h"

/* --- Fields and CSV ------------------------------------------------------ */

static void records_with_too_few_fields_are_keyless_and_counted(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\tb\tc\nd\n\ne\tf\ng\t\r\n"));
    struct input_options o = options_for(&path, 1);
    o.pick.field[0] = 2;
    o.pick.has_delimiter = true;
    o.pick.delimiter = '\t';
    struct reading r = read_all(&o);
    assert_listed(&r.keys, "b|||f||");
    assert_int_equal(r.keyless, 3); /* "g\t" has a second field, which is empty */
    reading_free(&r);

    o.pick.has_delimiter = false;
    r = read_all(&o);
    assert_listed(&r.keys, "b|||f||");
    assert_int_equal(r.keyless, 3);
    reading_free(&r);
}

static void a_zero_byte_is_a_delimiter_like_any_other(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\0b c\0d\ne\0\0f\n"));
    struct input_options o = options_for(&path, 1);
    o.pick.field[0] = 2;
    o.pick.has_delimiter = true;
    struct reading r = read_all(&o);
    assert_listed(&r.keys, "b c||");
    assert_int_equal(r.keyless, 1);
    reading_free(&r);
}

/* Known fields, quoted if necessary and elsewhere at random. */
static void csv_keys_are_the_fields_that_were_written(void **state)
{
    (void)state;
    static const char letters[] = "ab,\"\n\r";
    struct bytes content = {0};
    struct block b;
    block_init(&b);
    for (int round = 0; round < 400; round++) {
        struct reading want = {0};
        content.len = 0;
        const char *path;
        struct input_options o = options_for(&path, 1);
        size_t column = below(3);
        char number[2] = {(char)('1' + column), 0};
        bool by_name = below(2);
        o.pick.csv_column = by_name ? "the \"name\"" : number;
        o.block_size = 16 + below(300);
        if (below(4) == 0)
            put(&content, TEXT("\357\273\277"));
        size_t rows = below(60);
        bool crlf = below(2);
        bool last_end = below(2);
        for (size_t r = 0; r < rows + by_name; r++) {
            size_t begin = r == 0 ? 0 : content.len; /* the byte order mark belongs to the first
                                                      * record */
            for (size_t f = 0; f < 3; f++) {
                char field[40];
                size_t len = below(below(3) ? 4 : sizeof field);
                for (size_t i = 0; i < len; i++)
                    field[i] = below(2) ? 'x' : letters[below(sizeof letters - 1)];
                if (by_name && r == 0 && f == column) {
                    len = strlen(o.pick.csv_column);
                    memcpy(field, o.pick.csv_column, len);
                }
                if (f)
                    put_byte(&content, ',');
                bool quote = below(3) == 0;
                for (size_t i = 0; i < len; i++)
                    quote = quote || strchr(",\"\n\r", field[i]);
                if (quote)
                    put_byte(&content, '"');
                for (size_t i = 0; i < len; i++) {
                    if (field[i] == '"')
                        put_byte(&content, '"');
                    put_byte(&content, field[i]);
                }
                if (quote)
                    put_byte(&content, '"');
                if (f == column && !(by_name && r == 0)) {
                    put_counted(&want.keys, field, len);
                    want.keyless += len == 0;
                }
            }
            if (crlf)
                put_byte(&content, '\r');
            put_byte(&content, '\n');
            if (!(by_name && r == 0))
                put_counted(&want.records, content.data + begin, content.len - begin);
        }
        size_t len = content.len;
        if (rows && !last_end && !crlf)
            len--;
        path = file(0, content.data, len);
        struct reading got = read_with(&o, &b);
        want.n = rows;
        want.lacking = want.keyless > 0; /* every record has two commas */
        assert_int_equal(got.rc, end_of(&want));
        assert_int_equal(got.n, rows);
        assert_same(&got.keys, &want.keys);
        assert_same(&got.records, &want.records);
        assert_int_equal(got.keyless, want.keyless);
        assert_int_equal(got.header.len > 0, by_name);
        reading_free(&got);
        reading_free(&want);
    }
    block_fini(&b);
    drop(&content);
}

static struct reading read_csv(const char *const *paths, size_t n, const char *column)
{
    struct input_options o = options_for(paths, n);
    o.pick.csv_column = column;
    return read_all(&o);
}

static void a_column_by_name_takes_the_header_out_of_the_records(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("id,url\r\n1,\"a,b\"\r\n2,c\r\n"));
    struct reading r = read_csv(&path, 1, "url");
    assert_listed(&r.records, "1,\"a,b\"\r\n|2,c\r\n|");
    assert_listed(&r.keys, "a,b|c|");
    put_byte(&r.header, 0);
    assert_string_equal(r.header.data, "id,url\r\n");
    reading_free(&r);
}

static void with_a_column_number_the_first_row_is_data(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("id,url\n1,a\n"));
    struct reading r = read_csv(&path, 1, "2");
    assert_listed(&r.keys, "url|a|");
    assert_int_equal(r.header.len, 0);
    reading_free(&r);
}

static void each_csv_file_has_its_own_header(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("id,url\n1,a\n")), file(1, TEXT("")),
                           file(2, TEXT("url\nb\nc")), file(3, TEXT("x,y,\"url\""))};
    struct reading r = read_csv(paths, 4, "url");
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "a|b|c|");
    assert_true(r.headers_differ);
    put_byte(&r.header, 0);
    assert_string_equal(r.header.data, "id,url\n");
    reading_free(&r);

    const char *same[] = {file(0, TEXT("id,url\n1,a\n")), file(1, TEXT("\357\273\277id,url\r\n"))};
    r = read_csv(same, 2, "url");
    assert_listed(&r.keys, "a|");
    assert_false(r.headers_differ);
    reading_free(&r);
}

static void a_record_over_many_lines_is_one_record(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("\"a\nb\n\nc\",1\nd,2\n"));
    struct reading r = read_csv(&path, 1, "1");
    assert_listed(&r.records, "\"a\nb\n\nc\",1\n|d,2\n|");
    assert_listed(&r.keys, "a\nb\n\nc|d|");
    reading_free(&r);
}

static void the_error_for_an_unknown_column_lists_the_columns(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("id,\"the \"\"url\"\"\",na\x1bme\n1,2,3\n"));
    struct reading r = read_csv(&path, 1, "link");
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_int_equal(r.n, 0);
    assert_contains(r.err.text,
                    "has no column \"link\"; it has: \"id\", \"the \"url\"\", \"na\\x1bme\"");
    reading_free(&r);

    struct bytes wide = {0};
    for (int i = 0; i < 5000; i++)
        put(&wide, TEXT("column,"));
    path = file(0, wide.data, wide.len);
    r = read_csv(&path, 1, "link");
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_contains(r.err.text, "\"column\", ...");
    reading_free(&r);
    drop(&wide);
}

static void a_quote_that_is_never_closed_is_an_error_after_the_records_before_it(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("u,v\n\"a\nb\",1\nc,2\n\"d,3\ne,4\n"));
    struct reading r = read_csv(&path, 1, "u");
    assert_int_equal(r.rc, DEJA_EFORMAT);
    assert_listed(&r.keys, "a\nb|c|");
    assert_contains(r.err.text, path);
    assert_contains(r.err.text, "line 5");
    reading_free(&r);

    struct input_options o = options_for(&path, 1);
    o.pick.csv_column = "1";
    o.block_size = 16;
    o.record_max = 100;
    struct bytes content = {0};
    put(&content, TEXT("a\n\"b\n"));
    for (int i = 0; i < 100; i++)
        put(&content, TEXT("c\n"));
    path = file(0, content.data, content.len);
    r = read_all(&o);
    assert_int_equal(r.rc, DEJA_ENOMEM);
    assert_listed(&r.keys, "a|");
    assert_contains(r.err.text, "starts at line 2");
    assert_contains(r.err.text, "not closed within 100 bytes");
    reading_free(&r);
    drop(&content);
}

static void options_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\n"));
    const struct input_options good = options_for(&path, 1);
    struct input_options bad[7];
    for (size_t i = 0; i < LEN(bad); i++)
        bad[i] = good;
    bad[0].pick.field[0] = 1, bad[0].pick.csv_column = "url";
    bad[1].pick.csv_column = "0";
    bad[2].pick.csv_column = "99999999999999999999";
    bad[3].pick.csv_column = "";
    bad[4].pick.field[0] = 1, bad[4].pick.has_delimiter = true, bad[4].pick.delimiter = '\n';
    bad[5].pick.csv_column = "url", bad[5].pick.has_delimiter = true, bad[5].pick.delimiter = '"';
    bad[6].block_size = SIZE_MAX;
    for (size_t i = 0; i < LEN(bad); i++) {
        struct reading r = read_all(&bad[i]);
        assert_int_equal(r.rc, DEJA_EINVAL);
        assert_int_equal(r.err.status, DEJA_EINVAL);
        assert_true(strlen(r.err.text) > 10);
    }
    assert_int_equal(input_open(&bad[0], &(struct input *){NULL}, NULL), DEJA_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_with_too_few_fields_are_keyless_and_counted),
        cmocka_unit_test(a_zero_byte_is_a_delimiter_like_any_other),
        cmocka_unit_test(csv_keys_are_the_fields_that_were_written),
        cmocka_unit_test(a_column_by_name_takes_the_header_out_of_the_records),
        cmocka_unit_test(with_a_column_number_the_first_row_is_data),
        cmocka_unit_test(each_csv_file_has_its_own_header),
        cmocka_unit_test(a_record_over_many_lines_is_one_record),
        cmocka_unit_test(the_error_for_an_unknown_column_lists_the_columns),
        cmocka_unit_test(a_quote_that_is_never_closed_is_an_error_after_the_records_before_it),
        cmocka_unit_test(options_that_contradict_each_other_are_refused),
    };
    return cmocka_run_group_tests_name("unit.header", tests, make_folder, remove_folder);
}
