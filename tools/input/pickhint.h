/* pickhint.h - explains what the lines contain if none of them has the requested key.
 *
 * It keeps the first lines without a key, so that the error message can name their keys, columns
 * or fields.  Usually the requested name is misspelled. */
#ifndef TOOLS_INPUT_PICKHINT_H
#define TOOLS_INPUT_PICKHINT_H
#include "tools/input/pick.h"

#define PICKHINT_LINES 3
#define PICKHINT_BYTES ((size_t)64 << 10) /* of each line */

struct pickhint { /* start with {0} */
    char *line[PICKHINT_LINES];
    size_t len[PICKHINT_LINES];
    unsigned n;
    const char *path; /* the file of the first line */
};
/* Keeps a line without a key, unless it is empty or there are enough.  If memory runs out, the
 * hint is shorter.  The path is borrowed. */
void pickhint_keep(struct pickhint *h, deja_slice line, const char *path);
void pickhint_fini(struct pickhint *h);

/* Returns DEJA_EINVAL.  The text says that no line has the key, and lists what the first lines
 * have. */
int pickhint_fail(const struct pickhint *h, const struct pick *p, deja_error *err);

/* Appends the names of the columns in a CSV record to err (if not NULL), as many as fit. */
void pickhint_columns(deja_slice record, char delimiter, deja_error *err);

#endif
