/* wire.c - requests to a Redis server or cluster, repeated until they have replies; see wire.h.
 *
 * Nodes become known in three ways: the URL names one, CLUSTER SLOTS lists the others, and
 * redirections name the node that has a key now.  This client does not compute slots: a request to
 * the wrong node is redirected to the right one, once for each place.
 *
 * If a node does not answer, its requests go to the next one for a moment; in a cluster, that one
 * redirects them to the replica that has taken over. */
#include "cli/server/wire.h"
#include "cli/server/serverurl.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>
#include <strings.h>

#define MAX_NODES    1024
#define CONNECT_MS   3000
#define REPLY_MS     10000
#define REDIRECTIONS 4 /* followed in a row without a pause */

struct node {
    char host[256];
    int port;
    redisContext *c; /* NULL: not connected */
    double again;    /* when to try it again */
    bool used;       /* by requests of this round */
};

struct wire {
    struct serverurl to;
    bool cluster;
    struct node *node;
    size_t n_nodes;
    size_t *at; /* node of each place */
    size_t n_places;
    const atomic_bool *stop;
    unsigned long lost; /* connections so far */
    deja_error last;    /* why the last connection failed */
    bool blamed;        /* `last` is about this round */
    struct wire_talk talk;
    double down; /* since when; 0: the servers answer, or talk.lost was not called */
};

/* --- Nodes ---------------------------------------------------------------------- */

static void disconnect(struct wire *w, struct node *n)
{
    if (n->c)
        redisFree(n->c);
    w->lost += n->c != NULL;
    n->c = NULL;
}

static size_t node_of(struct wire *w, const char *host, int port)
{
    for (size_t i = 0; i < w->n_nodes; i++)
        if (w->node[i].port == port && strcmp(w->node[i].host, host) == 0)
            return i;
    if (w->n_nodes == MAX_NODES)
        return 0;
    struct node *n = &w->node[w->n_nodes];
    *n = (struct node){.port = port};
    (void)snprintf(n->host, sizeof n->host, "%s", host);
    return w->n_nodes++;
}

/* Records why a node failed. */
static void blame(struct wire *w, const struct node *n, const char *why)
{
    (void)fail(&w->last, DEJA_EIO, "%s:%d: %s", fail_path(n->host).text, n->port, why);
    w->blamed = true;
}

/* Returns the reply if it is not an error, otherwise NULL with the reason in w->last. */
static redisReply *say(struct wire *w, struct node *n, int argc, const char **argv)
{
    redisReply *r = redisCommandArgv(n->c, argc, argv, NULL);
    if (r && r->type != REDIS_REPLY_ERROR)
        return r;
    blame(w, n, r ? r->str : n->c->errstr);
    freeReplyObject(r);
    return NULL;
}

static bool order(struct wire *w, struct node *n, int argc, const char **argv)
{
    redisReply *r = say(w, n, argc, argv);
    freeReplyObject(r);
    return r;
}

static bool introduce(struct wire *w, struct node *n)
{
    char db[16];
    const char *auth[3] = {"AUTH", w->to.user, w->to.password};
    const char *old[2] = {"AUTH", w->to.password};
    const char *select[2] = {"SELECT", db};
    (void)snprintf(db, sizeof db, "%d", w->to.db);
    if (w->to.password[0] && !(w->to.user[0] ? order(w, n, 3, auth) : order(w, n, 2, old)))
        return false;
    return !w->to.db || order(w, n, 2, select);
}

static bool connect_node(struct wire *w, struct node *n)
{
    const struct timeval connect = {CONNECT_MS / 1000, CONNECT_MS % 1000 * 1000};
    const struct timeval reply = {REPLY_MS / 1000, REPLY_MS % 1000 * 1000};
    if (n->c)
        return true;
    if (clock_seconds() < n->again)
        return false;
    n->c = redisConnectWithTimeout(n->host, n->port, connect);
    if (!n->c || n->c->err) {
        blame(w, n, n->c ? n->c->errstr : "out of memory");
        disconnect(w, n);
    } else {
        redisSetTimeout(n->c, reply);
        if (!introduce(w, n))
            disconnect(w, n);
    }
    n->again = n->c ? 0 : clock_seconds() + 0.5;
    return n->c;
}

