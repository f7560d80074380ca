/* test_input.c - files, pipes and standard input as records and keys.
 *
 * What comes out is compared with a splitter that looks at one byte at a time, or with fields that
 * were known before they were written.  Blocks are made as small as 16 bytes, so that every record
 * meets a border.  Compressed files are written by hand, in stored blocks (gzip) and raw or
 * repeated ones (zstd): that takes no library, and every field of the formats can be wrong on
 * purpose.  Where the library is there, too, it makes the larger ones. */
#include "decode.h"
#include "fail.h"
#include "input.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef DEJA_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef DEJA_HAVE_ZSTD
#include <zstd.h>
#endif

#define LEN(a)  (sizeof(a) / sizeof((a)[0]))
#define TEXT(s) (s), (sizeof(s) - 1)
#define MIB     ((size_t)1 << 20)
#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#endif
#endif

static uint64_t rng_state = 5;

static size_t below(size_t n)
{
    rng_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = rng_state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((x ^ x >> 31) % n);
}

/* --- Bytes that grow ----------------------------------------------------- */

struct bytes {
    char *data;
    size_t len, cap;
};

static void put(struct bytes *b, const void *data, size_t len)
{
    if (b->cap - b->len < len || !b->data) {
        b->cap = 2 * (b->len + len) + 64;
        b->data = realloc(b->data, b->cap);
        assert_non_null(b->data);
    }
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
}

static void put_byte(struct bytes *b, char c)
{
    put(b, &c, 1);
}

static void put_letters(struct bytes *b, size_t len)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789-";
    for (size_t n; len; len -= n) {
        n = len < sizeof letters - 1 ? len : sizeof letters - 1;
        put(b, letters, n);
    }
}

static void put_hex(struct bytes *b, const char *hex)
{
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        put_byte(b, (char)byte);
}

static void put_le(struct bytes *b, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        put_byte(b, (char)(value >> 8 * i));
}

static void drop(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

static void assert_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->len, b->len);
    if (a->len)
        assert_memory_equal(a->data, b->data, a->len);
}

/* --- A scratch folder ---------------------------------------------------- */

static char folder[] = "/tmp/deja-test-input-XXXXXX";
static char file_names[8][64];

static int make_folder(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(file_names); i++)
        if (file_names[i][0])
            unlink(file_names[i]);
    return rmdir(folder);
}

/* File number i of the folder, with this content. */
static const char *file(size_t i, const void *data, size_t len)
{
    snprintf(file_names[i], sizeof file_names[i], "%s/%zu", folder, i);
    FILE *f = fopen(file_names[i], "wb");
    assert_non_null(f);
    if (len)
        assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return file_names[i];
}

static struct input_options options_for(const char *const *paths, size_t n)
{
    struct input_options o = INPUT_OPTIONS_INIT;
    o.paths = paths;
    o.n_paths = n;
    return o;
}

/* --- What comes out ------------------------------------------------------ */

/* Records and keys, each with its length before it. */
struct reading {
    struct bytes records, keys;
    size_t n, n_blocks;
    int rc;
    deja_error err;
    struct input_progress progress;
    struct bytes header;
    bool headers_differ;
    bool terminator_added; /* in the last block */
};

static void put_counted(struct bytes *b, const void *data, size_t len)
{
    put(b, &len, sizeof len);
    put(b, data, len);
}

static void reading_free(struct reading *r)
{
    drop(&r->records);
    drop(&r->keys);
    drop(&r->header);
}

/* A block must keep its promises, whatever is in it. */
static void take_block(struct reading *r, const struct block *b, char terminator)
{
    assert_true(b->n > 0);
    assert_int_equal(b->len, b->ends[b->n - 1]);
    assert_non_null(b->path);
    assert_true(b->line > 0);
    size_t begin = 0;
    for (size_t i = 0; i < b->n; i++) {
        assert_true(b->ends[i] > begin && b->ends[i] <= b->len);
        assert_int_equal(b->data[b->ends[i] - 1], terminator);
        put_counted(&r->records, b->data + begin, b->ends[i] - begin);
        put_counted(&r->keys, b->keys[i].data, b->keys[i].len);
        begin = b->ends[i];
    }
    r->n += b->n;
    r->n_blocks++;
    r->terminator_added = b->terminator_added;
}

static struct reading read_with(const struct input_options *o, struct block *b)
{
    struct reading r = {0};
    struct input *in = NULL;
    r.rc = input_open(o, &in, &r.err);
    if (r.rc < 0)
        return r;
    while ((r.rc = input_next(in, b, &r.err)) > 0)
        take_block(&r, b, o->terminator);
    deja_error again = {0};
    assert_int_equal(input_next(in, b, &again), r.rc); /* the end and errors stay */
    if (r.rc < 0) {
        assert_int_equal(r.err.status, r.rc);
        assert_string_equal(again.text, r.err.text);
    }
    input_progress(in, &r.progress);
    assert_int_equal(r.progress.records, r.n);
    deja_slice header;
    if (input_header(in, &header))
        put(&r.header, header.data, header.len);
    r.headers_differ = input_headers_differ(in);
    input_close(in);
    return r;
}

static struct reading read_all(const struct input_options *o)
{
    struct block b;
    block_init(&b);
    struct reading r = read_with(o, &b);
    block_fini(&b);
    return r;
}

static struct reading read_file(const char *path)
{
    struct input_options o = options_for(&path, 1);
    return read_all(&o);
}

/* Records or keys as text, '|' behind each. */
static void assert_listed(const struct bytes *list, const char *want)
{
    struct bytes got = {0};
    for (size_t at = 0; at < list->len;) {
        size_t len;
        memcpy(&len, list->data + at, sizeof len);
        put(&got, list->data + at + sizeof len, len);
        put_byte(&got, '|');
        at += sizeof len + len;
    }
    put_byte(&got, 0);
    assert_string_equal(got.data, want);
    drop(&got);
}

static void keys_are(const char *content, size_t len, const char *want)
{
    struct reading r = read_file(file(0, content, len));
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, want);
    reading_free(&r);
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* --- Lines --------------------------------------------------------------- */

static void keys_are_lines_without_their_ends(void **state)
{
    (void)state;
    keys_are(TEXT("a\nbc\n"), "a|bc|");
    keys_are(TEXT(""), "");
    keys_are(TEXT("\n"), "|");
    keys_are(TEXT("a\n\n\nb\n"), "a|||b|");
}

static void lists_with_crlf_and_with_lf_have_the_same_keys(void **state)
{
    (void)state;
    keys_are(TEXT("a\r\nb\r\n\r\nc\r\n"), "a|b||c|");
    keys_are(TEXT("a\r\r\n"), "a\r|"); /* only one of them belongs to the line end */
    keys_are(TEXT("a\rb\n\r\n"), "a\rb||");
    keys_are(TEXT("a\r"), "a|");
}

