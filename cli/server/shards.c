/* shards.c - a cache of seen keys in N filters on servers; see shards.h. */
#include "cli/server/shards.h"
#include "cli/server/cacheform.h"
#include "cli/server/inforeply.h"
#include "cli/server/lot.h"
#include "cli/server/reserving.h"
#include "tools/base/fail.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>
#endif

#ifdef DEJA_HAVE_HIREDIS

#define NAME_LEN 200

struct shards {
    struct wire *wire;
    char name[NAME_LEN];
    uint32_t n, replicas;
    bool existed;
    char (*shard_name)[LOT_NAME_LEN];
    struct cacheform form; /* of its keys */
};

const deja_url_rules *shards_rules(const struct shards *s)
{
    return s->form.rules;
}

uint32_t shards_profile(const struct shards *s, uint64_t *rules)
{
    *rules = s->form.rules_id;
    return s->form.profile;
}

uint32_t shards_count(const struct shards *s)
{
    return s->n;
}

bool shards_existed(const struct shards *s)
{
    return s->existed;
}

/* --- Batches ---------------------------------------------------------------------- */

static int refused(const struct shards *s, const char *shard, const char *text, deja_error *err)
{
    if (strcmp(text, "ERR not found") == 0)
        return fail(
            err, DEJA_EMISMATCH,
            "%s: the server has lost this shard of %s; restore it, or delete all keys of the "
            "cache and start again",
            shard, s->name);
    if (strstr(text, "unknown command"))
        return fail(
            err, DEJA_ENOTSUP,
            "the server has no DEJA commands; load the module deja.so, or start it with deja "
            "serve");
    return fail(err, DEJA_EIO, "%s: %.150s", shard, text);
}

/* Stores the answers to one request. */
static int take_answers(const struct shards *s, const struct lot *lot, size_t i, uint8_t *answer,
                        deja_error *err)
{
    const struct wire_request *r = &lot->request[i];
    const redisReply *reply = r->reply;
    if (reply->type == REDIS_REPLY_ERROR)
        return refused(s, r->argv[1], reply->str, err);
    const size_t n = (size_t)r->argc - 2;
    for (size_t j = 0; reply->type == REDIS_REPLY_ARRAY && j < reply->elements && j < n; j++) {
        const redisReply *one = reply->element[j];
        if (one->type == REDIS_REPLY_ERROR)
            return refused(s, r->argv[1], one->str, err);
        if (answer)
            answer[lot->index[lot->first[i] + j]] = one->integer != 0;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != n)
        return fail(err, DEJA_EIO, "%s: unexpected reply from the server", r->argv[1]);
    return DEJA_OK;
}

static int run_lot(struct shards *s, struct lot *lot, uint8_t *answer, deja_error *err)
{
    int rc = wire_run(s->wire, lot->request, lot->n_requests, err);
    for (size_t i = 0; i < lot->n_requests && rc == DEJA_OK; i++)
        rc = take_answers(s, lot, i, answer, err);
    wire_drop(lot->request, lot->n_requests);
    return rc;
}

/* WAIT covers only the writes of its own connection, so if a connection is lost, the adds are sent
 * again.  Adding a key twice is harmless. */
static int add_and_wait(struct shards *s, struct lot *lot, uint8_t *answer, deja_error *err)
{
    int rc = DEJA_EBUSY;
    for (int tries = 0; rc == DEJA_EBUSY && tries < 10; tries++) {
        const unsigned long lost = wire_lost(s->wire);
        rc = run_lot(s, lot, tries ? NULL : answer, err);
        if (rc == DEJA_OK && wire_lost(s->wire) != lost)
            rc = fail(err, DEJA_EBUSY,
                      "the connection to the server was lost 10 times; check the server");
        else if (rc == DEJA_OK)
            rc = wire_wait(s->wire, lot->request, lot->n_requests, s->replicas, err);
    }
    return rc;
}

static int run_keys(struct shards *s, const char *verb, const deja_slice *key, size_t n,
                    const uint8_t *want, uint8_t *answer, bool wait, deja_error *err)
{
    struct lot lot;
    int rc = lot_make(&(struct lot_to){s->shard_name, s->n}, verb, key, n, want, &lot, err);
    if (rc == DEJA_OK)
        rc = wait ? add_and_wait(s, &lot, answer, err) : run_lot(s, &lot, answer, err);
    lot_free(&lot);
    return rc;
}

int shards_check(struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
                 uint8_t *answer, deja_error *err)
{
    return run_keys(s, "DEJA.CHECK", key, n, want, answer, false, err);
}

int shards_add(struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
               uint8_t *answer, deja_error *err)
{
    return run_keys(s, "DEJA.ADD", key, n, want, answer, s->replicas != 0, err);
}

