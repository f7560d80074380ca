/* docs.c - the list of commands: the information for COMMAND, COMMAND DOCS and cluster clients,
 * and the function that the server calls for each command. */
#include "commands.h"
#include "help.h"
#include "reserve.h"
#include "rest.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- Arguments ------------------------------------------------------------------ */

/* clang-format off */
#define FULL(n, t, spec, tok, how) \
    {.name = (n), .type = REDISMODULE_ARG_TYPE_##t, .key_spec_index = (spec), .token = (tok), \
     .flags = (how)}
/* clang-format on */
#define ARG(n, t)        FULL(n, t, -1, NULL, 0)
#define KEY_ARG(n)       FULL(n, KEY, 0, NULL, 0)
#define MAYBE(n, t, tok) FULL(n, t, -1, tok, REDISMODULE_CMD_ARG_OPTIONAL)
#define WORD(n, tok)     MAYBE(n, PURE_TOKEN, tok)
#define LIST(n)          FULL(n, STRING, -1, NULL, REDISMODULE_CMD_ARG_MULTIPLE)
#define ARGS(name, ...)  static RedisModuleCommandArg name[] = {__VA_ARGS__, {0}}

ARGS(key_only, KEY_ARG("key"));
ARGS(key_item, KEY_ARG("key"), ARG("item", STRING));
ARGS(key_items, KEY_ARG("key"), LIST("item"));
ARGS(reserve_args, KEY_ARG("key"), ARG("error_rate", DOUBLE), ARG("capacity", INTEGER),
     MAYBE("expansion", INTEGER, "EXPANSION"), WORD("nonscaling", "NONSCALING"));
ARGS(insert_args, KEY_ARG("key"), MAYBE("capacity", INTEGER, "CAPACITY"),
     MAYBE("error", DOUBLE, "ERROR"), MAYBE("expansion", INTEGER, "EXPANSION"),
     MAYBE("tightening", DOUBLE, "TIGHTENING"), MAYBE("seed", STRING, "SEED"),
     MAYBE("scale-to", INTEGER, "VALIDATESCALETO"), WORD("nocreate", "NOCREATE"),
     WORD("nonscaling", "NONSCALING"), FULL("items", PURE_TOKEN, -1, "ITEMS", 0), LIST("item"));
#define CHOICE(tok) FULL(tok, PURE_TOKEN, -1, tok, 0)
ARGS(info_fields, CHOICE("CAPACITY"), CHOICE("SIZE"), CHOICE("FILTERS"), CHOICE("ITEMS"),
     CHOICE("EXPANSION"), CHOICE("ERROR"), CHOICE("TIGHTENING"), CHOICE("MAXSCALEDCAPACITY"));
ARGS(info_args, KEY_ARG("key"),
     {.name = "field",
      .type = REDISMODULE_ARG_TYPE_ONEOF,
      .key_spec_index = -1,
      .flags = REDISMODULE_CMD_ARG_OPTIONAL,
      .subargs = info_fields});
ARGS(help_args, MAYBE("command", STRING, NULL));
ARGS(scandump_args, KEY_ARG("key"), ARG("iterator", INTEGER));
ARGS(loadchunk_args, KEY_ARG("key"), ARG("iterator", INTEGER), ARG("data", STRING));
ARGS(merge_args, KEY_ARG("destination"),
     FULL("source", KEY, 1, NULL, REDISMODULE_CMD_ARG_MULTIPLE));
ARGS(fold_args, KEY_ARG("key"), MAYBE("times", INTEGER, NULL));
ARGS(import_args, KEY_ARG("key"), ARG("bytes", STRING), WORD("replace", "REPLACE"),
     MAYBE("secret", STRING, "KEY"));

/* The options of a filter, from the library's option table. */
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

/* clang-format off */
#define SPEC(how, at, last) \
    {.flags = (how), .begin_search_type = REDISMODULE_KSPEC_BS_INDEX, .bs.index.pos = (at), \
     .find_keys_type = REDISMODULE_KSPEC_FK_RANGE, .fk.range = {.lastkey = (last), .keystep = 1}}
