/* chunks.c - saves and loads a filter in chunks: BF.SCANDUMP and BF.LOADCHUNK.
 *
 * The chunks are the bytes of the filter's .deja file: iterator 0 gives the header page, and the
 * iterator after n bytes of bodies is n + 1.  BF.LOADCHUNK needs the chunks in order, each with
 * the iterator that came with it.  The iterator shows where a chunk belongs, so a lost, repeated
 * or swapped chunk is refused.  Each chunk is checked when it arrives, and the checksum of the
 * whole filter after the last byte; until then the key answers no queries.
 *
 * Chunks of RedisBloom have its own header, and no checksum.  BF.LOADCHUNK accepts them as well
 * and makes a filter that works like RedisBloom's (foreign_value.h).
 *
 * If a filter changes during a dump, its checksum no longer matches the one in the header, and the
 * dump will not load: dump a COPY of it. */
#include "commands.h"
#include "foreign_value.h"
#include "warn.h"
#include <string.h>

static bool read_iterator(const struct call *c, long long *n)
{
    if (RedisModule_StringToLongLong(c->argv[2], n) == REDISMODULE_OK && *n >= 0)
        return true;
    return call_error(c, "Second argument must be numeric"), false;
}

int bf_scandump(struct call *c)
{
    long long iterator;
    deja_error err = {0, ""};
    if (!read_iterator(c, &iterator) || !call_bytes(c))
        return REDISMODULE_OK;
    const size_t head = value_head(c->v), most = iterator ? VALUE_PIECE : head;
    const uint64_t at = iterator ? head + (uint64_t)iterator - 1 : 0, len = value_len(c->v);
    const uint64_t left = at < len ? len - at : 0;
    char *piece = RedisModule_Alloc(left < most ? (size_t)left + 1 : most);
    const size_t got = value_chunk(c->v, at, piece, left < most ? (size_t)left : most);
    if (!iterator && value_check(c->v, piece, &err) < 0) {
        call_unsound(c, &err);
    } else {
        RedisModule_ReplyWithArray(c->ctx, 2);
        RedisModule_ReplyWithLongLong(c->ctx, got ? (long long)(at + got - head + 1) : 0);
        RedisModule_ReplyWithStringBuffer(c->ctx, piece, got);
    }
    RedisModule_Free(piece);
    return REDISMODULE_OK;
}

enum loaded {
    LOADED,
    REFUSED, /* the chunk does not fit; an earlier load is unchanged */
    FAILED   /* the load can no longer succeed */
};

static enum loaded refuse(const struct call *c, const char *text, enum loaded how)
{
    return call_error(c, text), how;
}

/* The length that the header of a load announces. */
static uint64_t announced(const struct value *v)
{
    return v->load ? deja_import_len(v->load) : v->foreign ? foreign_value_announced(v) : 0;
}

/* The header page creates a value; it replaces an unfinished load. */
static enum loaded load_first(const struct call *c, const char *data, size_t len)
{
    deja_error err = {0, ""};
    struct value *v = NULL;
    if (len == VALUE_PAGE)
        v = value_load_begin(0, NULL, value_keep(c->ctx), &err);
    else if (foreign_value_is(data, len, false))
        v = value_load_foreign(value_keep(c->ctx));
    const char *why = NULL;
    if (!v || value_load_more(v, data, len, &err) < 0)
        why = "ERR received bad data";
    else if (value_too_large(announced(v)))
        why = "ERR the filter is larger than filter-max-bytes";
    if (why) {
        value_free(v);
        return refuse(c, why, REFUSED);
    }
    RedisModule_ModuleTypeSetValue(c->key, value_type, v);
    warn_if_kept(c->ctx, c->argv[1], v);
    return LOADED;
}

/* Whether this continues a load that this build refused but keeps, because it follows a primary or
 * a log that accepted it. */
static bool continues_opaque(const struct call *c)
{
    return c->v->opaque && c->v->opaque->flags & VALUE_PARTIAL && value_keep(c->ctx) == KEEP_ALL;
}

static enum loaded load_more(const struct call *c, uint64_t end, const char *data, size_t len)
{
    struct value *v = c->v;
    deja_error err = {0, ""};
    if (v->opaque && !continues_opaque(c))
        return call_no_filter(c), REFUSED;
    if (value_is_ready(v) || end < len || end - len != v->loaded - value_head(v) || !len)
        return refuse(c, "ERR invalid offset - no link found", REFUSED);
    if (announced(v) && len > announced(v) - v->loaded)
        return refuse(c, "ERR invalid chunk - Too big for current filter", REFUSED);
    const bool was_opaque = v->opaque;
    v->keep = value_keep(c->ctx);
    const int rc = value_load_more(v, data, len, &err);
    if (rc == DEJA_ENOMEM)
        return call_fail(c, rc, &err), FAILED;
    if (rc < 0)
        return refuse(c, "ERR received bad data", FAILED);
    if (!was_opaque)
        warn_if_kept(c->ctx, c->argv[1], v);
    return LOADED;
}

int bf_loadchunk(struct call *c)
{
    long long iterator;
    size_t len;
    if (!read_iterator(c, &iterator) || !call_open(c, CALL_WRITE))
        return REDISMODULE_OK;
    const char *data = RedisModule_StringPtrLen(c->argv[3], &len);
    enum loaded how;
    const bool loading = c->v && !value_is_ready(c->v) && (!c->v->opaque || continues_opaque(c));
    if (iterator == 1 && (!c->v || loading))
        how = load_first(c, data, len);
    else if (!c->v || iterator == 1)
        how = refuse(c, c->v ? "ERR item exists" : "ERR not found", REFUSED);
    else
        how = load_more(c, (uint64_t)iterator - 1, data, len);
    if (how == LOADED)
        return call_finish(c, DEJA_OK, NULL, "bloom.load");
    if (how == FAILED) {
        RedisModule_DeleteKey(c->key);
        RedisModule_Replicate(c->ctx, "DEL", "s", c->argv[1]);
    }
    return REDISMODULE_OK;
}
