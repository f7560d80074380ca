/* foreign_build.h - `deja build --format dcso` and the like: builds a filter file of another program
 * from lines. */
#ifndef CLI_SESSION_FOREIGN_BUILD_H
#define CLI_SESSION_FOREIGN_BUILD_H
#include "cli/session/session.h"

/* Call it after session_begin, without session_open.  Closes the session. */
int foreign_build(struct session *s, const struct call *call, const struct shared_options *c,
                  deja_error *err);

#endif