/* --- The kind of the filters ------------------------------------------------------ */

/* Sends one request; *reply may be an error. */
static int ask(struct shards *s, int argc, const char **argv, size_t place, redisReply **reply,
               deja_error *err)
{
    size_t len[8];
    struct wire_request r = {argv, len, argc, place, NULL, 0, false, false};
    for (int i = 0; i < argc; i++)
        len[i] = strlen(argv[i]);
    const int rc = wire_run(s->wire, &r, 1, err);
    *reply = r.reply;
    return rc;
}

int shards_window(struct shards *s, bool *forgets, uint64_t *keys, deja_error *err)
{
    const char *argv[2] = {"DEJA.INFO", s->shard_name[0]};
    redisReply *reply = NULL;
    int rc = ask(s, 2, argv, 0, &reply, err);
    if (rc == DEJA_OK && reply->type == REDIS_REPLY_ERROR)
        rc = refused(s, argv[1], reply->str, err);
    const char *kind = rc == DEJA_OK ? inforeply_text(reply, "kind") : "";
    *forgets = deja_kind_can(deja_kind_parse(kind), DEJA_CAN_EXPIRE);
    *keys = 0;
    if (*forgets && !inforeply_count(reply, "window_seconds"))
        *keys = inforeply_count(reply, "capacity") * s->n;
    freeReplyObject(reply);
    return rc;
}

/* --- The description of the cache ------------------------------------------------- */

struct text {
    char s[120];
};

static struct text text_of(uint64_t shards, const char *profile, uint64_t rules)
{
    struct text t;
    (void)snprintf(t.s, sizeof t.s, "deja-cache 1 shards=%" PRIu64 " profile=%s rules=%" PRIx64,
                   shards, profile, rules);
    return t;
}

/* sscanf is lenient, so the text is also compared with the output of text_of. */
static bool read_text(const char *text, uint64_t *n, char profile[CACHEFORM_PROFILE],
                      uint64_t *rules)
{
    return sscanf(text, "deja-cache 1 shards=%" SCNu64 " profile=%15s rules=%" SCNx64, n, profile,
                  rules) == 3 &&
           strcmp(text_of(*n, profile, *rules).s, text) == 0 && *n && *n <= SHARDS_MAX;
}

bool shards_read_text(const char *text, uint32_t *n, char *profile)
{
    uint64_t many, rules;
    char name[CACHEFORM_PROFILE];
    if (!read_text(text, &many, name, &rules))
        return false;
    *n = (uint32_t)many;
    memcpy(profile, name, sizeof name);
    return true;
}

static int check_text(struct shards *s, const char *text, const struct shards_options *opt,
                      deja_error *err)
{
    uint64_t n, rules;
    char profile[CACHEFORM_PROFILE];
    if (!read_text(text, &n, profile, &rules))
        return fail(err, DEJA_EFORMAT,
                    "the server's key %s is not a deja cache; choose another name", s->name);
    if (opt->shards && opt->shards != n)
        return fail(err, DEJA_EMISMATCH,
                    "%s has %" PRIu64 " shards, not %" PRIu32 "; omit --shards", s->name, n,
                    opt->shards);
    s->n = (uint32_t)n;
    return cacheform_check(s->name, profile, rules, opt->rules, &s->form, err);
}

/* A small shard needs much spare room (capacity_of_shard), so a small window over many shards
 * would remember far more keys than requested. */
#define WINDOW_SHARD 2500 /* keys; the spare room is then a tenth */

static uint32_t default_shards(const deja_options *o)
{
    if (!deja_kind_can(o->kind, DEJA_CAN_EXPIRE) || o->window_seconds ||
        o->capacity >= (uint64_t)WINDOW_SHARD * SHARDS_DEFAULT)
        return SHARDS_DEFAULT;
    return o->capacity < WINDOW_SHARD ? 1 : (uint32_t)(o->capacity / WINDOW_SHARD);
}

