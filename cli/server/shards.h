/* shards.h - a cache of seen keys in N filters on a Redis server or cluster.
 *
 * The filters are the server's keys {NAME:0} .. {NAME:N-1}; the braces give each its own slot, so
 * a cluster spreads them over its nodes.  A cached key belongs to shard
 *
 *     floor(mix(fnv(key)) N / 2^64)
 *
 * with 64-bit FNV-1a and the finalizer of SplitMix64.  This function is not secret, and it is the
 * same for every client.  The server's key NAME holds a text with N and the form of the cached
 * keys; the client that creates the cache writes it once. */
#ifndef CLI_SERVER_SHARDS_H
#define CLI_SERVER_SHARDS_H
#include "cli/server/wire.h"

#define SHARDS_DEFAULT 16u
#define SHARDS_MAX     16384u

struct shards_options {
    const char *url, *name;
    uint32_t shards;   /* 0: as many as the cache has; for a new one, SHARDS_DEFAULT or fewer */
    uint32_t replicas; /* replicas that must receive an add before it counts */
    const deja_options
        *create; /* or NULL; make a missing cache; sizes are of all shards together */
    const deja_url_rules *rules; /* of the canonical form of the keys; NULL: those of the cache,
                                    and for a new one, the keys are bytes */
    const atomic_bool *stop;
    struct wire_talk talk; /* about lost servers */
};

struct shards;
int shards_open(const struct shards_options *opt, struct shards **out, deja_error *err);
void shards_close(struct shards *s); /* NULL is fine */
uint32_t shards_count(const struct shards *s);
/* Whether the cache existed before shards_open. */
bool shards_existed(const struct shards *s);
/* The given rules, in the version that the cache was made with. */
const deja_url_rules *shards_rules(const struct shards *s);
/* The profile of the cache, 0 if its keys are bytes, and the id of its rules.  A client that did
 * not give its rules sends keys in this form. */
uint32_t shards_profile(const struct shards *s, uint64_t *rules);

/* What the description of a cache says; false: the text is not one.  profile has room for
 * CACHEFORM_PROFILE bytes. */
bool shards_read_text(const char *text, uint32_t *n, char *profile);

/* *forgets becomes true if the filters are windows; *keys becomes the number of keys that they
 * remember together, or 0 for windows by time. */
int shards_window(struct shards *s, bool *forgets, uint64_t *keys, deja_error *err);

/* For each key with want[i] != 0 (NULL: all), answer[i] becomes 1 if it was found (check) or new
 * (add), otherwise 0.  The other answers are not changed.  Both calls may be repeated after a
 * failure. */
int shards_check(struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
                 uint8_t *answer, deja_error *err);
int shards_add(struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
               uint8_t *answer, deja_error *err);

#endif
