/* reserve.c - the options of a filter as words of a command, read and written.
 *
 * The library's option table has the word of each option.  Commands that make a filter are
 * replicated as DEJA.RESERVE with all fields that are not zero, spelled by the same table: a
 * replica and a replayed log then make the same filter with the same secret key, whatever their
 * own defaults are, and find what was added on the primary. */
#include "reserve.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

int word_is(const RedisModuleString *word, const char *what)
{
    size_t len;
    const char *text = RedisModule_StringPtrLen(word, &len);
    return len == strlen(what) && strncasecmp(text, what, len) == 0;
}

/* --- Reading ------------------------------------------------------------------ */

static void *field(deja_options *opt, const deja_option *o)
{
    return (char *)opt + o->offset;
}

static int set_count(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    long long n;
    const long long most = o->width == 4 ? UINT32_MAX : INT64_MAX;
    if (RedisModule_StringToLongLong(text, &n) != REDISMODULE_OK || n < 1 || n > most)
        return 0;
    if (o->width == 4)
        *(uint32_t *)field(opt, o) = (uint32_t)n;
    else
        *(uint64_t *)field(opt, o) = (uint64_t)n;
    return 1;
}

static int set_number(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    double x;
    if (RedisModule_StringToDouble(text, &x) != REDISMODULE_OK || !(x > 0))
        return 0;
    *(double *)field(opt, o) = x;
    return 1;
}

/* Names are words of the library; NUL bytes inside make none. */
static int set_name(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    size_t len;
    char name[32];
    const char *from = RedisModule_StringPtrLen(text, &len);
    if (len >= sizeof name || memchr(from, 0, len))
        return 0;
    memcpy(name, from, len);
    name[len] = 0;
    if (o->type == DEJA_OPTION_RULES) {
        const uint32_t profile = deja_profile_parse(name);
        opt->url = profile ? deja_url_profile(profile) : NULL;
        return opt->url != NULL;
    }
    for (uint32_t number = 1; number < DEJA_OPTION_CHOICES; number++)
        if (o->choice(number) && strcmp(o->choice(number), name) == 0) {
            *(uint32_t *)field(opt, o) = number;
            return 1;
        }
    return 0;
}

static int set_bytes(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    size_t len;
    const char *from = RedisModule_StringPtrLen(text, &len);
    if (o->type == DEJA_OPTION_SECRET) {
        opt->key = from; /* lives as long as the command */
        return len == DEJA_KEY_LEN;
    }
    *(uint32_t *)field(opt, o) = len == 1 ? (unsigned char)from[0] : 0;
    return len == 1 && from[0];
}

static int set(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    switch (o->type) {
    case DEJA_OPTION_COUNT:
    case DEJA_OPTION_BITS:
        return set_count(opt, o, text);
    case DEJA_OPTION_RATE:
    case DEJA_OPTION_REAL:
        return set_number(opt, o, text);
    case DEJA_OPTION_CHOICE:
    case DEJA_OPTION_RULES:
        return set_name(opt, o, text);
    case DEJA_OPTION_CHAR:
    case DEJA_OPTION_SECRET:
        return set_bytes(opt, o, text);
    }
    opt->flags |= o->flag;
    return 1;
}

static const deja_option *find(const RedisModuleString *text)
{
    const deja_option *o;
    for (size_t i = 0; (o = deja_option_at(i)); i++)
        if (o->keyword && word_is(text, o->keyword))
            return o;
    return NULL;
}

int reserve_parse(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *i,
                  deja_options *opt)
{
    const deja_option *o;
    char text[80];
    for (; *i < argc && (o = find(argv[*i])); ++*i) {
        const RedisModuleString *value = NULL;
        if (o->type != DEJA_OPTION_FLAG) {
            if (*i + 1 == argc) {
                snprintf(text, sizeof text, "ERR %s needs a value", o->keyword);
                return RedisModule_ReplyWithError(ctx, text), -1;
            }
            value = argv[++*i];
        }
        if (!set(opt, o, value)) {
            snprintf(text, sizeof text, "ERR bad value for %s", o->keyword);
            return RedisModule_ReplyWithError(ctx, text), -1;
        }
    }
    return 0;
}

/* --- Writing ------------------------------------------------------------------ */

static RedisModuleString *string(RedisModuleCtx *ctx, const char *text, size_t len)
{
    return RedisModule_CreateString(ctx, text, len);
}

static size_t spell(RedisModuleCtx *ctx, const deja_options *opt, const deja_option *o,
                    RedisModuleString **word)
{
    char text[DEJA_OPTION_TEXT];
    const size_t len = deja_option_print(o, opt, text);
    if (!o->keyword || !deja_option_given(o, opt) || (!len && o->type != DEJA_OPTION_FLAG))
        return 0;
    word[0] = string(ctx, o->keyword, strlen(o->keyword));
    if (len)
        word[1] = string(ctx, text, len);
    return len ? 2 : 1;
}

static void replicate(RedisModuleCtx *ctx, RedisModuleString *name, const deja_options *opt)
{
    RedisModuleString *word[2 * RESERVE_OPTIONS];
    size_t n = 0;
    for (size_t i = 0; deja_option_at(i); i++)
        n += spell(ctx, opt, deja_option_at(i), word + n);
    RedisModule_Replicate(ctx, "DEJA.RESERVE", "sv", name, word, n);
    while (n > 0)
        RedisModule_FreeString(ctx, word[--n]);
}

int reserve_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                 deja_options *opt, struct value **out)
{
    deja_error err = {0, ""};
    struct value *v = value_make(opt, &err);
    if (!v)
        return value_reply_error(ctx, err.status, &err), -1;
    RedisModule_ModuleTypeSetValue(key, value_type, v);
    replicate(ctx, name, opt);
    *out = v;
    return 0;
}
