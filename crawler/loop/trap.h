/* trap.h - URLs that a server makes up without end. */
#ifndef CRAWLER_LOOP_TRAP_H
#define CRAWLER_LOOP_TRAP_H
#include "tools/base/buffer.h"

#define TRAP_REPEATS 3 /* of the same segments, one after the other */

/* Does the path repeat itself: /a/b/a/b/a/b?  A relative link on a page that answers under any
 * path makes such ones. */
bool trap_repeats(deja_slice path);

/* What URLs have in common that differ only in numbers and in the values of their parameters:
 * http://h/cal/0/0?day.  Adds it to out; false: no memory. */
bool trap_shape(deja_slice url, struct buffer *out);

#endif
