/* crawler.h - what the files of a crawl share: its parts, and who calls whom.
 *
 *     crawl.c     the loop: begin downloads, wait, take them in, commit
 *     folder.c    opens and closes; commits
 *     settings.c  options that are remembered       seeds.c    where it begins, and the scope
 *     cache.c     which URLs were seen              archive.c  what was fetched
 *     outcome.c   a download is finished: archive it, find its links, or try again
 *     offer.c     a link is found: does it belong, was it seen?  If not, into the queue */
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

/* URLs of one page, on their way to the cache. */
#define OFFERS 256
struct offers {
    struct buffer text; /* canonical URLs, one after the other */
    size_t end[OFFERS];
    size_t n;
    uint32_t depth, hops;
    bool hidden;
};

/* A request under way: a page's, or for robots.txt. */
struct job {
    struct host *host;       /* that is asked                           */
    struct origin *origin;   /* whose robots.txt it is; NULL: a page's  */
    struct frontier_url url; /* of the page                             */
    struct job *next, **at;  /* in the list of all */
};

struct crawler {
    const struct crawl_options *given; /* by the caller                     */
    const struct crawl_options *o;     /* &settled: what holds (settings.c) */
    struct crawl_options settled;
    char *text[CRAWLER_SETTINGS]; /* of settings that were remembered */
    struct buffer as_before;      /* their options, for people */
    char agent[400];              /* User-Agent                       */
    struct crawl_account account;
    int dir;
    frontier *queue;
    deja_filter *cache;
    deja_dedup *pending; /* URLs whose rows are not yet on disk for good */
    deja_filter *shapes; /* counts URLs of one shape */
    scope *scope;
    struct buffer named; /* addresses that seeds name, with their ports; lines */
    struct schedule schedule;
    fetcher *fetcher;
    struct warc warc;
    int64_t visit;
    int64_t last_id;          /* of the queue                                    */
    struct job *jobs;         /* under way                                       */
    uint64_t pages_in_flight; /* of these, pages                                 */
    bool changed;             /* since the last commit                           */
    double now;               /* seconds of a steady clock, at the last look     */
    double began, next_durable, next_cache_sync, next_status, next_rate;
    bool crowded;   /* the owner knows that the cache is past its size */
    double fp_rate; /* of the cache, as of the last look */
    struct offers offers;
    uint64_t *hashes; /* of offers */
    struct buffer url_room, host_name, decoded, stored, shape;
};

static inline void crawler_count(struct crawler *c, enum crawl_count what, uint64_t n)
{
    c->account.count[what] += n;
}

/* folder.c */
int folder_open(struct crawler *c, deja_error *err);
int folder_commit(struct crawler *c, deja_error *err); /* a round */
int folder_finish(struct crawler *c, deja_error *err); /* the run  */
void folder_close(struct crawler *c);

/* seeds.c */
int seeds_store(struct crawler *c, deja_error *err); /* those that are given */
int seeds_open_scope(struct crawler *c, deja_error *err);
int seeds_queue(struct crawler *c, deja_error *err); /* all of them */
/* Must the URL's address be public?  In a broad crawl, unless a seed names that address and port.
 */
int seeds_want_public(const struct crawler *c, deja_slice url, bool *want, deja_error *err);

/* cache.c.  *made: it was not there. */
int cache_open(struct crawler *c, bool *made, deja_error *err);
int cache_open_shapes(struct crawler *c, bool fresh, deja_error *err);
int cache_mend(struct crawler *c, bool made, deja_error *err); /* after a crash */
int cache_rotate(struct crawler *c, deja_error *err);
int cache_sync(struct crawler *c, deja_error *err);
/* The rows of pending URLs are on disk for good. */
int cache_take_pending(struct crawler *c, deja_error *err);
void cache_look_at_rate(struct crawler *c);

/* archive.c */
int archive_mend(struct crawler *c, deja_error *err); /* after a power cut */
int archive_open(struct crawler *c, deja_error *err);
int archive_record(struct crawler *c, deja_error *err); /* its end, with the next commit      */
int archive_sync(struct crawler *c, deja_error *err);   /* and up to where it is on disk      */
/* Is the file there that has this record?  Somebody may have put it elsewhere. */
bool archive_has(const struct crawler *c, const struct warc_place *place);
int archive_write_index(struct crawler *c, deja_error *err);

/* offer.c.  A URL as it was found, absolute. */
void offer_begin(struct crawler *c, uint32_t depth, uint32_t hops, bool hidden);
int offer_url(struct crawler *c, deja_slice url, deja_error *err);
int offer_end(struct crawler *c, deja_error *err);
/* The form in which a URL is fetched, in c->url_room or url itself: canonical, without
 * credentials. DEJA_ENOTURL. */
int offer_canon(struct crawler *c, deja_slice url, deja_slice *canon);
/* The host of a canonical URL. */
int offer_host(struct crawler *c, deja_slice url, struct host **h, deja_error *err);

/* outcome.c.  Takes the job and the download over. */
int outcome_take(struct crawler *c, struct job *job, struct fetch *d, deja_error *err);
/* What a fetch_fault is counted as. */
enum crawl_count outcome_of_fault(int fault);
/* A URL that is not fetched, for this reason. */
int outcome_skip(struct crawler *c, const struct frontier_url *u, enum crawl_count why,
                 deja_error *err);
void job_free(struct job *job);

#endif
