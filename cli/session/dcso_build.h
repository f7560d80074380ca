/* dcso_build.h - `deja build --format dcso`: lines into a bloom file of DCSO's. */
#ifndef CLI_SESSION_DCSO_BUILD_H
#define CLI_SESSION_DCSO_BUILD_H
#include "cli/session/session.h"

/* The session is begun and not yet open; it is closed in any case. */
int dcso_build(struct session *s, const struct call *call, const struct shared_options *c,
               deja_error *err);

#endif
