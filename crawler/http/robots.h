/* robots.h - what a site's robots.txt lets a crawler do; RFC 9309. */
#ifndef CRAWLER_HTTP_ROBOTS_H
#define CRAWLER_HTTP_ROBOTS_H
#include "tools/base/buffer.h"

#define ROBOTS_MAX ((size_t)500 * 1024) /* bytes that are read; the RFC demands as many */

struct robots_rule {
    size_t at, len; /* its pattern, in text */
    bool allow;
    bool own;    /* of a group that names this crawler, not of `*` */
    bool to_end; /* ended with $ */
};

struct robots { /* begin with {0}: all is allowed */
    struct buffer text;
    struct robots_rule *rule;
    size_t n_rules, cap_rules;
    bool own_group;      /* a group names this crawler: those of `*` do not count */
    double delay[2];     /* seconds between requests, for `*` and for this crawler; 0: not said */
    struct buffer sites; /* the sitemaps' URLs, as written, each with a zero behind it */
};

/* Read a robots.txt for the crawler with this product token ("deja").  What comes behind
 * ROBOTS_MAX bytes is not there.  Only DEJA_ENOMEM can happen: rubbish is skipped. */
int robots_parse(struct robots *r, deja_slice text, const char *agent);
void robots_fini(struct robots *r);

/* May this path, with its query, be fetched?  No, where it would take too long to tell. */
bool robots_allows(const struct robots *r, deja_slice path);
/* The crawl-delay for this crawler, in seconds; 0 when there is none. */
double robots_delay(const struct robots *r);

#endif
