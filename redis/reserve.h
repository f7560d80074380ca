/* reserve.h - reads and writes the options of a filter as words of a command, and creates
 * filters. */
#ifndef RESERVE_H
#define RESERVE_H
#include "call.h"

#define RESERVE_OPTIONS 64 /* rows of the option table, at most */

/* These reply with an error and return false on failure. */

/* Read the options from argv[2] on. */
bool reserve_parse(const struct call *c, deja_options *opt);
/* Create a filter under the open, absent key.  It is replicated with all options and its secret
 * key, so that replicas create the same filter. */
bool reserve_make(struct call *c, deja_options *opt);

/* A whole command: open the key, which must be absent, create the filter and reply. */
int reserve_new(struct call *c, deja_options *opt, const char *event);

#endif
