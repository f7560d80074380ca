/* newsieve.h - a sieve that appears under its name when it is complete.
 *
 * It is made in a hidden directory next to its place, .NAME.deja-build, and then renamed.  A run
 * that was killed leaves this directory; the next one deletes it. */
#ifndef CLI_SESSION_NEWSIEVE_H
#define CLI_SESSION_NEWSIEVE_H
#include "tools/base/out.h"

struct newsieve { /* start with {0} */
    const char *path;
    bool force;
    char *temporary; /* create the sieve here */
};

/* Checks that the name is free, or with `force`, that a sieve has it; deletes leftovers. */
int newsieve_begin(struct newsieve *n, const char *path, bool force, deja_error *err);
/* Gives the sieve its name.  It must be closed.  If this fails, it keeps the temporary name, which
 * the message says. */
int newsieve_finish(struct newsieve *n, deja_error *err);
/* Without newsieve_finish, deletes what has been created; it must be closed. */
void newsieve_end(struct newsieve *n, struct console *console);

#endif