/* Reads the description, or writes it for a new cache. */
static int agree(struct shards *s, const struct shards_options *opt, deja_error *err)
{
    struct text text;
    const char *get[2] = {"GET", s->name};
    const char *set[4] = {"SET", s->name, text.s, "NX"};
    redisReply *reply = NULL;
    int rc = ask(s, 2, get, SHARDS_MAX, &reply, err);
    s->existed = rc == DEJA_OK && reply->type != REDIS_REPLY_NIL;
    if (rc == DEJA_OK && reply->type == REDIS_REPLY_NIL && opt->create) {
        text =
            text_of(opt->shards ? opt->shards : default_shards(opt->create),
                    cacheform_profile(opt->rules), opt->rules ? deja_url_rules_id(opt->rules) : 0);
        freeReplyObject(reply);
        rc = ask(s, 4, set, SHARDS_MAX, &reply, err);
        freeReplyObject(rc == DEJA_OK ? reply : NULL);
        if (rc == DEJA_OK)
            rc = ask(s, 2, get, SHARDS_MAX, &reply, err);
    }
    if (rc < 0)
        return rc;
    if (reply->type == REDIS_REPLY_STRING)
        rc = check_text(s, reply->str, opt, err);
    else if (reply->type == REDIS_REPLY_NIL)
        rc = fail(err, DEJA_EMISMATCH, "the server has no cache %s; deja dedup --redis makes one",
                  s->name);
    else
        rc = fail(err, DEJA_EFORMAT, "the server's key %s is not a deja cache: %.100s", s->name,
                  reply->str ? reply->str : "it has another type");
    freeReplyObject(reply);
    return rc;
}

/* Creates the missing shards.  If several clients do it at the same time, the first one wins. */
static int create_shards(struct shards *s, const deja_options *o, deja_error *err)
{
    const deja_options one = reserving_of_shard(o, s->n);
    struct reserving words;
    reserving_spell(&words, &one);
    const char **word = calloc(s->n, words.n * sizeof *word);
    size_t *len = calloc(s->n, words.n * sizeof *len);
    struct wire_request *r = calloc(s->n, sizeof *r);
    int rc = word && len && r ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < s->n && rc == DEJA_OK; i++) {
        const char **mine = word + i * words.n;
        size_t *mine_len = len + i * words.n;
        memcpy(mine, words.word, words.n * sizeof *word);
        memcpy(mine_len, words.len, words.n * sizeof *len);
        mine[1] = s->shard_name[i];
        mine_len[1] = strlen(s->shard_name[i]);
        r[i] = (struct wire_request){mine, mine_len, (int)words.n, i, NULL, 0, false, false};
    }
    if (rc == DEJA_OK) {
        rc = wire_run(s->wire, r, s->n, err);
        for (uint32_t i = 0; i < s->n && rc == DEJA_OK; i++)
            if (r[i].reply->type == REDIS_REPLY_ERROR &&
                strcmp(r[i].reply->str, "ERR item exists") != 0)
                rc = refused(s, s->shard_name[i], r[i].reply->str, err);
        wire_drop(r, s->n);
    }
    free(word);
    free(len);
    free(r);
    return rc;
}

static int name_shards(struct shards *s, deja_error *err)
{
    s->shard_name = calloc(s->n, sizeof *s->shard_name);
    if (!s->shard_name)
        return fail(err, DEJA_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < s->n; i++)
        (void)snprintf(s->shard_name[i], sizeof s->shard_name[i], "{%s:%" PRIu32 "}", s->name, i);
    return DEJA_OK;
}

int shards_open(const struct shards_options *opt, struct shards **out, deja_error *err)
{
    struct shards *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return fail(err, DEJA_ENOMEM, "out of memory");
    const size_t len = strlen(opt->name);
    int rc = DEJA_OK;
    if (!len || len >= NAME_LEN || strpbrk(opt->name, "{}"))
        rc =
            fail(err, DEJA_EINVAL, "the name of a cache is 1 to %d bytes without braces, not '%s'",
                 NAME_LEN - 1, fail_path(opt->name).text);
    else
        memcpy(s->name, opt->name, len + 1);
    s->replicas = opt->replicas;
    if (rc == DEJA_OK && opt->create && !opt->create->capacity &&
        !deja_kind_can(opt->create->kind, DEJA_CAN_GROW))
        rc = fail(err, DEJA_EINVAL, "how many keys? give options.capacity: %s does not grow",
                  opt->create->kind ? deja_kind_name(opt->create->kind) : "a fixed filter");
    if (rc == DEJA_OK) /* the last place holds the description */
        rc = wire_open(opt->url, SHARDS_MAX + 1, opt->stop, &s->wire, err);
    if (rc == DEJA_OK) {
        wire_set_talk(s->wire, &opt->talk);
        rc = agree(s, opt, err);
    }
    if (rc == DEJA_OK)
        rc = name_shards(s, err);
    if (rc == DEJA_OK && opt->create)
        rc = create_shards(s, opt->create, err);
    if (rc < 0) {
        shards_close(s);
        return rc;
    }
    *out = s;
    return DEJA_OK;
}

void shards_close(struct shards *s)
{
    if (!s)
        return;
    wire_close(s->wire);
    free(s->shard_name);
    free(s);
}

#else

int shards_open(const struct shards_options *opt, struct shards **out, deja_error *err)
{
    (void)opt;
    *out = NULL;
    return fail(err, DEJA_ENOTSUP, "this deja was built without hiredis, which --redis needs");
}

#endif
