/* machine.c - one server of a cache on F servers: from a new connection to answers.
 *
 * AWAY -> NAMED (which filters it has) -> SHOWN (their parameters) -> CATCHES (the keys of its
 * spool) -> READY -> WORKS -> READY.  A lost connection leads back to AWAY, lost filters to LOST. */
#include "cli/server/machine.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define CATCH_KEYS (64 * LOT_KEYS) /* of the spool, in one go */

void machine_note(const struct machine *m, const char *fmt, ...)
{
    char text[sizeof((deja_error *)0)->text];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (m->set->opt.note)
        m->set->opt.note(m->set->opt.ctx, text);
}

bool machine_name_shards(struct machine *m, uint32_t n)
{
    if (m->shard)
        return true;
    m->shard = calloc(n, sizeof *m->shard);
    for (uint32_t i = 0; m->shard && i < n; i++)
        (void)snprintf(m->shard[i], sizeof m->shard[i], "{%s.%" PRIu32 ":%" PRIu32 "}",
                       m->set->name, m->number, i);
    return m->shard;
}

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

/* --- Requests ------------------------------------------------------------------------ */

void machine_drop(struct machine *m)
{
    wire_drop(m->lot.request, m->lot.request ? m->lot.n_requests : 0);
    lot_free(&m->lot);
    m->lot = (struct lot){0};
    wire_drop(m->request, m->n_requests);
    for (size_t i = 0; i < m->n_requests; i++)
        free(m->request[i].argv);
    free(m->request);
    m->request = NULL;
    m->n_requests = 0;
}

/* A copy of the words of one request, with their lengths after the pointers and then the bytes. */
static bool copy_words(struct wire_request *r, const char *const *words)
{
    size_t n = 0, bytes = 0;
    for (; words[n]; n++)
        bytes += strlen(words[n]) + 1;
    char *room = malloc(n * (sizeof *r->argv + sizeof *r->len) + bytes);
    if (!room)
        return false;
    *r = (struct wire_request){.argv = (const char **)(void *)room,
                               .len = (size_t *)(void *)(room + n * sizeof *r->argv),
                               .argc = (int)n};
    char *to = (char *)(r->len + n);
    for (size_t i = 0; i < n; i++) {
        r->len[i] = strlen(words[i]);
        r->argv[i] = memcpy(to, words[i], r->len[i] + 1);
        to += r->len[i] + 1;
    }
    return true;
}

bool machine_ask(struct machine *m, const char *const *words, size_t n)
{
    machine_drop(m);
    m->request = calloc(n ? n : 1, sizeof *m->request);
    for (; m->request && m->n_requests < n; m->n_requests++) {
        if (!copy_words(&m->request[m->n_requests], words))
            break;
        while (*words++)
            ;
    }
    if (!m->request || m->n_requests < n) {
        machine_drop(m);
        peer_lose(&m->peer, "out of memory");
        return false;
    }
    peer_send(&m->peer, m->request, n);
    return true;
}

/* --- Failures -------------------------------------------------------------------------- */

static void go_away(struct machine *m)
{
    if (m->was_here && m->left <= 0) {
        m->left = clock_seconds();
        machine_note(m, "lost server %" PRIu32 " at %s; continuing with the others", m->number,
                     m->peer.why);
    }
    keyspool_rewind(&m->spool);
    m->stage = MACHINE_AWAY;
}

void machine_give_up(struct machine *m, const char *why)
{
    machine_drop(m);
    peer_close(&m->peer);
    m->stage = MACHINE_LOST;
    machine_note(m, "%s; continuing without server %" PRIu32, why, m->number);
}

/* --- Stages ------------------------------------------------------------------------------ */

static void become_ready(struct machine *m)
{
    deja_error err;
    if (keyspool_clear(&m->spool, &err) < 0)
        machine_note(m, "%s", err.text);
    if (m->left > 0)
        machine_note(m, "server %" PRIu32 " at %s is back after %s", m->number,
                     peer_name(&m->peer), num_duration(clock_seconds() - m->left).s);
    m->left = 0;
    m->was_here = true;
    m->stage = MACHINE_READY;
}

