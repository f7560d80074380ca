/* segments.c - turns a key into a row of numbers: one for each of its segments.
 *
 * A layered filter looks up the segments of a key.  This file splits keys and hashes the segments
 * of many keys as one batch, as if each were a key.  Each key becomes a row of fixed length, so
 * the rest of the library (batches, threads, pending keys) handles rows like hashes.
 *
 * core/url splits URLs: scheme and authority, then each segment of the path with the slash before
 * it.  Words are split at a delimiter; a word may be empty.  Concatenated, the segments give the
 * key again, so different keys have different rows.  Segments beyond the last slot stay joined in
 * it; the empty key is one empty segment.  Bare segments are as in the papers, a1/a2/a3: without
 * slashes and without the scheme, so http://h/a and https://h/a are one key.
 *
 * The query belongs to the last segment.  With query_apart, the path of that segment is hashed
 * separately.  The layer stores the path, so a prefix query for /a finds the page /a?x=1. */
#include "kinds/segments.h"
#include "core/base/bylength.h"
#include "core/url/layers.h"
#include <string.h>

/* Segments to be hashed, and where each hash goes. */
struct pieces {
    const struct dj_hasher *hasher;
    deja_slice slice[DJ_LOT];
    uint64_t *to[DJ_LOT];
    size_t n;
};

static void hash_pieces(struct pieces *p)
{
    uint64_t hash[DJ_LOT];
    dj_hasher_hash(p->hasher, p->slice, p->n, hash);
    for (size_t i = 0; i < p->n; i++)
        *p->to[i] = hash[i];
    p->n = 0;
}

/* Makes room for the segments of one key. */
static inline void make_room(struct pieces *p)
{
    if (p->n + DJ_MAX_ROW > DJ_LOT)
        hash_pieces(p);
}

static inline void put(struct pieces *p, deja_slice slice, uint64_t *to)
{
    p->slice[p->n] = slice;
    p->to[p->n++] = to;
}

uint32_t dj_segments_row(const struct dj_cut *c)
{
    return 1 + c->slots + c->query_apart;
}

static uint64_t head_of(size_t segments, size_t layers)
{
    return (uint64_t)layers << 32 | segments;
}

static deja_slice without(deja_slice s, size_t bytes)
{
    return (deja_slice){bytes ? (const char *)s.data + bytes : s.data, s.len - bytes};
}

/* Removes the scheme and the slashes, as in the papers. */
static void strip(deja_slice key, deja_slice *segment, size_t n)
{
    segment[0] = without(segment[0], dj_layers_scheme(key));
    for (size_t i = 1; i < n; i++)
        segment[i] = without(segment[i], 1);
}

static void cut_url(const struct dj_cut *c, deja_slice key, uint64_t *row, struct pieces *p)
{
    deja_slice segment[DJ_MAX_SLOTS];
    size_t path;
    const size_t n = dj_layers_split(key, segment, c->slots, &path);
    deja_slice *last = &segment[n - 1];
    row[0] = head_of(n, n);
    if (c->bare)
        strip(key, segment, n);
    if (c->query_apart && path < last->len) {
        put(p, *last, &row[c->slots + 1]);
        last->len = path;
    }
    for (size_t i = 0; i < n; i++)
        put(p, segment[i], &row[1 + i]);
}

static size_t split_words(const struct dj_cut *c, deja_slice key, deja_slice *word)
{
    const char *at = key.data;
    size_t left = key.len, n = 0;
    while (n + 1 < c->slots) {
        const char *end = left ? memchr(at, c->delimiter, left) : NULL;
        if (!end)
            break;
        const size_t len = (size_t)(end - at);
        word[n++] = (deja_slice){at, len};
        at = end + 1;
        left -= len + 1;
    }
    word[n++] = (deja_slice){at, left};
    return n;
}

static void cut_words(const struct dj_cut *c, deja_slice key, uint64_t *row, struct pieces *p)
{
    deja_slice word[DJ_MAX_SLOTS];
    const size_t n = split_words(c, key, word);
    size_t layers = c->layers ? c->layers : (n + c->share - 1) / c->share;
    layers = layers < c->most ? layers : c->most;
    row[0] = head_of(n, layers);
    for (size_t i = 0; i < n; i++)
        put(p, word[i], &row[1 + i]);
}

static void cut_prefix(const struct dj_cut *c, deja_slice prefix, uint64_t *row, struct pieces *p)
{
    deja_slice segment[DJ_MAX_SLOTS];
    size_t path, n = dj_layers_split(prefix, segment, c->slots, &path);
    segment[n - 1].len = path;
    if (n == c->slots || (n > 1 && path == 1)) /* holds the rest of a URL, or only a slash */
        n--;
    row[0] = head_of(n, n);
    for (size_t i = 0; i < n; i++)
        put(p, segment[i], &row[1 + i]);
}

typedef void cut_fn(const struct dj_cut *, deja_slice, uint64_t *, struct pieces *);

static void hash_rows(const struct dj_cut *c, cut_fn *cut, const struct dj_hasher *h,
                      const deja_slice *keys, size_t n, uint64_t *rows)
{
    struct pieces p;
    const size_t len = dj_segments_row(c);
    p.hasher = h;
    p.n = 0;
    memset(rows, 0, n * len * sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        make_room(&p);
        cut(c, keys[i], rows + i * len, &p);
    }
    hash_pieces(&p);
}

void dj_segments_hash(const struct dj_cut *c, const struct dj_hasher *h, const deja_slice *keys,
                      size_t n, uint64_t *rows)
{
    hash_rows(c, c->words ? cut_words : cut_url, h, keys, n, rows);
}

void dj_segments_prefix(const struct dj_cut *c, const struct dj_hasher *h,
                        const deja_slice *prefix, size_t n, uint64_t *rows)
{
    hash_rows(c, cut_prefix, h, prefix, n, rows);
}
