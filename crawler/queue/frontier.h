/* frontier.h - keeps the queue on disk: every URL of every visit, its state and its result. */
#ifndef CRAWLER_QUEUE_FRONTIER_H
#define CRAWLER_QUEUE_FRONTIER_H
#include "crawler/archive/cdxj.h"
#include "crawler/queue/order.h"

typedef struct frontier frontier;

#define FRONTIER_TIME_MAX INT64_C(253402300799) /* the end of the year 9999 */

/* A URL in the queue. */
struct frontier_url {
    int64_t id;        /* 1, 2, ... in the order of arrival */
    int64_t host;      /* frontier_host */
    uint32_t depth;    /* links from a seed */
    uint32_t hops;     /* redirects since the last page */
    uint32_t attempts; /* failed attempts so far */
    bool hidden;       /* an earlier visit could have seen its page */
    int weight;        /* order.h; if taken: not set */
    int64_t priority;  /* if taken */
    int64_t parent;    /* the page on which it was first found; 0: none */
    deja_slice url;    /* if taken: NUL-terminated, free with frontier_url_free */
};

/* The result of a URL. */
struct frontier_page {
    int outcome; /* defined by the caller; 0 is a capture */
    int status;  /* HTTP status; 0: none */
    time_t when;
    deja_slice mime, etag, modified; /* empty: none */
    struct digest digest;
    struct warc_place place; /* file 0: not in an archive; `at` is the caller's own */
    bool revisit;            /* a revisit record */
};

/* Open the queue in the folder, or create it.  DEJA_EBUSY: another process has it.  URLs that a
 * killed process had taken wait again. */
int frontier_open(const char *dir, frontier **out, deja_error *err);
void frontier_close(frontier *f); /* rolls back uncommitted changes */

/* A crash undoes all changes since the last commit; committed changes survive kill -9.  After a
 * sync they survive a power failure. */
int frontier_commit(frontier *f, deja_error *err);
int frontier_sync(frontier *f, deja_error *err);

/* Values read from the file are checked; after DEJA_EFORMAT, err names the damage. */

/* Numbers and texts by name, such as the visit.  If absent: 0 and empty.  Numbers are at least 0.
 * *damaged, unless NULL, is set instead of returning an error if a value is not text. */
int frontier_get(frontier *f, const char *name, int64_t most, int64_t *value, deja_error *err);
int frontier_set(frontier *f, const char *name, int64_t value, deja_error *err);
int frontier_get_blob(frontier *f, const char *name, struct buffer *value, bool *damaged,
                      deja_error *err);
int frontier_set_blob(frontier *f, const char *name, deja_slice value, deja_error *err);

/* For a caller that finds damage: report that `what` of the file is damaged. */
int frontier_damaged(const frontier *f, const char *what, deja_error *err);

/* The number of a host (hostkey.h); adds the host if it is new. */
int frontier_host(frontier *f, deja_slice name, int64_t *id, deja_error *err);
/* The order of the URLs: an order_kind, and the weight of each URL (order.h); weigh may be NULL.
 * Call it before any URL is added or taken.  If URLs wait that were ordered otherwise, then call
 * frontier_reorder, which reads each of them once, in one transaction.  With new_cash, each gets
 * the cash of a seed. */
typedef int frontier_weigh(void *ctx, deja_slice url);
int frontier_order(frontier *f, uint32_t kind, frontier_weigh *weigh, void *ctx, deja_error *err);
int frontier_reorder(frontier *f, bool new_cash, deja_error *err);
/* The number by which URLs are found. */
int frontier_number(deja_slice url, int64_t *number, deja_error *err);
/* A link to the URL with this number, with some cash.  If the URL waits in this visit, `raise` gets
 * its host and its new priority. */
typedef int frontier_raise(void *ctx, int64_t host, int64_t priority, deja_error *err);
int frontier_credit(frontier *f, int64_t visit, int64_t number, double cash, frontier_raise *raise,
                    void *ctx, deja_error *err);
