/* spool.h - a copy of a pipe in an unnamed temporary file, for input that is read twice. */
#ifndef TOOLS_INPUT_SPOOL_H
#define TOOLS_INPUT_SPOOL_H
#include "deja.h"
#include <stdatomic.h>

/* Copies fd to its end into a new file in $TMPDIR, or /tmp, that no other process can find and
 * that disappears when it is closed.  *copy is at its start.  name is for messages.  `stop` and
 * `quit` may be NULL; once one of them is true, the copy ends soon, with what arrived. */
int spool_copy(int fd, const char *name, const atomic_bool *stop, const atomic_bool *quit,
               int *copy, deja_error *err);

#endif
