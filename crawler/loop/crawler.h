/* crawler.h - declarations that the files of the crawler share.
 *
 *     crawl.c     the loop: start downloads, wait, process them, commit
 *     folder.c    opening, closing, commits
 *     settings.c  options that are remembered       seeds.c    start URLs, and the scope
 *     cache.c     which URLs were seen              archive.c  fetched pages
 *     outcome.c   after a download: archive it, extract its links, or retry
 *     offer.c     for each link: if it is in scope and new, add it to the queue */
#ifndef CRAWLER_LOOP_CRAWLER_H
#define CRAWLER_LOOP_CRAWLER_H
#include "crawler/archive/warc.h"
#include "crawler/http/fetch.h"
#include "crawler/http/links.h"
#include "crawler/loop/crawl.h"
#include "crawler/loop/schedule.h"
#include "crawler/loop/scope.h"
#include "crawler/queue/frontier.h"

#define CRAWLER_SETTINGS 96      /* of settings.c, at most */
#define CRAWLER_VISITS   1000000 /* a folder that claims more is damaged */

/* URLs of one page that are about to be looked up in the cache. */
#define OFFERS 256
struct offers {
    struct buffer text; /* canonical URLs, concatenated */
    size_t end[OFFERS];
    size_t n;
    uint32_t depth, hops;
    bool hidden;
};

/* A request in progress: for a page, or for robots.txt. */
struct job {
    struct host *host;       /* the host that gets the request */
    struct origin *origin;   /* the origin whose robots.txt it is; NULL: a page */
    struct frontier_url url; /* of the page */
    struct job *next, **at;  /* list of all jobs */
};

struct crawler {
    const struct crawl_options *given; /* by the caller */
    const struct crawl_options *o;     /* &settled: the options in effect (settings.c) */
    struct crawl_options settled;
    char *text[CRAWLER_SETTINGS]; /* of remembered settings */
    struct buffer as_before;      /* their options, to be printed */
    char agent[400];              /* User-Agent */
    struct crawl_account account;
    int dir;
    frontier *queue;
    deja_filter *cache;
    deja_dedup *pending; /* URLs whose rows are not yet durable */
    deja_filter *shapes; /* counts URLs by shape */
    bool cache_made;     /* the cache was missing */
    bool fresh;          /* the visit starts with this run */
    scope *scope;
    struct buffer named; /* addresses in seeds, with ports, one per line */
    struct schedule schedule;
    fetcher *fetcher;
    struct warc warc;
    int64_t visit;
    int64_t last_id;          /* of the queue */
    struct job *jobs;         /* in progress */
    uint64_t pages_in_flight; /* how many of the jobs are pages */
    bool changed;             /* something has changed since the last commit */
    double now;               /* seconds of a monotonic clock, as of the last reading */
    double began, next_durable, next_cache_sync, next_status, next_rate;
    bool crowded;   /* the warning about the cache's capacity was printed */
    double fp_rate; /* of the cache, when last measured */
    struct offers offers;
    uint64_t *hashes; /* of offers */
    struct buffer url_room, host_name, decoded, stored, shape;
};

static inline void crawler_count(struct crawler *c, enum crawl_count what, uint64_t n)
{
    c->account.count[what] += n;
}

/* offer.c: a host that is new in this run, and the new place of a host after any change. */
int crawler_add_host(struct crawler *c, deja_slice name, int64_t id, struct host **h,
                     deja_error *err);
int crawler_schedule(struct crawler *c, struct host *h, deja_error *err);

/* folder.c */
int folder_open(struct crawler *c, deja_error *err);
int folder_commit(struct crawler *c, deja_error *err); /* after a round */
int folder_finish(struct crawler *c, deja_error *err); /* at the end of a run */
void folder_close(struct crawler *c);
int folder_store_counts(struct crawler *c, deja_error *err);
int folder_no_crawl(const struct crawler *c, deja_error *err); /* the error for an empty folder */

/* seeds.c */
int seeds_store(struct crawler *c, deja_error *err); /* stores the given seeds */
int seeds_open_scope(struct crawler *c, deja_error *err);
int seeds_queue(struct crawler *c, deja_error *err); /* queues all seeds */
/* Whether the address of the URL must be public: in a broad crawl it must, unless a seed names
 * that address and port. */
int seeds_want_public(const struct crawler *c, deja_slice url, bool *want, deja_error *err);

/* cache.c */
int cache_open(struct crawler *c, deja_error *err);
int cache_open_shapes(struct crawler *c, deja_error *err);
int cache_mend(struct crawler *c, deja_error *err); /* after a crash */
int cache_rotate(struct crawler *c, deja_error *err);
int cache_sync(struct crawler *c, deja_error *err);
/* Call when the rows of pending URLs are durable. */
int cache_take_pending(struct crawler *c, deja_error *err);
void cache_measure_rate(struct crawler *c);

/* archive.c */
int archive_mend(struct crawler *c, deja_error *err); /* after a power failure */
int archive_open(struct crawler *c, deja_error *err);
int archive_record(struct crawler *c, deja_error *err); /* records its end with the next commit */
int archive_sync(struct crawler *c, deja_error *err);   /* and records the durable end */
/* Whether the file of this record exists; someone may have moved it. */
bool archive_has(const struct crawler *c, const struct warc_place *place);
int archive_write_index(struct crawler *c, deja_error *err);

/* offer.c.  URLs are absolute, as found. */
void offer_begin(struct crawler *c, uint32_t depth, uint32_t hops, bool hidden);
int offer_url(struct crawler *c, deja_slice url, deja_error *err);
int offer_end(struct crawler *c, deja_error *err);
int offer_one(struct crawler *c, deja_slice url, uint32_t depth, uint32_t hops, bool hidden,
              deja_error *err);
/* The form in which a URL is fetched: canonical, without credentials.  *canon is in c->url_room,
 * or url itself.  Fails with DEJA_ENOTURL or DEJA_ENOMEM. */
int offer_canon(struct crawler *c, deja_slice url, deja_slice *canon);
/* The host of a canonical URL. */
int offer_host(struct crawler *c, deja_slice url, struct host **h, deja_error *err);

/* outcome.c.  Frees the job and the download. */
int outcome_take(struct crawler *c, struct job *job, struct fetch *d, deja_error *err);
/* The count for a fetch_fault. */
enum crawl_count outcome_of_fault(int fault);
/* Record that a URL is not fetched, and why. */
int outcome_skip(struct crawler *c, const struct frontier_url *u, enum crawl_count why,
                 deja_error *err);
void job_free(struct job *job);

#endif
