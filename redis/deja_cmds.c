/* deja_cmds.c - what BF.* has no words for: any kind, removal, counts, unions, visits, files.
 *
 * All commands that take items take many, and go through the library's batches.  A filter that is
 * not there is an error here, never an answer: "not seen" and "no filter" are different news.
 *
 * Commands are replicated as what they did.  Items that were taken are sent, not those that were
 * refused; MERGE, FOLD and ROTATE compute the same from the same bytes and are sent as they are.
 */
#include "commands.h"
#include "items.h"
#include "reserve.h"
#include "warn.h"
#include <stdbool.h>
#include <string.h>

#define RW (REDISMODULE_READ | REDISMODULE_WRITE)

static void notify(RedisModuleCtx *ctx, const char *event, RedisModuleString *key)
{
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, key);
}

static int syntax_error(RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithError(ctx, "ERR syntax error");
}

/* The end of a command that changed all it was to change, or nothing. */
static int finish(RedisModuleCtx *ctx, RedisModuleKey *key, int rc, const deja_error *err,
                  const char *event, RedisModuleString *name)
{
    if (rc == DEJA_OK) {
        RedisModule_ReplicateVerbatim(ctx);
        notify(ctx, event, name);
        value_reply_ok(ctx);
    } else {
        value_reply_error(ctx, rc, err);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* --- Items -------------------------------------------------------------------- */

int deja_cmd_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    deja_options opt = DEJA_OPTIONS_INIT;
    int i = 2;
    if (argc < 2)
        return RedisModule_WrongArity(ctx);
    if (reserve_parse(ctx, argv, argc, &i, &opt) < 0)
        return REDISMODULE_OK;
    if (i < argc)
        return syntax_error(ctx);
    const enum found found = value_open(ctx, argv[1], RW, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    if (found == FOUND) {
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    } else if (reserve_make(ctx, key, argv[1], &opt, &v) == 0) {
        notify(ctx, "deja.reserve", argv[1]);
        value_reply_ok(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* The filter argv[1] and the items behind it; false when the client has been told why not. */
static bool begin_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int mode,
                        RedisModuleKey **key, struct value **v, struct items *items)
{
    if (argc < 3)
        return RedisModule_WrongArity(ctx), false;
    if (!value_filter(ctx, argv[1], mode, key, v))
        return false;
    if (items_init(ctx, items, *v, argv + 2, argc - 2))
        return true;
    RedisModule_CloseKey(*key);
    return false;
}

typedef int (*change)(deja_filter *, const deja_slice *, size_t, uint8_t *, size_t *,
                      deja_error *);

/* Add or remove: an answer for each item that was taken, and an error for the one that was not. */
static int change_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, change apply,
                        const char *command, const char *event)
{
    RedisModuleKey *key;
    struct value *v;
    struct items items;
    size_t done = 0;
    deja_error err = {0, ""};
    if (!begin_items(ctx, argv, argc, RW, &key, &v, &items))
        return REDISMODULE_OK;
    const int rc = apply(v->filter, items.key, items.n, items.answer, &done, &err);
    if (rc < 0 && !done) {
        value_reply_error(ctx, rc, &err);
    } else {
        RedisModule_ReplyWithArray(ctx, (long)(done + (rc < 0)));
        for (size_t i = 0; i < done; i++)
            RedisModule_ReplyWithLongLong(ctx, items.answer[i]);
        if (rc < 0)
            value_reply_error(ctx, rc, &err);
    }
    items_publish(ctx, &items, done, command, event, argv, 2);
    items_fini(&items);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int deja_cmd_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return change_items(ctx, argv, argc, deja_filter_add_batch, "DEJA.ADD", "deja.add");
}

int deja_cmd_remove(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return change_items(ctx, argv, argc, deja_filter_remove_batch, "DEJA.REMOVE", "deja.remove");
}

int deja_cmd_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    struct items items;
    if (!begin_items(ctx, argv, argc, REDISMODULE_READ, &key, &v, &items))
        return REDISMODULE_OK;
    deja_filter_contains_batch(v->filter, items.key, items.n, items.answer);
    RedisModule_ReplyWithArray(ctx, (long)items.n);
    for (size_t i = 0; i < items.n; i++)
        RedisModule_ReplyWithLongLong(ctx, items.answer[i]);
    items_fini(&items);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int deja_cmd_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    struct items items;
    if (!begin_items(ctx, argv, argc, REDISMODULE_READ, &key, &v, &items))
        return REDISMODULE_OK;
    deja_error err = {0, ""};
    uint64_t *counts = RedisModule_TryAlloc(items.n * sizeof *counts);
    const int rc = counts ? deja_filter_count_batch(v->filter, items.key, items.n, counts, &err)
                          : DEJA_ENOMEM;
    if (rc < 0)
        value_reply_error(ctx, rc, &err);
    else
        RedisModule_ReplyWithArray(ctx, (long)items.n);
    for (size_t i = 0; rc == DEJA_OK && i < items.n; i++)
        RedisModule_ReplyWithLongLong(ctx, (long long)counts[i]);
    RedisModule_Free(counts);
    items_fini(&items);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* --- Filters and filters -------------------------------------------------------- */

/* All sources are looked at before any is merged. */
static int merge_all(RedisModuleCtx *ctx, struct value *into, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    deja_error err = {0, ""};
    int rc = DEJA_OK;
    for (int i = 2; i < argc && rc == DEJA_OK; i++) {
        if (!value_filter(ctx, argv[i], REDISMODULE_READ, &key, &v))
            return -1; /* in its own words */
        if (v != into)
            rc = deja_filter_merge(into->filter, v->filter, &err);
        RedisModule_CloseKey(key);
    }
    return rc < 0 ? (value_reply_error(ctx, rc, &err), -1) : 0;
}

/* The union is made in a copy, which takes the place of the first filter when all went well: half
 * a union would not be what the client asked for.  It needs that memory for a moment. */
int deja_cmd_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key, *source;
    struct value *v, *from, *copy = NULL;
    deja_error err = {0, ""};
    if (argc < 3)
        return RedisModule_WrongArity(ctx);
    const enum found found = value_open(ctx, argv[1], RW, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    if (found == FOUND && !v->filter) {
        value_reply_no_filter(ctx, v);
    } else if (found == FOUND) {
        if (!(copy = value_copy(v, &err)))
            value_reply_error(ctx, err.status, &err);
    } else if (value_filter(ctx, argv[2], REDISMODULE_READ, &source, &from)) {
        if (!(copy = value_copy(from, &err))) /* the first source, and more to come */
            value_reply_error(ctx, err.status, &err);
        RedisModule_CloseKey(source);
    }
    const int skip = found == ABSENT;
    if (copy && merge_all(ctx, copy, argv + skip, argc - skip) == 0) {
        RedisModule_ModuleTypeSetValue(key, value_type, copy);
        return finish(ctx, key, DEJA_OK, NULL, "deja.merge", argv[1]);
    }
    value_free(copy);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int deja_cmd_fold(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    long long times = 1;
    deja_error err = {0, ""};
    if (argc != 2 && argc != 3)
        return RedisModule_WrongArity(ctx);
    if (argc == 3 && (RedisModule_StringToLongLong(argv[2], &times) != REDISMODULE_OK ||
                      times < 1 || times > 64))
        return RedisModule_ReplyWithError(ctx, "ERR times must be in the range [1, 64]");
    if (!value_filter(ctx, argv[1], RW, &key, &v))
        return REDISMODULE_OK;
    const int rc = deja_filter_fold(v->filter, (uint32_t)times, &err);
    return finish(ctx, key, rc, &err, "deja.fold", argv[1]);
}

int deja_cmd_rotate(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    deja_options next = DEJA_OPTIONS_INIT;
    deja_error err = {0, ""};
    int i = 2;
    if (argc < 2)
        return RedisModule_WrongArity(ctx);
    if (reserve_parse(ctx, argv, argc, &i, &next) < 0)
        return REDISMODULE_OK;
    if (i < argc)
        return syntax_error(ctx);
    if (!value_filter(ctx, argv[1], RW, &key, &v))
        return REDISMODULE_OK;
    const int rc = deja_filter_rotate(v->filter, &next, &err);
    return finish(ctx, key, rc, &err, "deja.rotate", argv[1]);
}

/* --- What is in it -------------------------------------------------------------- */

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

/* The names of `deja info --json`. */
int deja_cmd_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    deja_stats s = DEJA_STATS_INIT;
    if (argc != 2)
        return RedisModule_WrongArity(ctx);
    if (!value_filter(ctx, argv[1], REDISMODULE_READ, &key, &v))
        return REDISMODULE_OK;
    (void)!deja_filter_stats(v->filter, DEJA_STATS_BODY, &s, NULL); /* cannot fail */
    RedisModule_ReplyWithMap(ctx, REDISMODULE_POSTPONED_LEN);
    long n = put_text(ctx, "kind", deja_kind_name(s.kind));
    n += put_text(ctx, "part_kind", deja_kind_name(s.part_kind));
    n += put_text(ctx, "hash", deja_hash_name(s.hash));
    n += put_text(ctx, "profile", s.profile ? deja_profile_name(s.profile) : NULL);
    n += put_count(ctx, "hashes", s.hashes);
    n += put_count(ctx, "filters", s.filters);
    n += put_count(ctx, "parts", s.parts);
    n += put_count(ctx, "capacity", s.capacity);
    n += put_number(ctx, "fp_rate", s.fp_rate);
    n += put_count(ctx, "bits", s.bits);
    n += put_count(ctx, "bytes", s.bytes);
    n += put_count(ctx, "memory", value_memory(v));
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
    n += put_count(ctx, "folds", s.folds);
    n += put_count(ctx, "format", s.format);
    n += put_count(ctx, "keyed", s.keyed);
    RedisModule_ReplySetMapLength(ctx, n);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* --- Files -------------------------------------------------------------------- */

/* As much as the server takes in one string by default. */
#define MAX_REPLY ((uint64_t)512 << 20)

int deja_cmd_export(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    if (argc != 2)
        return RedisModule_WrongArity(ctx);
    if (!value_with_bytes(ctx, argv[1], &key, &v))
        return REDISMODULE_OK;
    const uint64_t len = value_len(v);
    char *bytes = len <= MAX_REPLY ? RedisModule_TryAlloc((size_t)len + 1) : NULL;
    deja_error err = {0, ""};
    if (!bytes) {
        RedisModule_ReplyWithError(
            ctx, "ERR the filter is too large for one reply: BF.SCANDUMP gives it in chunks");
    } else {
        const size_t got = value_read(v, 0, bytes, (size_t)len);
        if (value_check(v, bytes, &err) < 0)
            value_reply_unsound(ctx, &err);
        else
            RedisModule_ReplyWithStringBuffer(ctx, bytes, got);
    }
    RedisModule_Free(bytes);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int deja_cmd_import(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    deja_error err = {0, ""};
    const char *secret = NULL;
    int replace = 0;
    long long flags = 0;
    size_t len, secret_len = DEJA_KEY_LEN;
    if (argc < 3)
        return RedisModule_WrongArity(ctx);
    const enum keep keep = value_keep(ctx);
    for (int i = 3; i < argc; i++) {
        if (word_is(argv[i], "REPLACE"))
            replace = 1;
        else if (word_is(argv[i], "KEY") && i + 1 < argc)
            secret = RedisModule_StringPtrLen(argv[++i], &secret_len);
        else if (word_is(argv[i], "FLAGS") && i + 1 < argc && keep == KEEP_ALL) /* see rdb.c */
            (void)RedisModule_StringToLongLong(argv[++i], &flags);
        else
            return syntax_error(ctx);
    }
    if (secret_len != DEJA_KEY_LEN)
        return RedisModule_ReplyWithError(ctx, "ERR bad value for KEY");
    const enum found found = value_open(ctx, argv[1], RW, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    if (found == FOUND && !replace) {
        RedisModule_ReplyWithError(ctx, "ERR item exists");
        RedisModule_CloseKey(key);
        return REDISMODULE_OK;
    }
    const char *bytes = RedisModule_StringPtrLen(argv[2], &len);
    v = flags ? value_import_flagged(bytes, len, secret, (uint64_t)flags, &err)
              : value_import(bytes, len, secret, keep, &err);
    if (v)
        RedisModule_ModuleTypeSetValue(key, value_type, v);
    if (v && v->opaque)
        warn_kept(ctx, argv[1], v->opaque->why);
    return finish(ctx, key, v ? DEJA_OK : err.status, &err, "deja.import", argv[1]);
}
