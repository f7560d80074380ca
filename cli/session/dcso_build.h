/* dcso_build.h - `deja build --format dcso`: builds a DCSO bloom file from lines. */
#ifndef CLI_SESSION_DCSO_BUILD_H
#define CLI_SESSION_DCSO_BUILD_H
#include "cli/session/session.h"

/* Call it after session_begin, without session_open.  Closes the session. */
int dcso_build(struct session *s, const struct call *call, const struct shared_options *c,
               deja_error *err);

#endif
