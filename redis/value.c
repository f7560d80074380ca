/* value.c - the value of a key on the server, and where its memory comes from.
 *
 * A filter gets its memory through the server's allocator, so INFO, maxmemory and eviction count
 * it.  Two limits are checked before anything is allocated: the filter-max-bytes setting, for one
 * filter, and the memory that maxmemory leaves free.  They apply to clients only; bytes that a
 * primary has accepted, or that are in an RDB file, are never refused later.
 *
 * A filter that arrives in pieces (BF.LOADCHUNK) is a value from its first piece on.  It is
 * persisted and replicated as far as it has arrived, and answers no query until it is complete.
 *
 * Bytes that are not a filter for this build (a kind, hash or URL rules of another version, or
 * damage) can be kept as an opaque value.  Commands on it fail with the reason, but the server
 * saves, replicates, copies, dumps and deletes it like any other, byte for byte, and every load
 * tries again to turn it into a filter. */
#include "value.h"
#include "foreign_value.h"
#include "rest.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

RedisModuleType *value_type;
struct settings settings = {(long long)4 << 30, 100, 2, 0.01};

/* The background thread frees values as well. */
static atomic_ullong n_values, n_bytes, n_opaque;

static RedisModuleCtx *asking;

struct totals value_totals(void)
{
    return (struct totals){n_values, n_bytes, n_opaque};
}

void value_asking(RedisModuleCtx *ctx)
{
    asking = ctx;
}

/* --- Memory ------------------------------------------------------------------- */

#define LARGE         ((size_t)1 << 20)  /* the server itself bounds smaller allocations */
#define LARGEST_CLASS ((size_t)14 << 10) /* the largest class of small sizes */

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

enum keep value_keep(RedisModuleCtx *ctx)
{
    const int accepted_before = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING;
    return RedisModule_GetContextFlags(ctx) & accepted_before ? KEEP_ALL : KEEP_NONE;
}

/* True if the request comes from a client, not from a primary or a log that has already accepted
 * the bytes. */
static bool is_bounded(void)
{
    return asking && value_keep(asking) == KEEP_NONE;
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

#define PAGE ((size_t)4096)

/* The memory that `asked` bytes at `start` take.  The allocator rounds small sizes up to one of its
 * classes.  It rounds large ones up by a fifth, but the pages at their end are never touched and
 * take no memory. */
static size_t taken_by(void *start, size_t asked)
{
    const size_t size = RedisModule_MallocSize(start), pages = (asked + PAGE - 1) & ~(PAGE - 1);
    return size > LARGEST_CLASS && pages < size ? pages : size;
}

static void count_bytes(struct value *v, void *start, size_t asked, bool taken)
{
    const size_t size = taken_by(start, asked);
    v->bytes += taken ? size : -size;
    n_bytes += taken ? size : -size;
}

/* The server's allocator aligns to 16 bytes at most.  So allocate more, and store the start of the
 * allocation in front of the aligned address. */
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
    count_bytes(v, start, (size_t)(p - start) + size, true);
    return p;
}

static void aligned_free_hook(void *ctx, void *p, size_t size)
{
    char *start;
    memcpy(&start, (char *)p - sizeof start, sizeof start);
    count_bytes(ctx, start, (size_t)((char *)p - start) + size, false);
    RedisModule_Free(start);
}

void *value_take(struct value *v, size_t size)
{
    void *start = RedisModule_TryAlloc(size);
    if (start)
        count_bytes(v, start, size, true);
    return start;
}

