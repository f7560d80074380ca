/* configs.h - the settings of the module under all their names, and the arguments of loadmodule. */
#ifndef CONFIGS_H
#define CONFIGS_H
#include "value.h"
#include <stdbool.h>

/* Reads the arguments of loadmodule.  *name becomes the name of the module, which starts the names
 * of its settings.  False: an argument is invalid, and the log says why. */
bool settings_read(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const char **name);
/* Registers the settings, and sets those that the server's configuration has. */
int settings_create(RedisModuleCtx *ctx, const char *name);

#endif
