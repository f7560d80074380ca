/* shards.h - one cache of seen keys over N filters of a Redis server or cluster.
 *
 * The filters are the keys {NAME:0} .. {NAME:N-1} of the server; braces make each a slot of its
 * own, so that a cluster spreads them over its nodes.  A key of ours belongs to shard
 *
 *     floor(mix(fnv(key)) N / 2^64)
 *
 * with FNV-1a of 64 bits and the finalizer of SplitMix64: nothing secret, the same for every
 * client.  The server's key NAME is a text that tells N and the form of the keys, written once by
 * the client that makes the cache. */
#ifndef CLI_SERVER_SHARDS_H
#define CLI_SERVER_SHARDS_H
#include "cli/server/wire.h"

#define SHARDS_DEFAULT 16u
#define SHARDS_MAX     16384u

struct shards_options {
    const char *url, *name;
    uint32_t shards;             /* 0: as it is; or when it is made, SHARDS_DEFAULT or fewer */
    uint32_t replicas;           /* that have an add before it counts */
    const deja_options *create;  /* make it when it is not there; of all shards together */
    const deja_url_rules *rules; /* form of the keys, or NULL */
    const atomic_bool *stop;
};

struct shards;
int shards_open(const struct shards_options *opt, struct shards **out, deja_error *err);
void shards_close(struct shards *s); /* NULL is fine */
uint32_t shards_count(const struct shards *s);
/* Whether the cache was there before shards_open. */
bool shards_existed(const struct shards *s);
/* The rules that were given, in the version that the cache was made with. */
const deja_url_rules *shards_rules(const struct shards *s);

/* Whether its filters are windows, which forget, and how many keys they remember together; 0:
 * those of some time. */
int shards_window(struct shards *s, bool *forgets, uint64_t *keys, deja_error *err);

/* For the keys whose want[i] is not 0 (NULL: all), answer[i] is 1 when it was found, or 1 when it
 * was new; the others' answers stay as they are.  May be repeated after a failure. */
int shards_check(struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
                 uint8_t *answer, deja_error *err);
int shards_add(struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
               uint8_t *answer, deja_error *err);

/* Shard of a key; for tests and other clients to compare with. */
uint32_t shards_of(deja_slice key, uint32_t n);

#endif
