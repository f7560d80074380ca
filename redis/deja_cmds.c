/* deja_cmds.c - commands that RedisBloom lacks: any kind, removal, counts, unions, visits, files.
 *
 * Commands with items accept many and use the library's batches.  A missing filter is an error
 * here, so clients can tell "not seen" from "no filter".
 *
 * Commands are replicated by their effect: ADD and REMOVE are sent with only the items that were
 * processed.  MERGE, FOLD and ROTATE compute the same result from the same bytes and are sent
 * unchanged. */
#include "commands.h"
#include "items.h"
#include "reserve.h"
#include "warn.h"
#include <stdio.h>
#include <string.h>

/* --- Items -------------------------------------------------------------------- */

int deja_cmd_reserve(struct call *c)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    return reserve_parse(c, &opt) ? reserve_new(c, &opt, "deja.reserve") : REDISMODULE_OK;
}

static bool begin_items(struct call *c, int mode, struct items *items)
{
    return call_filter(c, mode) && items_init(c, items, 2);
}

static void reply_answers(const struct call *c, const struct items *items, size_t n, size_t more)
{
    RedisModule_ReplyWithArray(c->ctx, (long)(n + more));
    for (size_t i = 0; i < n; i++)
        RedisModule_ReplyWithLongLong(c->ctx, items->answer[i]);
}

typedef int (*change)(deja_filter *, const deja_slice *, size_t, uint8_t *, size_t *,
                      deja_error *);

/* Add or remove: replies with an answer for each item up to the first that failed, then with its
 * error. */
static int change_items(struct call *c, change apply, const char *command, const char *event)
{
    struct items items;
    size_t done = 0;
    deja_error err = {0, ""};
    if (!begin_items(c, CALL_WRITE, &items))
        return REDISMODULE_OK;
    const int rc = apply(c->v->filter, items.key, items.n, items.answer, &done, &err);
    if (rc == DEJA_OK || done)
        reply_answers(c, &items, done, rc < 0);
    if (rc < 0)
        call_fail(c, rc, &err);
    items_publish(c, &items, done, command, event, 2);
    items_fini(&items);
    return REDISMODULE_OK;
}

int deja_cmd_add(struct call *c)
{
    return change_items(c, deja_filter_add_batch, "DEJA.ADD", "deja.add");
}

int deja_cmd_remove(struct call *c)
{
    return change_items(c, deja_filter_remove_batch, "DEJA.REMOVE", "deja.remove");
}

int deja_cmd_check(struct call *c)
{
    struct items items;
    if (!begin_items(c, CALL_READ, &items))
        return REDISMODULE_OK;
    deja_filter_contains_batch(c->v->filter, items.key, items.n, items.answer);
    reply_answers(c, &items, items.n, 0);
    items_fini(&items);
    return REDISMODULE_OK;
}

int deja_cmd_count(struct call *c)
{
    struct items items;
    if (!begin_items(c, CALL_READ, &items))
        return REDISMODULE_OK;
    deja_error err = {0, ""};
    uint64_t *counts = RedisModule_TryAlloc(items.n * sizeof *counts);
    const int rc = counts ? deja_filter_count_batch(c->v->filter, items.key, items.n, counts, &err)
                          : DEJA_ENOMEM;
    if (rc < 0)
        call_fail(c, rc, &err);
    else
        RedisModule_ReplyWithArray(c->ctx, (long)items.n);
    for (size_t i = 0; rc == DEJA_OK && i < items.n; i++)
        RedisModule_ReplyWithLongLong(c->ctx, (long long)counts[i]);
    RedisModule_Free(counts);
    items_fini(&items);
    return REDISMODULE_OK;
}

/* --- Set operations and visits -------------------------------------------------- */

/* The source argv[i] of a merge; the caller closes its key. */
static bool open_source(const struct call *c, int i, struct call *source)
{
    *source = (struct call){.ctx = c->ctx, .argv = c->argv + i - 1, .argc = 2};
    const bool found = call_filter(source, CALL_READ);
    if (!found)
        RedisModule_CloseKey(source->key);
    return found;
}

static struct value *copy_or_reply(const struct call *c, const struct value *from)
{
    deja_error err = {0, ""};
    struct value *copy = value_copy(from, &err);
    if (!copy)
        call_fail(c, err.status, &err);
    return copy;
}

/* A copy of the destination, or of the first source if the destination is absent; *next is the
 * next source.  NULL: there was an error, and the client has been told. */