static void records_are_the_bytes_that_came(void **state)
{
    (void)state;
    struct reading r = read_file(file(0, TEXT("a\r\n\n\xff\xfe b\t\nlast\n")));
    assert_listed(&r.records, "a\r\n|\n|\xff\xfe b\t\n|last\n|");
    assert_false(r.terminator_added);
    reading_free(&r);
}

static void nul_bytes_in_lines_are_ordinary(void **state)
{
    (void)state;
    struct reading r = read_file(file(0, TEXT("a\0b\n\0\n")));
    assert_int_equal(r.n, 2);
    struct bytes keys = {0};
    put_counted(&keys, "a\0b", 3);
    put_counted(&keys, "", 1);
    assert_same(&r.keys, &keys);
    drop(&keys);
    reading_free(&r);
}

static void a_last_line_without_end_gets_one(void **state)
{
    (void)state;
    struct reading r = read_file(file(0, TEXT("a\nb")));
    assert_listed(&r.records, "a\n|b\n|");
    assert_listed(&r.keys, "a|b|");
    assert_true(r.terminator_added);
    reading_free(&r);
}

static void files_do_not_run_into_each_other(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\nb")), file(1, TEXT("")), file(2, TEXT("c\r")),
                           file(3, TEXT("d\n"))};
    struct input_options o = options_for(paths, LEN(paths));
    struct reading r = read_all(&o);
    assert_listed(&r.records, "a\n|b\n|c\r\n|d\n|");
    assert_listed(&r.keys, "a|b|c|d|");
    assert_int_equal(r.progress.total, 7);
    assert_int_equal(r.progress.raw, 7);
    assert_int_equal(r.progress.decoded, 7);
    reading_free(&r);
}

static void a_byte_order_mark_is_not_part_of_the_first_key(void **state)
{
    (void)state;
    keys_are(TEXT("\357\273\277a\nb\n"), "a|b|");
    keys_are(TEXT("\357\273\277\r\nb\n"), "|b|");
    keys_are(TEXT("a\n\357\273\277b\n"), "a|\357\273\277b|");
    keys_are(TEXT("\357\273\277"), ""); /* an empty file as some editors write it */
    keys_are(TEXT("\xef\xbb\n"), "\xef\xbb|");
    keys_are(TEXT("\xef\xbb"), "\xef\xbb|");
    struct reading r = read_file(file(0, TEXT("\357\273\277a\n")));
    assert_listed(&r.records, "\357\273\277a\n|");
    reading_free(&r);
}

static void blocks_know_their_file_and_line(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("aaaaaaaa\nbbbbbbbb\ncccccccc\n")), file(1, TEXT("d\n"))};
    struct input_options o = options_for(paths, 2);
    o.block_size = 16;
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    uint64_t next = 1;
    while (next <= 3) {
        assert_int_equal(input_next(in, &b, NULL), 1);
        assert_string_equal(b.path, paths[0]);
        assert_int_equal(b.line, next);
        next += b.n;
    }
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_string_equal(b.path, paths[1]);
    assert_int_equal(b.line, 1);
    assert_int_equal(input_next(in, &b, NULL), 0);
    assert_int_equal(b.n, 0);
    input_close(in);
    block_fini(&b);
}

/* --- Against a naive splitter -------------------------------------------- */

/* One file's records and keys, a byte at a time. */
static size_t split_naively(struct reading *r, const struct input_options *o, const char *data,
                            size_t len)
{
    size_t missing = 0;
    struct bytes record = {0};
    for (size_t i = 0; i <= len; i++) {
        if (i < len && data[i] != o->terminator) {
            put_byte(&record, data[i]);
            continue;
        }
        if (i == len && record.len == 0)
            break;
        struct bytes key = {0};
        size_t line = record.len;
        if (line && o->terminator == '\n' && record.data[line - 1] == '\r')
            line--;
        unsigned field = 1;
        for (size_t j = 0; j < line; j++) {
            if (o->pick.field && record.data[j] == o->pick.delimiter)
                field++;
            else if (o->pick.field == 0 || field == o->pick.field)
                put_byte(&key, record.data[j]);
        }
        missing += o->pick.field > field;
        put_byte(&record, o->terminator);
        put_counted(&r->records, record.data, record.len);
        put_counted(&r->keys, key.data, key.len);
        r->n++;
        record.len = 0;
        drop(&key);
    }
    drop(&record);
    return missing;
}

static void random_lines(struct bytes *b, char terminator, size_t rarity)
{
    static const char letters[] = "abc\r\t\xff,\"\n";
    size_t len = below(below(4) ? 200 : 3000);
    b->len = 0;
    for (size_t i = 0; i < len; i++)
        put_byte(b, below(rarity) == 0 ? terminator : letters[below(sizeof letters)]);
}

static void compare_with_naive(char terminator, bool fields)
{
    struct bytes content[3] = {{0}};
    struct block b;
    block_init(&b); /* one for all, as it is meant */
    for (int round = 0; round < 400; round++) {
        const char *paths[LEN(content)];
        struct input_options o = options_for(paths, 1 + below(LEN(content)));
        o.terminator = terminator;
        o.pick.has_delimiter = fields;
        o.pick.delimiter = below(2) ? ',' : '\t';
        o.pick.field = fields ? 1 + (unsigned)below(4) : 0;
        o.block_size = below(3) ? 16 + below(200) : 16 + below(5000);
        struct reading want = {0};
        size_t missing = 0;
        size_t rarity = 1 + below(80);
        for (size_t i = 0; i < o.n_paths; i++) {
            random_lines(&content[i], terminator, rarity);
            paths[i] = file(i, content[i].data, content[i].len);
            missing += split_naively(&want, &o, content[i].data, content[i].len);
        }
        struct reading got = read_with(&o, &b);
        assert_int_equal(got.rc, 0);
        assert_int_equal(got.n, want.n);
        assert_same(&got.records, &want.records);
        assert_same(&got.keys, &want.keys);
        assert_int_equal(got.progress.missing, missing);
        reading_free(&got);
        reading_free(&want);
    }
    block_fini(&b);
    for (size_t i = 0; i < LEN(content); i++)
        drop(&content[i]);
}

static void blocks_of_any_size_give_the_lines_of_a_naive_splitter(void **state)
{
    (void)state;
    compare_with_naive('\n', false);
}

static void blocks_of_any_size_give_nul_terminated_records(void **state)
{
    (void)state;
    compare_with_naive(0, false);
}

static void blocks_of_any_size_give_the_fields_of_a_naive_splitter(void **state)
{
    (void)state;
    compare_with_naive('\n', true);
    compare_with_naive(0, true);
}

