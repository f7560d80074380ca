/* linkgraph.h - the links of a finished crawl, read from its folder. */
#ifndef CRAWLER_LOOP_LINKGRAPH_H
#define CRAWLER_LOOP_LINKGRAPH_H
#include "deja.h"

struct linkgraph_take {
    /* Every page and redirect in the archive; seeds have no page that links to them.  A page may
     * come again, from another visit. */
    int (*page)(void *ctx, deja_slice url, bool seed, deja_error *err);
    /* Then every link of these pages, in their order, also to URLs that are not in the archive. */
    int (*link)(void *ctx, deja_slice from, deja_slice to, deja_error *err);
    void *ctx;
};

/* Reads the folder of `deja crawl`.  DEJA_EBUSY: a crawl is running in it. */
int linkgraph_read(const char *folder, const struct linkgraph_take *take, deja_error *err);

#endif
