/* hash.c - the keyed hashes and the papers' hash families; the only user of libxxhash.
 *
 * The default is XXH3 with a 192-byte secret per filter.  Without the secret, nobody can compute
 * which URLs share positions; docs/security.md explains how strong this protection is and when
 * SipHash is the better choice.  Both give one 64-bit number per key, from which filters derive
 * every position.  XXH3 is weak for keys of up to 16 bytes, so rules 1 use short.h for these.  The
 * segments of a layered filter's keys are short strings that an attacker can combine freely, so
 * rules 1 use SipHash for segments that are too long for short.h.
 *
 * The papers compute each position by hashing salt + key again.  Their families give `words`
 * numbers per key; their salts are also derived from the key and the visit.
 *
 * Derivation: SipHash-2-4 as a pseudo-random function.  Word i of stream d is SipHash(K[0..16),
 * K[16..32) || d || i), all little-endian.  So the XXH3 secret, the salts and the check value in
 * the file are independent of each other and reveal nothing about K. */
#include "core/hash/hash.h"
#include "core/base/bylength.h"
#include "core/base/bytes.h"
#include "core/hash/papers.h"

#define XXH_INLINE_ALL /* a function call would cost a tenth of the time to hash a URL */
#include <xxhash.h>

typedef uint64_t (*salted_fn)(uint64_t salt, const void *key, size_t len);

/* XXH3 as one of the mixed functions.  It is seeded, because each position has its own salt. */
static uint64_t salted_xxh3(uint64_t salt, const void *key, size_t len)
{
    return XXH3_64bits_withSeed(key, len, salt);
}

/* The order in which MIXED uses the functions: the thesis' pairs and triples come first (5.2,
 * 5.3). */
static const salted_fn mixed[] = {dj_jenkins, dj_murmur2, dj_sha1,
                                  dj_md5,     dj_murmur3, salted_xxh3};
#define N_MIXED (sizeof mixed / sizeof mixed[0])

static const struct family {
    const char *name;
    salted_fn fn; /* NULL: the family hashes a key once, or is mixed */
    unsigned width;
} families[] = {
    [DEJA_HASH_XXH3] = {"xxh3", NULL, 64},
    [DEJA_HASH_SIPHASH] = {"siphash", NULL, 64},
    [DEJA_HASH_JENKINS] = {"jenkins", dj_jenkins, 32},
    [DEJA_HASH_MURMUR2] = {"murmur2", dj_murmur2, 32},
    [DEJA_HASH_MURMUR3] = {"murmur3", dj_murmur3, 64},
    [DEJA_HASH_MD5] = {"md5", dj_md5, 64},
    [DEJA_HASH_SHA1] = {"sha1", dj_sha1, 64},
    [DEJA_HASH_MIXED] = {"mixed", NULL, 32},
};
#define N_FAMILIES (sizeof families / sizeof families[0])

const char *deja_hash_name(uint32_t hash)
{
    return hash < N_FAMILIES ? families[hash].name : NULL;
}

uint32_t deja_hash_parse(const char *name)
{
    for (uint32_t i = 1; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, name) == 0)
            return i;
    return 0;
}

bool dj_hash_is_single(uint32_t hash)
{
    return hash == DEJA_HASH_XXH3 || hash == DEJA_HASH_SIPHASH;
}

bool dj_hash_changed(uint32_t hash, uint32_t rules, uint32_t other)
{
    return rules != other && (hash == DEJA_HASH_XXH3 || families[hash].width == 32);
}

unsigned dj_hash_width(uint32_t hash)
{
    return families[hash].width;
}

uint32_t dj_hash_max_k(uint32_t hash)
{
    return hash == DEJA_HASH_MIXED ? (uint32_t)N_MIXED : UINT32_MAX;
}

/* A bijection on 32 bits that makes every output bit depend on every input bit (the finalizer of
 * MurmurHash3).  Positions are taken from the high bits, and lookup2 mixes these poorly for
 * structured keys: of 10,000 URLs with two numbers in them, it lost 3 to 6 times as many as
 * expected.  A bijection keeps folds correct (algebra.c) and adds no collisions. */
static inline uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * UINT32_C(0x85ebca6b);
    x = (x ^ x >> 13) * UINT32_C(0xc2b2ae35);
    return x ^ x >> 16;
}

