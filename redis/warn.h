/* warn.h - log lines about values. */
#ifndef WARN_H
#define WARN_H
#include "value.h"

int warn_start(RedisModuleCtx *ctx);

/* A new value is opaque: this build cannot use it.  Does nothing for other values. */
void warn_if_kept(RedisModuleCtx *ctx, const RedisModuleString *name, const struct value *v);
/* The bytes of a RESTORE were refused. */
void warn_refused(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why);
/* A filter was saved although it will not load as a filter. */
void warn_unsound(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why);

unsigned long long warn_refusals(void); /* since the server started */

#endif
