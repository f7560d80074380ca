/* docs.c - the list of commands, with what COMMAND, COMMAND DOCS and clients of a cluster want to
 * know about them. */
#include "commands.h"
#include "reserve.h"
#include <stdio.h>
#include <string.h>

/* --- Arguments ------------------------------------------------------------------ */

#define FULL(n, t, spec, tok, how)                                                                \
    {                                                                                             \
        .name = (n), .type = REDISMODULE_ARG_TYPE_##t, .key_spec_index = (spec), .token = (tok),  \
        .flags = (how)                                                                            \
    }
#define ARG(n, t)        FULL(n, t, -1, NULL, 0)
#define KEY_ARG(n)       FULL(n, KEY, 0, NULL, 0)
#define MAYBE(n, t, tok) FULL(n, t, -1, tok, REDISMODULE_CMD_ARG_OPTIONAL)
#define WORD(n, tok)     MAYBE(n, PURE_TOKEN, tok)
#define MANY(n)          FULL(n, STRING, -1, NULL, REDISMODULE_CMD_ARG_MULTIPLE)
#define END                                                                                       \
    {                                                                                             \
        .name = NULL                                                                              \
    }
#define ARGS(name, ...) static RedisModuleCommandArg name[] = {__VA_ARGS__, END}

ARGS(key_only, KEY_ARG("key"));
ARGS(key_item, KEY_ARG("key"), ARG("item", STRING));
ARGS(key_items, KEY_ARG("key"), MANY("item"));
ARGS(reserve_args, KEY_ARG("key"), ARG("error_rate", DOUBLE), ARG("capacity", INTEGER),
     MAYBE("expansion", INTEGER, "EXPANSION"), WORD("nonscaling", "NONSCALING"));
ARGS(insert_args, KEY_ARG("key"), MAYBE("capacity", INTEGER, "CAPACITY"),
     MAYBE("error", DOUBLE, "ERROR"), MAYBE("expansion", INTEGER, "EXPANSION"),
     MAYBE("tightening", DOUBLE, "TIGHTENING"), MAYBE("seed", STRING, "SEED"),
     MAYBE("scale-to", INTEGER, "VALIDATESCALETO"), WORD("nocreate", "NOCREATE"),
     WORD("nonscaling", "NONSCALING"), FULL("items", PURE_TOKEN, -1, "ITEMS", 0), MANY("item"));
ARGS(info_args, KEY_ARG("key"), MAYBE("field", STRING, NULL));
ARGS(scandump_args, KEY_ARG("key"), ARG("iterator", INTEGER));
ARGS(loadchunk_args, KEY_ARG("key"), ARG("iterator", INTEGER), ARG("data", STRING));
ARGS(merge_args, KEY_ARG("destination"),
     FULL("source", KEY, 1, NULL, REDISMODULE_CMD_ARG_MULTIPLE));
ARGS(fold_args, KEY_ARG("key"), MAYBE("times", INTEGER, NULL));
ARGS(import_args, KEY_ARG("key"), ARG("bytes", STRING), WORD("replace", "REPLACE"),
     MAYBE("secret", STRING, "KEY"));

/* The options of a filter, from the library's table. */
static RedisModuleCommandArg any_args[RESERVE_OPTIONS + 2], rotate_args[RESERVE_OPTIONS + 2];
static char summaries[RESERVE_OPTIONS][160];

static RedisModuleCommandArgType type_of(const deja_option *o)
{
    switch (o->type) {
    case DEJA_OPTION_COUNT:
    case DEJA_OPTION_BITS:
        return REDISMODULE_ARG_TYPE_INTEGER;
    case DEJA_OPTION_RATE:
    case DEJA_OPTION_REAL:
        return REDISMODULE_ARG_TYPE_DOUBLE;
    case DEJA_OPTION_FLAG:
        return REDISMODULE_ARG_TYPE_PURE_TOKEN;
    }
    return REDISMODULE_ARG_TYPE_STRING;
}

