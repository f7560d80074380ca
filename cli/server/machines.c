/* machines.c - a cache of F filters on F servers; see machines.h.
 *
 * One loop serves all machines: it moves bytes for those that are busy (peers_wait), then moves each
 * machine that has nothing to do to its next stage (machine_step).  So while the machines that are
 * here answer a batch, others connect, show that they are what they were, and get what they missed. */
#include "cli/server/machine.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

bool machines_existed(const struct machines *m)
{
    return m->existed;
}

const struct cacheform *machines_form(const struct machines *m)
{
    return &m->form;
}

uint32_t machines_shards(const struct machines *m)
{
    return m->facts.shards;
}

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

/* --- The loop ------------------------------------------------------------------------ */

static void turn(struct machines *m, double seconds)
{
    struct peer *peers[MACHINES_MOST];
    for (uint32_t i = 0; i < m->n; i++)
        peers[i] = &m->one[i].peer;
    peers_wait(peers, m->n, seconds);
    for (uint32_t i = 0; i < m->n; i++)
        machine_step(&m->one[i]);
}

static uint32_t count(const struct machines *m, enum machine_stage stage)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        n += m->one[i].stage == stage;
    return n;
}

/* Whether the machine may become ready soon without another attempt to connect. */
static bool is_on_its_way(const struct machine *m)
{
    return m->stage == MACHINE_SHOWN || m->stage == MACHINE_CATCHES || m->stage == MACHINE_WORKS ||
           (m->stage == MACHINE_NAMED && (m->set->known || peer_is_busy(&m->peer))) ||
           (m->stage == MACHINE_AWAY && !m->peer.why[0]);
}

int machines_settle(struct machines *m, double seconds)
{
    const double end = clock_seconds() + seconds;
    for (bool moving = true; moving && clock_seconds() < end && !m->refused.status;) {
        turn(m, 0.1);
        moving = false;
        for (uint32_t i = 0; i < m->n; i++)
            moving |= is_on_its_way(&m->one[i]);
        if (signals_stopped(m->opt.stop))
            break;
    }
    return m->refused.status;
}

/* "A: refused, B: no reply": why each machine is missing. */
static int none_answers(const struct machines *m, deja_error *err)
{
    char list[180] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < m->n && len < sizeof list; i++) {
        const char *why = m->one[i].stage == MACHINE_LOST ? "lost its filter" : m->one[i].peer.why;
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? "; " : "", why);
    }
    return fail(err, DEJA_EIO, "none of the %" PRIu32 " servers answers: %s", m->n, list);
}

/* Waits until a machine is ready. */
static int wait_for_any(struct machines *m, deja_error *err)
{
    const double end = clock_seconds() + WIRE_PATIENCE;
    turn(m, 0);
    for (bool told = false; !count(m, MACHINE_READY); told = true) {
        if (signals_stopped(m->opt.stop) || clock_seconds() > end ||
            count(m, MACHINE_LOST) == m->n)
            return none_answers(m, err);
        if (!told)
            machine_note(&m->one[0], "no server answers; retrying for up to %d s", WIRE_PATIENCE);
        struct timespec t = {0, 50000000};
        nanosleep(&t, NULL);
        turn(m, 0.05);
    }
    return DEJA_OK;
}

/* --- Batches -------------------------------------------------------------------------- */

/* Asks all machines that are ready, and waits until each has answered or is lost. */
static int ask_all(struct machines *m, const char *verb, const deja_slice *key, size_t n,
                   const uint8_t *want, deja_error *err)
{
    const uint32_t shards = m->facts.shards;
    for (uint32_t i = 0; i < m->n; i++) {
        struct machine *one = &m->one[i];
        const struct lot_to to = {one->shard, shards};
        if (one->stage != MACHINE_READY)
            continue;
        machine_drop(one);
        one->acked = false;
        const int rc = lot_make(&to, verb, key, n, want, &one->lot, err);
        if (rc < 0)
            return rc;
        one->stage = MACHINE_WORKS;
        peer_send(&one->peer, one->lot.request, one->lot.n_requests);
    }
    while (count(m, MACHINE_WORKS))
        turn(m, 0.1);
    return DEJA_OK;
}

