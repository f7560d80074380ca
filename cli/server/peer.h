/* peer.h - connections to several servers that are asked at the same time.
 *
 * A peer has at most one list of requests, which it sends in one go.  peers_wait moves bytes in
 * both directions for all peers, until one of them has something to report or the time is over.
 * Nothing here blocks on one server: connecting, the password, requests and replies are all steps
 * of the same loop.  A server that sends nothing for PEER_SILENCE seconds while a reply is due counts
 * as lost, like one that refuses the connection.  The next attempts to connect wait longer and longer,
 * up to PEER_REST_MOST seconds. */
#ifndef CLI_SERVER_PEER_H
#define CLI_SERVER_PEER_H
#include "cli/server/serverurl.h"
#include "cli/server/wire.h"

#define PEER_SILENCE    5.0
#define PEER_REST_LEAST 0.2
#define PEER_REST_MOST  30.0

struct redisContext;

struct peer {
    struct serverurl to;
    struct redisContext *c; /* NULL: no connection */
    unsigned greetings;     /* replies to AUTH and SELECT that are due */
    char db[16];
    struct wire_request *request; /* of the caller */
    size_t n, got;                /* requests, and replies so far */
    bool writes;                  /* there may be bytes to send */
    double heard;                 /* when the last byte arrived, or what it answers was sent */
    double again, rest;           /* when to connect again, and how long the next rest is */
    char why[280];                /* why it was lost: "HOST:PORT: reason" */
};

int peer_init(struct peer *p, const char *url, deja_error *err);
/* "HOST:PORT"; valid until the next call. */
const char *peer_name(const struct peer *p);
/* Starts to connect, unless there is a connection or it is too early. */
void peer_connect(struct peer *p);
/* Sends requests, whose replies must be NULL.  They must stay until all replies have arrived, or
 * the peer is lost or closed. */
void peer_send(struct peer *p, struct wire_request *r, size_t n);
/* Ends the connection because of this reason: the peer is lost. */
void peer_lose(struct peer *p, const char *why);
void peer_close(struct peer *p);

static inline bool peer_is_busy(const struct peer *p)
{
    return p->c && (p->got < p->n || p->greetings);
}

/* Waits up to `seconds` until at least one of the busy peers has all its replies or is lost.  Returns
 * at once if none of them is busy. */
void peers_wait(struct peer **p, size_t n, double seconds);

#endif
