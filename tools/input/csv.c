/* csv.c - finds records and fields of CSV; see csv.h.
 *
 * The portable variant is for CSV with few quotes.  It jumps from quote to quote with memchr; in
 * between, every terminator ends a record, and deja_lines_ends finds them.  No loop examines single
 * bytes.  csv_wide.h needs no call per quote. */
#include "tools/input/csv_kernel.h"
#include <string.h>

#define QUOTE '"'

static size_t ends_portable(struct csv_scan *s, deja_slice text, size_t from, size_t *ends,
                            size_t cap)
{
    const char *const data = text.data;
    const size_t len = text.len;
    size_t n = 0;
    while (n < cap && from < len) {
        const char *quote;
        size_t until;
        switch (s->state) {
        case CSV_START:
        case CSV_PLAIN:
            quote = memchr(data + from, QUOTE, len - from);
            until = quote ? (size_t)(quote - data) : len;
            n +=
                deja_lines_ends((deja_slice){data, until}, from, s->terminator, ends + n, cap - n);
            if (n == cap && ends[n - 1] < until) {
                s->state = CSV_START;
                break;
            }
            if (until > from) {
                char last = data[until - 1];
                s->state = last == s->delimiter || last == s->terminator ? CSV_START : CSV_PLAIN;
            }
            from = until;
            if (!quote || n == cap)
                break;
            if (s->state == CSV_START)
                s->state = CSV_QUOTED;
            from++;
            break;
        case CSV_QUOTED:
            quote = memchr(data + from, QUOTE, len - from);
            if (quote)
                s->state = CSV_CLOSED;
            from = quote ? (size_t)(quote - data) + 1 : len;
            break;
        case CSV_CLOSED:
            if (data[from] == QUOTE) {
                s->state = CSV_QUOTED;
                from++;
            } else {
                s->state = CSV_PLAIN;
            }
            break;
        }
    }
    return n;
}

bool csv_open(const struct csv_scan *s)
{
    return s->state == CSV_QUOTED;
}

struct csv_cursor csv_cursor(const char *record, size_t len, char delimiter)
{
    return (struct csv_cursor){record, record + len, delimiter};
}

/* The first `c` in [at, end), or end. */
static const char *find(const char *at, const char *end, char c)
{
    const char *hit = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return hit ? hit : end;
}

bool csv_next(struct csv_cursor *c, deja_slice *field)
{
    const char *begin = c->at;
    if (!begin)
        return false;
    const char *end;
    if (begin < c->end && *begin == QUOTE) {
        bool escapes = false;
        const char *close = find(begin + 1, c->end, QUOTE);
        while (close < c->end && close + 1 < c->end && close[1] == QUOTE) {
            escapes = true;
            close = find(close + 2, c->end, QUOTE);
        }
        end = close < c->end ? find(close + 1, c->end, c->delimiter) : c->end;
        if (!escapes && close < c->end && close + 1 == end)
            *field = (deja_slice){begin + 1, (size_t)(close - begin - 1)};
        else
            *field = (deja_slice){begin, (size_t)(end - begin)};
    } else {
        end = find(begin, c->end, c->delimiter);
        *field = (deja_slice){begin, (size_t)(end - begin)};
    }
    c->at = end < c->end ? end + 1 : NULL;
    return true;
}

static bool cut_portable(deja_slice record, char delimiter, unsigned column, deja_slice *field)
{
    struct csv_cursor c = csv_cursor(record.data, record.len, delimiter);
    while (csv_next(&c, field))
        if (--column == 0)
            return true;
    return false;
}

bool csv_is_raw(deja_slice field)
{
    return field.len > 0 && *(const char *)field.data == QUOTE;
}

size_t csv_unquote(deja_slice field, char *out)
{
    const char *at = (const char *)field.data + 1; /* after the opening quote */
    const char *end = (const char *)field.data + field.len;
    size_t len = 0;
    bool more = true;
    while (more && at < end) {
        const char *quote = find(at, end, QUOTE);
        more = end - quote > 1 && quote[1] == QUOTE;
        size_t piece = (size_t)(quote - at) + more; /* one of the two quotes in "" is content */
        memcpy(out + len, at, piece);
        len += piece;
        at = quote < end ? quote + 1 + more : end;
    }
    if (at < end)
        memcpy(out + len, at, (size_t)(end - at));
    return len + (size_t)(end - at);
}

/* --- Variants ---------------------------------------------------------------- */

const struct csv_kernel csv_portable = {"portable", ends_portable, cut_portable};

const struct csv_kernel *csv_best(void)
{
#ifdef DJ_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("popcnt"))
        return &csv_avx2;
#endif
#ifdef DJ_HAVE_NEON
    return &csv_neon;
#else
    return &csv_portable;
#endif
}

size_t csv_ends(struct csv_scan *s, deja_slice text, size_t from, size_t *ends, size_t cap)
{
    return csv_best()->ends(s, text, from, ends, cap);
}

bool csv_cut(deja_slice record, char delimiter, unsigned column, deja_slice *field)
{
    return csv_best()->cut(record, delimiter, column, field);
}
