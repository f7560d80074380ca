/* rdb.c - a value on its way to disk and elsewhere: RDB, AOF, COPY, digest.
 *
 * In an RDB file, and so in DUMP and in what a replica gets: flags, the secret key when the filter
 * keeps it apart from its bytes, how many bytes there are, and the bytes of its .deja file in
 * pieces.  A load that was under way is saved as far as it had come.  All of it may come from a
 * stranger (RESTORE), so a length is only used to know when to stop.
 *
 * A rewritten AOF without RDB preamble repeats the pieces as BF.LOADCHUNK. */
#include "rdb.h"
#include <string.h>

enum { WITH_KEY = 1, LOADING = 2 }; /* flags */

/* --- RDB ---------------------------------------------------------------------- */

static void save(RedisModuleIO *io, void *value)
{
    const struct value *v = value;
    const int apart = value_key_apart(v);
    const uint64_t len = value_len(v);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    RedisModule_SaveUnsigned(io, (apart ? WITH_KEY : 0) | (v->filter ? 0 : LOADING));
    if (apart)
        RedisModule_SaveStringBuffer(io, (const char *)v->key, DEJA_KEY_LEN);
    RedisModule_SaveUnsigned(io, len);
    for (uint64_t at = 0; at < len;) {
        const size_t got = value_read(v, at, piece, VALUE_PIECE);
        RedisModule_SaveStringBuffer(io, piece, got);
        at += got;
    }
    RedisModule_Free(piece);
}

/* One string of the file; NULL: it ended, or was damaged. */
static char *load_string(RedisModuleIO *io, size_t *len)
{
    char *text = RedisModule_LoadStringBuffer(io, len);
    if (!RedisModule_IsIOError(io))
        return text;
    RedisModule_Free(text);
    return NULL;
}

static int load_number(RedisModuleIO *io, uint64_t *n)
{
    *n = RedisModule_LoadUnsigned(io);
    return RedisModule_IsIOError(io) ? -1 : 0;
}

static struct value *load_begin(RedisModuleIO *io, uint64_t flags, deja_error *err)
{
    size_t len = 0;
    char *key = NULL;
    if (flags & WITH_KEY && (!(key = load_string(io, &len)) || len != DEJA_KEY_LEN)) {
        RedisModule_Free(key);
        return NULL;
    }
    struct value *v = value_load_begin(0, key, err);
    RedisModule_Free(key);
    return v;
}

static int load_pieces(RedisModuleIO *io, struct value *v, deja_error *err)
{
    uint64_t len, done = 0;
    if (load_number(io, &len) < 0)
        return -1;
    while (done < len) {
        size_t got = 0;
        char *piece = load_string(io, &got);
        const int bad = !piece || !got || got > len - done || !v->load ||
                        value_load_more(v, piece, got, err) < 0;
        RedisModule_Free(piece);
        if (bad)
            return -1;
        done += got;
    }
    return 0;
}

static void *load(RedisModuleIO *io, int encver)
{
    uint64_t flags;
    deja_error err = {0, ""};
    value_asking(NULL);
    if (encver != RDB_ENCVER || load_number(io, &flags) < 0 ||
        flags & ~(uint64_t)(WITH_KEY | LOADING)) {
        RedisModule_LogIOError(io, "warning", "a deja filter of a newer version, or damaged");
        return NULL;
    }
    struct value *v = load_begin(io, flags, &err);
    if (v && load_pieces(io, v, &err) == 0 && !v->filter == !!(flags & LOADING) &&
        (v->filter || v->loaded >= VALUE_PAGE))
        return v;
    RedisModule_LogIOError(io, "warning", "a damaged deja filter: %s",
                           err.text[0] ? err.text : "it ends too early");
    value_free(v);
    return NULL;
}

/* --- AOF ---------------------------------------------------------------------- */

static void rewrite_whole(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    const uint64_t len = value_len(v);
    char *bytes = RedisModule_Alloc((size_t)len);
    const size_t got = value_read(v, 0, bytes, (size_t)len);
    RedisModule_EmitAOF(aof, "DEJA.IMPORT", "sbcb", key, bytes, got, "KEY", (const char *)v->key,
                        (size_t)DEJA_KEY_LEN);
    RedisModule_Free(bytes);
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value)
{
    const struct value *v = value;
    if (value_key_apart(v)) {
        rewrite_whole(aof, key, v);
        return;
    }
    const uint64_t len = value_len(v);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    for (uint64_t at = 0; at < len;) {
        const size_t got = value_read(v, at, piece, at ? VALUE_PIECE : VALUE_PAGE);
        at += got;
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)(at - VALUE_PAGE + 1),
                            piece, got);
    }
    RedisModule_Free(piece);
}

/* --- The rest ----------------------------------------------------------------- */

static size_t mem_usage(const void *value)
{
    return value_memory(value);
}

/* The server frees what takes some effort in a thread of its own. */
static size_t free_effort(RedisModuleString *key, const void *value)
{
    (void)key;
    return 1 + mem_usage(value) / 4096;
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value)
{
    deja_error err = {0, ""};
    (void)from, (void)to;
    value_asking(NULL);
    return value_copy(value, &err);
}

/* Bodies and counts; not the header page, which tells the time. */
static void digest(RedisModuleDigest *d, void *value)
{
    const struct value *v = value;
    const uint64_t len = value_len(v);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    for (uint64_t at = VALUE_PAGE; at < len;) {
        const size_t got = value_read(v, at, piece, VALUE_PIECE);
        RedisModule_DigestAddStringBuffer(d, piece, got);
        at += got;
    }
    RedisModule_Free(piece);
    if (v->filter) {
        const deja_outline o = value_outline(v);
        RedisModule_DigestAddLongLong(d, (long long)o.kind);
        RedisModule_DigestAddLongLong(d, (long long)o.keys);
        RedisModule_DigestAddLongLong(d, (long long)o.offered);
        RedisModule_DigestAddLongLong(d, (long long)o.visit);
    }
    RedisModule_DigestEndSequence(d);
}

int rdb_create_type(RedisModuleCtx *ctx)
{
    static RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = load,
        .rdb_save = save,
        .aof_rewrite = rewrite,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = value_free,
        .free_effort = free_effort,
        .copy = copy,
    };
    value_type = RedisModule_CreateDataType(ctx, "deja-filt", RDB_ENCVER, &methods);
    return value_type ? REDISMODULE_OK : REDISMODULE_ERR;
}
