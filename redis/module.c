/* module.c - loads the deja module into Redis 7.0 or later, or Valkey.
 *
 * It registers the data type (rdb.c), the commands (docs.c), the settings and a section of
 * INFO. */
#include "commands.h"
#include "rdb.h"
#include "warn.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* --- Settings: CONFIG SET deja.NAME VALUE ------------------------------------------ */

static long long get_number(const char *name, void *number)
{
    (void)name;
    return *(long long *)number;
}

static int set_number(const char *name, long long value, void *number, RedisModuleString **err)
{
    (void)name, (void)err;
    *(long long *)number = value;
    return REDISMODULE_OK;
}

static RedisModuleString *error_text; /* as the user spelled it */

static RedisModuleString *get_error(const char *name, void *unused)
{
    (void)name, (void)unused;
    return error_text;
}

static int set_error(const char *name, RedisModuleString *text, void *unused,
                     RedisModuleString **err)
{
    double rate;
    size_t len;
    (void)name, (void)unused;
    const char *words = RedisModule_StringPtrLen(text, &len);
    if (RedisModule_StringToDouble(text, &rate) != REDISMODULE_OK || !(rate > 0 && rate < 1)) {
        static const char why[] = "the error rate must be between 0 and 1";
        *err = RedisModule_CreateString(NULL, why, sizeof why - 1);
        return REDISMODULE_ERR;
    }
    if (error_text)
        RedisModule_FreeString(NULL, error_text);
    error_text = RedisModule_CreateString(NULL, words, len);
    settings.bf_error = rate;
    return REDISMODULE_OK;
}

static int create_settings(RedisModuleCtx *ctx)
{
    const struct {
        const char *name;
        unsigned flags;
        long long *number, least, most;
    } numbers[] = {
        {"bf-initial-size", REDISMODULE_CONFIG_DEFAULT, &settings.bf_capacity, 1, 1 << 30},
        {"bf-expansion-factor", REDISMODULE_CONFIG_DEFAULT, &settings.bf_expansion, 0, 32768},
        {"filter-max-bytes", REDISMODULE_CONFIG_MEMORY, &settings.filter_max_bytes, 1 << 20,
         LLONG_MAX / 2},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (RedisModule_RegisterNumericConfig(ctx, numbers[i].name, *numbers[i].number,
                                              numbers[i].flags, numbers[i].least, numbers[i].most,
                                              get_number, set_number, NULL,
                                              numbers[i].number) != REDISMODULE_OK)
            return REDISMODULE_ERR;
    if (RedisModule_RegisterStringConfig(ctx, "bf-error-rate", "0.01", REDISMODULE_CONFIG_DEFAULT,
                                         get_error, set_error, NULL, NULL) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return RedisModule_LoadConfigs(ctx);
}

/* --- INFO --------------------------------------------------------------------------- */

static void add_info(RedisModuleInfoCtx *info, int for_crash_report)
{
    (void)for_crash_report;
    const struct totals t = value_totals();
    RedisModule_InfoAddSection(info, "filters");
    RedisModule_InfoAddFieldCString(info, "version", deja_version());
    RedisModule_InfoAddFieldCString(info, "kernel", deja_simd_name());
    RedisModule_InfoAddFieldULongLong(info, "filters", t.filters);
    RedisModule_InfoAddFieldULongLong(info, "filter_bytes", t.bytes);
    RedisModule_InfoAddFieldULongLong(info, "unusable_filters", t.opaque);
    RedisModule_InfoAddFieldULongLong(info, "refused_restores", warn_refusals());
}

/* --- Loading -------------------------------------------------------------------------- */

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const int version = DEJA_VERSION_MAJOR * 10000 + DEJA_VERSION_MINOR * 100 + DEJA_VERSION_PATCH;
    (void)argv;
    const char *missing = redisapi_fetch(ctx);
    if (missing) {
        fprintf(stderr, "deja: this server lacks RedisModule_%s; use Redis 7.0 or later\n",
                missing);
        return REDISMODULE_ERR;
    }
    if (RedisModule_IsModuleNameBusy("deja"))
        return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "deja", version, REDISMODULE_APIVER_1);
    if (argc) {
        RedisModule_Log(ctx, "warning",
                        "the module takes no arguments; use the settings deja.* of the server's "
                        "configuration");
        return REDISMODULE_ERR;
    }
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS);
    if (rdb_create_type(ctx) != REDISMODULE_OK || commands_create(ctx) != REDISMODULE_OK ||
        create_settings(ctx) != REDISMODULE_OK || warn_start(ctx) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return RedisModule_RegisterInfoFunc(ctx, add_info);
}