void value_give(struct value *v, void *start)
{
    if (!start)
        return;
    count_bytes(v, start, RedisModule_MallocSize(start), false);
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

static void opaque_free(struct value *v)
{
    if (!v->opaque)
        return;
    if (v->opaque->bytes)
        aligned_free_hook(v, v->opaque->bytes, v->opaque->room);
    RedisModule_Free(v->opaque);
    n_opaque--;
}

void value_free(void *value)
{
    struct value *v = value;
    if (!v)
        return;
    rest_forget(v);
    deja_filter_free(v->filter);
    deja_import_free(v->load);
    foreign_value_free(v);
    opaque_free(v);
    value_give(v, v->rest.at);
    n_values--;
    RedisModule_Free(v);
}

/* Returns v, or on failure frees it and returns NULL.  v may be NULL. */
static struct value *kept_if(int status, struct value *v)
{
    if (status == DEJA_OK)
        return v;
    value_free(v);
    return NULL;
}

static int make_key(uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    if (sys_random(key, DEJA_KEY_LEN))
        return DEJA_OK;
    return fail(err, DEJA_EIO, "cannot get random bytes for the filter's key");
}

struct value *value_make(deja_options *opt, deja_error *err)
{
    static uint8_t key[DEJA_KEY_LEN]; /* static because the caller replicates it */
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
    if (rc == DEJA_OK) {
        v->kind = value_stats(v).kind;
        rest_note(v);
    }
    return kept_if(rc, v);
}

size_t value_memory(const struct value *v)
{
    const size_t at_rest = rest_size(v);
    return sizeof *v + (at_rest ? at_rest : v->bytes);
}

deja_stats value_stats(const struct value *v)
{
    deja_stats o = DEJA_STATS_INIT;
    if (v->foreign)
        return foreign_value_stats(v);
    (void)!deja_filter_stats(v->filter, 0, &o, NULL); /* cannot fail without the body */
    return o;
}

int value_key_apart(const struct value *v)
{
    if (v->opaque)
        return (v->opaque->flags & VALUE_WITH_KEY) != 0;
    return v->filter && value_stats(v).flags & DEJA_KEY_APART;
}

/* --- As bytes ----------------------------------------------------------------- */

int value_is_ready(const struct value *v)
{
    return v->filter || v->rest.at || (v->foreign && foreign_value_complete(v));
}

uint64_t value_len(const struct value *v)
{
    if (v->foreign)
        return foreign_value_len(v);
    if (v->rest.at)
        return rest_len(v);
    return v->filter ? deja_filter_export_len(v->filter) : v->loaded;
}

size_t value_head(const struct value *v)
{
    return v->foreign ? foreign_value_head(v) : VALUE_PAGE;
}

size_t value_chunk(const struct value *v, uint64_t at, void *out, size_t len)
{
    if (at == 0 && len > value_head(v))
        len = value_head(v);
    return v->foreign ? foreign_value_chunk(v, at, out, len) : value_read(v, at, out, len);
}

size_t value_read(const struct value *v, uint64_t at, void *out, size_t len)
{
    if (v->foreign)
        return foreign_value_read(v, at, out, len);
    if (v->filter)
        return deja_filter_export(v->filter, at, out, len);
    if (v->load)
        return deja_import_read(v->load, at, out, len);
    if (v->rest.at)
        return rest_read(v, at, out, len);
    const struct opaque *o = v->opaque;
    const size_t left = at < o->len ? o->len - (size_t)at : 0, got = len < left ? len : left;
    if (got)
        memcpy(out, o->bytes + at, got);
    return got;
}

/* --- Opaque values -------------------------------------------------------------- */

static int out_of_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory");
}

/* Could another build use the bytes that this one refuses? */
static bool is_sound(int status)
{
    return status == DEJA_EVERSION || status == DEJA_ENOTSUP || status == DEJA_EMISMATCH;
}

static int opaque_append(struct value *v, const void *data, size_t len, deja_error *err)
{
    struct opaque *o = v->opaque;
    if (len > SIZE_MAX / 4 - o->len)
        return out_of_memory(err);
    if (len > o->room - o->len) {
        size_t room = o->len ? o->len + o->len / 2 : 0;
        if (room > v->expected)
            room = (size_t)v->expected;
        if (room < o->len + len)
            room = o->len + len;
        char *bytes = aligned_alloc_hook(v, room, sizeof(uint64_t));
        if (!bytes)
            return out_of_memory(err);
        if (o->len)
            memcpy(bytes, o->bytes, o->len);
        if (o->bytes)
            aligned_free_hook(v, o->bytes, o->room);
        o->bytes = bytes;
        o->room = room;
    }
    if (len)
        memcpy(o->bytes + o->len, data, len);
    o->len += len;
    v->loaded = o->len;
    return DEJA_OK;
}

static void opaque_begin(struct value *v, const char *why)
{
    struct opaque *o = RedisModule_Alloc(sizeof *o);
    const bool partial = (v->load || v->foreign) && !value_load_complete(v);
    *o =
        (struct opaque){.flags = (v->with_key ? VALUE_WITH_KEY : 0) |
                                 (partial ? VALUE_PARTIAL : 0) | (v->foreign ? VALUE_FOREIGN : 0)};
    snprintf(o->why, sizeof o->why, "%s", why);
    v->opaque = o;
    n_opaque++;
}

/* Turns the bytes so far into an opaque value: those of the load, or those of the filter that it
 * produced.  In the latter case `page` is the header page as it arrived. */
