/* pickhint.h - what the input does have, if none of its lines has the key that was asked for.
 *
 * The first lines without a key are kept, so that the error can name their keys, columns or
 * fields: that is most often how a typing mistake looks. */
#ifndef TOOLS_INPUT_PICKHINT_H
#define TOOLS_INPUT_PICKHINT_H
#include "tools/input/pick.h"

#define PICKHINT_LINES 3
#define PICKHINT_BYTES ((size_t)64 << 10) /* of each */

struct pickhint { /* begin with {0} */
    char *line[PICKHINT_LINES];
    size_t len[PICKHINT_LINES];
    unsigned n;
    const char *path; /* of the first one */
};
/* Keeps a line without a key, unless it is empty or there are enough.  Without memory the hint is
 * shorter, and nothing fails.  The path is borrowed. */
void pickhint_keep(struct pickhint *h, deja_slice line, const char *path);
void pickhint_fini(struct pickhint *h);

/* Returns DEJA_EINVAL with the text: no line has the key, and what the first ones have. */
int pickhint_fail(const struct pickhint *h, const struct pick *p, deja_error *err);

/* Appends the names of the columns in a CSV record to err (if not NULL), as many as fit. */
void pickhint_columns(deja_slice record, char delimiter, deja_error *err);

#endif
