/* configs.c - the settings of the module under all their names, and the arguments of loadmodule.
 *
 * Clients know the settings by three kinds of names: bf-error-rate (RedisBloom on Redis 8),
 * bf.bloom-fp-rate (Valkey's module), and ERROR_RATE (an argument of loadmodule, in RedisBloom
 * before 8).  A server before Redis 8, and Valkey, puts the name of the module and a dot in front
 * of every setting.  Redis 8 has a flag against that.
 *
 *            Redis 7, Valkey                            Redis 8
 *   files    deja.bf-error-rate, deja.bloom-fp-rate     these, bf-error-rate, bf.bf-error-rate,
 *                                                       bf.bloom-fp-rate
 *   CONFIG   all; a filter on CONFIG adds the prefix    all
 *   loadmodule deja.so ERROR_RATE x, bf-error-rate x    the same
 *
 * Loaded with AS bf, the module is called bf, and the names in files start with bf. instead.
 *
 * All names of a setting share its value.  While the server loads its configuration, it sets each
 * name that is missing there to the default, so a default changes nothing at that time. */
#include "configs.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAMES       4
#define NAME_LEN    64
#define RATE_MOST   1.0
#define EXPANSIONS  32768
#define INITIAL_MAX ((long long)1 << 30)

/* A number.  The text is what the user wrote. */
static struct number {
    const char *name;     /* of RedisBloom */
    const char *alias;    /* of Valkey's module */
    const char *argument; /* of loadmodule */
    double *real;         /* one of these is set */
    long long *whole;
    long long least, most;
    const char *standard;
    RedisModuleString *text;
} numbers[] = {
    {"bf-error-rate", "bloom-fp-rate", "ERROR_RATE", .real = &settings.bf_error,
     .standard = "0.01"},
    {"bf-initial-size", "bloom-capacity", "INITIAL_SIZE", .whole = &settings.bf_capacity,
     .least = 1, .most = INITIAL_MAX, .standard = "100"},
    {"bf-expansion-factor", "bloom-expansion", "EXPANSION", .whole = &settings.bf_expansion,
     .least = 0, .most = EXPANSIONS, .standard = "2"},
};
#define N_NUMBERS (sizeof numbers / sizeof numbers[0])

static const char memory[] = "filter-max-bytes", memory_alias[] = "bloom-memory-usage-limit";

static bool loading; /* the server is loading its configuration */

/* --- Values --------------------------------------------------------------------- */

static bool is_word(const RedisModuleString *text, const char *word)
{
    size_t len;
    const char *start = RedisModule_StringPtrLen(text, &len);
    return len == strlen(word) && strncasecmp(start, word, len) == 0;
}

static bool take_real(const struct number *n, const RedisModuleString *text, char *why,
                      size_t room)
{
    double x;
    if (RedisModule_StringToDouble(text, &x) != REDISMODULE_OK) {
        snprintf(why, room, "Invalid value for `%s`", n->name);
        return false;
    }
    if (!(x > 0 && x < RATE_MOST)) {
        snprintf(why, room, "Value for `%s` must be in the range (%f, %f)", n->name, 0.0,
                 RATE_MOST);
        return false;
    }
    *n->real = x;
    return true;
}

static bool take_whole(const struct number *n, const RedisModuleString *text, char *why,
                       size_t room)
{
    long long x;
    if (RedisModule_StringToLongLong(text, &x) != REDISMODULE_OK) {
        snprintf(why, room, "Invalid value for `%s`", n->name);
        return false;
    }
    if (x < n->least || x > n->most) {
        snprintf(why, room, "Value for `%s` must be in the range [%lld, %lld]", n->name, n->least,
                 n->most);
        return false;
    }
    *n->whole = x;
    return true;
}

/* Sets a number and keeps its text; false: `why` says what is wrong. */
static bool take(struct number *n, const RedisModuleString *text, char *why, size_t room)
{
    size_t len;
    const char *words = RedisModule_StringPtrLen(text, &len);
    if (n->real ? !take_real(n, text, why, room) : !take_whole(n, text, why, room))
        return false;
    if (n->text)
        RedisModule_FreeString(NULL, n->text);
    n->text = RedisModule_CreateString(NULL, words, len);
    return true;
}

