/* cacheinfo.c - asks servers about a cache and adds up what its filters reply.
 *
 * A key of the server with this name is a filter, or the description of a cache of N filters
 * (shards.h, machines.h).  DEJA.INFO gives the statistics of each. */
#include "cli/server/cacheinfo.h"
#include "cli/server/inforeply.h"
#include "cli/server/machine.h"
#include "cli/server/serverurl.h"
#include "cli/server/shards.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

#define KEY_LEN 240

/* --- Sums -------------------------------------------------------------------------- */

static void first_facts(deja_stats *s, const redisReply *map)
{
    s->kind = deja_kind_parse(inforeply_text(map, "kind"));
    s->part_kind = deja_kind_parse(inforeply_text(map, "part_kind"));
    s->hash = deja_hash_parse(inforeply_text(map, "hash"));
    s->hashes = (uint32_t)inforeply_count(map, "hashes");
    s->filters = (uint32_t)inforeply_count(map, "filters");
    s->machine = (uint32_t)inforeply_count(map, "machine");
    s->fp_rate = inforeply_real(map, "fp_rate");
    s->keyed = inforeply_count(map, "keyed") != 0;
    s->visit = inforeply_count(map, "visit");
    s->window_seconds = inforeply_count(map, "window_seconds");
    s->counter_bits = (uint32_t)inforeply_count(map, "counter_bits");
    s->format = (uint32_t)inforeply_count(map, "format");
}

/* Adds the statistics of one of n filters. */
static void add_filter(struct cacheinfo_server *one, const redisReply *map, uint32_t n)
{
    deja_stats *s = &one->s;
    if (!s->kind)
        first_facts(s, map);
    s->parts += (uint32_t)inforeply_count(map, "parts");
    s->capacity += inforeply_count(map, "capacity");
    s->bits += inforeply_count(map, "bits");
    s->bytes += inforeply_count(map, "bytes");
    s->bits_set += inforeply_count(map, "bits_set");
    s->offered += inforeply_count(map, "offered");
    s->keys += inforeply_count(map, "keys");
    s->distinct += inforeply_real(map, "distinct");
    s->lost += inforeply_real(map, "lost");
    s->removed += inforeply_count(map, "removed");
    s->refused += inforeply_count(map, "refused");
    s->unions += inforeply_count(map, "unions");
    s->folds += (uint32_t)inforeply_count(map, "folds");
    s->fill += inforeply_real(map, "fill") / n;
    s->fp_now += inforeply_real(map, "fp_now") / n;
    one->memory += inforeply_count(map, "memory");
}

/* --- Requests ------------------------------------------------------------------------ */

static int check_map(const redisReply *reply, const char *key, deja_error *err)
{
    if (reply->type == REDIS_REPLY_ARRAY && deja_kind_parse(inforeply_text(reply, "kind")))
        return DEJA_OK;
    if (reply->type != REDIS_REPLY_ERROR)
        return fail(err, DEJA_EIO, "%s: unexpected reply from the server", key);
    if (strstr(reply->str, "unknown command"))
        return fail(err, DEJA_ENOTSUP,
                    "the server has no DEJA commands; load the module deja.so, or start it with "
                    "deja serve");
    return fail(err, DEJA_EMISMATCH, "the server's key %s: %.120s", key, reply->str);
}

/* DEJA.INFO of n keys. */
static int ask_filters(struct wire *w, struct cacheinfo_server *one, char (*key)[KEY_LEN],
                       uint32_t n, deja_error *err)
{
    struct wire_request *r = calloc(n, sizeof *r);
    const char **word = calloc(n, 2 * sizeof *word);
    size_t *len = calloc(n, 2 * sizeof *len);
    int rc = r && word && len ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < n && rc == DEJA_OK; i++) {
        word[2 * i] = "DEJA.INFO";
        word[2 * i + 1] = key[i];
        len[2 * i] = strlen("DEJA.INFO");
        len[2 * i + 1] = strlen(key[i]);
        r[i] = (struct wire_request){word + 2 * i, len + 2 * i, 2, i, NULL, 0, false, false};
    }
    if (rc == DEJA_OK) {
        rc = wire_run(w, r, n, err);
        for (uint32_t i = 0; i < n && rc == DEJA_OK; i++) {
            rc = check_map(r[i].reply, key[i], err);
            if (rc == DEJA_OK)
                add_filter(one, r[i].reply, n);
        }
        wire_drop(r, n);
    }
    free(r);
    free(word);
    free(len);
    return rc;
}

/* The number of filters and the profile that a description names. */
static bool read_description(const char *text, size_t i, size_t n, struct cacheinfo_server *one)
{
    struct machine_text machine;
    if (n == 1)
        return shards_read_text(text, &one->shards, one->profile);
    if (!machinetext_read(text, &machine) || machine.making || machine.number != i + 1 ||
        machine.of != n)
        return false;
    one->shards = machine.facts.shards;
    memcpy(one->profile, machine.facts.profile, sizeof one->profile);
    return true;
}