static struct value *begin_merge(const struct call *c, int *next)
{
    struct call source;
    *next = c->v ? 2 : 3;
    if (c->v)
        return c->v->filter ? copy_or_reply(c, c->v) : (call_no_filter(c), NULL);
    if (!open_source(c, 2, &source))
        return NULL;
    struct value *copy = copy_or_reply(c, source.v);
    RedisModule_CloseKey(source.key);
    return copy;
}

static bool merge_sources(const struct call *c, struct value *into, int next)
{
    struct call source;
    deja_error err = {0, ""};
    int rc = DEJA_OK;
    for (int i = next; i < c->argc && rc == DEJA_OK; i++) {
        if (!open_source(c, i, &source))
            return false;
        rc = deja_filter_merge(into->filter, source.v->filter, &err);
        RedisModule_CloseKey(source.key);
    }
    return rc == DEJA_OK || (call_fail(c, rc, &err), false);
}

/* The union is computed in a copy, which then replaces the destination, so a failed command
 * changes nothing.  Both are in memory for a moment. */
int deja_cmd_merge(struct call *c)
{
    int next;
    if (!call_open(c, CALL_WRITE))
        return REDISMODULE_OK;
    struct value *copy = begin_merge(c, &next);
    if (!copy || !merge_sources(c, copy, next)) {
        value_free(copy);
        return REDISMODULE_OK;
    }
    RedisModule_ModuleTypeSetValue(c->key, value_type, copy);
    return call_finish(c, DEJA_OK, NULL, "deja.merge");
}

int deja_cmd_fold(struct call *c)
{
    long long times = 1;
    deja_error err = {0, ""};
    if (c->argc == 3 && (RedisModule_StringToLongLong(c->argv[2], &times) != REDISMODULE_OK ||
                         times < 1 || times > 64))
        return call_error(c, "ERR times must be in the range [1, 64]");
    if (!call_filter(c, CALL_WRITE))
        return REDISMODULE_OK;
    const int rc = deja_filter_fold(c->v->filter, (uint32_t)times, &err);
    return call_finish(c, rc, &err, "deja.fold");
}

int deja_cmd_rotate(struct call *c)
{
    deja_options next = DEJA_OPTIONS_INIT;
    deja_error err = {0, ""};
    if (!reserve_parse(c, &next) || !call_filter(c, CALL_WRITE))
        return REDISMODULE_OK;
    const int rc = deja_filter_rotate(c->v->filter, &next, &err);
    return call_finish(c, rc, &err, "deja.rotate");
}

/* --- INFO ------------------------------------------------------------------------ */

static long put_text(RedisModuleCtx *ctx, const char *name, const char *text)
{
    RedisModule_ReplyWithSimpleString(ctx, name);
    if (text)
        RedisModule_ReplyWithCString(ctx, text);
    else
        RedisModule_ReplyWithNull(ctx);
    return 1;
}

static long put_count(RedisModuleCtx *ctx, const char *name, uint64_t n)
{
    RedisModule_ReplyWithSimpleString(ctx, name);
    RedisModule_ReplyWithLongLong(ctx, n > INT64_MAX ? INT64_MAX : (long long)n);
    return 1;
}

static long put_number(RedisModuleCtx *ctx, const char *name, double x)
{
    RedisModule_ReplyWithSimpleString(ctx, name);
    RedisModule_ReplyWithDouble(ctx, x);
    return 1;
}