static int seal(struct value *v, const char *why, const char *page, deja_error *err)
{
    const uint64_t len = v->loaded;
    char *piece = RedisModule_Alloc(len < VALUE_PIECE ? (size_t)len + 1 : VALUE_PIECE);
    int rc = DEJA_OK;
    opaque_begin(v, why);
    for (uint64_t at = 0; at < len && rc == DEJA_OK;) {
        const uint64_t left = len - at;
        const size_t most = left < VALUE_PIECE ? (size_t)left : VALUE_PIECE;
        size_t got = most < VALUE_PAGE ? most : VALUE_PAGE;
        if (v->foreign)
            got = foreign_value_read(v, at, piece, most);
        else if (v->load)
            got = deja_import_read(v->load, at, piece, most);
        else if (at == 0)
            memcpy(piece, page, got);
        else
            got = deja_filter_export(v->filter, at, piece, most);
        rc = opaque_append(v, piece, got, err);
        at += got;
    }
    RedisModule_Free(piece);
    deja_import_free(v->load);
    deja_filter_free(v->filter);
    foreign_value_free(v);
    v->load = NULL;
    v->filter = NULL;
    return rc;
}

/* After a failed load.  Returns its status, or DEJA_OK if the bytes are kept. */
static int keep_or_fail(struct value *v, int status, const char *page, deja_error *err)
{
    if (v->keep == KEEP_NONE || (v->keep == KEEP_SOUND && !is_sound(status)))
        return status;
    char why[sizeof err->text];
    snprintf(why, sizeof why, "%s", err->text[0] ? err->text : deja_strerror(status));
    return seal(v, why, page, err);
}

/* --- Loads ---------------------------------------------------------------------- */

/* A new value, and options for importing its bytes. */
static struct value *prepare(const void *key, enum keep keep, deja_options *expect)
{
    struct value *v = value_new();
    v->keep = keep;
    expect->alloc = &v->alloc;
    expect->key = key;
    if (key) {
        memcpy(v->key, key, DEJA_KEY_LEN);
        v->with_key = true;
    }
    return v;
}

struct value *value_load_begin(uint64_t len, const void *key, enum keep keep, deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    struct value *v = prepare(key, keep, &expect);
    return kept_if(deja_import_new(len, &expect, &v->load, err), v);
}

int value_load_unusable(struct value *v, int status, const char *why, deja_error *err)
{
    (void)fail(err, status, "%s", why);
    return v->opaque ? DEJA_OK : keep_or_fail(v, status, NULL, err);
}

struct value *value_load_foreign(enum keep keep)
{
    struct value *v = value_new();
    v->keep = keep;
    foreign_value_begin(v);
    return v;
}

struct value *value_load_flagged(uint64_t flags, const void *key, enum keep keep, deja_error *err)
{
    const bool foreign = flags & VALUE_FOREIGN;
    struct value *v = foreign
                          ? value_load_foreign(keep)
                          : value_load_begin(0, flags & VALUE_WITH_KEY ? key : NULL, keep, err);
    int rc = DEJA_OK;
    if (v && flags & ~(uint64_t)VALUE_FLAGS)
        rc = value_load_unusable(v, DEJA_EVERSION, "it was saved by a newer version of the module",
                                 err);
    return kept_if(rc, v);
}

int value_load_end(struct value *v, uint64_t flags, deja_error *err)
{
    const size_t head = v->opaque ? 0 : value_head(v);
    const bool partial = flags & VALUE_PARTIAL && v->loaded && v->loaded >= head && !v->opaque &&
                         !value_load_complete(v);
    const int rc = v->opaque || partial ? DEJA_OK : value_load_finish(v, err);
    if (rc == DEJA_OK && v->opaque)
        v->opaque->flags = flags;
    return rc;
}

struct value *value_import_flagged(const void *data, size_t len, const void *key, uint64_t flags,
                                   deja_error *err)
{
    flags |= key ? VALUE_WITH_KEY : 0;
    struct value *v = value_load_flagged(flags, key, KEEP_ALL, err);
    int rc = v ? value_load_write(v, data, len, err) : DEJA_ENOMEM;
    if (rc == DEJA_OK)
        rc = value_load_end(v, flags, err);
    return kept_if(rc, v);
}

const deja_url_rules *value_rules(struct value *v)
{
    if (v->url)
        return v->url;
    const deja_stats o = value_stats(v);
    v->url = o.profile ? deja_url_profile(o.profile) : NULL;
    while (v->url && deja_url_rules_id(v->url) != o.url_rules)
        v->url = deja_url_rules_older(v->url);
    return v->url;
}

/* Items of a URL filter are canonicalized by this library, so it must have the filter's rules. */
static int check_url_rules(struct value *v, deja_error *err)
{
    const deja_stats o = value_stats(v);
    v->kind = o.kind;
    v->url = NULL;
    if (o.profile == 0 || value_rules(v)) {
        rest_note(v);
        return DEJA_OK;
    }
    return fail(err, DEJA_EMISMATCH,
                "its URLs follow different rules than this server's: different parameters, a "
                "different version of the profile, or a build with or without libidn2");
}

