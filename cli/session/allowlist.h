/* allowlist.h - the keys of `build --except`: a static filter must not find them.
 *
 * The list is read like the other files, with the same options.  With profile gsb, a lookup of an
 * entry tries all its expressions, so none of them may be found by mistake.  The entry's own
 * expression is left out of the filter if it is also blocked.  A broader one stays: an allowed page
 * does not unblock its site. */
#ifndef CLI_SESSION_ALLOWLIST_H
#define CLI_SESSION_ALLOWLIST_H
#include "cli/session/session.h"

struct allowlist {
    const char *path;
    uint64_t lines;         /* read */
    deja_excepted excepted; /* set by allowlist_finish */
};

/* Reads the list into the builder.  `blocked` is the session of the block list; `hash` hashes for
 * the builder. */
int allowlist_read(struct allowlist *a, const char *path, const struct call *call,
                   const struct session *blocked, struct pipeline_hash hash, deja_builder *b,
                   deja_error *err);
/* Call it after deja_builder_finish. */
int allowlist_finish(struct allowlist *a, const deja_builder *b, deja_error *err);

/* A note about what the list did, unless `json` reports it, and a warning if some entries are still
 * found. */
void allowlist_report(const struct allowlist *a, struct console *console, bool json,
                      const char *filter);
void allowlist_json(const struct allowlist *a, struct json *j);

#endif
