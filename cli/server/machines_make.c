/* machines_make.c - makes a new cache on F servers.
 *
 * All F filters have one secret key and F different salts.  The first client writes the key into the
 * description of machine 1, makes the filters, and then replaces that text by the final one.  So a
 * client that finds the unfinished text, because two began at the same moment or one was killed,
 * makes the same filters: DEJA.RESERVE leaves those that exist alone. */
#include "cli/server/inforeply.h"
#include "cli/server/machine.h"
#include "cli/server/reserving.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

/* Sends words to a machine and waits for the replies. */
static int tell(struct machine *m, const char *const *words, size_t n, deja_error *err)
{
    struct peer *peer = &m->peer;
    if (machine_ask(m, words, n))
        while (peer_is_busy(peer))
            peers_wait(&peer, 1, 1);
    if (!peer->c)
        return fail(err, DEJA_EIO, "%s", peer->why);
    for (size_t i = 0; i < n; i++) {
        const redisReply *r = m->request[i].reply;
        if (r->type == REDIS_REPLY_ERROR && strcmp(r->str, "ERR item exists") != 0)
            return fail(err, DEJA_EIO, "%s: %.150s%s", peer_name(peer), r->str,
                        strstr(r->str, "unknown command")
                            ? "; load the module deja.so, or start the server with deja serve"
                            : "");
    }
    return DEJA_OK;
}

static int choose_secret(const deja_options *o, char text[MACHINE_SECRET], deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    if (o->seed) {
        (void)snprintf(text, MACHINE_SECRET, "seed:%" PRIu64, o->seed);
        return DEJA_OK;
    }
    if (!sys_random(key, sizeof key))
        return fail_errno(err, "the kernel returned no random bytes");
    for (size_t i = 0; i < sizeof key; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", key[i]);
    return DEJA_OK;
}

/* Sets the key or the seed that a text names. */
static bool take_secret(const char *text, uint8_t key[DEJA_KEY_LEN], deja_options *o)
{
    o->key = NULL;
    o->seed = 0;
    if (sscanf(text, "seed:%" SCNu64, &o->seed) == 1)
        return o->seed;
    for (size_t i = 0; i < DEJA_KEY_LEN; i++) {
        const int high = ascii_hex(text[2 * i]), low = high < 0 ? -1 : ascii_hex(text[2 * i + 1]);
        if (low < 0)
            return false;
        key[i] = (uint8_t)(16 * high + low);
    }
    o->key = key;
    return !text[2 * DEJA_KEY_LEN];
}

/* Writes the unfinished text on machine 1, unless there is one; takes the secret of the client
 * that was first. */
static int agree(struct machines *m, deja_options *o, uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    struct machine *first = &m->one[0];
    struct machine_text text = {.number = 1, .of = m->n, .making = true};
    char words[MACHINE_TEXT], name[200];
    int rc = choose_secret(o, text.secret, err);
    if (rc < 0)
        return rc;
    machinetext_write(&text, words);
    (void)snprintf(name, sizeof name, "%s.1", m->name);
    const char *const both[] = {"SET", name, words, "NX", NULL, "GET", name, NULL};
    rc = tell(first, both, 2, err);
    if (rc < 0)
        return rc;
    const redisReply *r = first->request[1].reply;
    if (r->type != REDIS_REPLY_STRING || !machinetext_read(r->str, &text) || !text.making ||
        text.of != m->n || !take_secret(text.secret, key, o))
        return fail(err, DEJA_EBUSY,
                    "another process is making %s at this moment; run the command again", m->name);
    return DEJA_OK;
}

/* Words of binary data cannot be C strings: DEJA.RESERVE is sent with lengths. */
static int reserve(struct machine *m, const deja_options *all, deja_error *err)
{
    const uint32_t n = m->set->facts.shards;
    deja_options one = reserving_of_shard(all, n);
    struct reserving words;
    one.filters = m->set->n;
    one.machine = m->number;
    reserving_spell(&words, &one);
    for (uint32_t i = 0; i < n; i++) {
        struct peer *peer = &m->peer;
        struct wire_request r = {.argv = words.word, .len = words.len, .argc = (int)words.n};
        words.word[1] = m->shard[i];
        words.len[1] = strlen(m->shard[i]);
        peer_send(peer, &r, 1);
        while (peer_is_busy(peer))
            peers_wait(&peer, 1, 1);
        if (!r.reply)
            return fail(err, DEJA_EIO, "%s", peer->why);
        const bool bad =
            r.reply->type == REDIS_REPLY_ERROR && strcmp(r.reply->str, "ERR item exists") != 0;
        if (bad)
            (void)fail(err, DEJA_EIO, "%s: %.150s%s", peer_name(peer), r.reply->str,
                       strstr(r.reply->str, "unknown command")
                           ? "; load the module deja.so, or start the server with deja serve"
                           : "");
        wire_drop(&r, 1);
        if (bad)
            return DEJA_EIO;
    }
    return DEJA_OK;
}

/* The check value of the secret key, from a filter that has it. */
static int learn_set(struct machine *m, deja_error *err)
{
    const char *const words[] = {"DEJA.INFO", m->shard[0], NULL};
    const int rc = tell(m, words, 1, err);
    if (rc == DEJA_OK)
        (void)sscanf(inforeply_text(m->request[0].reply, "key_check"), "%" SCNx64,
                     &m->set->facts.key_check);
    return rc;
}

static int describe(struct machine *m, deja_error *err)
{
    const struct machine_text text = {
        .number = m->number, .of = m->set->n, .facts = m->set->facts};
    char words[MACHINE_TEXT], name[200];
    machinetext_write(&text, words);
    (void)snprintf(name, sizeof name, "%s.%" PRIu32, m->set->name, m->number);
    const char *const set[] = {"SET", name, words, NULL};
    return tell(m, set, 1, err);
}

static int need_all(const struct machines *m, deja_error *err)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->one[i].stage != MACHINE_NAMED)
            return fail(err, DEJA_EIO, "a new cache needs all its servers; start this one: %s",
                        m->one[i].peer.why);
    return DEJA_OK;
}

