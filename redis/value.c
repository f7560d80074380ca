/* value.c - what a key of the server holds, and where its memory comes from.
 *
 * A filter gets its memory through the server's allocator, so that INFO, maxmemory and eviction
 * count it.  It is bounded twice before anything is taken: by the setting filter-max-bytes, for
 * one filter, and by what maxmemory leaves.  Both are for clients; what a primary has accepted, or
 * what is in an RDB file, is not refused afterwards.
 *
 * A filter that arrives in pieces (BF.LOADCHUNK) is a value from its first piece on: it is
 * persisted and replicated as far as it has come, and answers nothing until it is complete. */
#include "value.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

RedisModuleType *value_type;
struct settings settings = {(long long)4 << 30, 100, 2, 0.01};

/* The background thread frees values as well. */
static atomic_ullong n_values, n_bytes;

static RedisModuleCtx *asking;

struct totals value_totals(void)
{
    return (struct totals){n_values, n_bytes};
}

void value_asking(RedisModuleCtx *ctx)
{
    asking = ctx;
}

/* --- Memory ------------------------------------------------------------------- */

#define LARGE ((size_t)1 << 20) /* smaller ones are the server's own business */

static bool fits_maxmemory(size_t size)
{
    int bad = 0, bad_too = 0;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(asking, "memory");
    const unsigned long long max = RedisModule_ServerInfoGetFieldUnsigned(info, "maxmemory", &bad);
    const unsigned long long used =
        RedisModule_ServerInfoGetFieldUnsigned(info, "used_memory", &bad_too);
    RedisModule_FreeServerInfo(asking, info);
    return bad || bad_too || !max || (used <= max && size <= max - used);
}

/* A client asks, not a primary or a log that has accepted it before. */
static bool is_bounded(void)
{
    return asking && !(RedisModule_GetContextFlags(asking) &
                       (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING));
}

static bool may_have(const struct value *v, size_t size)
{
    if (size < LARGE || !is_bounded())
        return true;
    const size_t most = (size_t)settings.filter_max_bytes;
    return v->bytes <= most && size <= most - v->bytes && fits_maxmemory(size);
}

int value_too_large(uint64_t bytes)
{
    return bytes > (uint64_t)settings.filter_max_bytes && is_bounded();
}

/* As the server counts them: more than was asked for. */
static void count_bytes(struct value *v, void *start, bool come)
{
    const size_t size = RedisModule_MallocSize(start);
    v->bytes += come ? size : -size;
    n_bytes += come ? size : -size;
}

/* The server aligns to 16 bytes at most: a larger piece, with its beginning noted before ours. */
static void *aligned_alloc_hook(void *ctx, size_t size, size_t align)
{
    struct value *v = ctx;
    char *start;
    if (align < sizeof start)
        align = sizeof start;
    const size_t more = align + sizeof start;
    if (size > SIZE_MAX / 2 || !may_have(v, size) || !(start = RedisModule_TryAlloc(size + more)))
        return NULL;
    char *p = start + sizeof start;
    p += -(uintptr_t)p & (align - 1);
    memcpy(p - sizeof start, &start, sizeof start);
    count_bytes(v, start, true);
    return p;
}

static void aligned_free_hook(void *ctx, void *p, size_t size)
{
    char *start;
    (void)size;
    memcpy(&start, (char *)p - sizeof start, sizeof start);
    count_bytes(ctx, start, false);
    RedisModule_Free(start);
}

/* --- Values ------------------------------------------------------------------- */

struct value *value_new(void)
{
    struct value *v = RedisModule_Alloc(sizeof *v);
    memset(v, 0, sizeof *v);
    v->alloc = (deja_allocator){aligned_alloc_hook, aligned_free_hook, v};
    n_values++;
    return v;
}

void value_free(void *value)
{
    struct value *v = value;
    if (!v)
        return;
    deja_filter_free(v->filter);
    deja_import_free(v->load);
    n_values--;
    RedisModule_Free(v);
}

/* v, or NULL and v gone. */
static struct value *kept_if(int status, struct value *v)
{
    if (status == DEJA_OK)
        return v;
    value_free(v);
    return NULL;
}

static int make_key(uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    if (getrandom(key, DEJA_KEY_LEN, 0) == DEJA_KEY_LEN)
        return DEJA_OK;
    err->status = DEJA_EIO;
    snprintf(err->text, sizeof err->text, "no random bytes from the kernel for the filter's key");
    return DEJA_EIO;
}

struct value *value_make(deja_options *opt, deja_error *err)
{
    static uint8_t key[DEJA_KEY_LEN]; /* the caller replicates it */
    struct value *v = value_new();
    int rc = DEJA_OK;
    if (!opt->key && !opt->seed) {
        rc = make_key(key, err);
        opt->key = key;
    }
    opt->alloc = &v->alloc;
    if (rc == DEJA_OK)
        rc = deja_filter_new(opt, &v->filter, err);
    opt->alloc = NULL;
    if (rc == DEJA_OK)
        v->kind = value_outline(v).kind;
    return kept_if(rc, v);
}

size_t value_memory(const struct value *v)
{
    return sizeof *v + v->bytes;
}

