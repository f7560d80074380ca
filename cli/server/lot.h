/* lot.h - a batch of keys as requests to shards: sorted by shard, LOT_KEYS keys in each command. */
#ifndef CLI_SERVER_LOT_H
#define CLI_SERVER_LOT_H
#include "cli/server/wire.h"

#define LOT_KEYS     256 /* keys per command, so that the server can serve others in between */
#define LOT_NAME_LEN 216 /* of a shard's name, with the zero byte */

/* The shards of a cache on a server: their names. */
struct lot_to {
    char (*name)[LOT_NAME_LEN];
    uint32_t n;
};

struct lot {
    size_t n;      /* keys */
    size_t *index; /* index of key i in the caller's array */
    const char **argv;
    size_t *len;
    struct wire_request *request;
    size_t *first; /* index in the lot of a request's first key */
    size_t n_requests;
};

/* The shard of a key (shards.h). */
uint32_t lot_shard(deja_slice key, uint32_t n);
/* Requests with this verb for the keys with want[i] != 0 (NULL: all), which are borrowed.  Call
 * lot_free even after a failure. */
int lot_make(const struct lot_to *to, const char *verb, const deja_slice *key, size_t n,
             const uint8_t *want, struct lot *lot, deja_error *err);
void lot_free(struct lot *lot);

#endif