/* Learns all nodes of a cluster; a single server returns an error. */
static void learn_nodes(struct wire *w)
{
    const char *words[2] = {"CLUSTER", "SLOTS"};
    redisReply *r = say(w, &w->node[0], 2, words);
    w->cluster = r && r->type == REDIS_REPLY_ARRAY;
    for (size_t i = 0; w->cluster && i < r->elements; i++) {
        const redisReply *range = r->element[i];
        for (size_t j = 2; j < range->elements; j++) {
            const redisReply *n = range->element[j];
            if (n->elements >= 2 && n->element[0]->type == REDIS_REPLY_STRING &&
                n->element[0]->len)
                (void)node_of(w, n->element[0]->str, (int)n->element[1]->integer);
        }
    }
    freeReplyObject(r);
}

int wire_open(const char *url, size_t n_places, const atomic_bool *stop, struct wire **out,
              deja_error *err)
{
    struct wire *w = calloc(1, sizeof *w);
    *out = NULL;
    if (!w || !(w->node = calloc(MAX_NODES, sizeof *w->node)) ||
        !(w->at = calloc(n_places, sizeof *w->at))) {
        wire_close(w);
        return fail(err, DEJA_ENOMEM, "out of memory");
    }
    w->stop = stop;
    w->n_places = n_places;
    w->n_nodes = 1;
    const int rc = serverurl_parse(url, &w->to, err);
    (void)snprintf(w->node[0].host, sizeof w->node[0].host, "%s", w->to.host);
    w->node[0].port = w->to.port;
    if (rc < 0 || !connect_node(w, &w->node[0])) {
        if (rc == DEJA_OK)
            *err = w->last;
        wire_close(w);
        return rc < 0 ? rc : DEJA_EIO;
    }
    learn_nodes(w);
    *out = w;
    return DEJA_OK;
}

void wire_close(struct wire *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_nodes; i++)
        disconnect(w, &w->node[i]);
    free(w->node);
    free(w->at);
    free(w);
}

/* --- Requests --------------------------------------------------------------------- */

/* If a node does not answer, another one may. */
static void try_elsewhere(struct wire *w, struct wire_request *r)
{
    r->asking = false;
    if (w->at[r->place] == r->node)
        w->at[r->place] = r->node + 1 < w->n_nodes ? r->node + 1 : 0;
}

static void send_request(struct wire *w, struct wire_request *r)
{
    if (!r->asking)
        r->node = w->at[r->place];
    struct node *n = &w->node[r->node];
    r->sent = false;
    if (!connect_node(w, n)) {
        try_elsewhere(w, r);
        return;
    }
    if (r->asking)
        redisAppendCommand(n->c, "ASKING");
    r->sent = redisAppendCommandArgv(n->c, r->argc, r->argv, r->len) == REDIS_OK;
    n->used = true;
    if (!r->sent) { /* a partial request would mismatch later replies; wait for the next round */
        disconnect(w, n);
        n->again = clock_seconds() + 0.5;
    }
}

static void flush_node(struct node *n)
{
    int done = 0;
    while (n->c && !done)
        if (redisBufferWrite(n->c, &done) != REDIS_OK)
            return; /* reading reports it */
}

