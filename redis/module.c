/* module.c - loads the deja module into Redis 7.0 or later, or Valkey.
 *
 * It registers the data type (rdb.c), the commands (docs.c), the settings (configs.c) and a
 * section of INFO. */
#include "commands.h"
#include "configs.h"
#include "rdb.h"
#include "warn.h"
#include <stdio.h>

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

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
    const char *name;
    const char *missing = redisapi_fetch(ctx);
    if (missing) {
        fprintf(stderr, "deja: this server lacks RedisModule_%s; use Redis 7.0 or later\n",
                missing);
        return REDISMODULE_ERR;
    }
    if (!settings_read(ctx, argv, argc, &name))
        return REDISMODULE_ERR;
    if (RedisModule_IsModuleNameBusy(name))
        return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, name, version, REDISMODULE_APIVER_1);
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS);
    if (rdb_create_type(ctx) != REDISMODULE_OK || commands_create(ctx) != REDISMODULE_OK ||
        settings_create(ctx, name) != REDISMODULE_OK || warn_start(ctx) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return RedisModule_RegisterInfoFunc(ctx, add_info);
}
