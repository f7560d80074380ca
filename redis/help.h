/* help.h - the syntax of a command as text, from the description that COMMAND DOCS has. */
#ifndef HELP_H
#define HELP_H
#include "redisapi.h"

/* Writes "DEJA.ADD key item [item ...]", cut off after cap - 1 bytes.  Returns the length. */
size_t help_syntax(const char *command, const RedisModuleCommandArg *args, char *text, size_t cap);

#endif
