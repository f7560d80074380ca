/* shards.c - a cache of seen keys in N filters on servers; see shards.h. */
#include "cli/server/shards.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>
#endif

uint32_t shards_of(deja_slice key, uint32_t n)
{
    return (uint32_t)mix_below(mix64(mix_fnv1a(MIX_FNV1A, key.data, key.len)), n);
}

#ifdef DEJA_HAVE_HIREDIS

#define COMMAND_KEYS 256 /* keys per command, so that the server can serve others in between */
#define NAME_LEN     200
#define PROFILE_LEN  16

struct shards {
    struct wire *wire;
    char name[NAME_LEN];
    uint32_t n, replicas;
    bool existed;
    char (*shard_name)[NAME_LEN + 16];
    const deja_url_rules *rules; /* in the version with which the cache was made */
    uint32_t profile;            /* of the cache ... */
    uint64_t rules_id;           /* ... and its rules */
};

const deja_url_rules *shards_rules(const struct shards *s)
{
    return s->rules;
}

uint32_t shards_profile(const struct shards *s, uint64_t *rules)
{
    *rules = s->rules_id;
    return s->profile;
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

/* Keys sorted by shard, with a request for each COMMAND_KEYS of them. */
struct lot {
    size_t n;      /* keys */
    size_t *index; /* index of key i in the caller's array */
    const char **argv;
    size_t *len;
    struct wire_request *request;
    size_t *first; /* index in the lot of a request's first key */
    size_t n_requests;
};

static void lot_free(struct lot *lot)
{
    free(lot->index);
    free(lot->argv);
    free(lot->len);
    free(lot->request);
    free(lot->first);
}

/* Counting sort: counts the keys of each shard, then computes where each shard starts. */
static bool sort_keys(const struct shards *s, const deja_slice *key, size_t n, const uint8_t *want,
                      struct lot *lot, size_t *begin)
{
    uint32_t *shard = malloc((n ? n : 1) * sizeof *shard);
    if (!shard)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!want || want[i]) {
            shard[i] = shards_of(key[i], s->n);
            begin[shard[i] + 1]++;
        }
    for (uint32_t i = 0; i < s->n; i++)
        begin[i + 1] += begin[i];
    lot->n = begin[s->n];
    for (size_t i = 0; i < n; i++)
        if (!want || want[i])
            lot->index[begin[shard[i]]++] = i; /* begin[i] becomes the end of shard i */
    free(shard);
    return true;
}

static void make_requests(const struct shards *s, const char *verb, const deja_slice *key,
                          struct lot *lot, const size_t *end)
{
    size_t at = 0, words = 0;
    for (uint32_t i = 0; i < s->n; i++)
        while (at < end[i]) {
            const size_t n = end[i] - at < COMMAND_KEYS ? end[i] - at : COMMAND_KEYS;
            struct wire_request *r = &lot->request[lot->n_requests];
            *r = (struct wire_request){
                lot->argv + words, lot->len + words, (int)n + 2, i, NULL, 0, false, false};
            lot->first[lot->n_requests++] = at;
            r->argv[0] = verb;
            r->len[0] = strlen(verb);
            r->argv[1] = s->shard_name[i];
            r->len[1] = strlen(s->shard_name[i]);
            for (size_t j = 0; j < n; j++, at++) {
                r->argv[j + 2] = key[lot->index[at]].data ? key[lot->index[at]].data : "";
                r->len[j + 2] = key[lot->index[at]].len;
            }
            words += n + 2;
        }
}

static int lot_make(const struct shards *s, const char *verb, const deja_slice *key, size_t n,
                    const uint8_t *want, struct lot *lot, deja_error *err)
{
    const size_t requests = n / COMMAND_KEYS + s->n + 1, words = n + 2 * requests;
    size_t *begin = calloc(s->n + 1, sizeof *begin);
    *lot = (struct lot){0};
    lot->index = malloc((n + 1) * sizeof *lot->index);
    lot->argv = malloc(words * sizeof *lot->argv);
    lot->len = malloc(words * sizeof *lot->len);
    lot->request = malloc(requests * sizeof *lot->request);
    lot->first = malloc(requests * sizeof *lot->first);
    const bool fine = begin && lot->index && lot->argv && lot->len && lot->request && lot->first &&
                      sort_keys(s, key, n, want, lot, begin);
    if (fine)
        make_requests(s, verb, key, lot, begin);
    free(begin);
    return fine ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for a batch of %zu keys", n);
}

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
    int rc = lot_make(s, verb, key, n, want, &lot, err);
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

static const redisReply *value_of(const redisReply *map, const char *name)
{
    for (size_t i = 0; i + 1 < map->elements; i += 2)
        if (map->element[i]->str && strcmp(map->element[i]->str, name) == 0)
            return map->element[i + 1];
    return NULL;
}

static uint64_t number_of(const redisReply *map, const char *name)
{
    const redisReply *value = value_of(map, name);
    return value && value->type == REDIS_REPLY_INTEGER ? (uint64_t)value->integer : 0;
}

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
    const redisReply *kind = rc == DEJA_OK ? value_of(reply, "kind") : NULL;
    *forgets = kind && kind->str && deja_kind_can(deja_kind_parse(kind->str), DEJA_CAN_EXPIRE);
    *keys = 0;
    if (*forgets && !number_of(reply, "window_seconds"))
        *keys = number_of(reply, "capacity") * s->n;
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
static bool read_text(const char *text, uint64_t *n, char profile[PROFILE_LEN], uint64_t *rules)
{
    return sscanf(text, "deja-cache 1 shards=%" SCNu64 " profile=%15s rules=%" SCNx64, n, profile,
                  rules) == 3 &&
           strcmp(text_of(*n, profile, *rules).s, text) == 0 && *n && *n <= SHARDS_MAX;
}

