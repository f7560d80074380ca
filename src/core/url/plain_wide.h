/* plain_wide.h - the checks of plain.h on 32 bytes at a time, shared by kernels that differ in their
 * registers.  A kernel includes this file after it has defined
 *
 *   wide                    32 bytes; in the results of comparisons, each is 0 or 0xff
 *   wide_load(at)           32 bytes of memory
 *   wide_two(low, high)     16 bytes from each of two places
 *   wide_equal(v, c)        the bytes that equal c
 *   wide_rows(v)            the row of each byte, as one bit; 0 beyond ASCII
 *   wide_none(v, row, rows) the bytes that are in no set (below), given their rows
 *   wide_letters(v)         the bytes that may start a label: a-z except x, which may start xn--;
 *                           bytes after z may count as letters, as they are never part of a host
 *   wide_or, wide_and       of two results
 *   wide_bits(v)            byte i as bit i
 *   wide_bits4(a, b, c, d)  the same of four results at once, in a struct bits4
 *
 * A test for membership in a set of ASCII bytes takes two table lookups: the low half of a byte
 * gives the rows (high halves) in which it is a member, as bits, and the high half gives its own
 * row's bit.  Bytes beyond ASCII yield zero in both, so they are in no set.
 *
 * The last 32 bytes may overlap the previous ones: marking a byte twice changes nothing, and
 * nothing past the end is read. */

/* 0x20 .. 0x7e except " # % ' ; < > ? \ ^ ` { } and the space. */
static const uint8_t even_rows[16] = {0xb8, 0xfc, 0xf8, 0xf8, 0xfc, 0xf8, 0xfc, 0xf8,
                                      0xfc, 0xfc, 0xfc, 0x74, 0xd4, 0x7c, 0xd4, 0x74};
/* The same plus ? and ; */
static const uint8_t query_rows[16] = {0xb8, 0xfc, 0xf8, 0xf8, 0xfc, 0xf8, 0xfc, 0xf8,
                                       0xfc, 0xfc, 0xfc, 0x7c, 0xd4, 0x7c, 0xd4, 0x7c};
/* a-z 0-9 - _ . */
static const uint8_t host_rows[16] = {0x88, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8,
                                      0xc8, 0xc8, 0xc0, 0x40, 0x40, 0x44, 0x44, 0x60};

struct chunk {
    uint64_t odd, slash, dot, unhost;
};

static inline struct chunk mark_bytes(wide bytes)
{
    const wide row = wide_rows(bytes);
    const struct bits4 b = wide_bits4(wide_none(bytes, row, even_rows), wide_equal(bytes, '/'),
                                      wide_equal(bytes, '.'), wide_none(bytes, row, host_rows));
    return (struct chunk){b.of[0], b.of[1], b.of[2], b.of[3]};
}

static inline struct chunk mark_chunk(const char *at)
{
    return mark_bytes(wide_load(at));
}

/* --- Up to 64 bytes: one word ------------------------------------------------------ */

/* Join the marks of the first bytes and of the last ones, which start at `shift`. */
static inline struct dj_marks join(struct chunk a, struct chunk b, size_t shift)
{
    struct dj_marks m;
    m.odd[0] = a.odd | b.odd << shift;
    m.slash[0] = a.slash | b.slash << shift;
    m.dot[0] = a.dot | b.dot << shift;
    m.unhost = a.unhost | b.unhost << shift;
    return m;
}

static inline struct dj_marks mark_two(const char *url, size_t len)
{
    return join(mark_chunk(url), mark_chunk(url + len - CHUNK), len - CHUNK);
}

/* The first and the last 16 bytes in one register. */
static inline struct dj_marks mark_one(const char *url, size_t len)
{
    const struct chunk both = mark_bytes(wide_two(url, url + len - HALF));
    const struct chunk a = {both.odd & 0xffff, both.slash & 0xffff, both.dot & 0xffff,
                            both.unhost & 0xffff};
    const struct chunk b = {both.odd >> HALF, both.slash >> HALF, both.dot >> HALF,
                            both.unhost >> HALF};
    return join(a, b, len - HALF);
}

/* --- Longer URLs -------------------------------------------------------------------- */

static inline void put(uint64_t *words, size_t at, uint64_t bits)
{
    words[at / 64] |= bits << at % 64;
    if (at % 64 > CHUNK)
        words[at / 64 + 1] |= bits >> (64 - at % 64);
}