/* The answers in one reply; an error is none. */
static void take_reply(const struct lot *lot, size_t i, uint32_t bit, bool all, uint8_t *answer,
                       uint32_t *mask)
{
    const redisReply *reply = lot->request[i].reply;
    const size_t n = (size_t)lot->request[i].argc - 2;
    if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != n)
        return;
    for (size_t j = 0; j < n; j++) {
        const redisReply *one = reply->element[j];
        const size_t at = lot->index[lot->first[i] + j];
        if (one->type == REDIS_REPLY_ERROR)
            continue;
        const bool yes = one->integer != 0;
        answer[at] = all ? answer[at] && yes : answer[at] || yes;
        mask[at] |= bit;
    }
}

/* Combines the answers of all machines: all must say yes, or one.  mask[i] becomes the machines that
 * answered key i. */
static void take_answers(struct machines *m, bool all, uint8_t *answer, uint32_t *mask)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct machine *one = &m->one[i];
        for (size_t r = 0; r < one->lot.n_requests; r++)
            take_reply(&one->lot, r, 1u << i, all, answer, mask);
    }
}

static void drop_all(struct machines *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->one[i].lot.n_requests && m->one[i].stage != MACHINE_CATCHES)
            machine_drop(&m->one[i]);
}

static void count_answers(struct machines *m, const uint32_t *mask, size_t n, const uint8_t *want)
{
    for (size_t i = 0; i < n; i++)
        m->by_mask[mask[i]] += !want || want[i];
}

/* Asks until every key was answered by a machine at least. */
static int check_all(struct machines *m, const deja_slice *key, size_t n, uint8_t *want,
                     uint8_t *answer, uint32_t *mask, deja_error *err)
{
    for (bool left = true; left;) {
        int rc = wait_for_any(m, err);
        if (rc == DEJA_OK)
            rc = ask_all(m, "DEJA.CHECK", key, n, want, err);
        if (rc < 0)
            return rc;
        take_answers(m, true, answer, mask);
        drop_all(m);
        left = false;
        for (size_t i = 0; i < n; i++) {
            want[i] = want[i] && !mask[i];
            left |= want[i];
        }
    }
    return DEJA_OK;
}

int machines_check(struct machines *m, const deja_slice *key, size_t n, const uint8_t *want,
                   uint8_t *answer, deja_error *err)
{
    uint8_t *todo = malloc(n + 1);
    uint32_t *mask = calloc(n + 1, sizeof *mask);
    int rc = todo && mask ? DEJA_OK
                          : fail(err, DEJA_ENOMEM, "out of memory for a batch of %zu keys", n);
    size_t asked = 0;
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        todo[i] = !want || want[i];
        asked += todo[i];
        if (todo[i])
            answer[i] = 1; /* until a machine says no */
    }
    if (rc == DEJA_OK && !asked)
        turn(m, 0);
    if (rc == DEJA_OK && asked)
        rc = check_all(m, key, n, todo, answer, mask, err);
    if (rc == DEJA_OK && asked)
        count_answers(m, mask, n, want);
    free(todo);
    free(mask);
    return rc;
}

int machines_check_room(const struct machines *m, const deja_slice *key, size_t n,
                        const uint8_t *want, deja_error *err)
{
    int rc = DEJA_OK;
    for (uint32_t i = 0; i < m->n && rc == DEJA_OK; i++) {
        const struct machine *one = &m->one[i];
        if (one->stage != MACHINE_READY && one->stage != MACHINE_LOST)
            rc = keyspool_check_room(&one->spool, key, n, want, err);
    }
    return rc;
}

/* A machine that confirmed all keys has them; for the others they wait. */
static int spool_all(struct machines *m, const deja_slice *key, size_t n, const uint8_t *want,
                     deja_error *err)
{
    int rc = DEJA_OK;
    for (uint32_t i = 0; i < m->n && rc == DEJA_OK; i++) {
        struct machine *one = &m->one[i];
        if (one->stage == MACHINE_READY && one->acked)
            one->offered += one->lot.n;
        else if (one->stage != MACHINE_LOST)
            rc = keyspool_put(&one->spool, key, n, want, err);
    }
    return rc;
}

