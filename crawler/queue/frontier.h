/* frontier.h - the queue on disk: every URL of every visit, what waits and what became of it. */
#ifndef CRAWLER_QUEUE_FRONTIER_H
#define CRAWLER_QUEUE_FRONTIER_H
#include "crawler/archive/cdxj.h"

typedef struct frontier frontier;

#define FRONTIER_TIME_MAX INT64_C(253402300799) /* the end of the year 9999 */

/* A URL that waits. */
struct frontier_url {
    int64_t id;        /* 1, 2, ... in the order of arrival              */
    int64_t host;      /* frontier_host                                  */
    uint32_t depth;    /* links from a seed                              */
    uint32_t hops;     /* redirects since the last page                  */
    uint32_t attempts; /* that failed and may be tried again             */
    bool hidden;       /* its page was to be seen in an earlier visit    */
    deja_slice url;    /* taken ones: zero behind it, frontier_url_free  */
};

/* What became of it. */
struct frontier_page {
    int outcome; /* the caller's numbers; 0 is a capture */
    int status;  /* of HTTP; 0: none                     */
    time_t when;
    deja_slice mime, etag, modified; /* empty: none */
    struct digest digest;
    struct warc_place place; /* file 0: in no archive */
    bool revisit;            /* a revisit record      */
};

/* The queue in the folder, made when it is absent.  DEJA_EBUSY: another process has it.  What a
 * killed process had taken waits again. */
int frontier_open(const char *dir, frontier **out, deja_error *err);
void frontier_close(frontier *f); /* what was not committed is undone */

/* Changes are undone by a crash up to the last commit; what was committed survives kill -9.  After
 * a sync it survives a power cut. */
int frontier_commit(frontier *f, deja_error *err);
int frontier_sync(frontier *f, deja_error *err);

/* What comes out of the file is checked: DEJA_EFORMAT says what is damaged. */

/* Numbers and texts by name, such as the visit.  Absent: 0 and empty.  Numbers are at least 0.
 * *damaged, unless NULL, takes the place of the error for a value that is not text. */
int frontier_get(frontier *f, const char *name, int64_t most, int64_t *value, deja_error *err);
int frontier_set(frontier *f, const char *name, int64_t value, deja_error *err);
int frontier_get_blob(frontier *f, const char *name, struct buffer *value, bool *damaged,
                      deja_error *err);
int frontier_set_blob(frontier *f, const char *name, deja_slice value, deja_error *err);

/* For a caller that finds such a thing: `what` of the file is damaged. */
int frontier_damaged(const frontier *f, const char *what, deja_error *err);

/* The number of a host (hostkey.h), which is new or not. */
int frontier_host(frontier *f, deja_slice name, int64_t *id, deja_error *err);
/* Put a URL at the end of its host's and depth's queue. */
int frontier_add(frontier *f, int64_t visit, const struct frontier_url *u, int64_t *id,
                 deja_error *err);
/* The number of the last one that was added, to any host. */
int frontier_last(frontier *f, int64_t *id, deja_error *err);
/* Take up to cap URLs of a host, those of the smallest depth first, then in order of arrival. */
int frontier_take(frontier *f, int64_t host, struct frontier_url *url, size_t cap, size_t *n,
                  deja_error *err);
void frontier_url_free(struct frontier_url *u);
/* Taken ones wait again, or are done. */
int frontier_put_back(frontier *f, const struct frontier_url *u, deja_error *err);
int frontier_done(frontier *f, int64_t id, const struct frontier_page *p, deja_error *err);

/* Pages whose records begin there or behind wait again, as if never fetched; of each, `take` gets
 * outcome, status and revisit. */
typedef int frontier_undone(void *ctx, const struct frontier_page *p, deja_error *err);
int frontier_undo(frontier *f, uint32_t file, uint64_t at, frontier_undone *take, void *ctx,
                  deja_error *err);

/* The last whole copy of a page, of status 2xx; *found is false when there is none.  Texts last
 * until the next call, and are terminated. */
int frontier_copy_of(frontier *f, deja_slice url, struct frontier_page *p, bool *found,
                     deja_error *err);
/* Did an earlier visit have this URL in its queue? */
int frontier_was_known(frontier *f, deja_slice url, int64_t visit, bool *known, deja_error *err);
/* A visit ends: what still waits is left behind (*n), and the next one can ask the above. */
int frontier_leave(frontier *f, uint64_t *n, deja_error *err);

typedef int frontier_host_take(void *ctx, int64_t id, deja_slice name, uint64_t waiting,
                               uint32_t depth, deja_error *err);
/* Each host for which something waits. */
int frontier_each_host(frontier *f, frontier_host_take *take, void *ctx, deja_error *err);
/* Each host of which this visit has done something: so many URLs, in the place of `waiting`. */
int frontier_each_done(frontier *f, int64_t visit, frontier_host_take *take, void *ctx,
                       deja_error *err);
typedef int frontier_text_take(void *ctx, deja_slice text, deja_error *err);
/* Each URL that was added behind this one. */
int frontier_each_since(frontier *f, int64_t id, frontier_text_take *take, void *ctx,
                        deja_error *err);
/* Each line of the archive's index, sorted. */
int frontier_each_line(frontier *f, frontier_text_take *take, void *ctx, deja_error *err);

#endif
