/* crawl.h - crawls politely from seeds to an archive, with a cache of the URLs seen. */
#ifndef CRAWLER_LOOP_CRAWL_H
#define CRAWLER_LOOP_CRAWL_H
#include "deja.h"
#include <stdatomic.h>

/* The counts of a visit, over all its runs.  Stored in the queue: append only. */
enum crawl_count {
    CRAWL_FETCHED,     /* pages: responses 2xx and 304 */
    CRAWL_UNCHANGED,   /* of these, the same as in an earlier visit */
    CRAWL_REDIRECTS,   /* responses 3xx */
    CRAWL_BYTES,       /* of bodies, as sent */
    CRAWL_NANOSECONDS, /* of work */
    CRAWL_NANOLOST,    /* pages that the cache probably lost, in billionths */
    CRAWL_OFFERED,     /* URLs looked up in the cache */
    CRAWL_DUPLICATES,  /* of these, seen before */
    CRAWL_QUEUED,      /* of these, added to the queue */
    CRAWL_RECOVERED,   /* pages that an earlier visit had lost */
    CRAWL_APPEARED,    /* pages that are new since the last visit */
    CRAWL_ROBOTS,      /* URLs that robots.txt forbids */
    CRAWL_SCOPE,       /* links that lead out of the scope */
    CRAWL_SCHEME,      /* links that are neither http nor https */
    CRAWL_BAD,         /* links that are not URLs, or too long */
    CRAWL_NOFOLLOW,    /* links that ask not to be followed */
    CRAWL_DEPTH,       /* links below the depth limit */
    CRAWL_TRAPS,       /* links that look like a trap (trap.c) */
    CRAWL_HOST_LIMIT,  /* URLs beyond the limit of pages per host */
    CRAWL_UNREAD,      /* pages too large, deep or damaged to extract links */
    CRAWL_TRUNCATED,   /* pages longer than the limit, truncated to it */
    CRAWL_RETRIES,     /* repeated requests */
    /* Failures, by reason: */
    CRAWL_NOT_FOUND,    /* 404, 410 */
    CRAWL_FORBIDDEN,    /* 401, 403, 451 */
    CRAWL_CLIENT_ERROR, /* other 4xx */
    CRAWL_SERVER_ERROR, /* 5xx */
    CRAWL_NO_ADDRESS,   /* each fetch_fault, in the same order, from here ... */
    CRAWL_NO_ANSWER,
    CRAWL_NO_TLS,
    CRAWL_TIMEOUT,
    CRAWL_CUT_OFF,
    CRAWL_NO_HTTP,
    CRAWL_ROBOTS_REDIRECTS,
    CRAWL_OTHER,          /* ... to here */
    CRAWL_REDIRECT_LIMIT, /* too many redirects in a row */
    CRAWL_NO_ROBOTS,      /* the response to robots.txt is 5xx: nothing is allowed */
    CRAWL_PRIVATE,        /* the address is private (netaddr.h) */
    CRAWL_LATE,           /* not a failure: new URLs that the sieve had to settle */
    CRAWL_COUNTS
};
/* The name of a count in the summary: "not found". */
const char *crawl_count_name(unsigned count);
const char *crawl_order_name(uint32_t order); /* NULL: no such order */
#define CRAWL_FIRST_FAILURE  CRAWL_NOT_FOUND
#define CRAWL_AFTER_FAILURES CRAWL_LATE

struct crawl_account {
    uint64_t count[CRAWL_COUNTS];
    uint64_t visit;
    uint64_t waiting;   /* URLs in the queue */
    uint64_t in_flight; /* requests in progress */
    uint64_t hosts;     /* hosts of this run */
    uint64_t asked;     /* requests of this run */
    double seconds;     /* of this visit */
    double lost;        /* pages that the cache probably lost in this visit */
    double fp_rate;     /* of the cache now */
    uint64_t cache_bytes;
    uint32_t cache_kind;
    bool certain;            /* the cache is a sieve, with this report: */
    deja_sieve_report sieve; /* at the end */
    uint64_t pending;        /* URLs that wait to be settled */
    uint64_t left_behind;    /* URLs that were still waiting when the last visit ended */
    uint64_t rebuilt;        /* URLs added to the cache again after a crash */
    uint64_t undone;         /* pages whose records a power failure had damaged */
    uint64_t capped;         /* robots.txt files that ask for a longer delay than allowed */
    const char *ended;       /* the reason: "done", "stopped", or the name of the limit */
    /* The first robots.txt that redirects out of the scope: from and to; or empty. */
    char robots_from[120], robots_to[160];
};