/* --- What the server calls -------------------------------------------------------- */

static RedisModuleString *get_number(const char *name, void *number)
{
    (void)name;
    return ((struct number *)number)->text;
}

static int set_number(const char *name, RedisModuleString *text, void *number,
                      RedisModuleString **err)
{
    struct number *n = number;
    char why[120];
    (void)name;
    if ((loading && is_word(text, n->standard)) || take(n, text, why, sizeof why))
        return REDISMODULE_OK;
    *err = RedisModule_CreateString(NULL, why, strlen(why));
    return REDISMODULE_ERR;
}

static long long memory_standard;

static long long get_memory(const char *name, void *unused)
{
    (void)name, (void)unused;
    return settings.filter_max_bytes;
}

static int set_memory(const char *name, long long value, void *unused, RedisModuleString **err)
{
    (void)name, (void)unused, (void)err;
    if (!loading || value != memory_standard)
        settings.filter_max_bytes = value;
    return REDISMODULE_OK;
}

static int register_number(RedisModuleCtx *ctx, const char *name, unsigned flags, struct number *n)
{
    return RedisModule_RegisterStringConfig(ctx, name, n->standard, flags, get_number, set_number,
                                            NULL, n);
}

static int register_memory(RedisModuleCtx *ctx, const char *name, unsigned flags)
{
    return RedisModule_RegisterNumericConfig(ctx, name, memory_standard,
                                             REDISMODULE_CONFIG_MEMORY | flags, 1 << 20,
                                             LLONG_MAX / 2, get_memory, set_memory, NULL, NULL);
}

/* --- CONFIG on a server that puts its prefix before every name ----------------------- */

static const char *prefix; /* of the names that the server knows */

/* Is this the name of a setting that CONFIG would know with the prefix? */
static bool lacks_prefix(const char *name, size_t len)
{
    for (size_t i = 0; i < N_NUMBERS; i++)
        if ((len == strlen(numbers[i].name) && strncasecmp(name, numbers[i].name, len) == 0) ||
            (len == strlen(numbers[i].alias) && strncasecmp(name, numbers[i].alias, len) == 0))
            return true;
    return len == strlen(memory_alias) && strncasecmp(name, memory_alias, len) == 0;
}

static void add_prefix(RedisModuleCommandFilterCtx *filter, int i)
{
    size_t len;
    char full[NAME_LEN];
    const char *name = RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, i), &len);
    if (len > 3 && strncasecmp(name, "bf.", 3) == 0) {
        name += 3;
        len -= 3;
    }
    if (!lacks_prefix(name, len))
        return;
    const int n = snprintf(full, sizeof full, "%s.%.*s", prefix, (int)len, name);
    RedisModule_CommandFilterArgReplace(filter, i,
                                        RedisModule_CreateString(NULL, full, (size_t)n));
}

/* The server calls this before every command. */
static void complete_names(RedisModuleCommandFilterCtx *filter)
{
    const int n = RedisModule_CommandFilterArgsCount(filter);
    if (n < 3 || !is_word(RedisModule_CommandFilterArgGet(filter, 0), "config"))
        return;
    const RedisModuleString *what = RedisModule_CommandFilterArgGet(filter, 1);
    const bool sets = is_word(what, "set");
    for (int i = 2; i < n && (sets || is_word(what, "get")); i += sets ? 2 : 1)
        add_prefix(filter, i);
}

/* --- Registering -------------------------------------------------------------------- */

static int register_prefixed(RedisModuleCtx *ctx)
{
    int bad = 0;
    for (size_t i = 0; i < N_NUMBERS; i++) {
        bad |= register_number(ctx, numbers[i].name, REDISMODULE_CONFIG_DEFAULT, &numbers[i]);
        bad |= register_number(ctx, numbers[i].alias, REDISMODULE_CONFIG_DEFAULT, &numbers[i]);
    }
    bad |= register_memory(ctx, memory, 0);
    bad |= register_memory(ctx, memory_alias, 0);
    return bad ? REDISMODULE_ERR : REDISMODULE_OK;
}

