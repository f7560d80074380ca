/* waiting.h - how a URL that waits in a sieve is stored: its record and its token. */
#ifndef CRAWLER_LOOP_WAITING_H
#define CRAWLER_LOOP_WAITING_H
#include "deja.h"
#include <stdbool.h>

/* A URL on its way to the queue. */
struct link {
    deja_slice url;
    uint32_t depth; /* links from a seed */
    uint32_t hops;  /* redirects since the last page */
    bool hidden;    /* an earlier visit could have seen it */
};

/* The token of a link; its record is the URL. */
uint64_t waiting_token(const struct link *link);
/* Restores a link, which borrows the record; false if no crawler could have stored it. */
bool waiting_read(uint64_t token, deja_slice record, struct link *link);

#endif
