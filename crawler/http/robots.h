/* robots.h - decides whether a site's robots.txt allows a crawler to fetch a URL; RFC 9309. */
#ifndef CRAWLER_HTTP_ROBOTS_H
#define CRAWLER_HTTP_ROBOTS_H
#include "tools/base/buffer.h"

#define ROBOTS_MAX ((size_t)500 * 1024) /* bytes that are read: the RFC's minimum */

struct robots_rule {
    size_t at, len; /* its pattern, in text */
    bool allow;
    bool own;    /* from a group that names this crawler, not from `*` */
    bool to_end; /* ended with $ */
};

struct robots { /* initialize with {0}: everything is allowed */
    struct buffer text;
    struct robots_rule *rule;
    size_t n_rules, cap_rules;
    bool own_group;      /* a group names this crawler: those of `*` do not apply */
    double delay[2];     /* seconds between requests, for `*` and for this crawler; 0: not set */
    struct buffer sites; /* the sitemaps' URLs, as written, each followed by a NUL */
};

/* Parse a robots.txt for the crawler with this product token ("deja").  Ignores everything after
 * ROBOTS_MAX bytes.  The only error is DEJA_ENOMEM: invalid lines are skipped. */
int robots_parse(struct robots *r, deja_slice text, const char *agent);
void robots_fini(struct robots *r);

/* True if this path, with its query, may be fetched.  False if deciding would take too long. */
bool robots_allows(const struct robots *r, deja_slice path);
/* The crawl-delay for this crawler, in seconds; 0 if it is missing. */
double robots_delay(const struct robots *r);

#endif
