/* waiting.h - how a URL that waits in a sieve is stored: its record and its token. */
#ifndef CRAWLER_LOOP_WAITING_H
#define CRAWLER_LOOP_WAITING_H
#include "tools/base/buffer.h"
#include <stdbool.h>

/* A URL on its way to the queue. */
struct link {
    deja_slice url;
    uint32_t depth; /* links from a seed */
    uint32_t hops;  /* redirects since the last page */
    bool hidden;    /* an earlier visit could have seen it */
    int64_t parent; /* the row of the page that has it; 0: none */
};

/* The token of a link, and its record, which is appended; false if out of memory. */
uint64_t waiting_token(const struct link *link);
bool waiting_record(const struct link *link, struct buffer *record);
/* Restores a link, which borrows the record; false if no crawler could have stored it. */
bool waiting_read(uint64_t token, deja_slice record, struct link *link);

#endif
