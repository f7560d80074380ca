/* wire.h - requests to a Redis server or cluster that end in replies.
 *
 * Requests go out many at a time, each to the node that is believed to have its key; redirections
 * (MOVED, ASK) are followed, lost connections are made again, and a request without a reply is
 * sent again.  So every request has to be one that may be done twice.  wire_run gives up when
 * nothing has moved for WIRE_PATIENCE seconds. */
#ifndef CLI_SERVER_WIRE_H
#define CLI_SERVER_WIRE_H
#include "deja.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define WIRE_PATIENCE 60

struct wire;
struct redisReply;

struct wire_request {
    const char **argv; /* the caller's, until wire_run returns */
    size_t *len;
    int argc;
    size_t place;             /* which key: requests of one place go to one node */
    struct redisReply *reply; /* the answer; never a redirection; wire_drop frees it */

    /* private */
    size_t node;
    bool asking, sent;
};

/* url is redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]; places are numbered below n_places.  stop (or
 * NULL) ends the waiting. */
int wire_open(const char *url, size_t n_places, const atomic_bool *stop, struct wire **out,
              deja_error *err);
void wire_close(struct wire *w); /* NULL is fine */
/* All have their reply when this is DEJA_OK. */
int wire_run(struct wire *w, struct wire_request *r, size_t n, deja_error *err);
void wire_drop(struct wire_request *r, size_t n);
/* Connections that were lost so far: what was written to one is not what WAIT on another counts.
 */
unsigned long wire_lost(const struct wire *w);
/* Wait until so many replicas have what was written to each node that these requests went to. */
int wire_wait(struct wire *w, const struct wire_request *r, size_t n, unsigned replicas,
              deja_error *err);

#endif
