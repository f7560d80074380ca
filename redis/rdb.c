/* rdb.c - persistence and copies of a value: RDB, AOF, COPY, digest.
 *
 * An RDB file, and therefore DUMP and a full synchronization, has for each value: flags, the
 * secret key if the file does not contain it, the number of bytes, and the bytes of its .deja file
 * in pieces.  If a load is in progress, the pieces that have arrived are saved.  RESTORE data is untrusted, so
 * a length is used only to know when to stop.
 *
 * The server exits if a value in its RDB file does not load.  So while it loads (RDB, AOF, data of
 * a primary), every value whose pieces can be read is kept, as an opaque value if necessary.
 * RESTORE keeps bytes that another build can use, and refuses damaged ones.  Later versions must
 * keep this layout and encoding version and use flags to describe anything new, so that this
 * version can keep their values.
 *
 * An AOF rewritten without RDB preamble has the pieces as BF.LOADCHUNK commands.  Opaque values
 * are written as DEJA.IMPORT, which keeps all bytes while the server loads; its argument FLAGS
 * exists only for this. */
#include "rdb.h"
#include "rest.h"
#include "warn.h"
#include <string.h>

/* --- RDB ---------------------------------------------------------------------- */

static uint64_t flags_of(const struct value *v)
{
    if (v->opaque)
        return v->opaque->flags;
    return (value_key_apart(v) ? VALUE_WITH_KEY : 0) | (v->foreign ? VALUE_FOREIGN : 0) |
           (value_is_ready(v) ? 0 : VALUE_PARTIAL);
}

/* Every value is saved, even an invalid one: a load then keeps it as an opaque value. */
static void warn_if_unsound(RedisModuleIO *io, const RedisModuleString *name,
                            const struct value *v, const char *page)
{
    deja_error err = {0, ""};
    if (value_check(v, page, &err) < 0)
        warn_unsound(RedisModule_GetContextFromIO(io), name, err.text);
}

static void save(RedisModuleIO *io, void *value)
{
    const struct value *v = value;
    const uint64_t len = value_len(v), flags = flags_of(v);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    value_asking(NULL);
    RedisModule_SaveUnsigned(io, flags);
    if (flags & VALUE_WITH_KEY)
        RedisModule_SaveStringBuffer(io, (const char *)v->key, DEJA_KEY_LEN);
    RedisModule_SaveUnsigned(io, len);
    for (uint64_t at = 0; at < len;) {
        const size_t got = value_read(v, at, piece, VALUE_PIECE);
        if (at == 0)
            warn_if_unsound(io, RedisModule_GetKeyNameFromIO(io), v, piece);
        RedisModule_SaveStringBuffer(io, piece, got);
        at += got;
    }
    RedisModule_Free(piece);
}

/* One string of the file; NULL: the file is truncated or damaged. */
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

/* Starts a value, with its secret key.  A key of the wrong length is damage; the value keeps as
 * much of it as it has room for.  NULL: the file is truncated, or err has the reason. */
static struct value *load_begin(RedisModuleIO *io, uint64_t flags, enum keep keep, deja_error *err)
{
    char key[DEJA_KEY_LEN] = {0};
    size_t len = DEJA_KEY_LEN;
    if (flags & VALUE_WITH_KEY) {
        char *text = load_string(io, &len);
        if (!text)
            return NULL;
        memcpy(key, text, len < sizeof key ? len : sizeof key);
        RedisModule_Free(text);
    }
    struct value *v = value_load_flagged(flags, key, keep, err);
    if (!v || len == DEJA_KEY_LEN ||
        value_load_unusable(v, DEJA_EFORMAT, "its secret key has the wrong length", err) ==
            DEJA_OK)
        return v;
    value_free(v);
    return NULL;
}

/* Reads all pieces, even invalid ones, because the end of the value comes after them. */
static int load_pieces(RedisModuleIO *io, struct value *v, deja_error *err)
{
    uint64_t len, done = 0;
    if (load_number(io, &len) < 0)
        return -1;
    v->expected = len;
    while (done < len) {
        size_t got = 0;
        char *piece = load_string(io, &got);
        const int rc = piece ? value_load_write(v, piece, got, err) : -1;
        RedisModule_Free(piece);
        if (rc < 0)
            return rc;
        done += got;
    }
    return DEJA_OK;
}