int frontier_cash(frontier *f, int64_t id, double *cash, deja_error *err);
/* What a page gave to each of its links, for links that are counted later; 0 if unknown. */
int frontier_set_share(frontier *f, int64_t id, double share, deja_error *err);
int frontier_share(frontier *f, int64_t id, double *share, deja_error *err);
/* The priority of the next URL of a host; ORDER_LOWEST: none waits. */
int frontier_best(frontier *f, int64_t host, int64_t *priority, deja_error *err);
/* The priority of a URL that is about to be added. */
int64_t frontier_priority(const frontier *f, const struct frontier_url *u);
/* The URL of a row is appended; nothing, if there is no such row. */
int frontier_url_of(frontier *f, int64_t id, struct buffer *url, deja_error *err);

/* Append a URL to the queue of its host. */
int frontier_add(frontier *f, int64_t visit, const struct frontier_url *u, int64_t *id,
                 deja_error *err);
/* The number of the URL added last, to any host. */
int frontier_last(frontier *f, int64_t *id, deja_error *err);
/* Take up to cap URLs of a host, the highest priority first, then in order of arrival. */
int frontier_take(frontier *f, int64_t host, struct frontier_url *url, size_t cap, size_t *n,
                  deja_error *err);
void frontier_url_free(struct frontier_url *u);
/* These put a taken URL back, or mark it as done. */
int frontier_put_back(frontier *f, const struct frontier_url *u, deja_error *err);
int frontier_done(frontier *f, int64_t id, const struct frontier_page *p, deja_error *err);

/* Pages whose records start at or after this place wait again, as if never fetched; `take` gets
 * the outcome, status and revisit flag of each.  File 0: pages that are in no archive. */
typedef int frontier_undone(void *ctx, const struct frontier_page *p, deja_error *err);
int frontier_undo(frontier *f, uint32_t file, uint64_t at, frontier_undone *take, void *ctx,
                  deja_error *err);

/* The last complete copy of a page with status 2xx; *found is false if it is missing.  Texts are
 * NUL-terminated and valid until the next call. */
int frontier_copy_of(frontier *f, deja_slice url, struct frontier_page *p, bool *found,
                     deja_error *err);
/* True if an earlier visit had this URL in its queue. */
int frontier_was_known(frontier *f, deja_slice url, int64_t visit, bool *known, deja_error *err);
/* End a visit: URLs still waiting are left over (*n), and the next visit can call the two
 * functions above. */
int frontier_leave(frontier *f, uint64_t *n, deja_error *err);

typedef int frontier_host_take(void *ctx, int64_t id, deja_slice name, uint64_t waiting,
                               int64_t priority, deja_error *err);
/* Each host with waiting URLs; the priority is that of the next. */
int frontier_each_host(frontier *f, frontier_host_take *take, void *ctx, deja_error *err);
/* Each host with URLs done in this visit; `waiting` is their number. */
int frontier_each_done(frontier *f, int64_t visit, frontier_host_take *take, void *ctx,
                       deja_error *err);
typedef int frontier_text_take(void *ctx, deja_slice text, deja_error *err);
/* Each URL added after this one. */
int frontier_each_since(frontier *f, int64_t id, frontier_text_take *take, void *ctx,
                        deja_error *err);
/* Each URL that waits. */
typedef int frontier_url_take(void *ctx, const struct frontier_url *u, deja_error *err);
int frontier_each_waiting(frontier *f, frontier_url_take *take, void *ctx, deja_error *err);
/* Each page and redirect in the archive, without revisit records: its URL and depth, its status
 * and place. */
typedef int frontier_copy_take(void *ctx, const struct frontier_url *u,
                               const struct frontier_page *p, deja_error *err);
int frontier_each_copy(frontier *f, frontier_copy_take *take, void *ctx, deja_error *err);
/* Each line of the archive's index, sorted. */
int frontier_each_line(frontier *f, frontier_text_take *take, void *ctx, deja_error *err);

#endif
