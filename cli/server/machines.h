/* machines.h - a cache of F filters on F servers, one on each: the spatial strategy of the thesis
 * (4.3, 6.4) over machines.
 *
 * Server i has filter i of F: the same bits that part i of one filter with --filters F has.  All
 * servers are asked at the same time.  A key was seen if every server that answers says so, so a missing
 * server makes answers less precise, but no key that was added is ever missed.  Adds for a missing
 * server wait in a spool (keyspool.h), and it answers again only when it has them all.
 *
 * The filters of server i are its keys {NAME.i:0} .. {NAME.i:N-1}, where N is the number of shards,
 * and its key NAME.i describes the cache: which filter of how many this is, the check value of the
 * secret key that all F filters share, and the form of the cached keys. */
#ifndef CLI_SERVER_MACHINES_H
#define CLI_SERVER_MACHINES_H
#include "cli/server/cacheform.h"
#include "cli/server/wire.h"

#define MACHINES_MOST 16

struct machines_options {
    const char *const *url; /* in the order of the filters */
    uint32_t n;             /* F, at least 2 */
    const char *name;
    uint32_t shards; /* 0: as many as the cache has; for a new one, 1 */
    const deja_options
        *create; /* or NULL; all F filters together; a new cache needs all servers */
    const deja_url_rules *rules; /* as in shards.h */
    const char *spool_dir;
    uint64_t spool_size; /* the most for one server; 0: the default */
    const atomic_bool *stop;
    /* What the user should know about single servers; each text is a sentence. */
    void (*note)(void *ctx, const char *text);
    void *ctx;
};

struct machines;
int machines_open(const struct machines_options *opt, struct machines **out, deja_error *err);
void machines_close(struct machines *m); /* NULL is fine */

bool machines_existed(const struct machines *m);
const struct cacheform *machines_form(const struct machines *m);
uint32_t machines_shards(const struct machines *m);

/* As shards_check and shards_add.  add keeps the keys in the spools of the servers that do not
 * have them. */
int machines_check(struct machines *m, const deja_slice *key, size_t n, const uint8_t *want,
                   uint8_t *answer, deja_error *err);
int machines_add(struct machines *m, const deja_slice *key, size_t n, const uint8_t *want,
                 uint8_t *answer, deja_error *err);
/* Whether the spools of the missing servers have room for these keys. */
int machines_check_room(const struct machines *m, const deja_slice *key, size_t n,
                        const uint8_t *want, deja_error *err);
/* Call it when there is nothing else to do: reconnects, and delivers what a server has missed.  False
 * if all servers are here. */
bool machines_tend(struct machines *m);
/* At the end of a run: delivers what can be delivered now, and asks for the rates. */
void machines_finish(struct machines *m);

/* How many lookups and adds were answered by exactly i of the F servers, and the rate of these
 * answers (NaN: unknown); call it after machines_finish. */
struct machines_answers {
    uint64_t keys;
    double rate;
};
struct machines_answers machines_answered(const struct machines *m, uint32_t by);

struct machines_one {
    const char *address; /* valid until the next call */
    bool answers, lost;  /* lost: its filters, not only the connection */
    uint64_t delivered, waiting;
    uint64_t bytes; /* of its filters */
};
struct machines_one machines_one(const struct machines *m, uint32_t i);

#endif
