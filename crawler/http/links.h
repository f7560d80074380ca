/* links.h - finds the links of an HTML page. */
#ifndef CRAWLER_HTTP_LINKS_H
#define CRAWLER_HTTP_LINKS_H
#include "deja.h"

struct links_options {
    bool embeds;       /* also images, scripts, style sheets and the like */
    bool nofollow;     /* also links that ask not to be followed */
    size_t max_len;    /* of a URL; longer ones are skipped */
    size_t max_memory; /* for the page's tree; 0: 256 MiB */
    double max_cpu;    /* CPU seconds for the page; 0: 2; negative: no limit */
};

struct links_count {
    size_t found;    /* links passed to the caller */
    size_t nofollow; /* links that asked not to be followed, and were not */
    size_t bad;      /* links that are not URLs, or too long */
};

/* Receives each link in document order, absolute, with its fragment.  The bytes are valid during
 * the call.  A negative return value stops the extraction. */
typedef int links_take(void *ctx, deja_slice url);

/* Extract the links of a page at the address url.  DEJA_EFULL: the page is too deep or too large
 * for the limits, and no links were passed. */
int links_extract(deja_slice html, deja_slice url, const struct links_options *o, links_take *take,
                  void *ctx, struct links_count *count);

#endif