/* clang-format on */
#define SPECS(name, ...) static RedisModuleCommandKeySpec name[] = {__VA_ARGS__, {0}}

SPECS(reads, SPEC(REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS, 1, 0));
SPECS(changes,
      SPEC(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE, 1,
           0));
SPECS(creates, SPEC(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT, 1, 0));
SPECS(merges, SPEC(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE, 1, 0),
      SPEC(REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS, 2, -1));

/* --- Commands --------------------------------------------------------------------- */

static int run(int (*command)(struct call *c), int least, int most, RedisModuleCtx *ctx,
               RedisModuleString **argv, int argc)
{
    struct call c = {.ctx = ctx, .argv = argv, .argc = argc};
    if (argc < least || argc > most)
        return RedisModule_WrongArity(ctx);
    const int rc = command(&c);
    RedisModule_CloseKey(c.key);
    rest_trim();
    return rc;
}

/* Each command as the server calls it, and its arity in the server's notation. */
#define RUN(name, least, most)                                                                    \
    static int run_##name(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)                \
    {                                                                                             \
        return run(name, least, most, ctx, argv, argc);                                           \
    }                                                                                             \
    enum {                                                                                        \
        arity_##name = (least) == (most) ? (least) : -(least)                                     \
    };
COMMANDS(RUN)
#undef RUN

#define RUN(name) run_##name, arity_##name
#define WRITES    "write deny-oom"
#define SHRINKS   "write"
#define PER_ITEM  "O(N) for N items"
#define PER_BYTE  "O(M) for a filter of M bytes"