static void a_large_file_of_short_and_long_lines_is_split_like_a_small_one(void **state)
{
    (void)state;
    struct bytes content = {0};
    while (content.len < 6 * MIB) {
        /* Stretches of empty lines, of usual ones and of long ones. */
        static const size_t longest[] = {1, 4, 100, 300000};
        size_t most = longest[below(LEN(longest))];
        for (size_t i = 0; i < (most > 1000 ? 5 : 20000); i++) {
            put_letters(&content, below(most));
            put_byte(&content, '\n');
        }
    }
    struct reading want = {0};
    const char *path = file(0, content.data, content.len);
    struct input_options o = options_for(&path, 1);
    split_naively(&want, &o, content.data, content.len);
    struct reading got = read_all(&o);
    assert_same(&got.records, &want.records);
    assert_same(&got.keys, &want.keys);
    reading_free(&got);
    reading_free(&want);
    drop(&content);
}

/* --- Fields and CSV ------------------------------------------------------ */

static void records_with_too_few_fields_have_empty_keys_and_are_counted(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\tb\tc\nd\n\ne\tf\ng\t\r\n"));
    struct input_options o = options_for(&path, 1);
    o.pick.field = 2;
    o.pick.has_delimiter = true;
    o.pick.delimiter = '\t';
    struct reading r = read_all(&o);
    assert_listed(&r.keys, "b|||f||");
    assert_int_equal(r.progress.missing, 2); /* "g\t" has a second field: an empty one */
    reading_free(&r);

    o.pick.has_delimiter = false;
    r = read_all(&o);
    assert_listed(&r.keys, "b|||f||");
    assert_int_equal(r.progress.missing, 3); /* between blanks there is no empty field */
    reading_free(&r);
}

static void a_zero_byte_is_a_delimiter_like_any_other(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\0b c\0d\ne\0\0f\n"));
    struct input_options o = options_for(&path, 1);
    o.pick.field = 2;
    o.pick.has_delimiter = true;
    struct reading r = read_all(&o);
    assert_listed(&r.keys, "b c||");
    assert_int_equal(r.progress.missing, 0);
    reading_free(&r);
}

/* Known fields, written as CSV with quotes where they are needed and elsewhere at random. */
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
            size_t begin = r == 0 ? 0 : content.len; /* the mark belongs to the first record */
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
                if (f == column && !(by_name && r == 0))
                    put_counted(&want.keys, field, len);
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
        assert_int_equal(got.rc, 0);
        assert_int_equal(got.n, rows);
        assert_same(&got.keys, &want.keys);
        assert_same(&got.records, &want.records);
        assert_int_equal(got.progress.missing, 0);
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

static void a_column_by_number_takes_the_first_row_as_data(void **state)
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

static void an_unknown_column_is_refused_with_the_names_there_are(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("id,\"the \"\"url\"\"\",na\x1bme\n1,2,3\n"));
    struct reading r = read_csv(&path, 1, "link");
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_int_equal(r.n, 0);
    assert_contains(r.err.text,
                    "has no column \"link\"; it has: \"id\", \"the \"url\"\", \"na?me\"");
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
    assert_contains(r.err.text, "begins at line 2");
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
    bad[0].pick.field = 1, bad[0].pick.csv_column = "url";
    bad[1].pick.csv_column = "0";
    bad[2].pick.csv_column = "99999999999999999999";
    bad[3].pick.csv_column = "";
    bad[4].pick.field = 1, bad[4].pick.has_delimiter = true, bad[4].pick.delimiter = '\n';
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

/* --- Long lines ---------------------------------------------------------- */

static void a_line_longer_than_the_block_makes_it_grow_and_shrink_again(void **state)
{
    (void)state;
    const size_t length = 20 * MIB;
    struct bytes content = {0};
    put(&content, TEXT("before\n"));
    put_letters(&content, length);
    put(&content, TEXT("\nafter\n"));
    while (content.len < 26 * MIB) {
        put_letters(&content, 63);
        put_byte(&content, '\n');
    }
    const char *path = file(0, content.data, content.len);
    struct input_options o = options_for(&path, 1);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    bool seen = false;
    size_t at = 0;
    while (input_next(in, &b, NULL) > 0) {
        assert_memory_equal(b.data, content.data + at, b.len);
        at += b.len;
        for (size_t i = 0; i < b.n; i++)
            seen = seen || b.keys[i].len == length;
        if (b.len < length)
            assert_true(b.data_cap <= 2 * MIB);
        else
            assert_true(b.data_cap <= 40 * MIB);
    }
    assert_true(seen);
    assert_int_equal(at, content.len);
    input_close(in);
    block_fini(&b);
    drop(&content);
}

static void a_line_beyond_the_limit_is_an_error_with_its_number(void **state)
{
    (void)state;
    for (size_t length = 90; length < 110; length++) {
        struct bytes content = {0};
        put(&content, TEXT("a\nb\n"));
        put_letters(&content, length);
        put(&content, TEXT("\nc\n"));
        const char *path = file(0, content.data, content.len);
        struct input_options o = options_for(&path, 1);
        o.block_size = 16;
        o.record_max = 100;
        struct reading r = read_all(&o);
        if (length < 100) {
            assert_int_equal(r.rc, 0);
            assert_int_equal(r.n, 4);
        } else {
            assert_int_equal(r.rc, DEJA_ENOMEM);
            assert_listed(&r.keys, "a|b|");
            assert_contains(r.err.text, path);
            assert_contains(r.err.text, "line 3 is longer than 100 bytes");
        }
        reading_free(&r);
        drop(&content);
    }
}

static void memory_that_is_refused_is_an_error_with_file_and_line(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* its allocator ends the process instead */
#endif
    const char *path = file(0, TEXT("a\n"));
    struct input_options o = options_for(&path, 1);
    o.block_size = SIZE_MAX / 4;
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_ENOMEM);
    assert_contains(r.err.text, path);
    assert_contains(r.err.text, "out of memory at line 1");
}

/* --- Files that cannot be read ------------------------------------------- */

static void a_missing_file_is_named_before_any_work(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\n")), "/nonexistent/list.txt"};
    struct input_options o = options_for(paths, 2);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_int_equal(r.n, 0);
    assert_string_equal(r.err.text, "/nonexistent/list.txt does not exist; check its name");
}

static void a_directory_is_refused_with_a_way_out(void **state)
{
    (void)state;
    const char *path = folder;
    struct input_options o = options_for(&path, 1);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_contains(r.err.text, folder);
    assert_contains(r.err.text, "is a directory; name files, or use find");
}