/* Fields have the same names as in `deja info --json`. */
int deja_cmd_info(struct call *c)
{
    RedisModuleCtx *ctx = c->ctx;
    deja_stats s = DEJA_STATS_INIT;
    if (!call_filter(c, CALL_READ))
        return REDISMODULE_OK;
    (void)!deja_filter_stats(c->v->filter, DEJA_STATS_BODY, &s, NULL); /* cannot fail */
    RedisModule_ReplyWithMap(ctx, REDISMODULE_POSTPONED_LEN);
    long n = put_text(ctx, "kind", deja_kind_name(s.kind));
    n += put_text(ctx, "part_kind", deja_kind_name(s.part_kind));
    n += put_text(ctx, "hash", deja_hash_name(s.hash));
    n += put_text(ctx, "profile", s.profile ? deja_profile_name(s.profile) : NULL);
    n += put_count(ctx, "hashes", s.hashes);
    n += put_count(ctx, "filters", s.filters);
    n += put_count(ctx, "machine", s.machine);
    n += put_count(ctx, "parts", s.parts);
    n += put_count(ctx, "capacity", s.capacity);
    n += put_number(ctx, "fp_rate", s.fp_rate);
    n += put_count(ctx, "bits", s.bits);
    n += put_count(ctx, "bytes", s.bytes);
    n += put_count(ctx, "memory", value_memory(c->v));
    n += put_count(ctx, "bits_set", s.bits_set);
    n += put_number(ctx, "fill", s.fill);
    n += put_count(ctx, "offered", s.offered);
    n += put_count(ctx, "keys", s.keys);
    n += put_number(ctx, "distinct", s.distinct);
    n += put_number(ctx, "fp_now", s.fp_now);
    n += put_number(ctx, "lost", s.lost);
    n += put_count(ctx, "visit", s.visit);
    n += put_count(ctx, "removed", s.removed);
    n += put_count(ctx, "refused", s.refused);
    if (s.counter_bits) {
        n += put_count(ctx, "counter_bits", s.counter_bits);
        n += put_count(ctx, "spread", (s.flags & DEJA_SPREAD) != 0);
    }
    if (s.deletions_capacity) {
        n += put_count(ctx, "deletions", s.deletions);
        n += put_count(ctx, "deletions_capacity", s.deletions_capacity);
        n += put_count(ctx, "hidden", s.hidden);
        n += put_number(ctx, "fn_now", s.fn_now);
    }
    if (deja_kind_can(s.kind, DEJA_CAN_EXPIRE)) {
        n += put_count(ctx, "generations", s.generations);
        n += put_count(ctx, "window_seconds", s.window_seconds);
    }
    n += put_count(ctx, "unions", s.unions);
    if (s.merged_parts) {
        n += put_count(ctx, "merged_parts", s.merged_parts);
        n += put_count(ctx, "other_keys", s.other_keys);
    }
    n += put_count(ctx, "folds", s.folds);
    n += put_count(ctx, "format", s.format);
    n += put_count(ctx, "keyed", s.keyed);
    char check[20];
    (void)snprintf(check, sizeof check, "%016llx", (unsigned long long)s.key_check);
    n += put_text(ctx, "key_check", check);
    RedisModule_ReplySetMapLength(ctx, n);
    return REDISMODULE_OK;
}

/* --- Files -------------------------------------------------------------------- */

#define MAX_REPLY ((uint64_t)512 << 20) /* the server's default limit for a string */

int deja_cmd_export(struct call *c)
{
    deja_error err = {0, ""};
    if (!call_bytes(c))
        return REDISMODULE_OK;
    const uint64_t len = value_len(c->v);
    char *bytes = len <= MAX_REPLY ? RedisModule_TryAlloc((size_t)len + 1) : NULL;
    if (!bytes)
        return call_error(
            c, "ERR the filter is too large for one reply; use BF.SCANDUMP to read it in chunks");
    const size_t got = value_read(c->v, 0, bytes, (size_t)len);
    if (value_check(c->v, bytes, &err) < 0)
        call_unsound(c, &err);
    else
        RedisModule_ReplyWithStringBuffer(c->ctx, bytes, got);
    RedisModule_Free(bytes);
    return REDISMODULE_OK;
}

int deja_cmd_import(struct call *c)
{
    deja_error err = {0, ""};
    const char *secret = NULL;
    bool replace = false;
    long long flags = 0;
    size_t len, secret_len = DEJA_KEY_LEN;
    const enum keep keep = value_keep(c->ctx);
    for (int i = 3; i < c->argc; i++) {
        if (call_word_is(c, i, "REPLACE"))
            replace = true;
        else if (call_word_is(c, i, "KEY") && i + 1 < c->argc)
            secret = RedisModule_StringPtrLen(c->argv[++i], &secret_len);
        else if (call_word_is(c, i, "FLAGS") && i + 1 < c->argc && keep == KEEP_ALL) /* rdb.c */
            (void)RedisModule_StringToLongLong(c->argv[++i], &flags);
        else
            return call_error(c, "ERR syntax error");
    }
    if (secret_len != DEJA_KEY_LEN)
        return call_error(c, "ERR bad value for KEY");
    if (!call_open(c, CALL_WRITE))
        return REDISMODULE_OK;
    if (c->v && !replace)
        return call_error(c, "ERR item exists");
    const char *bytes = RedisModule_StringPtrLen(c->argv[2], &len);
    struct value *v = flags ? value_import_flagged(bytes, len, secret, (uint64_t)flags, &err)
                            : value_import(bytes, len, secret, keep, &err);
    if (v) {
        RedisModule_ModuleTypeSetValue(c->key, value_type, v);
        warn_if_kept(c->ctx, c->argv[1], v);
    }
    return call_finish(c, v ? DEJA_OK : err.status, &err, "deja.import");
}
