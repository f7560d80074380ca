/* commands.h - the commands of the module; docs.c has the list of them. */
#ifndef COMMANDS_H
#define COMMANDS_H
#include "redisapi.h"

#define COMMAND(name) int name(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
COMMAND(bf_reserve)
COMMAND(bf_add)
COMMAND(bf_madd)
COMMAND(bf_insert)
COMMAND(bf_exists)
COMMAND(bf_mexists)
COMMAND(bf_info)
COMMAND(bf_card)
COMMAND(bf_scandump)
COMMAND(bf_loadchunk)
COMMAND(deja_cmd_reserve)
COMMAND(deja_cmd_add)
COMMAND(deja_cmd_check)
COMMAND(deja_cmd_remove)
COMMAND(deja_cmd_count)
COMMAND(deja_cmd_merge)
COMMAND(deja_cmd_fold)
COMMAND(deja_cmd_rotate)
COMMAND(deja_cmd_info)
COMMAND(deja_cmd_export)
COMMAND(deja_cmd_import)
#undef COMMAND

/* Create all commands and tell what there is to tell about them. */
int commands_create(RedisModuleCtx *ctx);

#endif