static const struct command {
    const char *name;
    RedisModuleCmdFunc run;
    int arity;
    const char *flags;
    RedisModuleCommandKeySpec *keys;
    RedisModuleCommandArg *args;
    const char *complexity, *summary;
} commands[] = {
    {"BF.RESERVE", RUN(bf_reserve), WRITES, creates, reserve_args, PER_BYTE,
     "Creates an empty filter"},
    {"BF.ADD", RUN(bf_add), WRITES " fast", changes, key_item, "O(1)",
     "Adds an item; creates the filter if it does not exist"},
    {"BF.MADD", RUN(bf_madd), WRITES " fast", changes, key_items, PER_ITEM,
     "Adds items; creates the filter if it does not exist"},
    {"BF.INSERT", RUN(bf_insert), WRITES " fast", changes, insert_args, PER_ITEM,
     "Adds items; creates the filter with these options if it does not exist"},
    {"BF.EXISTS", RUN(bf_exists), "readonly fast", reads, key_item, "O(1)",
     "Returns whether an item was added; false positives are possible"},
    {"BF.MEXISTS", RUN(bf_mexists), "readonly fast", reads, key_items, PER_ITEM,
     "Returns for each item whether it was added"},
    {"BF.INFO", RUN(bf_info), "readonly fast", reads, info_args, "O(1)",
     "Returns the capacity, size and number of items of a filter"},
    {"BF.CARD", RUN(bf_card), "readonly fast", reads, key_only, "O(1)",
     "Returns how many distinct items were added"},
    {"BF.SCANDUMP", RUN(bf_scandump), "readonly", reads, scandump_args,
     "O(M) for the first chunk of a filter of M bytes, then O(1)",
     "Returns the bytes of a filter, chunk by chunk"},
    {"BF.LOADCHUNK", RUN(bf_loadchunk), WRITES, creates, loadchunk_args,
     "O(1), and O(M) for the last chunk of a filter of M bytes",
     "Loads the chunks of BF.SCANDUMP, in order"},
    {"DEJA.RESERVE", RUN(deja_cmd_reserve), WRITES, creates, any_args, PER_BYTE,
     "Creates an empty filter of any kind"},
    {"DEJA.ADD", RUN(deja_cmd_add), WRITES " fast", changes, key_items, PER_ITEM,
     "Adds items and returns for each whether it was new"},
    {"DEJA.CHECK", RUN(deja_cmd_check), "readonly fast", reads, key_items, PER_ITEM,
     "Returns for each item whether it was added"},
    {"DEJA.REMOVE", RUN(deja_cmd_remove), SHRINKS " fast", changes, key_items, PER_ITEM,
     "Removes items, if the kind can"},
    {"DEJA.COUNT", RUN(deja_cmd_count), "readonly fast", reads, key_items, PER_ITEM,
     "Returns how many times each item was added, if the kind counts"},
    {"DEJA.MERGE", RUN(deja_cmd_merge), WRITES, merges, merge_args,
     "O(M) for M bytes of all filters", "Stores the union of filters"},
    {"DEJA.FOLD", RUN(deja_cmd_fold), SHRINKS, changes, fold_args, PER_BYTE,
     "Halves the size of a filter one or more times"},
    {"DEJA.ROTATE", RUN(deja_cmd_rotate), WRITES, changes, rotate_args, PER_BYTE,
     "Starts the next visit: empties the filter and changes its hash functions"},
    {"DEJA.INFO", RUN(deja_cmd_info), "readonly", reads, key_only, PER_BYTE,
     "Returns the contents, fill and cost of a filter"},
    {"DEJA.EXPORT", RUN(deja_cmd_export), "readonly", reads, key_only, PER_BYTE,
     "Returns a filter as the bytes of a .deja file"},
    {"DEJA.IMPORT", RUN(deja_cmd_import), WRITES, creates, import_args, PER_BYTE,
     "Creates a filter from the bytes of a .deja file"},
    {"DEJA.HELP", RUN(deja_cmd_help), "readonly fast allow-loading allow-stale", NULL, help_args,
     "O(1)", "Returns the syntax of these commands, or of one"},
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

/* Two lines for each command. */
int deja_cmd_help(struct call *c)
{
    char text[1200];
    long n = 0;
    RedisModule_ReplyWithArray(c->ctx, REDISMODULE_POSTPONED_LEN);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (c->argc > 1 && !call_word_is(c, 1, commands[i].name))
            continue;
        (void)help_syntax(commands[i].name, commands[i].args, text, sizeof text);
        RedisModule_ReplyWithCString(c->ctx, text);
        snprintf(text, sizeof text, "    %s.", commands[i].summary);
        RedisModule_ReplyWithCString(c->ctx, text);
        n += 2;
    }
    if (n == 0) {
        RedisModule_ReplyWithCString(c->ctx, "no such command; DEJA.HELP lists all");
        n = 1;
    }
    RedisModule_ReplySetArrayLength(c->ctx, n);
    return REDISMODULE_OK;
}

/* Redis 7.0 lacks the call; there, ACL rules name commands (+bf.exists) and keys (%R~*). */
static int categorize(RedisModuleCommand *command, const struct command *c)
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
    return categorize(command, c);
}

/* In lower case, like the server's own commands and RedisBloom's. */
static int create(RedisModuleCtx *ctx, const struct command *c)
{
    char name[24];
    const int first = c->keys ? 1 : 0, last = c->keys == merges ? -1 : first;
    size_t n = 0;
    for (; c->name[n]; n++)
        name[n] = (char)tolower((unsigned char)c->name[n]);
    name[n] = 0;
    return RedisModule_CreateCommand(ctx, name, c->run, c->flags, first, last, first);
}

int commands_create(RedisModuleCtx *ctx)
{
    if (RedisModule_AddACLCategory) /* fails harmlessly if another module added it */
        RedisModule_AddACLCategory(ctx, "bloom");
    describe_options();
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const struct command *c = &commands[i];
        if (create(ctx, c) != REDISMODULE_OK || describe(ctx, c) != REDISMODULE_OK) {
            RedisModule_Log(ctx, "warning", "cannot create the command %s", c->name);
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}