static void a_file_that_may_not_be_read_is_named(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\n"));
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* root may read everything, so be somebody else */
        int wrong = geteuid() == 0 && seteuid(65534) != 0;
        struct input_options o = options_for(&path, 1);
        struct input *in;
        deja_error err;
        wrong |= input_open(&o, &in, &err) != DEJA_EIO;
        wrong |= !strstr(err.text, path) || !strstr(err.text, "may not be read");
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void a_file_that_vanishes_after_the_start_is_an_error_in_its_turn(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\n")), file(1, TEXT("b\n"))};
    struct input_options o = options_for(paths, 2);
    struct input *in;
    struct block b;
    deja_error err;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, &err), DEJA_OK);
    unlink(paths[1]);
    assert_int_equal(input_next(in, &b, &err), 1);
    assert_int_equal(input_next(in, &b, &err), DEJA_EIO);
    assert_contains(err.text, paths[1]);
    input_close(in);
    block_fini(&b);
}

static void a_read_that_fails_is_an_error_with_its_reason(void **state)
{
    (void)state;
    const char *path = "/proc/self/mem"; /* nothing is mapped at address 0 */
    if (access(path, R_OK) != 0)
        skip();
    struct input_options o = options_for(&path, 1);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_string_equal(r.err.text, "/proc/self/mem cannot be read: Input/output error; 0 lines "
                                    "before that were read");
    reading_free(&r);
}

static void other_reasons_not_to_open_come_from_the_system(void **state)
{
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "%s/below", file(0, TEXT("a\n")));
    const char *paths[] = {path};
    struct input_options o = options_for(paths, 1);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_contains(r.err.text, path);
    assert_contains(r.err.text, "cannot be opened: Not a directory");
}

static void names_in_messages_are_short_and_harmless(void **state)
{
    (void)state;
    assert_string_equal(fail_path("list.txt").text, "list.txt");
    assert_string_equal(fail_path("a\x1b[2Jb\n\x7f").text, "a?[2Jb??");
    char path[300];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 5, ".txt", 5);
    struct fail_path shown = fail_path(path);
    assert_true(strlen(shown.text) < sizeof shown.text);
    assert_memory_equal(shown.text, "...xxx", 6);
    assert_contains(shown.text, "xxx.txt");
}

/* --- Standard input and pipes -------------------------------------------- */

static int saved_stdin = -1;

static void stdin_from(int fd)
{
    saved_stdin = dup(STDIN_FILENO);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
}

static void stdin_back(void)
{
    if (saved_stdin >= 0) {
        dup2(saved_stdin, STDIN_FILENO);
        close(saved_stdin);
    } else {
        close(STDIN_FILENO);
    }
}

static void send(int fd, const void *data, size_t len)
{
    assert_int_equal(write(fd, data, len), (ssize_t)len);
}

static void standard_input_is_a_dash_and_the_default(void **state)
{
    (void)state;
    static const char *const dash[] = {"-"};
    for (size_t n = 0; n < 2; n++) {
        stdin_from(open(file(0, TEXT("xx\na\nb\n")), O_RDONLY));
        assert_int_equal(lseek(STDIN_FILENO, 3, SEEK_SET), 3); /* somebody has read a line */
        struct input_options o = options_for(n ? dash : NULL, n);
        assert_int_equal(input_estimate(&o), 2);
        struct reading r = read_all(&o);
        assert_listed(&r.keys, "a|b|");
        assert_int_equal(r.progress.total, 4);
        assert_int_equal(r.progress.raw, 4);
        reading_free(&r);
        stdin_back();
    }
}

static void a_closed_standard_input_is_an_error(void **state)
{
    (void)state;
    saved_stdin = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    struct input_options o = options_for(NULL, 0);
    struct reading r = read_all(&o);
    stdin_back();
    assert_int_equal(r.rc, DEJA_EIO);
    assert_contains(r.err.text, "standard input is closed");
}

static void a_slow_pipe_hands_on_each_line_as_it_comes(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    struct input_options o = options_for(NULL, 0);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    send(ends[1], TEXT("one\n")); /* with the pipe still open, this comes out at once */
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "one\n", b.len);
    assert_string_equal(b.path, "standard input");
    send(ends[1], TEXT("two\nthr"));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "two\n", b.len);
    assert_int_equal(b.line, 2);
    send(ends[1], TEXT("ee\nfour"));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "three\n", b.len);
    close(ends[1]);
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "four\n", b.len);
    assert_int_equal(input_next(in, &b, NULL), 0);
    struct input_progress p;
    input_progress(in, &p);
    assert_int_equal(p.total, 0);
    assert_int_equal(p.raw, 18);
    input_close(in);
    block_fini(&b);
    stdin_back();
}

struct writer {
    int fd;
    const char *data;
    size_t len;
    size_t piece;      /* bytes at a time, 0: all */
    unsigned pause_us; /* before each */
};

static void *write_pieces(void *arg)
{
    const struct writer *w = arg;
    size_t at = 0;
    while (at < w->len) {
        if (w->pause_us)
            nanosleep(&(struct timespec){0, (long)w->pause_us * 1000}, NULL);
        size_t n = w->piece && w->piece < w->len - at ? w->piece : w->len - at;
        ssize_t done = write(w->fd, w->data + at, n);
        if (done <= 0)
            break;
        at += (size_t)done;
    }
    close(w->fd);
    return NULL;
}

/* Through a pipe, with a thread at its other end. */
static struct reading read_pipe(struct input_options o, struct writer w)
{
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    w.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, write_pieces, &w), 0);
    struct reading r = read_all(&o);
    pthread_join(thread, NULL);
    stdin_back();
    return r;
}

static void a_fast_pipe_fills_blocks(void **state)
{
    (void)state;
    struct bytes content = {0};
    while (content.len < 5 * MIB) {
        put_letters(&content, 60);
        put_byte(&content, '\n');
    }
    struct input_options o = options_for(NULL, 0);
    struct reading want = {0};
    split_naively(&want, &o, content.data, content.len);
    struct reading r = read_pipe(o, (struct writer){.data = content.data, .len = content.len});
    assert_same(&r.records, &want.records);
    assert_int_equal(r.progress.raw, content.len);
    reading_free(&r);
    reading_free(&want);
    drop(&content);
}

static void only_the_header_may_begin_with_a_byte_order_mark(void **state)
{
    (void)state;
    static const char content[] = "\357\273\277u\n\357\273\277a\n"; /* in two pieces */
    struct input_options o = options_for(NULL, 0);
    o.pick.csv_column = "u";
    struct reading r =
        read_pipe(o, (struct writer){.data = content, .len = 10, .piece = 5, .pause_us = 20000});
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "\357\273\277a|");
    reading_free(&r);
}

struct watcher {
    const struct input *in;
    atomic_bool done;
    bool went_back;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;
    struct input_progress last = {0};
    while (!atomic_load(&w->done)) {
        struct input_progress now;
        input_progress(w->in, &now);
        if (now.raw < last.raw || now.decoded < last.decoded || now.records < last.records)
            w->went_back = true;
        last = now;
    }
    return NULL;
}