static void *load(RedisModuleIO *io, int encver)
{
    uint64_t flags;
    deja_error err = {0, ""};
    RedisModuleCtx *ctx = RedisModule_GetContextFromIO(io);
    const RedisModuleString *name = RedisModule_GetKeyNameFromIO(io);
    const enum keep keep = value_keep(ctx) == KEEP_ALL ? KEEP_ALL : KEEP_SOUND;
    value_asking(NULL);
    if (encver != RDB_ENCVER || load_number(io, &flags) < 0) {
        warn_refused(ctx, name, "it was saved by a newer version of the module, or is damaged");
        return NULL;
    }
    struct value *v = load_begin(io, flags, keep, &err);
    if (!v || load_pieces(io, v, &err) < 0 || value_load_end(v, flags, &err) < 0) {
        warn_refused(ctx, name, err.text[0] ? err.text : "it is truncated");
        value_free(v);
        return NULL;
    }
    warn_if_kept(ctx, name, v);
    rest_trim();
    return v;
}

/* --- AOF ---------------------------------------------------------------------- */

/* In one command, because BF.LOADCHUNK carries no secret key and keeps no opaque value. */
static void rewrite_whole(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    const uint64_t len = value_len(v), flags = flags_of(v);
    const size_t most = (size_t)len;
    char *copy = v->opaque ? NULL : RedisModule_Alloc(most);
    const char *bytes = copy ? copy : v->opaque->bytes ? v->opaque->bytes : "";
    const char *secret = (const char *)v->key;
    const size_t got = copy ? value_read(v, 0, copy, most) : most;
    const long long more = (long long)(flags & ~(uint64_t)VALUE_WITH_KEY);
    if (flags & VALUE_WITH_KEY)
        RedisModule_EmitAOF(aof, "DEJA.IMPORT", more ? "sbcbcl" : "sbcb", key, bytes, got, "KEY",
                            secret, (size_t)DEJA_KEY_LEN, "FLAGS", more);
    else
        RedisModule_EmitAOF(aof, "DEJA.IMPORT", more ? "sbcl" : "sb", key, bytes, got, "FLAGS",
                            more);
    RedisModule_Free(copy);
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value)
{
    const struct value *v = value;
    value_asking(NULL);
    if (v->opaque || value_key_apart(v)) {
        rewrite_whole(aof, key, v);
        return;
    }
    const uint64_t len = value_len(v);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    for (uint64_t at = 0; at < len;) {
        const size_t got = value_chunk(v, at, piece, VALUE_PIECE);
        if (at == 0)
            warn_if_unsound(aof, key, v, piece);
        at += got;
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)(at - value_head(v) + 1),
                            piece, got);
    }
    RedisModule_Free(piece);
}

/* --- Other methods ------------------------------------------------------------ */

static size_t mem_usage(const void *value)
{
    return value_memory(value);
}

/* The server frees values of more than a little effort in a background thread. */
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
    struct value *v = value_copy(value, &err);
    rest_trim();
    return v;
}

/* Bodies and counts, but not the header page of a filter, which contains the time. */
static void digest(RedisModuleDigest *d, void *value)
{
    struct value *v = value;
    const uint64_t len = value_len(v);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    for (uint64_t at = v->opaque || v->foreign ? 0 : VALUE_PAGE; at < len;) {
        const size_t got = value_read(v, at, piece, VALUE_PIECE);
        RedisModule_DigestAddStringBuffer(d, piece, got);
        at += got;
    }
    RedisModule_Free(piece);
    if (rest_wake(v, NULL) == DEJA_OK && v->filter) {
        rest_note(v);
        const deja_stats o = value_stats(v);
        RedisModule_DigestAddLongLong(d, (long long)o.kind);
        RedisModule_DigestAddLongLong(d, (long long)o.keys);
        RedisModule_DigestAddLongLong(d, (long long)o.offered);
        RedisModule_DigestAddLongLong(d, (long long)o.visit);
    }
    RedisModule_DigestEndSequence(d);
    rest_trim();
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
