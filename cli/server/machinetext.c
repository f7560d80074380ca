/* machinetext.c - what a machine says about itself: its description, and its filters.
 *
 * Both are checked whenever a connection is made.  A server that lost its data, that is another
 * machine of the cache, or whose filters were made with other parameters is never mixed with the
 * others. */
#include "cli/server/inforeply.h"
#include "cli/server/machine.h"
#include "cli/server/shards.h"
#include "tools/base/fail.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void machinetext_write(const struct machine_text *t, char text[MACHINE_TEXT])
{
    const struct machine_facts *f = &t->facts;
    if (t->making)
        (void)snprintf(text, MACHINE_TEXT,
                       "deja-machine 1 filter=%" PRIu32 "/%" PRIu32 " making=%s", t->number, t->of,
                       t->secret);
    else
        (void)snprintf(text, MACHINE_TEXT,
                       "deja-machine 1 filter=%" PRIu32 "/%" PRIu32 " shards=%" PRIu32
                       " profile=%s rules=%" PRIx64 " set=%016" PRIx64,
                       t->number, t->of, f->shards, f->profile, f->rules, f->key_check);
}

/* sscanf is lenient, so the text is also compared with the output of machinetext_write. */
bool machinetext_read(const char *text, struct machine_text *out)
{
    char same[MACHINE_TEXT];
    struct machine_facts *f = &out->facts;
    *out = (struct machine_text){0};
    out->making = sscanf(text, "deja-machine 1 filter=%" SCNu32 "/%" SCNu32 " making=%79s",
                         &out->number, &out->of, out->secret) == 3;
    if (!out->making &&
        sscanf(text,
               "deja-machine 1 filter=%" SCNu32 "/%" SCNu32 " shards=%" SCNu32
               " profile=%15s rules=%" SCNx64 " set=%" SCNx64,
               &out->number, &out->of, &f->shards, f->profile, &f->rules, &f->key_check) != 6)
        return false;
    machinetext_write(out, same);
    return strcmp(text, same) == 0 && out->number && out->number <= out->of &&
           out->of <= MACHINES_MOST && (out->making || (f->shards && f->shards <= SHARDS_MAX));
}

bool machinetext_ask(struct machine *m)
{
    char name[MACHINES_MOST][200];
    const char *words[3 * MACHINES_MOST];
    const uint32_t n = m->set->n;
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(name[i], sizeof name[i], "%s.%" PRIu32, m->set->name, i + 1);
        words[3 * i] = "GET";
        words[3 * i + 1] = name[i];
        words[3 * i + 2] = NULL;
    }
    return machine_ask(m, words, n);
}

bool machinetext_ask_info(struct machine *m)
{
    const uint32_t n = m->set->facts.shards;
    const char **words = calloc((size_t)3 * n, sizeof *words);
    for (uint32_t i = 0; words && i < n; i++) {
        words[3 * i] = "DEJA.INFO";
        words[3 * i + 1] = m->shard[i];
    }
    const bool fine = words && machine_ask(m, words, n);
    free(words);
    return fine;
}

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

static enum machine_found wrong(deja_error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static enum machine_found wrong(deja_error *err, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)fail(err, DEJA_EMISMATCH, "%s", text);
    return MACHINE_WRONG;
}

/* The server has no text for this machine, but one for another. */
static enum machine_found other_text(const struct machine *m, deja_error *err)
{
    for (uint32_t i = 0; i < m->set->n; i++)
        if (m->request[i].reply->type == REDIS_REPLY_STRING)
            return wrong(err,
                         "%s has filter %" PRIu32 " of %s, but is server %" PRIu32
                         " here; give --redis in the order in which the cache was made",
                         peer_name(&m->peer), i + 1, m->set->name, m->number);
    return MACHINE_EMPTY;
}

/* The first machine says what the others must be; so does the user, with --shards. */
static enum machine_found compare(struct machine *m, deja_error *err)
{
    struct machine_facts *have = &m->set->facts;
    const struct machine_facts *f = &m->text.facts;
    const char *name = m->set->name;
    if (!m->set->known) {
        if (m->set->opt.shards && m->set->opt.shards != f->shards)
            return wrong(err, "%s has %" PRIu32 " shards, not %" PRIu32 "; omit --shards", name,
                         f->shards, m->set->opt.shards);
        if (cacheform_check(name, f->profile, f->rules, m->set->opt.rules, &m->set->form, err) < 0)
            return MACHINE_WRONG;
        *have = *f;
    }
    if (have->key_check != f->key_check || have->shards != f->shards ||
        strcmp(have->profile, f->profile) != 0 || have->rules != f->rules)
        return wrong(err,
                     "%s has a filter of another cache named %s (set %016" PRIx64
                     ", not %016" PRIx64 "); give the servers of one cache",
                     peer_name(&m->peer), name, f->key_check, have->key_check);
    return MACHINE_FINE;
}

