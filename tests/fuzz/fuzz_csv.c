/* fuzz_csv.c - every variant of the CSV scanner against a state machine that reads one byte at a
 * time.
 *
 * The first byte sets the size of the pieces and how many record ends are requested at once; the
 * second sets the delimiter and the terminator; the others are the CSV.  Records, their fields
 * and the unclosed quote at the end must agree.  So must single columns. */
#include "checking.h"
#include "tools/input/csv_kernel.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Everything about some CSV: the ends of the records, and the contents of all fields one after
 * another, with the ends of the fields in it and the number of fields of each record. */
struct reading {
    size_t *ends;
    size_t n;
    size_t *fields_of; /* the number of fields of each record */
    char *content;
    size_t content_len;
    size_t *field_ends;
    size_t n_fields;
    bool open;
};

static void *get(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    check(p);
    return p;
}

static struct reading reading_new(size_t len)
{
    return (struct reading){.ends = get(len, sizeof(size_t)),
                            .fields_of = get(len, sizeof(size_t)),
                            .content = get(len, 1),
                            .field_ends = get(len, sizeof(size_t))};
}

static void reading_free(struct reading *r)
{
    free(r->ends);
    free(r->fields_of);
    free(r->content);
    free(r->field_ends);
}

static void end_field(struct reading *r)
{
    r->field_ends[r->n_fields++] = r->content_len;
    r->fields_of[r->n]++;
}

/* One byte at a time, as csv.h describes it.  The '\r' of a record's end has already been stored
 * as content when the end is found, so it is removed again. */
static struct reading read_slowly(const char *data, size_t len, char delimiter, char terminator)
{
    enum {
        BEGIN,
        UNQUOTED,
        QUOTED,
        AFTER_QUOTE
    } state = BEGIN;
    struct reading r = reading_new(len);
    size_t kept = 0; /* content and fields of complete records */
    size_t kept_fields = 0;
    bool cr = false; /* the previous byte was '\r', outside quotes */
    for (size_t i = 0; i < len; i++) {
        char c = data[i];
        if (state == AFTER_QUOTE && c == '"') {
            r.content[r.content_len++] = c;
            state = QUOTED;
        } else if (state == QUOTED && c == '"') {
            state = AFTER_QUOTE;
        } else if (state == QUOTED) {
            r.content[r.content_len++] = c;
        } else if (state == BEGIN && c == '"') {
            state = QUOTED;
        } else if (c == terminator) {
            if (cr && terminator == '\n')
                r.content_len--;
            end_field(&r);
            r.ends[r.n++] = i + 1;
            kept = r.content_len;
            kept_fields = r.n_fields;
            state = BEGIN;
        } else if (c == delimiter) {
            end_field(&r);
            state = BEGIN;
        } else {
            r.content[r.content_len++] = c;
            state = UNQUOTED;
        }
        cr = c == '\r' && state == UNQUOTED;
    }
    r.open = state == QUOTED;
    r.content_len = kept;
    r.n_fields = kept_fields;
    r.fields_of[r.n] = 0;
    return r;
}

static void read_fields(const struct csv_kernel *variant, struct reading *r, const char *record,
                        size_t len, char delimiter)
{
    struct csv_cursor c = csv_cursor(record, len, delimiter);
    deja_slice field, alone;
    for (unsigned column = 1; csv_next(&c, &field); column++) {
        check(variant->cut((deja_slice){record, len}, delimiter, column, &alone));
        check(alone.data == field.data && alone.len == field.len);
        if (csv_is_raw(field)) {
            char *unquoted = malloc(field.len); /* its own block, so that overruns are detected */
            check(unquoted);
            size_t unquoted_len = csv_unquote(field, unquoted);
            check(unquoted_len < field.len);
            memcpy(r->content + r->content_len, unquoted, unquoted_len);
            r->content_len += unquoted_len;
            free(unquoted);
        } else {
            memcpy(r->content + r->content_len, field.data, field.len);
            r->content_len += field.len;
        }
        end_field(r);
    }
}

static struct reading read_fast(const struct csv_kernel *variant, const char *data, size_t len,
                                char delimiter, char terminator, size_t piece, size_t cap)
{
    struct reading r = reading_new(len);
    struct csv_scan s = {delimiter, terminator, CSV_START};
    size_t at = 0;
    size_t until = 0;
    size_t n = 0;
    while (at < len) {
        if (at == until)
            until = len - until < piece ? len : until + piece;
        size_t room = len - n < cap ? len - n : cap;
        size_t got = variant->ends(&s, (deja_slice){data, until}, at, r.ends + n, room);
        check(got <= room);
        n += got;
        at = got == room ? r.ends[n - 1] : until;
    }
    r.open = csv_open(&s);
    size_t begin = 0;
    for (; r.n < n; r.n++) {
        size_t end = r.ends[r.n];
        check(begin < end && end <= len && data[end - 1] == terminator);
        size_t line = end - begin - 1;
        if (line && terminator == '\n' && data[end - 2] == '\r')
            line--;
        read_fields(variant, &r, data + begin, line, delimiter);
        begin = end;
    }
    return r;
}

static void check_same(const struct reading *a, const struct reading *b)
{
    check(a->n == b->n && a->n_fields == b->n_fields && a->content_len == b->content_len);
    check(a->open == b->open);
    check(memcmp(a->ends, b->ends, a->n * sizeof *a->ends) == 0);
    check(memcmp(a->fields_of, b->fields_of, a->n * sizeof *a->fields_of) == 0);
    check(memcmp(a->field_ends, b->field_ends, a->n_fields * sizeof *a->field_ends) == 0);
    check(memcmp(a->content, b->content, a->content_len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {',', ';', '\t', ' '};
    if (size < 2)
        return 0;
    size_t piece = data[0] < 128 ? (size_t)data[0] + 1 : size;
    size_t cap = data[0] % 8 ? size : 1 + (size_t)(data[0] / 64);
    char delimiter = delimiters[data[1] % 4];
    char terminator = data[1] & 4 ? 0 : '\n';
    const char *csv = (const char *)data + 2;
    size_t len = size - 2;

    struct reading slow = read_slowly(csv, len, delimiter, terminator);
    const struct csv_kernel *const variants[] = {&csv_portable, csv_best()};
    for (size_t v = 0; v < 2; v++) {
        struct reading fast = read_fast(variants[v], csv, len, delimiter, terminator, piece, cap);
        check_same(&slow, &fast);
        reading_free(&fast);
    }
    reading_free(&slow);
    return 0;
}
