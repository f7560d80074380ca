/* chunks.c - a filter in chunks: BF.SCANDUMP and BF.LOADCHUNK.
 *
 * The chunks are the bytes of the filter's .deja file: iterator 0 gives the header page, and the
 * iterator after n bytes of bodies is n + 1.  BF.LOADCHUNK wants them in order, each with the
 * iterator that came with it; so it knows where a chunk belongs, and one that was lost, doubled or
 * swapped is refused.  Everything is checked as it comes, and with the last byte the checksum of
 * the whole: only then does the key answer.
 *
 * A filter that changes while it is dumped has another checksum than its header tells, and will
 * not load: dump a COPY of it. */
#include "commands.h"
#include "value.h"
#include "warn.h"
#include <stdbool.h>
#include <string.h>

static int numeric(RedisModuleCtx *ctx, const RedisModuleString *text, long long *n)
{
    if (RedisModule_StringToLongLong(text, n) == REDISMODULE_OK && *n >= 0)
        return 1;
    RedisModule_ReplyWithError(ctx, "Second argument must be numeric");
    return 0;
}

int bf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    long long iterator;
    if (argc != 3)
        return RedisModule_WrongArity(ctx);
    deja_error err = {0, ""};
    if (!numeric(ctx, argv[2], &iterator) || !value_with_bytes(ctx, argv[1], &key, &v))
        return REDISMODULE_OK;
    const size_t most = iterator ? VALUE_PIECE : VALUE_PAGE;
    const uint64_t at = iterator ? VALUE_PAGE + (uint64_t)iterator - 1 : 0, len = value_len(v);
    const uint64_t left = at < len ? len - at : 0;
    char *piece = RedisModule_Alloc(left < most ? (size_t)left + 1 : most);
    const size_t got = value_read(v, at, piece, left < most ? (size_t)left : most);
    if (!iterator && value_check(v, piece, &err) < 0) {
        value_reply_unsound(ctx, &err);
    } else {
        RedisModule_ReplyWithArray(ctx, 2);
        RedisModule_ReplyWithLongLong(ctx, got ? (long long)(at + got - VALUE_PAGE + 1) : 0);
        RedisModule_ReplyWithStringBuffer(ctx, piece, got);
    }
    RedisModule_Free(piece);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

static int bad_data(RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithError(ctx, "ERR received bad data");
}

/* The header page: a new value, which takes the place of a load that was not finished. */
static int begin(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                 const char *data, size_t len)
{
    deja_error err = {0, ""};
    struct value *v = len == VALUE_PAGE ? value_load_begin(0, NULL, value_keep(ctx), &err) : NULL;
    if (!v || value_load_more(v, data, len, &err) < 0) {
        value_free(v);
        bad_data(ctx);
        return -1;
    }
    if (v->load && value_too_large(deja_import_len(v->load))) {
        value_free(v);
        RedisModule_ReplyWithError(ctx, "ERR the filter is larger than filter-max-bytes");
        return -1;
    }
    RedisModule_ModuleTypeSetValue(key, value_type, v);
    if (v->opaque)
        warn_kept(ctx, name, v->opaque->why);
    return 0;
}

/* A load whose header this build refused, while it follows a primary or a log that did not. */
static bool goes_on_opaque(RedisModuleCtx *ctx, const struct value *v)
{
    return v->opaque && v->opaque->flags & VALUE_PARTIAL && value_keep(ctx) == KEEP_ALL;
}

/* 0; or the client has been told: -1 of a chunk that does not fit here, -2 of the end of the load.
 */
static int more(RedisModuleCtx *ctx, struct value *v, RedisModuleString *name, uint64_t end,
                const char *data, size_t len)
{
    deja_error err = {0, ""};
    if (v->opaque && !goes_on_opaque(ctx, v))
        return value_reply_no_filter(ctx, v), -1;
    if (v->filter || end < len || end - len != v->loaded - VALUE_PAGE || !len)
        return RedisModule_ReplyWithError(ctx, "ERR invalid offset - no link found"), -1;
    if (v->load && len > deja_import_len(v->load) - v->loaded)
        return RedisModule_ReplyWithError(ctx, "ERR invalid chunk - Too big for current filter"),
               -1;
    const bool was_opaque = v->opaque;
    v->keep = value_keep(ctx);
    const int rc = value_load_more(v, data, len, &err);
    if (rc == DEJA_OK && v->opaque && !was_opaque)
        warn_kept(ctx, name, v->opaque->why);
    if (rc == DEJA_ENOMEM)
        return value_reply_error(ctx, rc, &err), -2;
    return rc < 0 ? (bad_data(ctx), -2) : 0;
}

int bf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    long long iterator;
    size_t len;
    if (argc != 4)
        return RedisModule_WrongArity(ctx);
    if (!numeric(ctx, argv[2], &iterator))
        return REDISMODULE_OK;
    const enum found found =
        value_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    const char *data = RedisModule_StringPtrLen(argv[3], &len);
    int rc = -1;
    if (iterator == 1 && (found == ABSENT || v->load || goes_on_opaque(ctx, v)))
        rc = begin(ctx, key, argv[1], data, len);
    else if (found == ABSENT)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else if (iterator == 1)
        RedisModule_ReplyWithError(ctx, "ERR item exists");
    else
        rc = more(ctx, v, argv[1], (uint64_t)iterator - 1, data, len);
    if (rc == 0) {
        RedisModule_ReplicateVerbatim(ctx);
        RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, "bloom.load", argv[1]);
        value_reply_ok(ctx);
    } else if (rc == -2) { /* nothing can come of it any more */
        RedisModule_DeleteKey(key);
        RedisModule_Replicate(ctx, "DEL", "s", argv[1]);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