/* Move a 32-bit value to the high bits, which the range reduction reads. */
static inline uint64_t widen(const struct dj_hasher *h, uint64_t value)
{
    return (uint64_t)(h->rules == DJ_RULES_0_1 ? (uint32_t)value : scramble((uint32_t)value))
           << 32;
}

uint64_t dj_key_derive(const uint8_t key[DEJA_KEY_LEN], enum dj_stream stream, uint64_t index)
{
    const uint64_t k[2] = {dj_load64(key), dj_load64(key + 8)};
    uint8_t message[32];
    memcpy(message, key + 16, 16);
    dj_store64(message + 16, (uint64_t)stream);
    dj_store64(message + 24, index);
    return dj_siphash(k, message, sizeof message);
}

void dj_key_from_seed(uint64_t seed, uint8_t key[DEJA_KEY_LEN])
{
    for (uint64_t i = 0; i < DEJA_KEY_LEN / 8; i++)
        dj_store64(key + 8 * i, dj_mix64(seed + (i + 1) * DJ_GOLDEN));
}

/* Derives a 128-bit secret from two words of the stream. */
static void derive_pair(const uint8_t key[DEJA_KEY_LEN], uint64_t index, uint64_t pair[2])
{
    for (uint64_t i = 0; i < 2; i++)
        pair[i] = dj_key_derive(key, DJ_STREAM_SHORT, index + i);
}

static void init_brief(struct dj_short *s, const uint8_t key[DEJA_KEY_LEN], uint64_t first)
{
    derive_pair(key, first, s->a);
    derive_pair(key, first + 2, s->b);
    for (uint64_t len = 0; len <= DJ_SHORT_MOST; len++)
        derive_pair(key, first + 4 + 2 * len, s->start[len]);
}

void dj_hasher_init(struct dj_hasher *h, const struct dj_hashing *what,
                    const uint8_t key[DEJA_KEY_LEN], uint64_t *salts)
{
    h->hash = what->hash;
    h->words = what->words;
    h->rules = what->rules;
    h->pieces = what->pieces && what->rules != DJ_RULES_0_1;
    h->below = what->rules == DJ_RULES_0_1 ? 0 : DJ_SHORT_MOST + 1;
    h->salts = salts;
    /* Each visit uses the next 2^16 words of each stream, more than any filter needs. */
    const uint64_t first = what->visit << 16;
    for (uint64_t i = 0; i < DJ_SECRET_LEN / 8; i++)
        dj_store64(h->secret + 8 * i, dj_key_derive(key, DJ_STREAM_SECRET, first + i));
    for (uint64_t i = 0; i < 2; i++)
        h->sip[i] = dj_key_derive(key, DJ_STREAM_SIPHASH, first + i);
    if (what->hash == DEJA_HASH_XXH3 && what->rules != DJ_RULES_0_1)
        init_brief(&h->brief, key, first);
    if (!dj_hash_is_single(what->hash))
        for (uint32_t i = 0; i < what->words; i++)
            salts[i] = dj_key_derive(key, DJ_STREAM_SALT, first + i);
}

static void hash_jenkins(const struct dj_hasher *h, const deja_slice *keys, size_t n,
                         uint64_t *out)
{
    for (size_t i = 0; i < n; i++, out += h->words) {
        dj_jenkins_many(h->salts, h->words, keys[i].data, keys[i].len, out);
        for (uint32_t w = 0; w < h->words; w++)
            out[w] = widen(h, out[w]);
    }
}

static void hash_salted(const struct dj_hasher *h, const deja_slice *keys, size_t n, uint64_t *out)
{
    const struct family *family = &families[h->hash];
    for (size_t i = 0; i < n; i++)
        for (uint32_t w = 0; w < h->words; w++) {
            const uint64_t value = family->fn(h->salts[w], keys[i].data, keys[i].len);
            *out++ = family->width == 32 ? widen(h, value) : value;
        }
}

/* Position w uses function w mod 6.  All of them give 32 bits here, so that they are
 * comparable. */
