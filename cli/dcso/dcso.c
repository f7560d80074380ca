/* dcso.c - the bytes, sizes and positions of DCSO's bloom files; see dcso.h. */
#include "cli/dcso/dcso.h"
#include "tools/base/fail.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define VERSION      1
#define FNV_BASIS    UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME    UINT64_C(0x100000001b3)
#define MODULUS      (UINT64_MAX - 58)   /* M = 2^64 - 59, a prime */
#define GENERATOR    (UINT64_MAX - 1468) /* G = 2^64 - 1469 */
#define WORD_BITS    64
#define LN2          0.69314718055994530942
#define MAX_CAPACITY (UINT64_C(1) << 53)

enum {
    AT_FLAGS = 0,
    AT_CAPACITY = 8,
    AT_RATE = 16,
    AT_HASHES = 24,
    AT_BITS = 32,
    AT_KEYS = 40
};

/* --- Bytes ------------------------------------------------------------------- */

static uint64_t load64(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--)
        x = x << 8 | p[i];
    return x;
}

static void store64(uint8_t *p, uint64_t x)
{
    for (int i = 0; i < 8; i++, x >>= 8)
        p[i] = (uint8_t)x;
}

uint64_t dcso_body_len(const struct dcso *d)
{
    return (d->bits + WORD_BITS - 1) / WORD_BITS * (WORD_BITS / 8);
}

void dcso_encode(const struct dcso *d, uint8_t header[DCSO_HEADER_LEN])
{
    uint64_t rate;
    memcpy(&rate, &d->fp_rate, sizeof rate);
    store64(header + AT_FLAGS, VERSION);
    store64(header + AT_CAPACITY, d->capacity);
    store64(header + AT_RATE, rate);
    store64(header + AT_HASHES, d->hashes);
    store64(header + AT_BITS, d->bits);
    store64(header + AT_KEYS, d->keys);
}

bool dcso_is_magic(const uint8_t start[8])
{
    return load64(start) == VERSION;
}

static int check_flags(uint64_t flags, deja_error *err)
{
    if ((flags & 0xff) != VERSION)
        return fail(err, DEJA_EFORMAT,
                    "its version is %u: it is not a bloom file, or not version 1",
                    (unsigned)(flags & 0xff));
    if (flags != VERSION)
        return fail(err, DEJA_EFORMAT, "its flags are %#" PRIx64 ": only the version is supported",
                    flags);
    return DEJA_OK;
}

int dcso_decode(const uint8_t header[DCSO_HEADER_LEN], struct dcso *d, deja_error *err)
{
    const uint64_t hashes = load64(header + AT_HASHES), rate = load64(header + AT_RATE);
    *d = (struct dcso){.capacity = load64(header + AT_CAPACITY),
                       .bits = load64(header + AT_BITS),
                       .keys = load64(header + AT_KEYS)};
    memcpy(&d->fp_rate, &rate, sizeof rate);
    const int rc = check_flags(load64(header + AT_FLAGS), err);
    if (rc < 0)
        return rc;
    if (!(d->fp_rate > 0 && d->fp_rate < 1))
        return fail(err, DEJA_EFORMAT, "its false-positive rate is %g, not between 0 and 1",
                    d->fp_rate);
    if (hashes == 0 || hashes > DCSO_MAX_HASHES)
        return fail(err, DEJA_EFORMAT, "its number of hash functions is %" PRIu64 ", not 1 to %d",
                    hashes, DCSO_MAX_HASHES);
    if (d->bits == 0 || d->bits > DCSO_MAX_BITS)
        return fail(err, DEJA_EFORMAT, "its number of bits is %" PRIu64 ", not 1 to 2^53",
                    d->bits);
    d->hashes = (uint32_t)hashes;
    return DEJA_OK;
}

/* --- Sizes ------------------------------------------------------------------- */

int dcso_plan(struct dcso *d, uint64_t n, double p, deja_error *err)
{
    if (n == 0 || n > MAX_CAPACITY || !(p > 0 && p < 1))
        return fail(err, DEJA_EINVAL,
                    "a bloom file holds 1 to 2^53 keys, at a rate between 0 and 1");
    const double bits = fabs(ceil((double)n * log(p) / pow(LN2, 2)));
    const double m = fmax(bits, 1), k = ceil(LN2 * m / (double)n);
    if (m > (double)DCSO_MAX_BITS || k > DCSO_MAX_HASHES)
        return fail(err, DEJA_EINVAL, "no bloom file holds %" PRIu64 " keys at rate %g", n, p);
    *d = (struct dcso){.capacity = n, .fp_rate = p, .hashes = (uint32_t)k, .bits = (uint64_t)m};
    return DEJA_OK;
}

/* --- Keys -------------------------------------------------------------------- */

static uint64_t fnv1(deja_slice key)
{
    const uint8_t *at = key.data;
    uint64_t h = FNV_BASIS;
    for (size_t i = 0; i < key.len; i++)
        h = h * FNV_PRIME ^ at[i];
    return h;
}

void dcso_hash(const void *context, const deja_slice *keys, size_t n, uint64_t *hash)
{
    (void)context;
    for (size_t i = 0; i < n; i++)
        hash[i] = fnv1(keys[i]) % MODULUS;
}

static uint64_t next_hash(uint64_t h)
{
    return h * GENERATOR % MODULUS;
}

static bool has(const struct dcso *d, uint64_t h)
{
    for (uint32_t i = 0; i < d->hashes; i++) {
        h = next_hash(h);
        const uint64_t at = h % d->bits;
        if (!(d->body[at / 8] >> at % 8 & 1)) /* words are little-endian, so bytes can be used */
            return false;
    }
    return true;
}

void dcso_contains(const struct dcso *d, const uint64_t *hash, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = has(d, hash[i]);
}

static bool put(struct dcso *d, uint64_t h)
{
    bool is_new = false;
    for (uint32_t i = 0; i < d->hashes; i++) {
        h = next_hash(h);
        const uint64_t at = h % d->bits;
        const uint8_t bit = (uint8_t)(1u << at % 8);
        is_new |= !(d->body[at / 8] & bit);
        d->body[at / 8] |= bit;
    }
    return is_new;
}

void dcso_add(struct dcso *d, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++) {
        is_new[i] = put(d, hash[i]);
        d->keys += is_new[i];
    }
}

/* --- Estimates from the set bits ----------------------------------------------- */

uint64_t dcso_bits_set(const struct dcso *d)
{
    const uint64_t whole = d->bits / 8;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < whole; i++)
        sum += (uint64_t)__builtin_popcount(d->body[i]);
    if (d->bits % 8) /* ignore bits after the last one */
        sum += (uint64_t)__builtin_popcount(d->body[whole] & ((1u << d->bits % 8) - 1));
    return sum;
}

double dcso_rate(const struct dcso *d, uint64_t bits_set)
{
    return pow((double)bits_set / (double)d->bits, d->hashes);
}

double dcso_distinct(const struct dcso *d, uint64_t bits_set)
{
    const double m = (double)d->bits, k = d->hashes;
    if (bits_set == 0)
        return 0;
    if (bits_set >= d->bits) /* any number of keys is possible; also avoids log(0) if m is 1 */
        return (double)INFINITY;
    return log1p(-(double)bits_set / m) / (k * log1p(-1 / m));
}