static void progress_can_be_watched_from_another_thread(void **state)
{
    (void)state;
    struct bytes content = {0};
    put_letters(&content, 200000);
    for (size_t i = 0; i < content.len; i += 1 + below(20))
        content.data[i] = '\n';
    const char *paths[] = {file(0, content.data, content.len), file(1, content.data, 1000)};
    struct input_options o = options_for(paths, 2);
    o.block_size = 1000;
    struct watcher w = {0};
    struct input *in;
    struct block b;
    pthread_t thread;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    w.in = in;
    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    while (input_next(in, &b, NULL) > 0)
        ;
    atomic_store(&w.done, true);
    pthread_join(thread, NULL);
    assert_false(w.went_back);
    struct input_progress p;
    input_progress(in, &p);
    assert_int_equal(p.raw, content.len + 1000);
    assert_int_equal(p.total, content.len + 1000);
    input_close(in);
    block_fini(&b);
    drop(&content);
}

static void single_bytes_through_a_pipe_make_the_same_records(void **state)
{
    (void)state;
    static const char *const contents[] = {"a\nbb\n\nccc", "\x1f\x8b\n",      "(\xb5/x\n", "\x1f",
                                           "Q*M\n",        "\357\273\277a\n", "\xef\xbb"};
    for (size_t i = 0; i < LEN(contents); i++) {
        size_t len = strlen(contents[i]);
        struct reading want = read_file(file(0, contents[i], len));
        struct reading r = read_pipe(
            options_for(NULL, 0),
            (struct writer){.data = contents[i], .len = len, .piece = 1, .pause_us = 2000});
        assert_int_equal(r.rc, 0);
        assert_same(&r.records, &want.records);
        assert_same(&r.keys, &want.keys);
        reading_free(&r);
        reading_free(&want);
    }
}

static void a_non_blocking_pipe_is_waited_for(void **state)
{
    (void)state;
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    stdin_from(ends[0]);
    struct writer w = {.fd = ends[1], .data = "a\nb\n", .len = 4, .piece = 1, .pause_us = 5000};
    assert_int_equal(pthread_create(&thread, NULL, write_pieces, &w), 0);
    struct input_options o = options_for(NULL, 0);
    struct reading r = read_all(&o);
    pthread_join(thread, NULL);
    stdin_back();
    assert_listed(&r.keys, "a|b|");
    reading_free(&r);
}

static void on_signal(int number)
{
    (void)number;
}

static void signals_do_not_disturb_a_wait(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
    struct itimerval often = {{0, 5000}, {0, 5000}};
    struct itimerval never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    struct reading r =
        read_pipe(options_for(NULL, 0),
                  (struct writer){.data = "a\nbb\nc", .len = 6, .piece = 1, .pause_us = 20000});
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN); /* one may still be on its way */
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "a|bb|c|");
    reading_free(&r);
}

static atomic_bool stop;

static void *stop_soon(void *arg)
{
    (void)arg;
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    atomic_store(&stop, true);
    return NULL;
}

static void stop_ends_a_wait_for_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    struct input_options o = options_for(NULL, 0);
    o.stop = &stop;
    atomic_store(&stop, false);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    send(ends[1], TEXT("one\nincomplete"));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    assert_int_equal(input_next(in, &b, NULL), 0); /* the pipe is still open */
    assert_int_equal(input_next(in, &b, NULL), 0);
    assert_int_equal(b.n, 0);
    pthread_join(thread, NULL);
    input_close(in);

    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK); /* with stop already set */
    assert_int_equal(input_next(in, &b, NULL), 0);
    input_close(in);
    block_fini(&b);
    close(ends[1]);
    stdin_back();
}

static void stop_ends_the_reading_of_a_file(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("aaaaaaaaaaaaaaaaaaaa\nb\nc\n"));
    struct input_options o = options_for(&path, 1);
    o.block_size = 16;
    o.stop = &stop;
    atomic_store(&stop, false);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    assert_int_equal(input_next(in, &b, NULL), 1);
    atomic_store(&stop, true);
    assert_int_equal(input_next(in, &b, NULL), 0);
    input_close(in);
    block_fini(&b);
}

/* --- Compressed files, by hand ------------------------------------------- */

static uint32_t crc32_of(const void *data, size_t len)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < len; i++) {
        crc ^= ((const unsigned char *)data)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

static const char gzip_head[] = "\x1f\x8b\x08\0\0\0\0\0\0\3";

/* A gzip member in stored blocks of at most `piece` bytes. */
static void put_gzip(struct bytes *out, const char *data, size_t len, size_t piece)
{
    size_t at = 0;
    put(out, gzip_head, 10);
    do {
        size_t n = len - at < piece ? len - at : piece;
        put_byte(out, at + n == len); /* the last one? stored */
        put_le(out, n, 2);
        put_le(out, ~n & 0xffff, 2);
        put(out, data + at, n);
        at += n;
    } while (at < len);
    put_le(out, crc32_of(data, len), 4);
    put_le(out, len, 4);
}

static void put_zstd_head(struct bytes *out, unsigned window_log, unsigned eighths)
{
    put_le(out, 0xfd2fb528, 4);
    put_byte(out, 0); /* no size, no checksum, no dictionary */
    put_byte(out, (char)((window_log - 10) << 3 | eighths));
}

/* A zstd block: raw, or for a single byte with times > 1, that byte repeated. */
static void put_zstd_block(struct bytes *out, const char *data, size_t len, size_t times,
                           bool last)
{
    put_le(out, (times > 1 ? times << 3 | 2 : len << 3) | last, 3);
    put(out, data, len);
}

static void put_zstd(struct bytes *out, const char *data, size_t len, size_t piece)
{
    size_t at = 0;
    put_zstd_head(out, 17, 0);
    do {
        size_t n = len - at < piece ? len - at : piece;
        put_zstd_block(out, data + at, n, 1, at + n == len);
        at += n;
    } while (at < len);
}

typedef void put_packed(struct bytes *out, const char *data, size_t len, size_t piece);
static const struct packer {
    enum decode_format format;
    put_packed *put;
    const char *library;
} packers[] = {{DECODE_GZIP, put_gzip, "zlib"}, {DECODE_ZSTD, put_zstd, "libzstd"}};

static struct reading read_bytes(const struct bytes *b, size_t block_size)
{
    const char *path = file(0, b->data, b->len);
    struct input_options o = options_for(&path, 1);
    o.block_size = block_size;
    return read_all(&o);
}

static void compressed_files_need_their_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(packers); i++) {
        if (decode_supported(packers[i].format))
            continue;
        struct bytes packed = {0};
        packers[i].put(&packed, TEXT("a\n"), 100);
        struct reading r = read_bytes(&packed, 0);
        assert_int_equal(r.rc, DEJA_EFORMAT);
        assert_contains(r.err.text, "-compressed, and this deja was built without");
        assert_contains(r.err.text, packers[i].library);
        assert_contains(r.err.text, "decompress it first");
        reading_free(&r);
        drop(&packed);
    }
}