static void describe_options(void)
{
    RedisModuleCommandArg *any = any_args, *rotate = rotate_args;
    *any++ = *rotate++ = (RedisModuleCommandArg)KEY_ARG("key");
    for (size_t i = 0; deja_option_at(i); i++) {
        const deja_option *o = deja_option_at(i);
        if (!o->keyword)
            continue;
        deja_option_translate(o->help, value_option_word, summaries[i], sizeof summaries[i]);
        *any = (RedisModuleCommandArg){.name = o->name,
                                       .type = type_of(o),
                                       .key_spec_index = -1,
                                       .token = o->keyword,
                                       .summary = summaries[i],
                                       .flags = REDISMODULE_CMD_ARG_OPTIONAL};
        if (o->renewable)
            *rotate++ = *any;
        any++;
    }
}

/* --- Keys ----------------------------------------------------------------------- */

#define SPEC(how, at, last)                                                                       \
    {                                                                                             \
        .flags = (how), .begin_search_type = REDISMODULE_KSPEC_BS_INDEX, .bs.index.pos = (at),    \
        .find_keys_type = REDISMODULE_KSPEC_FK_RANGE, .fk.range = {                               \
            .lastkey = (last),                                                                    \
            .keystep = 1,                                                                         \
            .limit = 0                                                                            \
        }                                                                                         \
    }
#define NO_MORE                                                                                   \
    {                                                                                             \
        .begin_search_type = 0                                                                    \
    }
static RedisModuleCommandKeySpec reads[] = {
    SPEC(REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS, 1, 0), NO_MORE};
static RedisModuleCommandKeySpec changes[] = {
    SPEC(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE, 1, 0),
    NO_MORE};
static RedisModuleCommandKeySpec makes[] = {
    SPEC(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT, 1, 0), NO_MORE};
static RedisModuleCommandKeySpec unites[] = {
    SPEC(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE, 1, 0),
    SPEC(REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS, 2, -1), NO_MORE};

/* --- Commands --------------------------------------------------------------------- */

#define WRITES "write deny-oom"
#define SHRINK "write"

