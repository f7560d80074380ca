/* foreign_file.h - filter files of other programs on disk: read and checked as a whole, written
 * atomically. */
#ifndef CLI_FOREIGN_FOREIGN_FILE_H
#define CLI_FOREIGN_FOREIGN_FILE_H
#include "tools/foreign/foreign.h"
#include <stdatomic.h>

struct foreign_file {
    struct foreign filter;
    bool gzip;
};

/* Reads a plain or gzip file; the content shows which.  If format is NULL, the content shows that
 * too.  Memory grows with the bytes that arrive, because the fields cannot be trusted.  Errors
 * name the file and the problem.  column and stop may be NULL. */
int foreign_file_read(struct foreign_file *f, const char *path,
                      const struct foreign_format *format, const char *column,
                      const atomic_bool *stop, deja_error *err);
void foreign_file_free(struct foreign_file *f);
/* The format of a regular file, or NULL if it is another one or cannot be read. */
const struct foreign_format *foreign_file_is(const char *path);

/* Checks that a file of that name can be written. */
int foreign_file_check_name(const char *path, deja_error *err);
/* Compresses with gzip if the name ends with .gz.  Fails if a file of that name exists, unless
 * `replace` is set or the file is empty.  *bytes becomes the length before compression. */
int foreign_file_write(const struct foreign *f, const char *path, bool replace, uint64_t *bytes,
                       deja_error *err);

#endif