deja_outline value_outline(const struct value *v)
{
    deja_outline o = DEJA_OUTLINE_INIT;
    (void)!deja_filter_outline(v->filter, &o); /* cannot fail */
    return o;
}

int value_key_apart(const struct value *v)
{
    return v->filter && value_outline(v).flags & DEJA_KEY_APART;
}

/* --- As bytes ----------------------------------------------------------------- */

uint64_t value_len(const struct value *v)
{
    return v->filter ? deja_filter_export_len(v->filter) : v->loaded;
}

size_t value_read(const struct value *v, uint64_t at, void *out, size_t len)
{
    return v->filter ? deja_filter_export(v->filter, at, out, len)
                     : deja_import_read(v->load, at, out, len);
}

struct value *value_load_begin(uint64_t len, const void *key, deja_error *err)
{
    struct value *v = value_new();
    deja_options expect = DEJA_OPTIONS_INIT;
    expect.alloc = &v->alloc;
    expect.key = key;
    if (key)
        memcpy(v->key, key, DEJA_KEY_LEN);
    return kept_if(deja_import_new(len, &expect, &v->load, err), v);
}

/* A filter has come.  Keys are brought into the form of its profile by this library's own rules.
 */
static int welcome(struct value *v, deja_error *err)
{
    const deja_outline o = value_outline(v);
    v->kind = o.kind;
    const deja_url_rules *own = o.profile ? deja_url_profile(o.profile) : NULL;
    if (o.profile == 0 || (own && deja_url_rules_id(own) == o.url_rules))
        return DEJA_OK;
    err->status = DEJA_EMISMATCH;
    snprintf(err->text, sizeof err->text,
             "the filter holds URLs by other rules than this server has: another list of "
             "parameters, another version of the profile, or IDNA in one of the builds only");
    return DEJA_EMISMATCH;
}

int value_load_more(struct value *v, const void *data, size_t len, deja_error *err)
{
    int rc = deja_import_write(v->load, data, len, err);
    if (rc < 0)
        return rc;
    v->loaded += len;
    if (v->loaded < VALUE_PAGE || v->loaded < deja_import_len(v->load))
        return DEJA_OK;
    rc = deja_import_finish(v->load, &v->filter, err);
    if (rc < 0)
        return rc;
    deja_import_free(v->load);
    v->load = NULL;
    return welcome(v, err);
}

struct value *value_import(const void *data, size_t len, const void *key, deja_error *err)
{
    struct value *v = value_new();
    deja_options expect = DEJA_OPTIONS_INIT;
    expect.alloc = &v->alloc;
    expect.key = key;
    if (key)
        memcpy(v->key, key, DEJA_KEY_LEN);
    int rc = deja_filter_import(data, len, &expect, &v->filter, err);
    if (rc == DEJA_OK)
        rc = welcome(v, err);
    return kept_if(rc, v);
}

struct value *value_copy(const struct value *from, deja_error *err)
{
    const uint64_t len = value_len(from);
    struct value *v =
        value_load_begin(from->filter ? len : 0, value_key_apart(from) ? from->key : NULL, err);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    int rc = v ? DEJA_OK : DEJA_ENOMEM;
    for (uint64_t at = 0; at < len && rc == DEJA_OK;) {
        const size_t got = value_read(from, at, piece, VALUE_PIECE);
        rc = value_load_more(v, piece, got, err);
        at += got;
    }
    RedisModule_Free(piece);
    return v ? kept_if(rc, v) : NULL;
}

/* --- Keys of the server ------------------------------------------------------- */

enum found value_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key,
                      struct value **v)
{
    value_asking(ctx);
    *v = NULL;
    *key = RedisModule_OpenKey(ctx, name, mode);
    if (*key && RedisModule_ModuleTypeGetType(*key) == value_type) {
        *v = RedisModule_ModuleTypeGetValue(*key);
        return FOUND;
    }
    if (!*key || RedisModule_KeyType(*key) == REDISMODULE_KEYTYPE_EMPTY)
        return ABSENT;
    RedisModule_CloseKey(*key);
    RedisModule_ReplyWithError(
        ctx, "WRONGTYPE Operation against a key holding the wrong kind of value");
    return REFUSED;
}

int value_filter(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key,
                 struct value **v)
{
    switch (value_open(ctx, name, mode, key, v)) {
    case REFUSED:
        return 0;
    case ABSENT:
        RedisModule_CloseKey(*key);
        RedisModule_ReplyWithError(ctx, "ERR not found");
        return 0;
    case FOUND:
        break;
    }
    if ((*v)->filter)
        return 1;
    RedisModule_CloseKey(*key);
    value_reply_loading(ctx);
    return 0;
}

/* --- Replies ------------------------------------------------------------------ */

int value_reply_error(RedisModuleCtx *ctx, int status, const deja_error *err)
{
    char text[300];
    snprintf(text, sizeof text, "ERR %s", err && err->text[0] ? err->text : deja_strerror(status));
    return RedisModule_ReplyWithError(ctx, text);
}

int value_reply_loading(RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithError(
        ctx, "ERR the filter is being loaded: some of its chunks have not come yet");
}

int value_reply_ok(RedisModuleCtx *ctx)
{
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}
