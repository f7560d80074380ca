/* scope.h - decides which URLs belong to a crawl. */
#ifndef CRAWLER_LOOP_SCOPE_H
#define CRAWLER_LOOP_SCOPE_H
#include "deja.h"

enum scope_kind {   /* stored in the queue: append only */
    SCOPE_HOST = 1, /* the hosts of the seeds                              */
    SCOPE_DOMAIN,   /* their registrable domains: all of *.example.co.uk   */
    SCOPE_PREFIX,   /* URLs that start like a seed, up to its last slash   */
    SCOPE_REGEX,    /* URLs that an expression matches                     */
    SCOPE_ANY       /* all                                                 */
};
const char *scope_name(uint32_t kind); /* NULL: no such kind */

typedef struct scope scope;
/* match, for SCOPE_REGEX, is a POSIX extended regular expression.  exclude, unless NULL, is one
 * for URLs that never belong.  DEJA_EINVAL: one of them is invalid. */
int scope_new(uint32_t kind, const char *match, const char *exclude, scope **out, deja_error *err);
void scope_free(scope *s);
/* Add a seed, in canonical form. */
int scope_add(scope *s, deja_slice seed);
bool scope_has(const scope *s, deja_slice url);

/* Slices of a canonical http or https URL: its scheme and authority; the rest. */
deja_slice scope_origin(deja_slice url);
deja_slice scope_path(deja_slice url);
bool scope_is_web(deja_slice url); /* http or https */

#endif