int machines_make(struct machines *m, deja_error *err)
{
    deja_options o = *m->opt.create;
    uint8_t key[DEJA_KEY_LEN];
    struct machine_facts *f = &m->facts;
    *f = (struct machine_facts){.shards = m->opt.shards ? m->opt.shards : 1};
    (void)snprintf(f->profile, sizeof f->profile, "%s", cacheform_profile(m->opt.rules));
    f->rules = m->opt.rules ? deja_url_rules_id(m->opt.rules) : 0;
    int rc = need_all(m, err);
    if (rc == DEJA_OK && !o.capacity && !o.memory)
        rc = fail(err, DEJA_EINVAL,
                  "how many keys? give options.capacity: filters on several servers do not grow");
    if (rc == DEJA_OK)
        rc = cacheform_check(m->name, f->profile, f->rules, m->opt.rules, &m->form, err);
    if (rc == DEJA_OK)
        rc = agree(m, &o, key, err);
    for (uint32_t i = 0; i < m->n && rc == DEJA_OK; i++)
        rc = machine_name_shards(&m->one[i], f->shards) ? reserve(&m->one[i], &o, err)
                                                        : fail(err, DEJA_ENOMEM, "out of memory");
    if (rc == DEJA_OK)
        rc = learn_set(&m->one[0], err);
    for (uint32_t i = m->n; i-- > 0 && rc == DEJA_OK;)
        rc = describe(&m->one[i], err);
    for (uint32_t i = 0; i < m->n && rc == DEJA_OK; i++)
        if (!machinetext_ask(&m->one[i]))
            rc = fail(err, DEJA_EIO, "%s", m->one[i].peer.why);
    return rc;
}

#endif
