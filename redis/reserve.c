/* reserve.c - the options of a filter as words of a command, read and written.
 *
 * One table has every word of DEJA.RESERVE and the field of deja_options that it sets.  Commands
 * that make a filter are replicated as DEJA.RESERVE with all fields that are not zero, spelled by
 * the same table: a replica and a replayed log then make the same filter with the same secret key,
 * whatever their own defaults are, and find what was added on the primary. */
#include "reserve.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum form {
    COUNT32,
    COUNT64,
    NUMBER,
    KIND,
    HASH,
    PROFILE,
    BYTE,
    SECRET,
    FLAG
};

static const struct word {
    const char *name;
    enum form form;
    size_t at;     /* of the field */
    uint32_t flag; /* FLAG */
} words[] = {
    {"KIND", KIND, offsetof(deja_options, kind), 0},
    {"CAPACITY", COUNT64, offsetof(deja_options, capacity), 0},
    {"ERROR", NUMBER, offsetof(deja_options, fp_rate), 0},
    {"MEMORY", COUNT64, offsetof(deja_options, memory), 0},
    {"HASHES", COUNT32, offsetof(deja_options, hashes), 0},
    {"MULTIPLIER", NUMBER, offsetof(deja_options, multiplier), 0},
    {"FILTERS", COUNT32, offsetof(deja_options, filters), 0},
    {"HASH", HASH, offsetof(deja_options, hash), 0},
    {"PARTS", KIND, offsetof(deja_options, part_kind), 0},
    {"GROWTH", COUNT32, offsetof(deja_options, growth), 0},
    {"TIGHTENING", NUMBER, offsetof(deja_options, tightening), 0},
    {"COUNTERBITS", COUNT32, offsetof(deja_options, counter_bits), 0},
    {"MINIMALINCREASE", FLAG, offsetof(deja_options, flags), DEJA_MINIMAL_INCREASE},
    {"LAYERS", COUNT32, offsetof(deja_options, layers), 0},
    {"PAPER", FLAG, offsetof(deja_options, flags), DEJA_LAYERED_PAPER},
    {"WORDS", FLAG, offsetof(deja_options, flags), DEJA_LAYERED_WORDS},
    {"DELIMITER", BYTE, offsetof(deja_options, delimiter), 0},
    {"GENERATIONS", COUNT32, offsetof(deja_options, generations), 0},
    {"SECONDS", COUNT64, offsetof(deja_options, window_seconds), 0},
    {"DELETIONS", COUNT64, offsetof(deja_options, deletions), 0},
    {"URL", PROFILE, offsetof(deja_options, url), 0},
    {"SEED", COUNT64, offsetof(deja_options, seed), 0},
    {"KEY", SECRET, offsetof(deja_options, key), 0},
};
#define N_WORDS (sizeof words / sizeof words[0])

int word_is(const RedisModuleString *word, const char *what)
{
    size_t len;
    const char *text = RedisModule_StringPtrLen(word, &len);
    return len == strlen(what) && strncasecmp(text, what, len) == 0;
}

/* --- Reading ------------------------------------------------------------------ */

static void *field(deja_options *opt, const struct word *w)
{
    return (char *)opt + w->at;
}

static int set_count(deja_options *opt, const struct word *w, const RedisModuleString *text)
{
    long long n;
    const long long most = w->form == COUNT32 ? UINT32_MAX : INT64_MAX;
    if (RedisModule_StringToLongLong(text, &n) != REDISMODULE_OK || n < 1 || n > most)
        return 0;
    if (w->form == COUNT32)
        *(uint32_t *)field(opt, w) = (uint32_t)n;
    else
        *(uint64_t *)field(opt, w) = (uint64_t)n;
    return 1;
}

static int set_number(deja_options *opt, const struct word *w, const RedisModuleString *text)
{
    double x;
    if (RedisModule_StringToDouble(text, &x) != REDISMODULE_OK || !(x > 0))
        return 0;
    *(double *)field(opt, w) = x;
    return 1;
}

/* Names are words of the library; NUL bytes inside make none. */
static int set_name(deja_options *opt, const struct word *w, const RedisModuleString *text)
{
    size_t len;
    char name[32];
    const char *from = RedisModule_StringPtrLen(text, &len);
    if (len >= sizeof name || memchr(from, 0, len))
        return 0;
    memcpy(name, from, len);
    name[len] = 0;
    if (w->form == PROFILE) {
        const uint32_t profile = deja_profile_parse(name);
        opt->url = profile ? deja_url_profile(profile) : NULL;
        return opt->url != NULL;
    }
    const uint32_t number = w->form == KIND ? deja_kind_parse(name) : deja_hash_parse(name);
    *(uint32_t *)field(opt, w) = number;
    return number != 0;
}