/* Sends the next keys of the spool. */
static void catch_up(struct machine *m)
{
    const struct lot_to to = {m->shard, m->set->facts.shards};
    deja_error err;
    size_t n = 0;
    machine_drop(m);
    if (!m->key)
        m->key = malloc(CATCH_KEYS * sizeof *m->key);
    int rc = m->key ? keyspool_next(&m->spool, &m->piece, m->key, CATCH_KEYS, &n, &err)
                    : fail(&err, DEJA_ENOMEM, "out of memory");
    if (rc == DEJA_OK && !n) {
        become_ready(m);
        return;
    }
    if (rc == DEJA_OK)
        rc = lot_make(&to, "DEJA.ADD", m->key, n, NULL, &m->lot, &err);
    if (rc < 0) {
        machine_give_up(m, err.text);
        return;
    }
    m->stage = MACHINE_CATCHES;
    peer_send(&m->peer, m->lot.request, m->lot.n_requests);
}

/* The error in a reply to a lot, or NULL.  An array that ends with an error is one, too. */
static const char *error_of(const struct wire_request *r)
{
    const redisReply *reply = r->reply;
    if (reply->type == REDIS_REPLY_ERROR)
        return reply->str;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != (size_t)r->argc - 2)
        return "unexpected reply";
    for (size_t i = 0; i < reply->elements; i++)
        if (reply->element[i]->type == REDIS_REPLY_ERROR)
            return reply->element[i]->str;
    return NULL;
}

static void say_empty(struct machine *m)
{
    char text[240];
    (void)snprintf(text, sizeof text,
                   "server %" PRIu32 " at %s has lost its filter of %s; restore its data",
                   m->number, peer_name(&m->peer), m->set->name);
    machine_give_up(m, text);
}

/* Whether all replies of the lot are answers.  If not, the machine is lost in one way or another. */
static bool check_lot(struct machine *m)
{
    for (size_t i = 0; i < m->lot.n_requests; i++) {
        const char *error = error_of(&m->lot.request[i]);
        if (error && strcmp(error, "ERR not found") == 0) {
            say_empty(m);
            return false;
        }
        if (error) {
            peer_lose(&m->peer, error);
            go_away(m);
            return false;
        }
    }
    return true;
}

static void caught(struct machine *m)
{
    if (!check_lot(m))
        return;
    m->delivered += m->lot.n;
    m->offered += m->lot.n;
    catch_up(m);
}

/* A machine that does not fit is an error at the start, and left out later. */
static void refuse(struct machine *m, const deja_error *err)
{
    if (!m->set->opened && !m->set->refused.status)
        m->set->refused = *err;
    machine_give_up(m, err->text);
}

static void named(struct machine *m)
{
    deja_error err;
    const enum machine_found found = machinetext_take(m, &err);
    if (found == MACHINE_WRONG)
        refuse(m, &err);
    else if (found == MACHINE_EMPTY && m->set->known)
        say_empty(m);
    else if (found == MACHINE_FINE && m->set->known) {
        m->stage = MACHINE_SHOWN;
        if (!machine_name_shards(m, m->set->facts.shards) || !machinetext_ask_info(m))
            m->stage = MACHINE_AWAY;
    }
    /* Otherwise the machines wait until it is known whether there is a cache. */
}

static void shown(struct machine *m)
{
    deja_error err;
    const enum machine_found found = machinetext_take_info(m, &err);
    if (found == MACHINE_EMPTY)
        say_empty(m);
    else if (found == MACHINE_WRONG)
        refuse(m, &err);
    else
        catch_up(m);
}

void machine_step(struct machine *m)
{
    if (m->stage != MACHINE_AWAY && m->stage != MACHINE_LOST && !m->peer.c)
        go_away(m);
    else if (m->stage == MACHINE_AWAY) {
        peer_connect(&m->peer);
        if (m->peer.c && machinetext_ask(m))
            m->stage = MACHINE_NAMED;
    } else if (peer_is_busy(&m->peer)) {
        return;
    } else if (m->stage == MACHINE_NAMED && m->n_requests) {
        named(m);
    } else if (m->stage == MACHINE_SHOWN) {
        shown(m);
    } else if (m->stage == MACHINE_CATCHES) {
        caught(m);
    } else if (m->stage == MACHINE_WORKS) {
        m->acked = check_lot(m);
        m->stage = m->acked ? MACHINE_READY : m->stage;
    }
}

#endif
