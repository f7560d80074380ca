/* header.h - the line at the beginning of a file that says what its columns are. */
#ifndef CLI_HEADER_H
#define CLI_HEADER_H
#include "pick.h"

struct header {
    char *text; /* of the first file that has one, with its terminator; NULL: none yet */
    size_t len;
    bool differ; /* a later file had another one */
};
void header_fini(struct header *h);

/* A file's header, with its terminator and perhaps a byte order mark: find the column that p is
 * to cut, and keep the first header.  DEJA_EINVAL: no such column; path is for that message. */
int header_take(struct header *h, struct pick *p, deja_slice record, const char *path,
                deja_error *err);

#endif