/* Finds out what the key is: a filter (one->shards stays 0), or a cache. */
static int ask_description(struct wire *w, const char *key, size_t i, size_t n,
                           struct cacheinfo_server *one, deja_error *err)
{
    const char *word[2] = {"GET", key};
    size_t len[2] = {3, strlen(key)};
    struct wire_request r = {word, len, 2, SHARDS_MAX, NULL, 0, false, false};
    int rc = wire_run(w, &r, 1, err);
    if (rc < 0)
        return rc;
    const redisReply *reply = r.reply;
    if (reply->type == REDIS_REPLY_NIL)
        rc = fail(err, DEJA_EMISMATCH, "the server has no cache or filter %s", key);
    else if (reply->type == REDIS_REPLY_STRING && !read_description(reply->str, i, n, one))
        rc = fail(err, DEJA_EFORMAT,
                  "the server's key %s is not a deja cache on %zu server%s; give every server of "
                  "the cache, in its order",
                  key, n, n == 1 ? "" : "s");
    else if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "WRONGTYPE", 9) != 0)
        rc = fail(err, DEJA_EIO, "%s: %.150s", key, reply->str);
    wire_drop(&r, 1);
    return rc;
}

static int ask_keys(struct wire *w, const char *base, struct cacheinfo_server *one,
                    deja_error *err)
{
    const uint32_t n = one->shards ? one->shards : 1;
    char(*key)[KEY_LEN] = calloc(n, sizeof *key);
    if (!key)
        return fail(err, DEJA_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        if (one->shards)
            (void)snprintf(key[i], sizeof key[i], "{%s:%u}", base, i);
        else
            (void)snprintf(key[i], sizeof key[i], "%s", base);
    const int rc = ask_filters(w, one, key, n, err);
    free(key);
    return rc;
}

static int note_address(const char *url, struct cacheinfo_server *one, deja_error *err)
{
    struct serverurl at;
    const int rc = serverurl_parse(url, &at, err);
    if (rc == DEJA_OK)
        (void)snprintf(one->address, sizeof one->address, "%s:%d", at.host, at.port);
    return rc;
}

static int ask_server(const char *url, size_t i, size_t n, const char *name,
                      struct cacheinfo_server *one, deja_error *err)
{
    const atomic_bool hurry = true; /* a server that is down is not waited for */
    char base[KEY_LEN - 20];
    struct wire *w = NULL;
    const int len = n == 1 ? snprintf(base, sizeof base, "%s", name)
                           : snprintf(base, sizeof base, "%s.%zu", name, i + 1);
    if (len >= (int)sizeof base)
        return fail(err, DEJA_EINVAL, "the name %.40s... is too long", name);
    int rc = wire_open(url, SHARDS_MAX + 1, &hurry, &w, err);
    if (rc == DEJA_OK)
        rc = ask_description(w, base, i, n, one, err);
    if (rc == DEJA_OK)
        rc = ask_keys(w, base, one, err);
    wire_close(w);
    return rc;
}

int cacheinfo_ask(const char *const *url, size_t n, const char *name, struct cacheinfo *out,
                  deja_error *err)
{
    bool any = false;
    int rc = DEJA_OK;
    *out = (struct cacheinfo){.name = name, .n = n};
    for (size_t i = 0; i < n && (rc == DEJA_OK || rc == DEJA_EIO); i++) {
        struct cacheinfo_server *one = &out->server[i];
        deja_error why = {0, ""};
        one->s = (deja_stats)DEJA_STATS_INIT;
        rc = note_address(url[i], one, &why);
        if (rc == DEJA_OK)
            rc = ask_server(url[i], i, n, name, one, &why);
        one->answers = rc == DEJA_OK;
        any |= one->answers;
        (void)snprintf(one->why, sizeof one->why, "%s", why.text);
        if (rc < 0 && err)
            *err = why;
    }
    return any && rc == DEJA_EIO ? DEJA_OK : rc; /* other errors concern the cache */
}

#else

int cacheinfo_ask(const char *const *url, size_t n, const char *name, struct cacheinfo *out,
                  deja_error *err)
{
    (void)url;
    *out = (struct cacheinfo){.name = name, .n = n};
    return fail(err, DEJA_ENOTSUP, "this deja was built without hiredis, which --redis needs");
}

#endif

/* --- Conclusions ----------------------------------------------------------------------- */

deja_stats cacheinfo_all(const struct cacheinfo *c, uint64_t *memory)
{
    deja_stats all = DEJA_STATS_INIT;
    double rate = 1;
    uint64_t bytes = 0;
    *memory = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct cacheinfo_server *one = &c->server[i];
        if (!one->answers)
            continue;
        if (!all.kind)
            all = one->s;
        bytes += one->s.bytes;
        *memory += one->memory;
        rate *= one->s.fp_now;
    }
    all.bytes = bytes;
    all.fp_now = rate;
    return all;
}