int machines_add(struct machines *m, const deja_slice *key, size_t n, const uint8_t *want,
                 uint8_t *answer, deja_error *err)
{
    uint8_t *none = calloc(n + 1, 1), *is_new = answer ? answer : none;
    uint32_t *mask = calloc(n + 1, sizeof *mask);
    size_t asked = 0;
    for (size_t i = 0; i < n; i++)
        asked += !want || want[i];
    int rc = none && mask ? DEJA_OK
                          : fail(err, DEJA_ENOMEM, "out of memory for a batch of %zu keys", n);
    if (rc == DEJA_OK && asked)
        rc = wait_for_any(m, err);
    for (uint32_t i = 0; i < m->n; i++)
        m->one[i].acked = false;
    if (rc == DEJA_OK && asked)
        rc = ask_all(m, "DEJA.ADD", key, n, want, err);
    if (rc == DEJA_OK && asked)
        take_answers(m, false, is_new, mask);
    if (rc == DEJA_OK && asked && answer)
        count_answers(m, mask, n, want);
    if (rc == DEJA_OK && asked)
        rc = spool_all(m, key, n, want, err);
    drop_all(m);
    free(none);
    free(mask);
    return rc;
}

bool machines_tend(struct machines *m)
{
    bool waits = false;
    (void)machines_settle(m, 0.5);
    for (uint32_t i = 0; i < m->n; i++)
        waits |= m->one[i].stage != MACHINE_READY && m->one[i].stage != MACHINE_LOST;
    return waits;
}

/* --- The end of a run ------------------------------------------------------------------- */

void machines_finish(struct machines *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct machine *one = &m->one[i];
        if (one->stage == MACHINE_AWAY && one->spool.keys) /* perhaps it is back */
            one->peer.again = 0;
        else if (one->stage == MACHINE_READY && machinetext_ask_info(one))
            one->stage = MACHINE_SHOWN;
    }
    turn(m, 0);
    (void)machines_settle(m, PEER_SILENCE);
}

struct machines_answers machines_answered(const struct machines *m, uint32_t by)
{
    struct machines_answers a = {0, 0};
    for (uint32_t mask = 1; mask < 1u << m->n; mask++) {
        double rate = 1;
        if ((uint32_t)__builtin_popcount(mask) != by || !m->by_mask[mask])
            continue;
        for (uint32_t i = 0; i < m->n; i++)
            rate *= mask & 1u << i ? m->one[i].fp_now : 1;
        a.keys += m->by_mask[mask];
        a.rate += rate * (double)m->by_mask[mask];
    }
    a.rate = a.keys ? a.rate / (double)a.keys : NAN;
    return a;
}

struct machines_one machines_one(const struct machines *m, uint32_t i)
{
    const struct machine *one = &m->one[i];
    return (struct machines_one){.address = peer_name(&one->peer),
                                 .answers = one->stage == MACHINE_READY,
                                 .lost = one->stage == MACHINE_LOST,
                                 .delivered = one->delivered,
                                 .waiting = one->spool.keys,
                                 .bytes = one->bytes};
}

/* --- Opening --------------------------------------------------------------------------- */

static int begin(struct machines *m, const struct machines_options *opt, deja_error *err)
{
    const size_t len = strlen(opt->name);
    if (!len || len >= sizeof m->name || strpbrk(opt->name, "{}"))
        return fail(err, DEJA_EINVAL,
                    "the name of a cache is 1 to %zu bytes without braces, not '%s'",
                    sizeof m->name - 1, fail_path(opt->name).text);
    memcpy(m->name, opt->name, len + 1);
    if (!serverurl_copy(m->spool_dir, sizeof m->spool_dir, opt->spool_dir, strlen(opt->spool_dir)))
        return fail(err, DEJA_EINVAL, "--spool: the name is too long");
    m->by_mask = calloc((size_t)1 << opt->n, sizeof *m->by_mask);
    if (!m->by_mask)
        return fail(err, DEJA_ENOMEM, "out of memory");
    int rc = DEJA_OK;
    for (m->n = 0; m->n < opt->n && rc == DEJA_OK; m->n++) {
        m->one[m->n] = (struct machine){.set = m, .number = m->n + 1, .spool = {.fd = -1}};
        m->one[m->n].fp_now = NAN;
        rc = peer_init(&m->one[m->n].peer, opt->url[m->n], err);
    }
    return rc;
}

