/* peer.c - connections to several servers that are asked at the same time; see peer.h. */
#include "cli/server/peer.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

int peer_init(struct peer *p, const char *url, deja_error *err)
{
    *p = (struct peer){.rest = PEER_REST_LEAST};
    return serverurl_parse(url, &p->to, err);
}

const char *peer_name(const struct peer *p)
{
    static char name[160];
    (void)snprintf(name, sizeof name, "%s:%d", fail_path(p->to.host).text, p->to.port);
    return name;
}

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

void peer_close(struct peer *p)
{
    if (p->c)
        redisFree(p->c);
    p->c = NULL;
    p->n = p->got = 0;
    p->greetings = 0;
}

void peer_lose(struct peer *p, const char *why)
{
    char text[sizeof p->why];
    (void)snprintf(text, sizeof text, "%s: %.100s", peer_name(p), why);
    memcpy(p->why, text, sizeof text);
    peer_close(p);
    p->again = clock_seconds() + p->rest;
    p->rest = fmin(2 * p->rest, PEER_REST_MOST);
}

static void greet(struct peer *p, int argc, const char **argv)
{
    if (redisAppendCommandArgv(p->c, argc, argv, NULL) == REDIS_OK)
        p->greetings++;
}

void peer_connect(struct peer *p)
{
    const char *auth[3] = {"AUTH", p->to.user, p->to.password};
    const char *old[2] = {"AUTH", p->to.password};
    const char *select[2] = {"SELECT", p->db};
    const char *ping[1] = {"PING"};
    if (p->c || clock_seconds() < p->again)
        return;
    p->c = redisConnectNonBlock(p->to.host, p->to.port);
    if (!p->c || p->c->err) {
        peer_lose(p, p->c ? p->c->errstr : "out of memory");
        return;
    }
    p->heard = clock_seconds();
    p->writes = true;
    if (p->to.password[0])
        greet(p, p->to.user[0] ? 3 : 2, p->to.user[0] ? auth : old);
    (void)snprintf(p->db, sizeof p->db, "%d", p->to.db);
    if (p->to.db)
        greet(p, 2, select);
    if (!p->greetings) /* shows that the server answers */
        greet(p, 1, ping);
}

void peer_send(struct peer *p, struct wire_request *r, size_t n)
{
    p->request = r;
    p->n = n;
    p->got = 0;
    p->heard = clock_seconds();
    p->writes = true;
    for (size_t i = 0; i < n && p->c; i++)
        if (redisAppendCommandArgv(p->c, r[i].argc, r[i].argv, r[i].len) != REDIS_OK)
            peer_lose(p, "out of memory");
}

/* A server that is starting, or has no room to answer now, counts as missing. */
static bool is_passing(const char *text)
{
    static const char *const passing[] = {"LOADING", "BUSY ", "MASTERDOWN", "READONLY"};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (strncmp(text, passing[i], strlen(passing[i])) == 0)
            return true;
    return false;
}

static void take_reply(struct peer *p, redisReply *reply)
{
    const bool is_error = reply->type == REDIS_REPLY_ERROR;
    if (is_error && (p->greetings || is_passing(reply->str))) {
        peer_lose(p, reply->str);
        freeReplyObject(reply);
    } else if (p->greetings) {
        freeReplyObject(reply);
        p->greetings--;
        p->rest = PEER_REST_LEAST;
    } else if (p->got < p->n) {
        p->request[p->got++].reply = reply;
    } else {
        freeReplyObject(reply);
        peer_lose(p, "sent a reply that nobody asked for");
    }
}

static void receive(struct peer *p)
{
    void *reply = NULL;
    if (redisBufferRead(p->c) != REDIS_OK) {
        peer_lose(p, p->c->errstr);
        return;
    }
    p->heard = clock_seconds();
    while (p->c) {
        if (redisGetReplyFromReader(p->c, &reply) != REDIS_OK) {
            peer_lose(p, p->c->errstr);
            return;
        }
        if (!reply)
            return;
        take_reply(p, reply);
    }
}

static void transmit(struct peer *p)
{
    int done = 0;
    if (redisBufferWrite(p->c, &done) != REDIS_OK)
        peer_lose(p, p->c->errstr);
    else
        p->writes = !done;
}

static void serve(struct peer *p, short events)
{
    if (p->c && events & POLLOUT)
        transmit(p);
    if (p->c && events & (POLLIN | POLLERR | POLLHUP))
        receive(p);
    if (peer_is_busy(p) && clock_seconds() - p->heard > PEER_SILENCE)
        peer_lose(p, "no reply in time");
}

void peers_wait(struct peer **p, size_t n, double seconds)
{
    const double end = clock_seconds() + seconds;
    size_t busy = 0;
    for (size_t i = 0; i < n; i++)
        busy += peer_is_busy(p[i]);
    for (size_t left = busy; busy && left == busy;) {
        struct pollfd fds[64];
        nfds_t n_fds = 0;
        const double rest = end - clock_seconds();
        for (size_t i = 0; i < n && i < 64; i++) {
            const bool on = peer_is_busy(p[i]);
            const short events = (short)(POLLIN | (on && p[i]->writes ? POLLOUT : 0));
            fds[n_fds++] = (struct pollfd){.fd = on ? p[i]->c->fd : -1, .events = events};
        }
        if (poll(fds, n_fds, rest <= 0 ? 0 : rest < 0.1 ? (int)(rest * 1e3) + 1 : 100) < 0)
            return; /* Ctrl-C */
        left = 0;
        for (nfds_t i = 0; i < n_fds; i++) {
            serve(p[i], fds[i].revents);
            left += peer_is_busy(p[i]);
        }
        if (clock_seconds() >= end)
            return;
    }
}

#endif
