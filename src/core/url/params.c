/* params.c - sets of parameter names, and sorted queries.
 *
 * A set is one sorted array in which no entry is covered by a prefix that is also an entry.  Any
 * entry between a prefix and a name it covers would start with that prefix, so there is none.
 * So one binary search for the last entry that is not after the name finds the entry that
 * covers it, if any.
 *
 * A query is split at `&` and its pieces are sorted by name, the part before the `=`.  Pieces with
 * the same name keep their order: many servers read a=1&a=2 as a list.  The query is first written
 * in its original order, which is nearly always sorted.  If it is not, the sorted pieces are
 * written again from the input, so no second buffer is needed. */
#include "core/url/params.h"
#include "core/base/letters.h"
#include "core/url/parse.h"
#include "core/url/percent.h"
#include <stdlib.h>

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const size_t both = a_len < b_len ? a_len : b_len;
    const unsigned char first_a = both ? (unsigned char)*a : 0;
    const unsigned char first_b = both ? (unsigned char)*b : 0;
    if (first_a != first_b) /* usually: no call */
        return first_a - first_b;
    const int order = both ? memcmp(a, b, both) : 0;
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* --- Sets of names ------------------------------------------------------ */

static bool covers(const struct dj_name *n, const char *name, size_t len)
{
    return (n->prefix ? n->len <= len : n->len == len) &&
           (n->len == 0 || memcmp(n->text, name, n->len) == 0);
}

const struct dj_name *dj_names_find(const struct dj_names *names, const char *name, size_t len)
{
    size_t low = 0, high = names->n; /* entries before low are <= name */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct dj_name *n = &names->name[middle];
        if (compare(n->text, n->len, name, len) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && covers(&names->name[low - 1], name, len) ? &names->name[low - 1] : NULL;
}

/* By bytes; if two are equal, the prefix first, so that it covers the other. */
static int by_bytes(const void *a, const void *b)
{
    const struct dj_name *x = a, *y = b;
    const int order = compare(x->text, x->len, y->text, y->len);
    return order ? order : y->prefix - x->prefix;
}

size_t dj_names_order(struct dj_name *name, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(name, n, sizeof *name, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !covers(&name[kept - 1], name[i].text, name[i].len))
            name[kept++] = name[i];
    return kept;
}

bool dj_params_has(const struct dj_params *set, deja_slice name)
{
    return dj_names_find(&set->drop, name.data, name.len) &&
           !dj_names_find(&set->keep, name.data, name.len);
}

/* --- Queries ------------------------------------------------------------ */

#define PIECES_ON_STACK 256

struct piece {
    deja_slice raw; /* from the input */
    size_t at;      /* its offset in the output */
    size_t name_len;
};

static size_t length_upto(const char *s, size_t len, char c)
{
    const char *hit = len ? memchr(s, c, len) : NULL;
    return hit ? (size_t)(hit - s) : len;
}

static size_t count_pieces(deja_slice query)
{
    size_t n = 1;
    for (; query.len; n++) {
        const size_t len = length_upto(query.data, query.len, '&');
        if (len == query.len)
            break;
        query = dj_slice_from(query, len + 1);
    }
    return n;
}

static bool in_order(const struct piece *a, const struct piece *b, const char *text)
{
    return compare(text + a->at, a->name_len, text + b->at, b->name_len) <= 0;
}

/* Merge sort: stable, and n log n for any input. */
static const struct piece *sort(struct piece *from, struct piece *to, size_t n, const char *text)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * width) {
            const size_t middle = n - begin < width ? n : begin + width;
            const size_t end = n - begin < 2 * width ? n : begin + 2 * width;
            size_t a = begin, b = middle;
            for (size_t i = begin; i < end; i++) {
                const bool left = a < middle && (b == end || in_order(&from[a], &from[b], text));
                to[i] = left ? from[a++] : from[b++];
            }
        }
        struct piece *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* How to write a query. */
struct style {
    const struct dj_params *drop; /* NULL: keep all */
    dj_percent_writer *spell;
};