/* A URL that will not be requested again in this visit. */
struct crawl_fate {
    deja_slice url;
    deja_slice parent; /* the page on which it was first found; empty: a seed */
    uint64_t visit, bytes;
    uint32_t depth;
    int status;          /* HTTP; 0: no response */
    const char *outcome; /* "fetched", "unchanged", "redirect", "failed", "skipped", "dropped" */
    const char *why;     /* of the last three; otherwise NULL */
};

struct crawl_talk { /* callbacks; all may be NULL */
    void *ctx;
    void (*status)(void *ctx, const struct crawl_account *a); /* ten times per second */
    /* At the start: remembered options, each preceded by a space. */
    void (*as_before)(void *ctx, const char *options);
    void (*no_contact)(void *ctx); /* the User-Agent has no contact */
    void (*read_as)(void *ctx, const char *given, deja_slice url); /* a seed was completed */
    /* Once: the cache holds more URLs than it was sized for. */
    void (*crowded)(void *ctx, const deja_stats *cache);
    /* A new URL.  A negative return value ends the crawl. */
    int (*found)(void *ctx, deja_slice url, deja_error *err);
    /* Deliver all found URLs before returning. */
    int (*hand_over)(void *ctx, deja_error *err);
    /* The fate of a URL in the queue; and before each commit: all of them must be on disk. */
    int (*decided)(void *ctx, const struct crawl_fate *fate, deja_error *err);
    int (*hand_over_log)(void *ctx, deja_error *err);
};

/* These mean "not given" for options where 0 is a valid value; for the others, 0, NULL and false
 * do.  An option that is not given keeps its remembered value, or has its default (settings.c). */
#define CRAWL_UNSET      UINT32_MAX
#define CRAWL_UNSET_TIME (-1.0)

struct crawl_flag { /* as given: at most one of the two; in effect: only `on` counts */
    bool on, off;
};

struct crawl_options {
    const char *dir;
    const char *const *seed;
    size_t n_seeds;
    bool next_visit; /* start the next visit of the crawl in dir */
    /* Of the visit: */
    uint32_t scope;      /* a scope_kind */
    const char *match;   /* for SCOPE_REGEX */
    const char *exclude; /* "": forget the remembered one */
    struct crawl_flag embeds, nofollow, sitemaps;
    struct crawl_flag no_archive; /* write no WARC files */
    deja_options cache;           /* kind, size, key; url is never NULL */
    struct crawl_flag fixed;      /* the cache does not grow */
    struct crawl_flag certain;    /* it is a sieve; `off` is not used */
    /* Remembered: */
    const char *contact, *user_agent; /* in robots.txt, it is always deja */
    uint32_t order;                   /* an order_kind (crawl_order_name) */
    uint32_t host_share;              /* pages of a host per turn; or CRAWL_UNSET */
    const char *prefer; /* lines of REGEX[:WEIGHT] (prefer.h); "": forget the remembered ones */
    uint64_t max_host_pages;
    uint64_t max_similar; /* URLs of one shape (trap.h) */
    uint64_t max_page;    /* bytes of a page */
    uint64_t max_url;     /* bytes of a URL */
    uint64_t max_file;    /* bytes of a WARC file, before the next is started */
    uint32_t max_depth, max_redirects, retries;                     /* or CRAWL_UNSET      */
    double delay, max_crawl_delay, retry_wait, timeout, sync_every; /* or CRAWL_UNSET_TIME */
    uint32_t connections, per_host;
    struct crawl_flag allow_private; /* also in a broad crawl */
    /* Of this run only: */
    uint64_t max_pages, max_total; /* pages and bytes of a visit; 0: no limit */
    double max_time;               /* seconds of a run; 0: no limit */
    uint32_t mode;                 /* of new filter files; 0: the default of the library */
    const char *ca_file;
    const atomic_bool *stop;
    struct crawl_talk talk;
};

/* Crawl until nothing is left, a limit is reached or *stop is set; then finish the requests in
 * progress.  Whatever happens, the crawl in dir can be resumed. */
int crawl_run(const struct crawl_options *o, struct crawl_account *account, deja_error *err);

#endif