static void compressed_files_are_known_by_content_and_read_to_the_end(void **state)
{
    (void)state;
    struct bytes content = {0};
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        for (int round = 0; round < 60; round++) {
            struct bytes packed = {0};
            struct bytes all = {0};
            struct reading want = {0};
            struct input_options o = options_for(NULL, 0);
            size_t streams = 1 + below(4);
            for (size_t i = 0; i < streams; i++) { /* cat a.gz b.gz, some of them empty */
                random_lines(&content, '\n', 20);
                size_t len = below(5) ? content.len : 0;
                packers[p].put(&packed, content.data, len, 1 + below(2000));
                put(&all, content.data, len);
            }
            if (packers[p].format == DECODE_GZIP && below(3) == 0)
                for (size_t i = below(1000); i; i--)
                    put_byte(&packed, 0); /* as on a tape */
            split_naively(&want, &o, all.data, all.len);
            struct reading r = read_bytes(&packed, 16 + below(3000));
            assert_int_equal(r.rc, 0);
            assert_same(&r.records, &want.records);
            assert_same(&r.keys, &want.keys);
            assert_int_equal(r.progress.raw, packed.len);
            assert_int_equal(r.progress.total, packed.len);
            assert_int_equal(r.progress.decoded, all.len);
            reading_free(&r);
            reading_free(&want);
            drop(&packed);
            drop(&all);
        }
    }
    drop(&content);
}

/* As gzip -9 and zstd -19 made them, from 100 lines "http://www.example.com/%d\n": the same with
 * real compression. */
static void files_of_the_usual_tools_are_read(void **state)
{
    (void)state;
    static const char gzip[] =
        "1f8b080000000000020375d6316e03211086d1de87f106186026b7892c4b2e62c585a5cdf17381bc"
        "faabfeb75ae0f17ebf3e8fe33ccfebfdf7ebf9fabe5f6f3fcfe3e3f2f83f3485ae301442612a2c85"
        "ad900ac5819eceed8de31bd737ce6fdcdf08d028d048d068d069d0fdfd69d069d069d069d069d069"
        "d069d0693068306830fc13d060d060d060d060d060d060d020681034081a844f021a040d82064183"
        "a041d060d260d260d260d260fa38a4c1a4c1a4c1a4c1a4c1a2c1a2c1a2c1a2c1a2c1f29d40834583"
        "458345834d834d834d834d834d834d83ed8b91069b069b064983a441d220699034481a240dd2af03"
        "1a240d8a064583a241d1a0685034281a140dca4fa4bafc015ebb94c31e0a0000";
    static const char zstd[] =
        "28b52ffd04683d0400e2871513a01b1be032af44fa07b45cd9dd3be9000c8307c0ffffffffcccccc"
        "cc4c44444444c4bbbbbbbb3b33333333b3aaaaaaaa2a2222222222dbb66dbb6ddbb67de259910b0c"
        "82b218c191304af11c81e3388240304d830463a811e0ef7f07c0a34a0711fc7fc2f103fffffbfff7"
        "c13648c11264600964c002a43ff1576ce31db3b5898156054675deb7";
    struct bytes want = {0};
    for (int i = 0; i < 100; i++) {
        char key[64];
        int len = snprintf(key, sizeof key, "http://www.example.com/%d", i);
        put_counted(&want, key, (size_t)len);
    }
    for (size_t i = 0; i < 2; i++) {
        if (!decode_supported(packers[i].format))
            continue;
        struct bytes packed = {0};
        put_hex(&packed, i ? zstd : gzip);
        for (size_t block_size = 16; block_size < 4000; block_size *= 2) {
            struct reading r = read_bytes(&packed, block_size);
            assert_int_equal(r.rc, 0);
            assert_same(&r.keys, &want);
            reading_free(&r);
        }
        drop(&packed);
    }
    drop(&want);
}

static void a_compressed_file_cut_anywhere_gives_its_records_and_then_an_error(void **state)
{
    (void)state;
    static const char content[] = "first\nsecond\nthird\nfourth\nfifth\n";
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT(content), 10);
        size_t most = 0;
        for (size_t cut = DECODE_MAGIC; cut < packed.len; cut++) {
            const struct bytes part = {packed.data, cut, 0};
            struct reading r = read_bytes(&part, below(2) ? 16 : 0);
            assert_int_equal(r.rc, DEJA_EFORMAT);
            assert_contains(r.err.text, file_names[0]);
            assert_contains(r.err.text, "ends inside its compressed data: the file is cut short");
            char lines[64];
            snprintf(lines, sizeof lines, "; %zu line%s before that w%s read", r.n,
                     r.n == 1 ? "" : "s", r.n == 1 ? "as" : "ere");
            assert_contains(r.err.text, lines);
            assert_true(r.n >= most); /* never fewer with more bytes */
            most = r.n;
            /* Every complete line that was there, and no half one. */
            struct reading whole = {0};
            struct input_options o = options_for(NULL, 0);
            split_naively(&whole, &o, TEXT(content));
            assert_true(r.records.len <= whole.records.len);
            if (r.records.len)
                assert_memory_equal(r.records.data, whole.records.data, r.records.len);
            reading_free(&whole);
            reading_free(&r);
        }
        assert_true(most >= 4); /* a zstd block comes whole or not at all */
        drop(&packed);
    }
}

/* gzip has a checksum: what it does not notice was padding.  Without one, zstd is only held to
 * survive. */
static void a_changed_bit_is_noticed_or_changes_nothing(void **state)
{
    (void)state;
    static const char content[] = "first\nsecond\nthird\nfourth\nfifth\n";
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT(content), 10);
        for (size_t i = DECODE_MAGIC; i < packed.len; i++) {
            for (int bit = 0; bit < 8; bit++) {
                packed.data[i] = (char)(packed.data[i] ^ 1 << bit);
                struct reading r = read_bytes(&packed, below(2) ? 16 : 0);
                assert_true(r.rc == 0 || r.rc == DEJA_EFORMAT);
                if (r.rc < 0)
                    assert_contains(r.err.text, file_names[0]);
                else if (packers[p].format == DECODE_GZIP)
                    assert_listed(&r.keys, "first|second|third|fourth|fifth|");
                reading_free(&r);
                packed.data[i] = (char)(packed.data[i] ^ 1 << bit);
            }
        }
        drop(&packed);
    }
}