static int set_bytes(deja_options *opt, const struct word *w, const RedisModuleString *text)
{
    size_t len;
    const char *from = RedisModule_StringPtrLen(text, &len);
    if (w->form == SECRET) {
        opt->key = from; /* lives as long as the command */
        return len == DEJA_KEY_LEN;
    }
    opt->delimiter = len == 1 ? (unsigned char)from[0] : 0;
    return opt->delimiter != 0;
}

static int set(deja_options *opt, const struct word *w, const RedisModuleString *text)
{
    switch (w->form) {
    case COUNT32:
    case COUNT64:
        return set_count(opt, w, text);
    case NUMBER:
        return set_number(opt, w, text);
    case KIND:
    case HASH:
    case PROFILE:
        return set_name(opt, w, text);
    case BYTE:
    case SECRET:
        return set_bytes(opt, w, text);
    case FLAG:
        break;
    }
    *(uint32_t *)field(opt, w) |= w->flag;
    return 1;
}

static const struct word *find(const RedisModuleString *text)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (word_is(text, words[i].name))
            return &words[i];
    return NULL;
}

int reserve_parse(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *i,
                  deja_options *opt)
{
    const struct word *w;
    char text[80];
    for (; *i < argc && (w = find(argv[*i])); ++*i) {
        const RedisModuleString *value = NULL;
        if (w->form != FLAG) {
            if (*i + 1 == argc) {
                snprintf(text, sizeof text, "ERR %s needs a value", w->name);
                return RedisModule_ReplyWithError(ctx, text), -1;
            }
            value = argv[++*i];
        }
        if (!set(opt, w, value)) {
            snprintf(text, sizeof text, "ERR bad value for %s", w->name);
            return RedisModule_ReplyWithError(ctx, text), -1;
        }
    }
    return 0;
}

/* --- Writing ------------------------------------------------------------------ */

struct line {
    RedisModuleCtx *ctx;
    RedisModuleString *word[2 * N_WORDS];
    size_t n;
};

static void put(struct line *line, const char *text, size_t len)
{
    line->word[line->n++] = RedisModule_CreateString(line->ctx, text, len);
}

static void spell(struct line *line, const deja_options *opt, const struct word *w)
{
    const char *at = (const char *)opt + w->at;
    char number[40];
    const char *text = number;
    uint32_t n32 = 0;
    uint64_t n64 = 0;
    double x = 0;
    memcpy(&n32, at, sizeof n32);
    int len = -1;
    switch (w->form) {
    case COUNT32:
        len = n32 ? snprintf(number, sizeof number, "%lu", (unsigned long)n32) : -1;
        break;
    case COUNT64:
        memcpy(&n64, at, sizeof n64);
        len = n64 ? snprintf(number, sizeof number, "%llu", (unsigned long long)n64) : -1;
        break;
    case NUMBER:
        memcpy(&x, at, sizeof x);
        len = x > 0 ? snprintf(number, sizeof number, "%.17g", x) : -1;
        break;
    case KIND:
    case HASH:
        text = !n32 ? NULL : w->form == KIND ? deja_kind_name(n32) : deja_hash_name(n32);
        len = text ? (int)strlen(text) : -1;
        break;
    case PROFILE:
        text = opt->url ? deja_profile_name(deja_url_rules_profile(opt->url)) : NULL;
        len = text ? (int)strlen(text) : -1;
        break;
    case BYTE:
        number[0] = (char)opt->delimiter;
        len = opt->delimiter ? 1 : -1;
        break;
    case SECRET:
        text = opt->key;
        len = opt->key ? DEJA_KEY_LEN : -1;
        break;
    case FLAG:
        if (n32 & w->flag)
            put(line, w->name, strlen(w->name));
        return;
    }
    if (len < 0)
        return;
    put(line, w->name, strlen(w->name));
    put(line, text, (size_t)len);
}

static void replicate(RedisModuleCtx *ctx, RedisModuleString *name, const deja_options *opt)
{
    struct line line = {.ctx = ctx};
    for (size_t i = 0; i < N_WORDS; i++)
        spell(&line, opt, &words[i]);
    RedisModule_Replicate(ctx, "DEJA.RESERVE", "sv", name, line.word, line.n);
    for (size_t i = 0; i < line.n; i++)
        RedisModule_FreeString(ctx, line.word[i]);
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