static void hash_mixed(const struct dj_hasher *h, const deja_slice *keys, size_t n, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        for (uint32_t w = 0; w < h->words; w++)
            *out++ = widen(h, mixed[w % N_MIXED](h->salts[w], keys[i].data, keys[i].len));
}

/* The default hash of one key. */
static inline uint64_t hash_one(const struct dj_hasher *h, deja_slice key)
{
    return key.len < h->below
               ? dj_short_hash(&h->brief, key.data, key.len)
               : XXH3_64bits_withSecret(key.data, key.len, h->secret, DJ_SECRET_LEN);
}

/* XXH3 uses a different code path for each 32 bytes of a short key's length.  The bounds let the
 * compiler drop the other paths. */
static inline void walk_path(const struct dj_hasher *h, const deja_slice *keys,
                             const struct dj_lot *lot, size_t length, size_t least, size_t most,
                             uint64_t *out)
{
    const size_t n = dj_lot_count(lot->counts, length);
    for (size_t i = 0; i < n; i++) {
        const uint8_t who = lot->who[length][i];
        const deja_slice key = keys[who];
        if (key.len < least || key.len > most)
            __builtin_unreachable();
        out[who] = least > DJ_SHORT_MOST
                       ? XXH3_64bits_withSecret(key.data, key.len, h->secret, DJ_SECRET_LEN)
                       : hash_one(h, key);
    }
}

/* Hashes many keys at once, which is 10 to 20% faster on real URLs.  `flatten` gives each walk its
 * own copy of XXH3; without it, the bounds have no effect. */
__attribute__((flatten)) static void hash_lot(const struct dj_hasher *h, const deja_slice *keys,
                                              size_t n, uint64_t *out)
{
    struct dj_lot lot;
    dj_lot_sort(&lot, keys, n);
    walk_path(h, keys, &lot, 0, 1, 32, out);
    walk_path(h, keys, &lot, 1, 33, 64, out);
    walk_path(h, keys, &lot, 2, 65, 96, out);
    walk_path(h, keys, &lot, 3, 97, 128, out);
    walk_path(h, keys, &lot, 4, 0, SIZE_MAX, out);
}

static void hash_xxh3(const struct dj_hasher *h, const deja_slice *keys, size_t n, uint64_t *out)
{
    size_t i = 0;
    for (size_t lot; n - i >= DJ_FEW; i += lot) {
        lot = n - i < DJ_LOT ? n - i : DJ_LOT;
        hash_lot(h, keys + i, lot, out + i);
    }
    for (; i < n; i++)
        out[i] = hash_one(h, keys[i]);
}

/* Hashes segments of keys, which are mostly short and never hashed with XXH3. */
static void hash_pieces(const struct dj_hasher *h, const deja_slice *keys, size_t n, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = keys[i].len < h->below ? dj_short_hash(&h->brief, keys[i].data, keys[i].len)
                                        : dj_siphash(h->sip, keys[i].data, keys[i].len);
}

void dj_hasher_hash(const struct dj_hasher *h, const deja_slice *keys, size_t n, uint64_t *out)
{
    if (h->hash == DEJA_HASH_XXH3 && h->pieces)
        hash_pieces(h, keys, n, out);
    else if (h->hash == DEJA_HASH_XXH3)
        hash_xxh3(h, keys, n, out);
    else if (h->hash == DEJA_HASH_SIPHASH)
        for (size_t i = 0; i < n; i++)
            out[i] = dj_siphash(h->sip, keys[i].data, keys[i].len);
    else if (h->hash == DEJA_HASH_JENKINS)
        hash_jenkins(h, keys, n, out);
    else if (h->hash == DEJA_HASH_MIXED)
        hash_mixed(h, keys, n, out);
    else
        hash_salted(h, keys, n, out);
}

uint64_t dj_hasher_one(const struct dj_hasher *h, deja_slice key)
{
    if (h->hash == DEJA_HASH_XXH3 && !h->pieces)
        return hash_one(h, key);
    uint64_t out;
    dj_hasher_hash(h, &key, 1, &out);
    return out;
}

uint64_t dj_checksum(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}

uint64_t dj_checksum_pieces(const deja_slice *piece, size_t n)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t i = 0; i < n; i++)
        XXH3_64bits_update(&state, piece[i].data, piece[i].len);
    return XXH3_64bits_digest(&state);
}