static void bytes_behind_the_compressed_data_are_not_skipped(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT("a\nb\n"), 100);
        put(&packed, TEXT("plain text\n"));
        struct reading r = read_bytes(&packed, 0);
        assert_int_equal(r.rc, DEJA_EFORMAT);
        assert_listed(&r.keys, "a|b|");
        assert_contains(r.err.text, "bytes after its");
        assert_contains(r.err.text, "2 lines before that were read");
        reading_free(&r);

        const char *path = file_names[0];
        struct input_options o = options_for(&path, 1);
        o.terminator = 0;
        r = read_all(&o);
        assert_contains(r.err.text, "0 records before that were read");
        reading_free(&r);
        drop(&packed);
    }
}

static void zstd_windows_up_to_128_mib_are_read_and_larger_ones_refused(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    for (unsigned eighths = 0; eighths < 2; eighths++) {
        struct bytes packed = {0};
        put_zstd_head(&packed, 27, eighths);
        put_zstd_block(&packed, TEXT("a\nb\n"), 1, true);
        struct reading r = read_bytes(&packed, 0);
        if (eighths == 0) {
            assert_int_equal(r.rc, 0);
            assert_listed(&r.keys, "a|b|");
        } else {
            assert_int_equal(r.rc, DEJA_EFORMAT);
            assert_contains(r.err.text,
                            "window above 128 MiB; pipe it through zstd -dc --long=31");
        }
        reading_free(&r);
        drop(&packed);
    }
}

static void a_zstd_file_may_begin_with_a_frame_to_skip(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    struct bytes packed = {0};
    put_le(&packed, 0x184d2a57, 4);
    put_le(&packed, 3, 4);
    put(&packed, TEXT("any"));
    put_zstd(&packed, TEXT("a\n"), 100);
    struct reading r = read_bytes(&packed, 0);
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "a|");
    reading_free(&r);
    drop(&packed);
}

/* 4 bytes for every 128 KiB: a line of any length costs an attacker nothing. */
static void a_small_file_cannot_take_all_memory(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    struct bytes packed = {0};
    put_zstd_head(&packed, 17, 0);
    for (int i = 0; i < 1000; i++)
        put_zstd_block(&packed, "x", 1, (size_t)128 << 10, i == 999);
    const char *path = file(0, packed.data, packed.len);
    struct input_options o = options_for(&path, 1);
    o.record_max = 4 * MIB;
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_ENOMEM);
    assert_contains(r.err.text, "line 1 is longer than 4194304 bytes");
    assert_true(r.progress.decoded <= 5 * MIB);
    reading_free(&r);
    drop(&packed);
}

static void a_slow_compressed_pipe_hands_on_lines_as_well(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        stdin_from(ends[0]);
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT("one\ntwo\n"), 4);
        size_t half = packers[p].format == DECODE_GZIP ? 10 + 5 + 4 : 6 + 3 + 4;
        struct input_options o = options_for(NULL, 0);
        struct input *in;
        struct block b;
        block_init(&b);
        assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
        send(ends[1], packed.data, half);
        assert_int_equal(input_next(in, &b, NULL), 1);
        assert_int_equal(b.n, 1);
        assert_memory_equal(b.data, "one\n", b.len);
        send(ends[1], packed.data + half, packed.len - half);
        assert_int_equal(input_next(in, &b, NULL), 1);
        assert_memory_equal(b.data, "two\n", b.len);
        close(ends[1]);
        assert_int_equal(input_next(in, &b, NULL), 0);
        input_close(in);
        block_fini(&b);
        drop(&packed);
        stdin_back();
    }
}

static void compressed_bytes_one_by_one_through_a_pipe_are_understood(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT("a\n"), 1);
        packers[p].put(&packed, TEXT("b\n"), 1);
        struct reading r = read_pipe(
            options_for(NULL, 0),
            (struct writer){.data = packed.data, .len = packed.len, .piece = 1, .pause_us = 500});
        assert_int_equal(r.rc, 0);
        assert_listed(&r.keys, "a|b|");
        reading_free(&r);
        drop(&packed);
    }
}

#if defined(DEJA_HAVE_ZLIB) || defined(DEJA_HAVE_ZSTD)
static void large_files_of_the_libraries_are_read(void **state)
{
    (void)state;
    struct bytes content = {0};
    for (size_t i = 0; i < 60000; i++) {
        char line[100];
        int len = snprintf(line, sizeof line, "http://%zu.example.com/%zx\n", below(1000),
                           below(SIZE_MAX));
        put(&content, line, (size_t)len);
    }
    struct reading want = {0};
    struct input_options o = options_for(NULL, 0);
    split_naively(&want, &o, content.data, content.len);
#ifdef DEJA_HAVE_ZLIB
    struct bytes gz = {.cap = content.len + content.len / 10 + 1000};
    gz.data = malloc(gz.cap);
    assert_non_null(gz.data);
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)content.data;
    z.avail_in = (unsigned)content.len;
    z.next_out = (unsigned char *)gz.data;
    z.avail_out = (unsigned)gz.cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    gz.len = z.total_out;
    deflateEnd(&z);
    struct reading r = read_bytes(&gz, 0);
    assert_int_equal(r.rc, 0);
    assert_same(&r.records, &want.records);
    reading_free(&r);
    gz.len = gz.len / 3 * 2;
    r = read_bytes(&gz, 0);
    assert_int_equal(r.rc, DEJA_EFORMAT);
    assert_true(r.n > 20000 && r.n < want.n);
    assert_memory_equal(r.records.data, want.records.data, r.records.len);
    reading_free(&r);
    drop(&gz);
#endif
#ifdef DEJA_HAVE_ZSTD
    struct bytes zst = {.cap = ZSTD_compressBound(content.len)};
    zst.data = malloc(zst.cap);
    assert_non_null(zst.data);
    zst.len = ZSTD_compress(zst.data, zst.cap, content.data, content.len, 3);
    assert_false(ZSTD_isError(zst.len));
    struct reading s = read_bytes(&zst, 0);
    assert_int_equal(s.rc, 0);
    assert_same(&s.records, &want.records);
    reading_free(&s);
    zst.len = zst.len / 3 * 2;
    s = read_bytes(&zst, 0);
    assert_int_equal(s.rc, DEJA_EFORMAT);
    assert_true(s.n > 20000 && s.n < want.n);
    assert_memory_equal(s.records.data, want.records.data, s.records.len);
    reading_free(&s);
    drop(&zst);
#endif
    reading_free(&want);
    drop(&content);
}
#endif

/* --- Estimates ----------------------------------------------------------- */

static void small_files_are_counted_exactly(void **state)
{
    (void)state;
    struct bytes content = {0};
    for (size_t i = 0; i < 12345; i++) {
        put_letters(&content, below(40));
        put_byte(&content, '\n');
    }
    put(&content, TEXT("last"));
    const char *paths[] = {file(0, content.data, content.len), file(1, TEXT("")),
                           file(2, TEXT("a\nb\n"))};
    struct input_options o = options_for(paths, 3);
    assert_int_equal(input_estimate(&o), 12345 + 1 + 2);
    o.terminator = 0;
    assert_int_equal(input_estimate(&o), 2);
    drop(&content);
}