static void mark_many(const char *url, size_t len, struct dj_marks *m)
{
    *m = (struct dj_marks){0};
    for (size_t next = 0, at; next < len; next += CHUNK) {
        at = next < len - CHUNK ? next : len - CHUNK;
        const struct chunk c = mark_chunk(url + at);
        put(m->odd, at, c.odd);
        put(m->slash, at, c.slash);
        put(m->dot, at, c.dot);
        m->unhost |= at < 64 ? c.unhost << at : 0;
    }
}

static enum dj_plain look_at_long(const struct deja_url_rules *rules, const char *url, size_t *len,
                                  size_t begin)
{
    struct dj_marks m;
    mark_many(url, *len, &m);
    return reason(rules, url, len, begin, &m, (*len + 63) / 64);
}

static enum dj_plain wide_look(const struct deja_url_rules *rules, const char *url, size_t *len)
{
    if (*len < HALF)
        return dj_plain_portable.look(rules, url, len);
    if (*len > DJ_PLAIN_MAX)
        return DJ_PLAIN_NO;
    const size_t begin = scheme_length(url);
    if (!begin)
        return DJ_PLAIN_NO;
    if (*len > 2 * CHUNK)
        return look_at_long(rules, url, len, begin);
    const struct dj_marks m = *len < CHUNK ? mark_one(url, *len) : mark_two(url, *len);
    return reason(rules, url, len, begin, &m, 1);
}

/* --- Many URLs ----------------------------------------------------------------------- */

/* The same checks, in a form that needs few instructions and no branch, and succeeds for most
 * URLs: no odd byte (profiles that accept any query allow ? and ;), no dot after a slash or
 * another dot anywhere, and a short host whose labels all start with a letter other than x. */

/* How the profiles differ here: whether they accept any query, and whether they collapse runs of
 * slashes.  Always a constant, so each variant has its own loops. */
enum sort {
    ORDERED,
    FREE,
    GSB
}; /* crawl and scrapy, safe, gsb */

static inline const uint8_t *even_of(enum sort sort)
{
    return sort == ORDERED ? even_rows : query_rows;
}

static const char https_text[8] = {'h', 't', 't', 'p', 's', ':', '/', '/'};
static const char http_text[8] = {'h', 't', 't', 'p', ':', '/', '/', 0};

struct glance { /* marks of the bytes starting at `at` */
    size_t at;
    uint64_t slash, dot;
    uint64_t unhost, letter; /* only of the first bytes; the rest count as unhost */
    uint64_t wrong;          /* nonzero: the URL is not plain */
};

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Check scheme and host, and that no marked dot follows a slash or a dot. */
INLINE uint8_t begins_plain(const char *url, struct glance g, enum sort sort)
{
    const uint64_t word = dj_load64((const uint8_t *)url);
    const uint64_t is_https = word == dj_load64((const uint8_t *)https_text);
    const uint64_t is_http = word << 8 == dj_load64((const uint8_t *)http_text) << 8;
    const uint64_t first = UINT64_C(0x80) << is_https >> g.at; /* first byte of the host */
    const uint64_t slash = g.slash & (0 - first);
    const uint64_t host = (slash - 1) & ~slash & (0 - first); /* up to the slash, or the end */
    const uint64_t near = g.dot | g.slash;
    const uint64_t starts = (g.dot & host) << 1 | first; /* of labels */
    uint64_t wrong = g.wrong | (g.unhost & host) | (starts & ~g.letter);
    wrong |= (g.dot & near << 1) | ((is_http | is_https) - 1);
    if (sort == GSB)
        wrong |= slash & slash << 1;
    return wrong == 0;
}

/* 17 to 32 bytes: the first and the last 16 together. */
INLINE uint64_t join_halves(uint64_t both, size_t len)
{
    return (both & 0xffff) | both >> HALF << (len - HALF);
}

INLINE uint8_t glance_at_one(const char *url, size_t len, enum sort sort)
{
    const wide bytes = wide_two(url, url + len - HALF), row = wide_rows(bytes);
    const struct bits4 b = wide_bits4(wide_equal(bytes, '/'), wide_equal(bytes, '.'),
                                      wide_none(bytes, row, host_rows), wide_letters(bytes));
    const struct glance g = {
        0,
        join_halves(b.of[0], len),
        join_halves(b.of[1], len),
        join_halves(b.of[2], len) | UINT64_MAX << len,
        join_halves(b.of[3], len),
        wide_bits(wide_none(bytes, row, even_of(sort))),
    };
    return begins_plain(url, g, sort);
}

