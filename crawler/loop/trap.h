/* trap.h - crawler traps: servers that generate URLs endlessly. */
#ifndef CRAWLER_LOOP_TRAP_H
#define CRAWLER_LOOP_TRAP_H
#include "tools/base/buffer.h"

#define TRAP_REPEATS 3 /* of the same segments, in a row */

/* Whether the path repeats itself, as in /a/b/a/b/a/b.  Relative links lead there if a server
 * returns the same page for every path. */
bool trap_repeats(deja_slice path);

/* Appends the shape of a URL, which does not depend on numbers and values of parameters:
 * http://h/cal/0/0?day.  Returns false if out of memory. */
bool trap_shape(deja_slice url, struct buffer *out);

#endif
