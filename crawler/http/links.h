/* links.h - the links of an HTML page. */
#ifndef CRAWLER_HTTP_LINKS_H
#define CRAWLER_HTTP_LINKS_H
#include "deja.h"

struct links_options {
    bool embeds;       /* also images, scripts, style sheets and the like             */
    bool nofollow;     /* also links that ask not to be followed                      */
    size_t max_len;    /* of a URL; longer ones are left out                          */
    size_t max_memory; /* for the page's tree; 0: 256 MiB                             */
    double max_cpu;    /* seconds of processor time for it; 0: 2.  Negative: no limit */
};

struct links_count {
    size_t found;    /* given to the caller                          */
    size_t nofollow; /* that asked not to be followed, and were not   */
    size_t bad;      /* no URLs, or too long                          */
};

/* Gets each link in the order of the page, absolute, its fragment included.  The bytes last for
 * the call.  A negative answer ends it all. */
typedef int links_take(void *ctx, deja_slice url);

/* The links of a page at the address url.  DEJA_EFULL: the page is too deep or too large to be
 * understood within the limits; links before that were not given either. */
int links_extract(deja_slice html, deja_slice url, const struct links_options *o, links_take *take,
                  void *ctx, struct links_count *count);

#endif
