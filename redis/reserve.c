/* reserve.c - reads and writes the options of a filter as words of a command, and creates filters.
 *
 * The library's option table has the word for each option.  Commands that create a filter are
 * replicated as DEJA.RESERVE with all fields that are not zero, spelled by the same table.  So a
 * replica or a replayed log creates the same filter with the same secret key, whatever its own
 * defaults are, and finds the items that were added on the primary. */
#include "reserve.h"
#include <stdio.h>
#include <string.h>

/* --- Reading ------------------------------------------------------------------ */

static void *field(deja_options *opt, const deja_option *o)
{
    return (char *)opt + o->offset;
}

static bool set_count(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    long long n;
    const long long most = o->width == 4 ? UINT32_MAX : INT64_MAX;
    if (RedisModule_StringToLongLong(text, &n) != REDISMODULE_OK || n < 1 || n > most)
        return false;
    if (o->width == 4)
        *(uint32_t *)field(opt, o) = (uint32_t)n;
    else
        *(uint64_t *)field(opt, o) = (uint64_t)n;
    return true;
}

static bool set_number(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    double x;
    if (RedisModule_StringToDouble(text, &x) != REDISMODULE_OK || !(x > 0))
        return false;
    *(double *)field(opt, o) = x;
    return true;
}

/* Names are C strings in the library, so a NUL byte makes one invalid. */
static bool set_name(deja_options *opt, const deja_option *o, const RedisModuleString *text)
{
    size_t len;
    char name[32];
    const char *from = RedisModule_StringPtrLen(text, &len);
    if (len >= sizeof name || memchr(from, 0, len))
        return false;
    memcpy(name, from, len);
    name[len] = 0;
    if (o->type == DEJA_OPTION_RULES) {
        const uint32_t profile = deja_profile_parse(name);
        opt->url = profile ? deja_url_profile(profile) : NULL;
        return opt->url;
    }
    for (uint32_t number = 1; number < DEJA_OPTION_CHOICES; number++)
        if (o->choice(number) && strcmp(o->choice(number), name) == 0) {
            *(uint32_t *)field(opt, o) = number;
            return true;
        }
    return false;
}

static bool set_bytes(deja_options *opt, const deja_option *o, const RedisModuleString *text)
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

static bool set(deja_options *opt, const deja_option *o, const RedisModuleString *text)
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
    return true;
}

static const deja_option *find(const struct call *c, int i)
{
    const deja_option *o;
    for (size_t row = 0; (o = deja_option_at(row)); row++)
        if (o->keyword && call_word_is(c, i, o->keyword))
            return o;
    return NULL;
}

static bool refuse(const struct call *c, const deja_option *o, bool missing)
{
    char text[80];
    snprintf(text, sizeof text, missing ? "ERR %s needs a value" : "ERR bad value for %s",
             o->keyword);
    return call_error(c, text), false;
}

bool reserve_parse(const struct call *c, deja_options *opt)
{
    for (int i = 2; i < c->argc; i++) {
        const deja_option *o = find(c, i);
        if (!o)
            return call_error(c, "ERR syntax error"), false;
        if (o->type != DEJA_OPTION_FLAG && ++i == c->argc)
            return refuse(c, o, true);
        if (!set(opt, o, c->argv[i]))
            return refuse(c, o, false);
    }
    return true;
}

/* --- Writing ------------------------------------------------------------------ */

/* Appends the option and its value, if it was given; returns the number of words. */
static size_t spell(const struct call *c, const deja_options *opt, const deja_option *o,
                    RedisModuleString **word)
{
    char text[DEJA_OPTION_TEXT];
    const size_t len = deja_option_print(o, opt, text);
    if (!o->keyword || !deja_option_given(o, opt) || (!len && o->type != DEJA_OPTION_FLAG))
        return 0;
    word[0] = RedisModule_CreateString(c->ctx, o->keyword, strlen(o->keyword));
    if (len)
        word[1] = RedisModule_CreateString(c->ctx, text, len);
    return len ? 2 : 1;
}

static void replicate(const struct call *c, const deja_options *opt)
{
    RedisModuleString *word[2 * RESERVE_OPTIONS];
    size_t n = 0;
    for (size_t i = 0; deja_option_at(i); i++)
        n += spell(c, opt, deja_option_at(i), word + n);
    RedisModule_Replicate(c->ctx, "DEJA.RESERVE", "sv", c->argv[1], word, n);
    while (n > 0)
        RedisModule_FreeString(c->ctx, word[--n]);
}

bool reserve_make(struct call *c, deja_options *opt)
{
    deja_error err = {0, ""};
    c->v = value_make(opt, &err);
    if (!c->v)
        return call_fail(c, err.status, &err), false;
    RedisModule_ModuleTypeSetValue(c->key, value_type, c->v);
    replicate(c, opt);
    return true;
}

int reserve_new(struct call *c, deja_options *opt, const char *event)
{
    if (!call_open(c, CALL_WRITE))
        return REDISMODULE_OK;
    if (c->v)
        return call_error(c, "ERR item exists");
    return reserve_make(c, opt) ? call_ok(c, event) : REDISMODULE_OK;
}
