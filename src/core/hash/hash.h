/* hash.h - turns keys into numbers; filters see keys only as hashes.
 *
 * A hasher is made from 32 secret bytes, the visit, and the number of words per key: one for XXH3
 * and SipHash, k F for the papers' families.  The rules of its file select the functions
 * (docs/format/header.md#rules). */
#ifndef DJ_HASH_H
#define DJ_HASH_H
#include "core/hash/short.h"
#include "deja.h"

/* The rules that map keys to positions.  A file records them (docs/format.md), and a filter keeps
 * the ones it was created with. */
enum dj_rules {
    DJ_RULES_0_1 = 0, /* the rules of deja 0.1 */
    DJ_RULES_0_2 = 1
};
#define DJ_RULES_NEWEST DJ_RULES_0_2

#define DJ_SECRET_LEN 192 /* XXH3's default secret size, which its short-key paths expect */
#define DJ_MAX_WORDS  512

struct dj_hasher {
    uint32_t hash;  /* deja_hash */
    uint32_t words; /* numbers per key */
    uint32_t rules; /* enum dj_rules */
    bool pieces;    /* rules 1: the keys are segments of a layered filter's keys */
    uint8_t secret[DJ_SECRET_LEN];
    size_t below;          /* XXH3 hashes keys of this many bytes or more ... */
    struct dj_short brief; /* ... and `brief` hashes shorter ones; unused by rules 0 */
    uint64_t sip[2];
    uint64_t *salts; /* `words` of them for the papers' families, else NULL */
};

/* The width of the function's value in bits; 32-bit families address at most 2^32 bits of a
 * filter. */
unsigned dj_hash_width(uint32_t hash);
/* The number of different functions: the largest k of MIXED; UINT32_MAX for the others. */
uint32_t dj_hash_max_k(uint32_t hash);
/* True if a key's hash differs between the two sets of rules. */
bool dj_hash_changed(uint32_t hash, uint32_t rules, uint32_t other);
/* True for families that hash a key once for all positions. */
bool dj_hash_is_single(uint32_t hash);

/* The parameters of a hasher, except its key. */
struct dj_hashing {
    uint32_t hash;  /* deja_hash */
    uint32_t rules; /* enum dj_rules */
    uint64_t visit;
    uint32_t words;
    bool pieces;
};
/* salts has room for `words` numbers and must outlive the hasher (unused, and may be NULL, for
 * single families). */
void dj_hasher_init(struct dj_hasher *h, const struct dj_hashing *what,
                    const uint8_t key[DEJA_KEY_LEN], uint64_t *salts);
/* Writes n * words numbers to out, key by key. */
void dj_hasher_hash(const struct dj_hasher *h, const deja_slice *keys, size_t n, uint64_t *out);
/* The same for one key, if `words` is 1: much faster than a batch of one. */
uint64_t dj_hasher_one(const struct dj_hasher *h, deja_slice key);

/* Streams of derived words; part of the file format (docs/format.md). */
enum dj_stream {
    DJ_STREAM_SECRET = 1,
    DJ_STREAM_SALT = 2,
    DJ_STREAM_SIPHASH = 3,
    DJ_STREAM_PART = 4,
    DJ_STREAM_CHECK = 5,
    DJ_STREAM_LAYER = 6,
    DJ_STREAM_STATIC = 8,
    DJ_STREAM_SHORT = 9,
    DJ_STREAM_SIEVE = 10
};
/* Word `index` of a stream derived from the key; reveals nothing about the key. */
uint64_t dj_key_derive(const uint8_t key[DEJA_KEY_LEN], enum dj_stream stream, uint64_t index);
/* Makes a key for repeatable runs. */
void dj_key_from_seed(uint64_t seed, uint8_t key[DEJA_KEY_LEN]);
/* An unkeyed checksum of a long file body. */
uint64_t dj_checksum(const void *data, size_t len);
/* The same over several pieces, as if they were concatenated. */
uint64_t dj_checksum_pieces(const deja_slice *piece, size_t n);

#endif