/* 33 to 64 bytes: 32 from the end of "http://", and the last 32. */
INLINE uint8_t glance_at_two(const char *url, size_t len, enum sort sort)
{
    const size_t at = least(7, len - CHUNK), shift = len - CHUNK - at;
    const wide a = wide_load(url + at), b = wide_load(url + len - CHUNK), row = wide_rows(a);
    const wide wrong =
        wide_or(wide_none(a, row, even_of(sort)), wide_none(b, wide_rows(b), even_of(sort)));
    const struct bits4 in_both =
        wide_bits4(wide_equal(a, '/'), wide_equal(b, '/'), wide_equal(a, '.'), wide_equal(b, '.'));
    const struct bits4 in_host =
        wide_bits4(wide_none(a, row, host_rows), wide_letters(a), wrong, wrong);
    const struct glance g = {
        at,
        in_both.of[0] | in_both.of[1] << shift,
        in_both.of[2] | in_both.of[3] << shift,
        in_host.of[0] | UINT64_MAX << CHUNK,
        in_host.of[1],
        in_host.of[2],
    };
    return begins_plain(url, g, sort);
}

/* Nonzero where a path is not plain: an odd byte among the 32 after `at`, or a slash before a dot
 * (gsb: or before a slash).  Byte positions are not needed. */
static inline wide wrongs_at(const char *at, enum sort sort)
{
    const wide bytes = wide_load(at), next = wide_load(at + 1);
    wide wrong = wide_equal(next, '.');
    if (sort == GSB)
        wrong = wide_or(wrong, wide_equal(next, '/'));
    return wide_or(wide_none(next, wide_rows(next), even_of(sort)),
                   wide_and(wide_equal(bytes, '/'), wrong));
}

/* 65 to 32 n + 1 bytes: the host in one chunk, then the path after "https://" in n chunks. */
INLINE uint8_t glance_at_many(const char *url, size_t len, size_t n, enum sort sort)
{
    const wide a = wide_load(url + 7);
    const struct bits4 b = wide_bits4(wide_equal(a, '/'), wide_equal(a, '.'),
                                      wide_none(a, wide_rows(a), host_rows), wide_letters(a));
    wide wrong = wrongs_at(url + 8, sort);
    for (size_t i = 1; i < n; i++)
        wrong = wide_or(wrong, wrongs_at(url + least(8 + CHUNK * i, len - CHUNK - 1), sort));
    const struct glance g = {
        7, b.of[0], b.of[1], b.of[2] | UINT64_MAX << CHUNK, b.of[3], wide_bits(wrong),
    };
    return begins_plain(url, g, sort);
}

/* `length` and `sort` are constants at every call: each combination gets its own loop. */
INLINE void glance_lot(const deja_slice *url, const struct dj_lot *lot, size_t length,
                       enum sort sort, uint8_t *plain)
{
    const size_t n = dj_lot_count(lot->counts, length);
    for (size_t i = 0; i < n; i++) {
        const uint8_t who = lot->who[length][i];
        const char *at = url[who].data;
        const size_t len = url[who].len;
        if (length == 0)
            plain[who] = len > HALF ? glance_at_one(at, len, sort) : 0;
        else if (length == 1)
            plain[who] = glance_at_two(at, len, sort);
        else
            plain[who] = glance_at_many(at, len, length + 1, sort);
    }
}

INLINE void glance_lots(const deja_slice *url, size_t n, enum sort sort, uint8_t *plain)
{
    struct dj_lot lot;
    dj_lot_sort(&lot, url, n);
    glance_lot(url, &lot, 0, sort, plain);
    glance_lot(url, &lot, 1, sort, plain);
    glance_lot(url, &lot, 2, sort, plain);
    glance_lot(url, &lot, 3, sort, plain);
    const size_t others = dj_lot_count(lot.counts, DJ_LENGTHS - 1);
    for (size_t i = 0; i < others; i++) {
        const uint8_t who = lot.who[DJ_LENGTHS - 1][i];
        const size_t len = url[who].len, chunks = (len + CHUNK - 10) / CHUNK;
        plain[who] = len > 2 * CHUNK && len <= DJ_PLAIN_MAX
                         ? glance_at_many(url[who].data, len, chunks, sort)
                         : 0;
    }
}

static void wide_glance(const struct deja_url_rules *rules, const deja_slice *url, size_t n,
                        uint8_t *plain)
{
    for (size_t i = 0, lot; i < n; i += lot) {
        lot = n - i < DJ_LOT ? n - i : DJ_LOT;
        if (rules->profile == DEJA_URL_SAFE)
            glance_lots(url + i, lot, FREE, plain + i);
        else if (rules->profile == DEJA_URL_GSB)
            glance_lots(url + i, lot, GSB, plain + i);
        else
            glance_lots(url + i, lot, ORDERED, plain + i);
    }
}