static int open_spools(struct machines *m, deja_error *err)
{
    int rc = DEJA_OK;
    const uint64_t limit = m->opt.spool_size ? m->opt.spool_size : KEYSPOOL_DEFAULT;
    for (uint32_t i = 0; i < m->n && rc == DEJA_OK; i++) {
        struct machine *one = &m->one[i];
        const struct keyspool_id id = {m->spool_dir, m->name, one->number, m->facts.key_check};
        rc = keyspool_open(&one->spool, &id, limit, err);
        if (rc == DEJA_OK && one->spool.damaged)
            machine_note(one,
                         "%s was damaged: %" PRIu64 " bytes are lost, and lines in them may be "
                         "printed again",
                         fail_path(one->spool.path).text, one->spool.damaged);
    }
    return rc;
}

/* Whether any machine has filters of the cache. */
static bool finds_cache(struct machines *m)
{
    bool found = false;
    deja_error err;
    for (uint32_t i = 0; i < m->n; i++)
        found |= m->one[i].stage == MACHINE_NAMED && m->one[i].n_requests &&
                 !peer_is_busy(&m->one[i].peer) &&
                 machinetext_take(&m->one[i], &err) == MACHINE_FINE;
    return found;
}

/* Keys that only some servers have: an old backup, or a spool elsewhere. */
static void compare_contents(const struct machines *m)
{
    double most = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->one[i].stage == MACHINE_READY && isfinite(m->one[i].distinct))
            most = fmax(most, m->one[i].distinct);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct machine *one = &m->one[i];
        if (one->stage == MACHINE_READY && one->distinct < 0.9 * most - 100)
            machine_note(one,
                         "server %" PRIu32 " at %s has about %.0f of %.0f keys; the lines of the "
                         "others may be printed again: restore its data, or look for a spool of "
                         "another process",
                         one->number, peer_name(&one->peer), one->distinct, most);
        if (one->stage == MACHINE_AWAY)
            machine_note(one, "server %" PRIu32 " at %s; continuing without it", one->number,
                         one->peer.why);
    }
}

static int no_cache(const struct machines *m, deja_error *err)
{
    return fail(err, DEJA_EMISMATCH,
                "the servers have no cache %s; deja dedup with the same --redis makes one",
                m->name);
}

static int open_all(struct machines *m, deja_error *err)
{
    int rc = machines_settle(m, PEER_SILENCE + 1);
    if (rc < 0)
        return *err = m->refused, rc;
    if (!count(m, MACHINE_NAMED))
        return none_answers(m, err);
    m->existed = finds_cache(m);
    if (!m->existed)
        rc = m->opt.create ? machines_make(m, err) : no_cache(m, err);
    if (rc < 0)
        return rc;
    m->known = true;
    rc = open_spools(m, err);
    for (uint32_t i = 0; i < m->n; i++)
        m->one[i].left = m->one[i].stage == MACHINE_AWAY ? clock_seconds() : 0;
    if (rc == DEJA_OK && machines_settle(m, WIRE_PATIENCE) < 0)
        return *err = m->refused, m->refused.status;
    if (rc == DEJA_OK && !count(m, MACHINE_READY))
        rc = none_answers(m, err);
    m->opened = true;
    if (rc == DEJA_OK)
        compare_contents(m);
    return rc;
}

int machines_open(const struct machines_options *opt, struct machines **out, deja_error *err)
{
    struct machines *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return fail(err, DEJA_ENOMEM, "out of memory");
    m->opt = *opt;
    int rc = begin(m, opt, err);
    if (rc == DEJA_OK)
        rc = open_all(m, err);
    if (rc < 0) {
        machines_close(m);
        return rc;
    }
    *out = m;
    return DEJA_OK;
}

void machines_close(struct machines *m)
{
    for (uint32_t i = 0; m && i < m->n; i++) {
        struct machine *one = &m->one[i];
        peer_close(&one->peer);
        machine_drop(one);
        keyspool_close(&one->spool);
        buffer_fini(&one->piece);
        free(one->key);
        free(one->shard);
    }
    if (m)
        free(m->by_mask);
    free(m);
}

#else

int machines_open(const struct machines_options *opt, struct machines **out, deja_error *err)
{
    (void)opt;
    *out = NULL;
    return fail(err, DEJA_ENOTSUP, "this deja was built without hiredis, which --redis needs");
}

#endif