static const char *profile_of(const deja_url_rules *rules)
{
    return rules ? deja_profile_name(deja_url_rules_profile(rules)) : "none";
}

/* Sets the profile and rules of the cache; those that were given must be the same. */
static int check_profile(struct shards *s, const char *profile, uint64_t rules,
                         const deja_url_rules *given, deja_error *err)
{
    const bool bytes = strcmp(profile, "none") == 0;
    s->profile = bytes ? 0 : deja_profile_parse(profile);
    s->rules_id = rules;
    if (!bytes && !s->profile)
        return fail(err, DEJA_EMISMATCH,
                    "%s holds URLs of profile %s, which this version does not know; update deja",
                    s->name, fail_path(profile).text);
    if (!given)
        return DEJA_OK;
    if (bytes)
        return fail(err, DEJA_EMISMATCH, "%s holds bytes as given: omit --url", s->name);
    if (s->profile != deja_url_rules_profile(given))
        return fail(err, DEJA_EMISMATCH, "%s holds URLs of profile %s, not %s; omit --url",
                    s->name, profile, profile_of(given));
    s->rules = given;
    while (s->rules && rules != deja_url_rules_id(s->rules))
        s->rules = deja_url_rules_older(s->rules);
    if (!s->rules)
        return fail(
            err, DEJA_EMISMATCH,
            "%s holds URLs of profile %s with different rules: another list of parameters, or "
            "another version of deja",
            s->name, profile);
    return DEJA_OK;
}

static int check_text(struct shards *s, const char *text, const struct shards_options *opt,
                      deja_error *err)
{
    uint64_t n, rules;
    char profile[PROFILE_LEN];
    if (!read_text(text, &n, profile, &rules))
        return fail(err, DEJA_EFORMAT,
                    "the server's key %s is not a deja cache; choose another name", s->name);
    if (opt->shards && opt->shards != n)
        return fail(err, DEJA_EMISMATCH,
                    "%s has %" PRIu64 " shards, not %" PRIu32 "; omit --shards", s->name, n,
                    opt->shards);
    s->n = (uint32_t)n;
    return check_profile(s, profile, rules, opt->rules, err);
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
        text = text_of(opt->shards ? opt->shards : default_shards(opt->create),
                       profile_of(opt->rules), opt->rules ? deja_url_rules_id(opt->rules) : 0);
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

/* Keys are spread at random: the capacity is the mean plus five standard deviations. */
static uint64_t capacity_of_shard(uint64_t capacity, uint32_t n)
{
    const double mean = (double)capacity / n;
    if (n == 1)
        return capacity;
    return (uint64_t)ceil(mean + 5 * sqrt(mean)) + 1;
}

/* The words of DEJA.RESERVE; only the name differs between shards. */
#define RESERVE_OPTIONS 64
struct reserve {
    const char *word[2 + 2 * RESERVE_OPTIONS];
    size_t len[2 + 2 * RESERVE_OPTIONS];
    size_t n;
    char text[RESERVE_OPTIONS][DEJA_OPTION_TEXT]; /* values */
};

static void put(struct reserve *r, const char *word, size_t len)
{
    r->word[r->n] = word;
    r->len[r->n++] = len;
}

#define FIRST_PART 1000000 /* initial capacity of a shard that grows */

/* The options of one of n shards: numbers of keys are divided by n. */
static deja_options options_of_shard(const deja_options *all, uint32_t n)
{
    deja_options o = *all;
    if (!o.kind)
        o.kind = o.flags & DEJA_DATES ? DEJA_EXACT : DEJA_BLOCKED;
    o.url = NULL; /* keys are sent in canonical form */
    for (size_t i = 0; deja_option_at(i); i++) {
        const deja_option *row = deja_option_at(i);
        void *field = (char *)&o + row->offset;
        if (row->unit && strcmp(row->unit, "keys") == 0 && deja_option_given(row, &o))
            *(uint64_t *)field = capacity_of_shard(*(uint64_t *)field, n);
    }
    o.capacity = o.capacity ? o.capacity : FIRST_PART;
    return o;
}

static void spell(struct reserve *r, const deja_options *o)
{
    const deja_option *row;
    r->n = 0;
    put(r, "DEJA.RESERVE", strlen("DEJA.RESERVE"));
    put(r, "", 0); /* the name */
    for (size_t i = 0; i < RESERVE_OPTIONS && (row = deja_option_at(i)); i++) {
        if (!row->keyword || !deja_option_given(row, o))
            continue;
        put(r, row->keyword, strlen(row->keyword));
        if (row->type != DEJA_OPTION_FLAG)
            put(r, r->text[i], deja_option_print(row, o, r->text[i]));
    }
}

/* Creates the missing shards.  If several clients do it at the same time, the first one wins. */
static int create_shards(struct shards *s, const deja_options *o, deja_error *err)
{
    const deja_options one = options_of_shard(o, s->n);
    struct reserve words;
    spell(&words, &one);
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
