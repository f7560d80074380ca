/* warn.h - what the module writes to the server's log about values. */
#ifndef WARN_H
#define WARN_H
#include "value.h"

int warn_start(RedisModuleCtx *ctx);

/* A value was kept that this build cannot use. */
void warn_kept(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why);
/* The bytes of a RESTORE were refused. */
void warn_refused(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why);
/* A filter is saved although it would not load again as a filter. */
void warn_unsound(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why);

unsigned long long warn_refusals(void); /* since the server started */

#endif