static const struct command {
    const char *name;
    RedisModuleCmdFunc run;
    const char *flags;
    int arity;
    RedisModuleCommandKeySpec *keys;
    RedisModuleCommandArg *args;
    const char *complexity, *summary;
} commands[] = {
    {"BF.RESERVE", bf_reserve, WRITES, -4, makes, reserve_args, "O(M) for a filter of M bytes",
     "Makes an empty filter"},
    {"BF.ADD", bf_add, WRITES " fast", 3, changes, key_item, "O(1)",
     "Adds an item, and makes the filter if there is none"},
    {"BF.MADD", bf_madd, WRITES " fast", -3, changes, key_items, "O(N) for N items",
     "Adds items, and makes the filter if there is none"},
    {"BF.INSERT", bf_insert, WRITES " fast", -4, changes, insert_args, "O(N) for N items",
     "Adds items; options are for a filter that is made"},
    {"BF.EXISTS", bf_exists, "readonly fast", 3, reads, key_item, "O(1)",
     "Tells whether an item was added, or nearly surely not"},
    {"BF.MEXISTS", bf_mexists, "readonly fast", -3, reads, key_items, "O(N) for N items",
     "Tells for each item whether it was added"},
    {"BF.INFO", bf_info, "readonly fast", -2, reads, info_args, "O(1)",
     "Tells capacity, size and items of a filter"},
    {"BF.CARD", bf_card, "readonly fast", 2, reads, key_only, "O(1)",
     "Tells how many items were added that were not there"},
    {"BF.SCANDUMP", bf_scandump, "readonly", 3, reads, scandump_args,
     "O(M) for the first chunk of a filter of M bytes, then O(1)",
     "Gives the bytes of a filter, chunk by chunk"},
    {"BF.LOADCHUNK", bf_loadchunk, WRITES, 4, makes, loadchunk_args,
     "O(1), and O(M) for the last chunk of a filter of M bytes",
     "Takes the chunks of BF.SCANDUMP, in order"},
    {"DEJA.RESERVE", deja_cmd_reserve, WRITES, -2, makes, any_args, "O(M) for a filter of M bytes",
     "Makes an empty filter of any kind"},
    {"DEJA.ADD", deja_cmd_add, WRITES " fast", -3, changes, key_items, "O(N) for N items",
     "Adds items and tells for each whether it was new"},
    {"DEJA.CHECK", deja_cmd_check, "readonly fast", -3, reads, key_items, "O(N) for N items",
     "Tells for each item whether it was added"},
    {"DEJA.REMOVE", deja_cmd_remove, SHRINK " fast", -3, changes, key_items, "O(N) for N items",
     "Takes items out again, where the kind can"},
    {"DEJA.COUNT", deja_cmd_count, "readonly fast", -3, reads, key_items, "O(N) for N items",
     "Tells how often each item was added, where the kind counts"},
    {"DEJA.MERGE", deja_cmd_merge, WRITES, -3, unites, merge_args,
     "O(M) for M bytes of all filters", "Unites filters made with the same key"},
    {"DEJA.FOLD", deja_cmd_fold, SHRINK, -2, changes, fold_args, "O(M) for a filter of M bytes",
     "Halves a filter, so many times"},
    {"DEJA.ROTATE", deja_cmd_rotate, WRITES, -2, changes, rotate_args,
     "O(M) for a filter of M bytes", "Begins the next visit: an empty filter with other hashes"},
    {"DEJA.INFO", deja_cmd_info, "readonly", 2, reads, key_only, "O(M) for a filter of M bytes",
     "Tells what is in a filter, how full it is, and what it costs"},
    {"DEJA.EXPORT", deja_cmd_export, "readonly", 2, reads, key_only,
     "O(M) for a filter of M bytes", "Gives a filter as the bytes of a .deja file"},
    {"DEJA.IMPORT", deja_cmd_import, WRITES, -3, makes, import_args,
     "O(M) for a filter of M bytes", "Takes the bytes of a .deja file"},
};

/* Redis 7.0 has no call for it: rules there name commands (+bf.exists) and keys (%R~*). */
static int categorise(RedisModuleCommand *command, const struct command *c)
{
    char categories[40];
    if (!RedisModule_SetCommandACLCategories)
        return REDISMODULE_OK;
    snprintf(
        categories, sizeof categories, "%s %s%s", strstr(c->flags, "write") ? "write" : "read",
        strstr(c->flags, "fast") ? "fast" : "slow", RedisModule_AddACLCategory ? " bloom" : "");
    return RedisModule_SetCommandACLCategories(command, categories);
}

static int describe(RedisModuleCtx *ctx, const struct command *c)
{
    static const RedisModuleCommandInfoVersion version = {
        1, sizeof(RedisModuleCommandHistoryEntry), sizeof(RedisModuleCommandKeySpec),
        sizeof(RedisModuleCommandArg)};
    const RedisModuleCommandInfo info = {
        .version = &version,
        .summary = c->summary,
        .complexity = c->complexity,
        .since = "0.2.0",
        .arity = c->arity,
        .key_specs = c->keys,
        .args = c->args,
    };
    RedisModuleCommand *command = RedisModule_GetCommand(ctx, c->name);
    if (RedisModule_SetCommandInfo(command, &info) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return categorise(command, c);
}

int commands_create(RedisModuleCtx *ctx)
{
    if (RedisModule_AddACLCategory) /* a server that has it from elsewhere says no: so be it */
        RedisModule_AddACLCategory(ctx, "bloom");
    describe_options();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const struct command *c = &commands[i];
        const int last = c->keys == unites ? -1 : 1;
        if (RedisModule_CreateCommand(ctx, c->name, c->run, c->flags, 1, last, 1) !=
                REDISMODULE_OK ||
            describe(ctx, c) != REDISMODULE_OK) {
            RedisModule_Log(ctx, "warning", "the command %s cannot be made", c->name);
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}