enum machine_found machinetext_take(struct machine *m, deja_error *err)
{
    const redisReply *mine = m->request[m->number - 1].reply;
    if (mine->type == REDIS_REPLY_NIL)
        return other_text(m, err);
    if (mine->type == REDIS_REPLY_ERROR)
        return wrong(err, "%s: %.120s%s", peer_name(&m->peer), mine->str,
                     strncmp(mine->str, "MOVED", 5) == 0
                         ? "; several --redis take servers that are not in a cluster"
                         : "");
    if (mine->type != REDIS_REPLY_STRING || !machinetext_read(mine->str, &m->text) ||
        m->text.number != m->number)
        return wrong(err,
                     "the key %s.%" PRIu32 " at %s is not of a deja cache; choose another name",
                     m->set->name, m->number, peer_name(&m->peer));
    if (m->text.of != m->set->n)
        return wrong(err, "%s consists of %" PRIu32 " filters: give --redis %" PRIu32 " times",
                     m->set->name, m->text.of, m->text.of);
    return m->text.making ? MACHINE_UNMADE : compare(m, err);
}

/* Takes the numbers of the first shard; all other shards must have the same. */
static bool same_filter(struct machine *m, const redisReply *info)
{
    struct machine_facts *f = &m->set->facts;
    if (!f->visit) {
        f->visit = inforeply_count(info, "visit");
        f->hashes = inforeply_count(info, "hashes");
        f->capacity = inforeply_count(info, "capacity");
        f->bits = inforeply_count(info, "bits");
        (void)snprintf(f->kind, sizeof f->kind, "%.15s", inforeply_text(info, "kind"));
        (void)snprintf(f->hash, sizeof f->hash, "%.15s", inforeply_text(info, "hash"));
    }
    char check[20];
    (void)snprintf(check, sizeof check, "%016" PRIx64, f->key_check);
    return inforeply_count(info, "machine") == m->number &&
           inforeply_count(info, "filters") == m->set->n &&
           inforeply_count(info, "hashes") == f->hashes &&
           inforeply_count(info, "capacity") == f->capacity &&
           inforeply_count(info, "bits") == f->bits &&
           strcmp(inforeply_text(info, "kind"), f->kind) == 0 &&
           strcmp(inforeply_text(info, "hash"), f->hash) == 0 &&
           strcmp(inforeply_text(info, "key_check"), check) == 0;
}

static void add_up(struct machine *m, uint64_t *offered)
{
    m->distinct = m->fp_now = 0;
    m->bytes = *offered = 0;
    for (size_t i = 0; i < m->n_requests; i++) {
        const redisReply *info = m->request[i].reply;
        *offered += inforeply_count(info, "offered");
        m->distinct += inforeply_real(info, "distinct");
        m->fp_now += inforeply_real(info, "fp_now") / (double)m->n_requests;
        m->bytes += inforeply_count(info, "bytes");
    }
}

enum machine_found machinetext_take_info(struct machine *m, deja_error *err)
{
    uint64_t offered;
    for (size_t i = 0; i < m->n_requests; i++) {
        const redisReply *info = m->request[i].reply;
        if (info->type == REDIS_REPLY_ERROR && strcmp(info->str, "ERR not found") == 0)
            return MACHINE_EMPTY;
        if (info->type == REDIS_REPLY_ERROR)
            return wrong(err, "%s: %.120s%s", peer_name(&m->peer), info->str,
                         strstr(info->str, "unknown command")
                             ? "; load the module deja.so, or start the server with deja serve"
                             : "");
        if (!same_filter(m, info))
            return wrong(err,
                         "the filter of %s at %s was made with other parameters than those on the "
                         "other servers; delete the keys of the cache there",
                         m->set->name, peer_name(&m->peer));
        if (inforeply_count(info, "visit") != m->set->facts.visit)
            return wrong(err,
                         "the filter of %s at %s is in visit %" PRIu64 ", the others in %" PRIu64
                         "; send DEJA.ROTATE to all servers",
                         m->set->name, peer_name(&m->peer), inforeply_count(info, "visit"),
                         m->set->facts.visit);
    }
    add_up(m, &offered);
    if (offered < m->offered)
        machine_note(m,
                     "server %" PRIu32 " at %s came back without the last %" PRIu64
                     " of its keys; their lines may be printed again",
                     m->number, peer_name(&m->peer), m->offered - offered);
    m->offered = offered;
    return MACHINE_FINE;
}

#endif
