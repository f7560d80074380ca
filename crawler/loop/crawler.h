/* crawler.h - declarations that the files of the crawler share.
 *
 *     crawl.c     the loop: start downloads, wait, process them, commit
 *     folder.c    opening, closing, commits
 *     settings.c  options that are remembered       seeds.c    start URLs, and the scope
 *     cache.c     which URLs were seen (cache.h)    archive.c  fetched pages
 *     ranking.c   which URL of the queue is next
 *     outcome.c   after a download: archive it, extract its links, or retry
 *     fate.c      the end of a URL
 *     offer.c     for each link: if it is in scope and new, add it to the queue */
#ifndef CRAWLER_LOOP_CRAWLER_H
#define CRAWLER_LOOP_CRAWLER_H
#include "crawler/archive/warc.h"
#include "crawler/http/fetch.h"
#include "crawler/http/links.h"
#include "crawler/loop/crawl.h"
#include "crawler/loop/schedule.h"
#include "crawler/loop/scope.h"
#include "crawler/loop/waiting.h"
#include "crawler/queue/frontier.h"

#define CRAWLER_SETTINGS 96      /* of settings.c, at most */
#define CRAWLER_VISITS   1000000 /* a folder that claims more is damaged */

/* URLs of one page that are about to be looked up in the cache. */
#define OFFERS 256
struct offers {
    struct buffer text; /* canonical URLs, concatenated */
    size_t end[OFFERS];
    size_t n;
    struct link link; /* of each of them; its URL is not used */
};

/* The links of one page that may change priorities (ranking.c). */
struct page_links {
    struct buffer number; /* int64_t of each (frontier_number) */
    uint64_t pending;     /* links that a sieve could not judge */
};

/* A sieve as the cache (cache_sieve.c). */
struct sieve_cache {
    deja_sieve *sieve;
    uint64_t pending, pending_most; /* URLs that wait, and the room for them */
    uint64_t unrecorded;            /* new URLs whose rows may not be durable */
    uint64_t spooled, safe;         /* URLs that were ever pending; those that are durable */
    int64_t stored_visit;           /* as in the queue: the visit of the sieve ... */
    uint64_t stored_spooled, stored_waited;
    int64_t round;           /* durable rounds so far */
    double since;            /* when the oldest URL became pending */
    double settled_at, took; /* the end of the last pass, and its seconds */
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
    const struct cache *cache; /* which URLs were seen (cache.h) */
    deja_filter *filter;       /* as a filter: */
    deja_dedup *pending;       /* URLs whose rows are not yet durable */
    uint64_t *hashes;          /* of offers */
    struct sieve_cache sieve;  /* as a sieve */
    deja_filter *shapes;       /* counts URLs by shape */
    bool cache_made;           /* the cache was missing */
    bool fresh;                /* the visit starts with this run */
    scope *scope;
    struct buffer named; /* addresses in seeds, with ports, one per line */
    struct schedule schedule;
    fetcher *fetcher;
    struct warc warc;
    uint32_t whole_file; /* the archive's end after the last page that was processed */
    uint64_t whole_end;
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
    struct page_links links;
    struct prefer *prefer; /* NULL: none */
    struct buffer url_room, host_name, decoded, stored, shape, records, parent;
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
int folder_commit(struct crawler *c, deja_error *err);  /* after a round */
int folder_durable(struct crawler *c, deja_error *err); /* at once, even in the middle of a page */
int folder_finish(struct crawler *c, deja_error *err);  /* at the end of a run */
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

/* cache.c; cache.h explains them */
int cache_open(struct crawler *c, deja_error *err);
void cache_close(struct crawler *c);
int cache_open_shapes(struct crawler *c, deja_error *err);
int cache_mend(struct crawler *c, deja_error *err); /* after a crash */
bool cache_is_full(const struct crawler *c);
int cache_protect(struct crawler *c, deja_error *err);
int cache_note(struct crawler *c, deja_error *err);
/* Call when the rows of new URLs are durable. */
int cache_take_pending(struct crawler *c, deja_error *err);
int cache_sync(struct crawler *c, deja_error *err);
int cache_save(struct crawler *c, deja_error *err);
bool cache_waits(const struct crawler *c);
int cache_settle(struct crawler *c, deja_error *err);

/* archive.c */
int archive_mend(struct crawler *c, deja_error *err); /* after a power failure */
int archive_open(struct crawler *c, deja_error *err);
/* Call when a page was processed: commits in the middle of a page record the end before it. */
void archive_mark(struct crawler *c);
int archive_record(struct crawler *c, deja_error *err); /* records its end with the next commit */
int archive_sync(struct crawler *c, deja_error *err);   /* and records the durable end */
/* The pages since the last sync wait again; without an archive, those of this round and later. */
int archive_undo(struct crawler *c, int64_t round, deja_error *err);
/* Whether the file of this record exists; someone may have moved it. */
bool archive_has(const struct crawler *c, const struct warc_place *place);
int archive_write_index(struct crawler *c, deja_error *err);

/* offer.c.  URLs are absolute, as found. */
/* The URL in `like` is not used. */
void offer_begin(struct crawler *c, struct link like);
int offer_url(struct crawler *c, deja_slice url, deja_error *err);
int offer_end(struct crawler *c, deja_error *err);
/* Lists the URLs in a batch, and returns their number. */
size_t offers_list(const struct offers *f, deja_slice *url);
/* Take a URL that was pending and is new. */
int offer_late(struct crawler *c, const struct link *link, deja_error *err);
int offer_one(struct crawler *c, struct link link, deja_error *err);
/* The form in which a URL is fetched: canonical, without credentials.  *canon is in c->url_room,
 * or url itself.  Fails with DEJA_ENOTURL or DEJA_ENOMEM. */
int offer_canon(struct crawler *c, deja_slice url, deja_slice *canon);
/* The host of a canonical URL. */
int offer_host(struct crawler *c, deja_slice url, struct host **h, deja_error *err);

/* outcome.c.  Frees the job and the download. */
int outcome_take(struct crawler *c, struct job *job, struct fetch *d, deja_error *err);
/* The count for a fetch_fault. */
enum crawl_count outcome_of_fault(int fault);
void job_free(struct job *job);

#endif