/* Redis 8: the names as clients use them. */
static int register_bare(RedisModuleCtx *ctx)
{
    int bad = 0;
    char full[NAME_LEN];
    const bool is_bf = strcmp(prefix, "bf") == 0; /* then bf.NAME is registered already */
    for (size_t i = 0; i < N_NUMBERS; i++) {
        struct number *n = &numbers[i];
        bad |= register_number(ctx, n->name, REDISMODULE_CONFIG_UNPREFIXED, n);
        for (int j = 0; j < 2 && !is_bf; j++) {
            snprintf(full, sizeof full, "bf.%s", j ? n->alias : n->name);
            bad |= register_number(ctx, full, REDISMODULE_CONFIG_UNPREFIXED, n);
        }
    }
    snprintf(full, sizeof full, "bf.%s", memory_alias);
    if (!is_bf)
        bad |= register_memory(ctx, full, REDISMODULE_CONFIG_UNPREFIXED);
    return bad ? REDISMODULE_ERR : REDISMODULE_OK;
}

/* Valkey's redis_version is 7.2.4 for ever. */
static bool knows_bare_names(RedisModuleCtx *ctx)
{
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "server");
    const char *version = RedisModule_ServerInfoGetFieldC(info, "redis_version");
    const bool knows = version && strtol(version, NULL, 10) >= 8;
    RedisModule_FreeServerInfo(ctx, info);
    return knows;
}

int settings_create(RedisModuleCtx *ctx, const char *name)
{
    const bool bare = knows_bare_names(ctx);
    prefix = name;
    memory_standard = settings.filter_max_bytes;
    if (register_prefixed(ctx) != REDISMODULE_OK || (bare && register_bare(ctx) != REDISMODULE_OK))
        return REDISMODULE_ERR;
    if (!bare && !RedisModule_RegisterCommandFilter(ctx, complete_names, 0))
        return REDISMODULE_ERR;
    loading = true;
    const int rc = RedisModule_LoadConfigs(ctx);
    loading = false;
    return rc;
}

/* --- The arguments of loadmodule ------------------------------------------------------ */

static bool take_argument(RedisModuleCtx *ctx, const RedisModuleString *word,
                          RedisModuleString *value)
{
    char why[120] = "unknown argument";
    for (size_t i = 0; i < N_NUMBERS; i++) {
        struct number *n = &numbers[i];
        if (!is_word(word, n->argument) && !is_word(word, n->name) && !is_word(word, n->alias))
            continue;
        if (take(n, value, why, sizeof why)) {
            n->standard = RedisModule_StringPtrLen(n->text, NULL);
            n->text = RedisModule_CreateString(NULL, n->standard, strlen(n->standard));
            return true;
        }
        break;
    }
    if (is_word(word, "CF_MAX_EXPANSIONS")) { /* of cuckoo filters, which this module lacks */
        RedisModule_Log(ctx, "notice", "the argument CF_MAX_EXPANSIONS has no effect");
        return true;
    }
    RedisModule_Log(ctx, "warning",
                    "argument %s: %s; known: AS, ERROR_RATE, INITIAL_SIZE, "
                    "EXPANSION, and the settings bf-*",
                    RedisModule_StringPtrLen(word, NULL), why);
    return false;
}

static const char *module_name(const RedisModuleString *text)
{
    static const char *const allowed[] = {"deja", "bf"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        if (is_word(text, allowed[i]))
            return allowed[i];
    return NULL;
}

bool settings_read(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const char **name)
{
    *name = "deja";
    for (size_t i = 0; i < N_NUMBERS; i++)
        numbers[i].text =
            RedisModule_CreateString(NULL, numbers[i].standard, strlen(numbers[i].standard));
    if (argc % 2) {
        RedisModule_Log(ctx, "warning", "the arguments of the module are pairs: ERROR_RATE 0.01");
        return false;
    }
    for (int i = 0; i < argc; i += 2) {
        if (!is_word(argv[i], "AS")) {
            if (!take_argument(ctx, argv[i], argv[i + 1]))
                return false;
        } else if (!(*name = module_name(argv[i + 1]))) {
            RedisModule_Log(ctx, "warning", "argument AS: the module's name can be deja or bf");
            return false;
        }
    }
    return true;
}