static void large_files_are_estimated_from_samples(void **state)
{
    (void)state;
    struct bytes content = {0};
    double n = 0;
    while (content.len < 8 * MIB) {
        put_letters(&content, below(66));
        put_byte(&content, '\n');
        n++;
    }
    const char *path = file(0, content.data, content.len);
    struct input_options o = options_for(&path, 1);
    double estimate = (double)input_estimate(&o);
    assert_true(estimate >= n);
    assert_true(estimate < 1.1 * n);

    const char *paths[40]; /* too many to look at all of them */
    for (size_t i = 0; i < LEN(paths); i++)
        paths[i] = path;
    o = options_for(paths, LEN(paths));
    estimate = (double)input_estimate(&o);
    assert_true(estimate >= n * LEN(paths));
    assert_true(estimate < 1.1 * n * LEN(paths));
    drop(&content);
}

static void what_cannot_be_known_is_not_estimated(void **state)
{
    (void)state;
    struct bytes packed = {0};
    put_gzip(&packed, TEXT("a\n"), 100);
    const char *paths[] = {file(0, TEXT("a\n")), file(1, packed.data, packed.len)};
    struct input_options o = options_for(paths, 2);
    assert_int_equal(input_estimate(&o), 0);
    paths[1] = "/nonexistent";
    assert_int_equal(input_estimate(&o), 0);
    o.n_paths = 1;
    assert_int_equal(input_estimate(&o), 1);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    send(ends[1], TEXT("a\nb\n"));
    close(ends[1]);
    o.n_paths = 0;
    assert_int_equal(input_estimate(&o), 0);
    struct reading r = read_all(&o); /* nothing was taken */
    assert_listed(&r.keys, "a|b|");
    reading_free(&r);
    stdin_back();
    drop(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_lines_without_their_ends),
        cmocka_unit_test(lists_with_crlf_and_with_lf_have_the_same_keys),
        cmocka_unit_test(records_are_the_bytes_that_came),
        cmocka_unit_test(nul_bytes_in_lines_are_ordinary),
        cmocka_unit_test(a_last_line_without_end_gets_one),
        cmocka_unit_test(files_do_not_run_into_each_other),
        cmocka_unit_test(a_byte_order_mark_is_not_part_of_the_first_key),
        cmocka_unit_test(blocks_know_their_file_and_line),
        cmocka_unit_test(blocks_of_any_size_give_the_lines_of_a_naive_splitter),
        cmocka_unit_test(blocks_of_any_size_give_nul_terminated_records),
        cmocka_unit_test(blocks_of_any_size_give_the_fields_of_a_naive_splitter),
        cmocka_unit_test(a_large_file_of_short_and_long_lines_is_split_like_a_small_one),
        cmocka_unit_test(records_with_too_few_fields_have_empty_keys_and_are_counted),
        cmocka_unit_test(a_zero_byte_is_a_delimiter_like_any_other),
        cmocka_unit_test(csv_keys_are_the_fields_that_were_written),
        cmocka_unit_test(a_column_by_name_takes_the_header_out_of_the_records),
        cmocka_unit_test(a_column_by_number_takes_the_first_row_as_data),
        cmocka_unit_test(each_csv_file_has_its_own_header),
        cmocka_unit_test(a_record_over_many_lines_is_one_record),
        cmocka_unit_test(an_unknown_column_is_refused_with_the_names_there_are),
        cmocka_unit_test(a_quote_that_is_never_closed_is_an_error_after_the_records_before_it),
        cmocka_unit_test(options_that_contradict_each_other_are_refused),
        cmocka_unit_test(a_line_longer_than_the_block_makes_it_grow_and_shrink_again),
        cmocka_unit_test(a_line_beyond_the_limit_is_an_error_with_its_number),
        cmocka_unit_test(memory_that_is_refused_is_an_error_with_file_and_line),
        cmocka_unit_test(a_missing_file_is_named_before_any_work),
        cmocka_unit_test(a_directory_is_refused_with_a_way_out),
        cmocka_unit_test(a_file_that_may_not_be_read_is_named),
        cmocka_unit_test(a_file_that_vanishes_after_the_start_is_an_error_in_its_turn),
        cmocka_unit_test(a_read_that_fails_is_an_error_with_its_reason),
        cmocka_unit_test(other_reasons_not_to_open_come_from_the_system),
        cmocka_unit_test(names_in_messages_are_short_and_harmless),
        cmocka_unit_test(standard_input_is_a_dash_and_the_default),
        cmocka_unit_test(a_closed_standard_input_is_an_error),
        cmocka_unit_test(a_slow_pipe_hands_on_each_line_as_it_comes),
        cmocka_unit_test(a_fast_pipe_fills_blocks),
        cmocka_unit_test(only_the_header_may_begin_with_a_byte_order_mark),
        cmocka_unit_test(progress_can_be_watched_from_another_thread),
        cmocka_unit_test(single_bytes_through_a_pipe_make_the_same_records),
        cmocka_unit_test(a_non_blocking_pipe_is_waited_for),
        cmocka_unit_test(signals_do_not_disturb_a_wait),
        cmocka_unit_test(stop_ends_a_wait_for_a_pipe),
        cmocka_unit_test(stop_ends_the_reading_of_a_file),
        cmocka_unit_test(compressed_files_need_their_library),
        cmocka_unit_test(compressed_files_are_known_by_content_and_read_to_the_end),
        cmocka_unit_test(files_of_the_usual_tools_are_read),
        cmocka_unit_test(a_compressed_file_cut_anywhere_gives_its_records_and_then_an_error),
        cmocka_unit_test(a_changed_bit_is_noticed_or_changes_nothing),
        cmocka_unit_test(bytes_behind_the_compressed_data_are_not_skipped),
        cmocka_unit_test(zstd_windows_up_to_128_mib_are_read_and_larger_ones_refused),
        cmocka_unit_test(a_zstd_file_may_begin_with_a_frame_to_skip),
        cmocka_unit_test(a_small_file_cannot_take_all_memory),
        cmocka_unit_test(a_slow_compressed_pipe_hands_on_lines_as_well),
        cmocka_unit_test(compressed_bytes_one_by_one_through_a_pipe_are_understood),
#if defined(DEJA_HAVE_ZLIB) || defined(DEJA_HAVE_ZSTD)
        cmocka_unit_test(large_files_of_the_libraries_are_read),
#endif
        cmocka_unit_test(small_files_are_counted_exactly),
        cmocka_unit_test(large_files_are_estimated_from_samples),
        cmocka_unit_test(what_cannot_be_known_is_not_estimated),
    };
    return cmocka_run_group_tests_name("unit.input", tests, make_folder, remove_folder);
}