int value_load_write(struct value *v, const void *data, size_t len, deja_error *err)
{
    if (!v->opaque) {
        const uint64_t before = v->loaded;
        int rc = v->foreign ? foreign_value_write(v, data, len, err)
                            : deja_import_write(v->load, data, len, err);
        if (rc == DEJA_OK && v->foreign)
            return DEJA_OK;
        if (rc == DEJA_OK) {
            v->loaded += len;
            return DEJA_OK;
        }
        v->loaded = before; /* of this piece, nothing */
        rc = keep_or_fail(v, rc, NULL, err);
        if (rc < 0)
            return rc;
    }
    return opaque_append(v, data, len, err);
}

int value_load_finish(struct value *v, deja_error *err)
{
    char page[VALUE_PAGE];
    if (v->opaque)
        return DEJA_OK;
    if (v->foreign && foreign_value_complete(v))
        return DEJA_OK;
    if (v->foreign)
        return keep_or_fail(v, fail(err, DEJA_EFORMAT, "it is truncated"), NULL, err);
    (void)deja_import_read(v->load, 0, page, sizeof page);
    int rc = deja_import_finish(v->load, &v->filter, err);
    if (rc == DEJA_OK) {
        deja_import_free(v->load);
        v->load = NULL;
        rc = check_url_rules(v, err);
    }
    return rc < 0 ? keep_or_fail(v, rc, page, err) : DEJA_OK;
}

int value_load_complete(const struct value *v)
{
    if (v->foreign)
        return foreign_value_complete(v);
    return v->load && v->loaded >= VALUE_PAGE && v->loaded >= deja_import_len(v->load);
}

int value_load_more(struct value *v, const void *data, size_t len, deja_error *err)
{
    const int rc = value_load_write(v, data, len, err);
    return rc == DEJA_OK && value_load_complete(v) ? value_load_finish(v, err) : rc;
}

/* For a client; damaged bytes are not kept, because they could be another file. */
static struct value *import_foreign(const void *data, size_t len, deja_error *err)
{
    struct value *v = value_load_foreign(KEEP_NONE);
    const int rc = value_load_write(v, data, len, err);
    return kept_if(rc == DEJA_OK ? value_load_finish(v, err) : rc, v);
}

/* All bytes are here, so the import allocates all its memory at once. */
struct value *value_import(const void *data, size_t len, const void *key, enum keep keep,
                           deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    if (!key && foreign_value_is(data, len, true))
        return import_foreign(data, len, err);
    struct value *v = prepare(key, keep, &expect);
    int rc = deja_filter_import(data, len, &expect, &v->filter, err);
    if (rc == DEJA_OK)
        rc = check_url_rules(v, err);
    if (rc < 0)
        rc = keep_or_fail(v, rc, data, err);
    if (rc == DEJA_OK && v->opaque && !v->opaque->len)
        rc = opaque_append(v, data, len, err);
    return kept_if(rc, v);
}

static struct value *copy_opaque(const struct value *from, deja_error *err)
{
    struct value *v = value_new();
    memcpy(v->key, from->key, DEJA_KEY_LEN);
    v->with_key = from->with_key;
    opaque_begin(v, from->opaque->why);
    v->opaque->flags = from->opaque->flags;
    return kept_if(opaque_append(v, from->opaque->bytes, from->opaque->len, err), v);
}

struct value *value_copy(const struct value *from, deja_error *err)
{
    if (from->opaque)
        return copy_opaque(from, err);
    const uint64_t len = value_len(from);
    struct value *v =
        from->foreign ? value_load_foreign(KEEP_NONE)
                      : value_load_begin(from->filter || from->rest.at ? len : 0,
                                         value_key_apart(from) ? from->key : NULL, KEEP_NONE, err);
    char *piece = RedisModule_Alloc(VALUE_PIECE);
    int rc = v ? DEJA_OK : DEJA_ENOMEM;
    for (uint64_t at = 0; at < len && rc == DEJA_OK;) {
        const size_t got = value_read(from, at, piece, VALUE_PIECE);
        rc = value_load_more(v, piece, got, err);
        at += got;
    }
    RedisModule_Free(piece);
    return kept_if(rc, v);
}

int value_check(const struct value *v, const char *page, deja_error *err)
{
    if (!v->filter)
        return DEJA_OK; /* its bytes are unchanged since they arrived, or came to rest */
    struct value *trial = value_load_begin(0, value_key_apart(v) ? v->key : NULL, KEEP_NONE, err);
    const int rc = trial ? value_load_write(trial, page, VALUE_PAGE, err) : DEJA_ENOMEM;
    value_free(trial);
    return rc;
}

/* --- Text ---------------------------------------------------------------------- */

void value_plain(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

const char *value_option_word(const deja_option *o)
{
    return o->keyword ? o->keyword : o->name;
}
