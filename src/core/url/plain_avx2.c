/* plain_avx2.c - mark 32 bytes at a time.
 *
 * A test for membership in a set of ASCII bytes takes two table lookups: the low half of a byte
 * gives the rows (high halves) in which it is a member, as bits, and the high half gives its own
 * row's bit.  Bytes beyond ASCII yield zero in both, so they are in no set.
 *
 * The last 32 bytes may overlap the previous ones: marking a byte twice changes nothing, and
 * nothing past the end is read. */
#include "core/base/bylength.h"
#include "core/url/plain_reason.h"
#include <immintrin.h>

#define CHUNK  32
#define HALF   16
#define INLINE __attribute__((always_inline)) static inline /* lets constants unroll loops */

/* 0x20 .. 0x7e except " # % ' ; < > ? \ ^ ` { } and the space. */
static const uint8_t even_rows[16] = {0xb8, 0xfc, 0xf8, 0xf8, 0xfc, 0xf8, 0xfc, 0xf8,
                                      0xfc, 0xfc, 0xfc, 0x74, 0xd4, 0x7c, 0xd4, 0x74};
/* The same plus ? and ; */
static const uint8_t query_rows[16] = {0xb8, 0xfc, 0xf8, 0xf8, 0xfc, 0xf8, 0xfc, 0xf8,
                                       0xfc, 0xfc, 0xfc, 0x7c, 0xd4, 0x7c, 0xd4, 0x7c};
/* a-z 0-9 - _ . */
static const uint8_t host_rows[16] = {0x88, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8, 0xc8,
                                      0xc8, 0xc8, 0xc0, 0x40, 0x40, 0x44, 0x44, 0x60};
static const uint8_t row_bit[16] = {1, 2, 4, 8, 16, 32, 64, 128};

static inline __m256i table(const uint8_t rows[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)rows));
}

struct chunk {
    uint64_t odd, slash, dot, unhost;
};

static inline uint64_t equal(__m256i bytes, __m256i to)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, to));
}

static inline uint64_t outside(__m256i bytes, __m256i row, const uint8_t rows[16])
{
    const __m256i in = _mm256_and_si256(_mm256_shuffle_epi8(table(rows), bytes), row);
    return equal(in, _mm256_setzero_si256());
}

static inline struct chunk mark_bytes(__m256i bytes)
{
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    const __m256i row = _mm256_shuffle_epi8(table(row_bit), high);
    return (struct chunk){
        outside(bytes, row, even_rows),
        equal(bytes, _mm256_set1_epi8('/')),
        equal(bytes, _mm256_set1_epi8('.')),
        outside(bytes, row, host_rows),
    };
}

static inline struct chunk mark_chunk(const char *at)
{
    return mark_bytes(_mm256_loadu_si256((const __m256i *)(const void *)at));
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
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)url);
    const __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(url + len - HALF));
    const struct chunk both = mark_bytes(_mm256_set_m128i(last, first));
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

static enum dj_plain avx2_look(const struct deja_url_rules *rules, const char *url, size_t *len)
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

static inline __m256i load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

static inline __m256i rows_of(__m256i bytes)
{
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    return _mm256_shuffle_epi8(table(row_bit), high);
}

static inline __m256i none_of(__m256i bytes, __m256i row, const uint8_t rows[16])
{
    const __m256i in = _mm256_and_si256(_mm256_shuffle_epi8(table(rows), bytes), row);
    return _mm256_cmpeq_epi8(in, _mm256_setzero_si256());
}

/* The bytes that may start a label: letters except x, which may start xn--. */
static inline __m256i letters(__m256i bytes)
{
    return _mm256_andnot_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('x')),
                               _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8('a' - 1)));
}

static inline uint64_t bits(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

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

/* 17 to 32 bytes: the first and the last 16 in one register. */
INLINE uint64_t join_halves(__m256i marked, size_t len)
{
    const uint64_t both = bits(marked);
    return (both & 0xffff) | both >> HALF << (len - HALF);
}

INLINE uint8_t glance_at_one(const char *url, size_t len, enum sort sort)
{
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)url);
    const __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(url + len - HALF));
    const __m256i bytes = _mm256_set_m128i(last, first), row = rows_of(bytes);
    const struct glance g = {
        0,
        join_halves(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('/')), len),
        join_halves(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')), len),
        join_halves(none_of(bytes, row, host_rows), len) | UINT64_MAX << len,
        join_halves(letters(bytes), len),
        bits(none_of(bytes, row, even_of(sort))),
    };
    return begins_plain(url, g, sort);
}

/* 33 to 64 bytes: 32 from the end of "http://", and the last 32. */
INLINE uint8_t glance_at_two(const char *url, size_t len, enum sort sort)
{
    const size_t at = least(7, len - CHUNK), shift = len - CHUNK - at;
    const __m256i a = load(url + at), b = load(url + len - CHUNK), row = rows_of(a);
    const __m256i slash = _mm256_set1_epi8('/'), dot = _mm256_set1_epi8('.');
    const struct glance g = {
        at,
        bits(_mm256_cmpeq_epi8(a, slash)) | bits(_mm256_cmpeq_epi8(b, slash)) << shift,
        bits(_mm256_cmpeq_epi8(a, dot)) | bits(_mm256_cmpeq_epi8(b, dot)) << shift,
        bits(none_of(a, row, host_rows)) | UINT64_MAX << CHUNK,
        bits(letters(a)),
        bits(_mm256_or_si256(none_of(a, row, even_of(sort)),
                             none_of(b, rows_of(b), even_of(sort)))),
    };
    return begins_plain(url, g, sort);
}

/* Nonzero where a path is not plain: an odd byte among the 32 after `at`, or a slash before a dot
 * (gsb: or before a slash).  Byte positions are not needed. */
static inline __m256i wrongs_at(const char *at, enum sort sort)
{
    const __m256i bytes = load(at), next = load(at + 1);
    const __m256i slash = _mm256_set1_epi8('/');
    __m256i wrong = _mm256_cmpeq_epi8(next, _mm256_set1_epi8('.'));
    if (sort == GSB)
        wrong = _mm256_or_si256(wrong, _mm256_cmpeq_epi8(next, slash));
    return _mm256_or_si256(none_of(next, rows_of(next), even_of(sort)),
                           _mm256_and_si256(_mm256_cmpeq_epi8(bytes, slash), wrong));
}

/* 65 to 32 n + 1 bytes: the host in one chunk, then the path after "https://" in n chunks. */
INLINE uint8_t glance_at_many(const char *url, size_t len, size_t n, enum sort sort)
{
    const __m256i a = load(url + 7);
    __m256i wrong = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i++)
        wrong =
            _mm256_or_si256(wrong, wrongs_at(url + least(8 + CHUNK * i, len - CHUNK - 1), sort));
    const struct glance g = {
        7,
        bits(_mm256_cmpeq_epi8(a, _mm256_set1_epi8('/'))),
        bits(_mm256_cmpeq_epi8(a, _mm256_set1_epi8('.'))),
        bits(none_of(a, rows_of(a), host_rows)) | UINT64_MAX << CHUNK,
        bits(letters(a)),
        bits(wrong),
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

static void avx2_glance(const struct deja_url_rules *rules, const deja_slice *url, size_t n,
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

const struct dj_plain_kernel dj_plain_avx2 = {"avx2", avx2_look, avx2_glance};
