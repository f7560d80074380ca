/* commands.h - the commands of the module; docs.c describes them to the server. */
#ifndef COMMANDS_H
#define COMMANDS_H
#include "call.h"
#include <limits.h>

#define MANY INT_MAX

/* COMMAND(name, fewest words, most words), counting the command itself. */
#define COMMANDS(COMMAND)                                                                         \
    COMMAND(bf_reserve, 4, 7)                                                                     \
    COMMAND(bf_add, 3, 3)                                                                         \
    COMMAND(bf_madd, 3, MANY)                                                                     \
    COMMAND(bf_insert, 4, MANY)                                                                   \
    COMMAND(bf_exists, 3, 3)                                                                      \
    COMMAND(bf_mexists, 3, MANY)                                                                  \
    COMMAND(bf_info, 2, 3)                                                                        \
    COMMAND(bf_card, 2, 2)                                                                        \
    COMMAND(bf_scandump, 3, 3)                                                                    \
    COMMAND(bf_loadchunk, 4, 4)                                                                   \
    COMMAND(deja_cmd_reserve, 2, MANY)                                                            \
    COMMAND(deja_cmd_add, 3, MANY)                                                                \
    COMMAND(deja_cmd_check, 3, MANY)                                                              \
    COMMAND(deja_cmd_remove, 3, MANY)                                                             \
    COMMAND(deja_cmd_count, 3, MANY)                                                              \
    COMMAND(deja_cmd_merge, 3, MANY)                                                              \
    COMMAND(deja_cmd_fold, 2, 3)                                                                  \
    COMMAND(deja_cmd_rotate, 2, MANY)                                                             \
    COMMAND(deja_cmd_info, 2, 2)                                                                  \
    COMMAND(deja_cmd_export, 2, 2)                                                                \
    COMMAND(deja_cmd_import, 3, MANY)                                                             \
    COMMAND(deja_cmd_help, 1, 2)

#define COMMANDS_DECLARE(name, least, most) int name(struct call *c);
COMMANDS(COMMANDS_DECLARE)
#undef COMMANDS_DECLARE

int commands_create(RedisModuleCtx *ctx);

#endif
