/* wire.h - requests to a Redis server or cluster, repeated until they have replies.
 *
 * Many requests are sent at a time, each to the node that probably has its key.  Redirections
 * (MOVED, ASK) are followed, lost connections are restored, and a request without a reply is sent
 * again.  So every request must be safe to repeat.  wire_run gives up if no reply arrives for
 * WIRE_PATIENCE seconds; while it waits, wire_talk informs the user. */
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
    const char **argv; /* must stay valid until wire_run returns */
    size_t *len;
    int argc;
    size_t place; /* stands for the key: requests with the same place go to the same node */
    struct redisReply *reply; /* never a redirection; wire_drop frees it */

    /* private */
    size_t node;
    bool asking, sent;
};

/* What the user should know; both may be NULL. */
struct wire_talk {
    /* No server answers, and a new connection has failed too; why: "HOST:PORT: reason". */
    void (*lost)(void *ctx, const char *why);
    /* After lost: all requests were answered.  address: "HOST:PORT"; NULL: a cluster. */
    void (*back)(void *ctx, const char *address, double seconds);
    void *ctx;
};

/* url is redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]; places are below n_places.  Once *stop is
 * true (stop may be NULL), calls no longer wait. */
int wire_open(const char *url, size_t n_places, const atomic_bool *stop, struct wire **out,
              deja_error *err);
void wire_close(struct wire *w); /* NULL is fine */
/* The caller's functions for messages, called by wire_run. */
void wire_set_talk(struct wire *w, const struct wire_talk *talk);
/* DEJA_OK means that all requests have replies. */
int wire_run(struct wire *w, struct wire_request *r, size_t n, deja_error *err);
void wire_drop(struct wire_request *r, size_t n);
/* Number of connections lost so far.  WAIT does not count writes on a lost connection. */
unsigned long wire_lost(const struct wire *w);
/* Waits until this many replicas have the writes of these requests, on each of their nodes. */
int wire_wait(struct wire *w, const struct wire_request *r, size_t n, unsigned replicas,
              deja_error *err);

#endif