static redisReply *read_reply(struct wire *w, struct node *n)
{
    void *reply = NULL;
    if (n->c && redisGetReply(n->c, &reply) == REDIS_OK)
        return reply;
    if (n->c)
        blame(w, n, n->c->errstr);
    disconnect(w, n);
    return NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The node in "MOVED 3999 host:port"; an empty host means the node that sent it. */
static size_t redirected(struct wire *w, const struct wire_request *r, const char *text)
{
    const char *address = strrchr(text, ' ') + 1, *colon = strrchr(address, ':');
    char host[256];
    const int port = colon ? serverurl_number(colon + 1, colon + strlen(colon), 65535) : -1;
    if (port <= 0 || !serverurl_copy(host, sizeof host, address, (size_t)(colon - address)))
        return r->node;
    return node_of(w, host[0] ? host : w->node[r->node].host, port);
}

static const char *const passing[] = {"TRYAGAIN",    "LOADING",   "MASTERDOWN", "READONLY",
                                      "CLUSTERDOWN", "UNBLOCKED", "NOREPLICAS", "BUSY "};

/* Whether a retry may avoid this error; if so, prepares the retry. */
static bool is_passing(struct wire *w, struct wire_request *r, const char *text)
{
    if (begins(text, "MOVED ")) {
        w->at[r->place] = redirected(w, r, text);
        r->asking = false;
        return true;
    }
    if (begins(text, "ASK ")) {
        r->node = redirected(w, r, text);
        r->asking = true;
        return true;
    }
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (begins(text, passing[i])) {
            blame(w, &w->node[r->node], text);
            if (begins(text, "READONLY") || begins(text, "CLUSTERDOWN"))
                try_elsewhere(w, r);
            return true;
        }
    return false;
}

/* Reads the reply, or prepares to send the request elsewhere. */
static void receive(struct wire *w, struct wire_request *r)
{
    struct node *n = &w->node[r->node];
    if (r->asking) {
        redisReply *asking = read_reply(w, n);
        freeReplyObject(asking);
    }
    redisReply *reply = read_reply(w, n);
    if (!reply) {
        try_elsewhere(w, r);
    } else if (reply->type != REDIS_REPLY_ERROR || !is_passing(w, r, reply->str)) {
        r->reply = reply;
    } else {
        freeReplyObject(reply);
    }
}

/* Sends all requests without a reply once; returns how many are left. */
static size_t round_trip(struct wire *w, struct wire_request *r, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < w->n_nodes; i++)
        w->node[i].used = false;
    for (size_t i = 0; i < n; i++)
        if (!r[i].reply)
            send_request(w, &r[i]);
    for (size_t i = 0; i < w->n_nodes; i++)
        if (w->node[i].used)
            flush_node(&w->node[i]);
    for (size_t i = 0; i < n; i++) {
        if (r[i].reply)
            continue;
        if (r[i].sent)
            receive(w, &r[i]);
        left += !r[i].reply;
    }
    return left;
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* --- Messages ------------------------------------------------------------------ */

void wire_set_talk(struct wire *w, const struct wire_talk *talk)
{
    w->talk = *talk;
}

/* since: the time of the last reply. */
static void tell_lost(struct wire *w, double since)
{
    if (w->down == 0 && w->talk.lost)
        w->talk.lost(w->talk.ctx, w->last.text);
    w->down = w->down > 0 ? w->down : since;
}

static void tell_back(struct wire *w)
{
    char address[300];
    (void)snprintf(address, sizeof address, "%s:%d", fail_path(w->node[0].host).text,
                   w->node[0].port);
    if (w->down > 0 && w->talk.back)
        w->talk.back(w->talk.ctx, w->cluster ? NULL : address, clock_seconds() - w->down);
    w->down = 0;
}

int wire_run(struct wire *w, struct wire_request *r, size_t n, deja_error *err)
{
    size_t left = n, before;
    double moved = clock_seconds();
    for (size_t i = 0; i < n; i++) {
        r[i].reply = NULL;
        r[i].asking = false;
    }
    for (unsigned idle = 0;; idle = left < before ? 0 : idle + 1) {
        before = left;
        w->blamed = false;
        left = round_trip(w, r, n);
        if (!left) {
            tell_back(w);
            return DEJA_OK;
        }
        if (left < before)
            moved = clock_seconds();
        else if (idle && w->blamed) /* not the first failure, after which deja reconnects */
            tell_lost(w, moved);
        if (clock_seconds() - moved > WIRE_PATIENCE || signals_stopped(w->stop))
            break;
        if (idle > REDIRECTIONS) /* a failover, or a server that is starting */
            pause_for(0.1);
    }
    wire_drop(r, n);
    return fail(err, DEJA_EIO, "%s",
                w->last.text[0] ? w->last.text : "the server does not answer");
}

unsigned long wire_lost(const struct wire *w)
{
    return w->lost;
}

void wire_drop(struct wire_request *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        freeReplyObject(r[i].reply);
        r[i].reply = NULL;
    }
}

int wire_wait(struct wire *w, const struct wire_request *r, size_t n, unsigned replicas,
              deja_error *err)
{
    char count[16];
    const char *words[3] = {"WAIT", count, "1000"};
    (void)snprintf(count, sizeof count, "%u", replicas);
    for (size_t i = 0; i < w->n_nodes; i++)
        w->node[i].used = false;
    for (size_t i = 0; i < n; i++)
        w->node[r[i].node].used = true;
    for (size_t i = 0; i < w->n_nodes; i++) {
        long long have = -1;
        for (double begin = clock_seconds(); w->node[i].used && have < (long long)replicas;) {
            redisReply *reply = w->node[i].c ? say(w, &w->node[i], 3, words) : NULL;
            have = reply ? reply->integer : -1;
            freeReplyObject(reply);
            if (have < 0) /* WAIT on a new connection would not cover the writes of a lost one */
                return fail(err, DEJA_EBUSY, "%s", w->last.text);
            if (have < (long long)replicas && clock_seconds() - begin > WIRE_PATIENCE)
                return fail(err, DEJA_EIO,
                            "%s:%d has %lld replicas in sync, not %u; check the replicas",
                            fail_path(w->node[i].host).text, w->node[i].port, have, replicas);
        }
    }
    return DEJA_OK;
}

#endif
