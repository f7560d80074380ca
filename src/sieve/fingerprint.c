/* fingerprint.c - keys as 96-bit numbers, and their order.
 *
 * The high 64 bits of a fingerprint are the hash that a filter with the same secret key computes
 * (XXH3, docs/format/hashes.md).  So a filter of any kind with one hash per key can be built from a
 * sieve, which no longer has the keys themselves.  The low 32 bits, `check`, are from SipHash-1-3
 * under a key of its own.
 *
 * With 96 independent uniform bits, two of n keys share a fingerprint with probability at most
 * n^2 / 2^97: for 10^9 keys, 6 in 10^12.  XXH3 is not a perfect hash: for any pair of keys of more
 * than 16 bytes, the share of secrets under which it collides is small but not 2^-64, and pairs are
 * known for which it is about 2^-27 (docs/security.md).  Such a pair would still have to agree in 32
 * bits of SipHash.
 *
 * Sorting: fingerprints are uniform, so a radix sort from the highest byte down needs about two
 * passes over a million keys.  It works in place (American flag sort), because a sieve has no
 * memory to spare when it sorts.  A key that is pending many times has equal fingerprints; these are
 * sorted by the bytes of their tags in the same way.
 * Source: McIlroy, Bostic, McIlroy, "Engineering radix sort", 1993. */
#include "sieve/fingerprint.h"
#include "core/base/bytes.h"
#include "core/hash/papers.h"

enum {
    LOT = 256,   /* keys hashed at once */
    FEW = 24,    /* fingerprints that an insertion sort handles better */
    DIGITS = 16, /* bytes of a fingerprint and its tag */
    RADIX = 256
};

void dj_printer_init(struct dj_printer *p, const uint8_t key[DEJA_KEY_LEN])
{
    const struct dj_hashing what = {
        .hash = DEJA_HASH_XXH3, .rules = DJ_RULES_NEWEST, .visit = 1, .words = 1};
    dj_hasher_init(&p->hasher, &what, key, NULL);
    for (uint64_t i = 0; i < 2; i++)
        p->check[i] = dj_key_derive(key, DJ_STREAM_SIEVE, i);
}

uint64_t dj_printer_id(const uint8_t key[DEJA_KEY_LEN])
{
    return dj_key_derive(key, DJ_STREAM_SIEVE, 2);
}

void dj_printer_hash(const struct dj_printer *p, const deja_slice *keys, size_t n,
                     deja_fingerprint *out)
{
    uint64_t hash[LOT];
    for (size_t lot; n; keys += lot, out += lot, n -= lot) {
        lot = n < LOT ? n : LOT;
        dj_hasher_hash(&p->hasher, keys, lot, hash);
        for (size_t i = 0; i < lot; i++)
            out[i] = (deja_fingerprint){
                hash[i], (uint32_t)dj_siphash13(p->check, keys[i].data, keys[i].len), 0};
    }
}

static inline bool is_before(const deja_fingerprint *a, const deja_fingerprint *b)
{
    return dj_print_less(a, b) || (dj_print_equal(a, b) && a->tag < b->tag);
}

static void sort_few(deja_fingerprint *p, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const deja_fingerprint one = p[i];
        size_t at = i;
        for (; at > 0 && is_before(&one, &p[at - 1]); at--)
            p[at] = p[at - 1];
        p[at] = one;
    }
}

/* Byte number `level`, the highest first. */
static inline unsigned digit(const deja_fingerprint *p, unsigned level)
{
    if (level < 8)
        return p->hash >> (56 - 8 * level) & 255;
    if (level < 12)
        return p->check >> (88 - 8 * level) & 255;
    return p->tag >> (120 - 8 * level) & 255;
}

static void sort_from(deja_fingerprint *p, size_t n, unsigned level)
{
    size_t next[RADIX], end[RADIX] = {0};
    for (size_t i = 0; i < n; i++)
        end[digit(&p[i], level)]++;
    for (size_t d = 0, at = 0; d < RADIX; d++) {
        next[d] = at;
        end[d] = at += end[d];
    }
    for (size_t d = 0; d < RADIX; d++)
        while (next[d] < end[d]) { /* follow a cycle of misplaced elements */
            deja_fingerprint one = p[next[d]];
            for (unsigned to; (to = digit(&one, level)) != d;) {
                const deja_fingerprint other = p[next[to]];
                p[next[to]++] = one;
                one = other;
            }
            p[next[d]++] = one;
        }
    for (size_t d = 0, at = 0; d < RADIX; at = end[d++])
        if (end[d] - at > FEW && level + 1 < DIGITS)
            sort_from(p + at, end[d] - at, level + 1);
        else
            sort_few(p + at, end[d] - at);
}

void dj_prints_sort(deja_fingerprint *p, size_t n)
{
    if (n > FEW)
        sort_from(p, n, 0);
    else
        sort_few(p, n);
}

size_t dj_prints_find(const deja_fingerprint *p, size_t n, const deja_fingerprint *key)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (dj_print_less(&p[middle], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
