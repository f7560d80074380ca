/* cache.h - what every cache of a crawl can do.  cache_filter.c and cache_sieve.c implement it;
 * the rest of the crawler does not know which of them it has. */
#ifndef CRAWLER_LOOP_CACHE_H
#define CRAWLER_LOOP_CACHE_H
#include "crawler/loop/crawler.h"

struct cache_state {
    uint64_t keys;  /* URLs in it */
    uint64_t visit; /* that it belongs to; one more than in the queue: a crash as a visit began */
};

/* NULL: nothing to do. */
struct cache {
    const char *name; /* in the folder */
    /* Open it, or create it: then c->cache_made is set. */
    int (*open)(struct crawler *c, deja_error *err);
    void (*close)(struct crawler *c);
    int (*state)(struct crawler *c, struct cache_state *s, deja_error *err);
    /* Forget all URLs, for the next visit. */
    int (*rotate)(struct crawler *c, deja_error *err);
    /* After a crash: add the URLs of the queue that it lacks, unless open does that. */
    int (*mend)(struct crawler *c, deja_error *err);

    /* Judge the URLs in c->offers.  verdict[i] becomes a deja_verdict; a URL that is pending comes
     * back from settle. */
    int (*judge)(struct crawler *c, uint8_t *verdict, deja_error *err);
    /* Whether the new URLs that are not recorded fill the room for them: this round must be
     * durable. */
    bool (*is_full)(const struct crawler *c);
    /* Before the queue is synced: pending URLs become durable. */
    int (*protect)(struct crawler *c, deja_error *err);
    /* Before each commit: store in the queue what the next run needs to know. */
    int (*note)(struct crawler *c, deja_error *err);
    /* The rows of all new URLs are durable: record them. */
    int (*record)(struct crawler *c, deja_error *err);
    int (*sync)(struct crawler *c, deja_error *err);
    int (*save)(struct crawler *c, deja_error *err); /* the last sync of a run; NULL: as sync */

    bool (*waits)(const struct crawler *c); /* whether URLs are pending */
    /* Decide the pending URLs if it is time; the new ones enter the queue. */
    int (*settle)(struct crawler *c, deja_error *err);
    void (*report)(struct crawler *c); /* the fields of the account that are about the cache */
};

extern const struct cache cache_of_filter, cache_of_sieve;

/* For those who implement it: a file of the folder. */
struct cache_path {
    char text[4096];
};
int cache_path(const struct crawler *c, const char *name, struct cache_path *p, deja_error *err);
/* The last row that the cache is known to have; 0 for the first visit's new cache. */
int cache_last_row(struct crawler *c, int64_t *id, deja_error *err);

#endif