static void copy(struct dj_text *out, deja_slice bytes, unsigned set)
{
    (void)set;
    dj_text_bytes(out, bytes.data, bytes.len);
}

static void put_piece(struct dj_text *out, deja_slice raw, bool first, struct style style)
{
    if (!first)
        dj_text_byte(out, '&');
    style.spell(out, raw, DJ_SET_SPECIAL_QUERY);
}

/* Write the pieces that are kept, in input order; returns their number, and sets *sorted if they
 * are in order. */
static size_t put_pieces(struct dj_text *out, deja_slice query, struct style style,
                         struct piece *piece, bool *sorted)
{
    size_t n = 0;
    *sorted = true;
    for (bool last = false; !last;) {
        const size_t len = length_upto(query.data, query.len, '&'), before = out->len;
        struct piece *p = &piece[n];
        last = len == query.len;
        p->raw = dj_slice_upto(query, len);
        query = dj_slice_from(query, last ? len : len + 1);
        if (len == 0)
            continue;
        put_piece(out, p->raw, n == 0, style);
        p->at = before + (n > 0);
        if (out->short_of_room)
            break;
        p->name_len = length_upto(out->at + p->at, out->len - p->at, '=');
        if (style.drop && dj_params_has(style.drop, (deja_slice){out->at + p->at, p->name_len})) {
            out->len = before;
            continue;
        }
        *sorted = *sorted && (n == 0 || in_order(&piece[n - 1], p, out->at));
        n++;
    }
    return n;
}

/* `piece` has room for cap pieces, followed by room for cap more for sorting. */
static void write_in_order(struct dj_text *out, deja_slice query, struct style style,
                           struct piece *piece, size_t cap)
{
    const size_t before = out->len;
    bool sorted;
    dj_text_byte(out, '?');
    const size_t n = put_pieces(out, query, style, piece, &sorted);
    if (n == 0)
        out->len = before;
    if (sorted || out->short_of_room)
        return;
    const struct piece *ordered = sort(piece, piece + cap, n, out->at);
    out->len = before + 1;
    for (size_t i = 0; i < n; i++)
        put_piece(out, ordered[i].raw, i == 0, style);
}

static int write_query(struct dj_text *out, deja_slice query, struct style style)
{
    struct piece few[2 * PIECES_ON_STACK];
    if (query.len == 0)
        return DEJA_OK;
    const size_t n = count_pieces(query);
    if (n <= PIECES_ON_STACK) {
        write_in_order(out, query, style, few, PIECES_ON_STACK);
        return DEJA_OK;
    }
    struct piece *many = calloc(n, 2 * sizeof *many);
    if (!many)
        return DEJA_ENOMEM;
    write_in_order(out, query, style, many, n);
    free(many);
    return DEJA_OK;
}

int dj_params_write_query(const struct deja_url_rules *rules, deja_slice query,
                          struct dj_text *out)
{
    return write_query(out, query, (struct style){rules->drop, dj_percent_normal});
}

int dj_params_sort_query(const struct deja_url_rules *rules, deja_slice query, struct dj_text *out)
{
    return write_query(out, query, (struct style){rules->drop, copy});
}

/* --- Parameters of paths ------------------------------------------------ */

static bool same_letters(const char *s, const char *lower, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (dj_lower(s[i]) != lower[i])
            return false;
    return true;
}

static bool is_session(const struct dj_params *drop, const char *s, size_t len)
{
    static const char session[] = ";jsessionid=";
    const size_t begin = sizeof session - 1;
    return len >= begin && same_letters(s, session, begin) &&
           dj_params_has(drop, (deja_slice){s + 1, begin - 2});
}

size_t dj_params_trim(const struct dj_params *drop, char *segment, size_t len)
{
    size_t from = length_upto(segment, len, ';'), to = from;
    while (from < len) {
        const size_t n = 1 + length_upto(segment + from + 1, len - from - 1, ';');
        if (!is_session(drop, segment + from, n)) {
            memmove(segment + to, segment + from, n);
            to += n;
        }
        from += n;
    }
    return to;
}
