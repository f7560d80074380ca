/* dcso_file.h - DCSO bloom files on disk: read and checked as a whole, written atomically. */
#ifndef CLI_DCSO_DCSO_FILE_H
#define CLI_DCSO_DCSO_FILE_H
#include "cli/dcso/dcso.h"
#include <stdatomic.h>

struct dcso_file {
    struct dcso filter;
    uint64_t data_len; /* bytes of owner data after the bits */
    bool gzip;
};

/* Reads a plain or gzip file; the content shows which.  Memory grows with the bytes that arrive,
 * because the fields cannot be trusted.  Errors name the file and the problem.  stop may be
 * NULL. */
int dcso_file_read(struct dcso_file *f, const char *path, const atomic_bool *stop,
                   deja_error *err);
void dcso_file_free(struct dcso_file *f);
/* Whether this regular file starts like a DCSO bloom file; false if it cannot be read. */
bool dcso_file_is(const char *path);
/* Reads only the header, and fills *d except for the body; returns false if it is invalid. */
bool dcso_file_peek(const char *path, struct dcso *d);

/* Checks that a file of that name can be written. */
int dcso_file_check_name(const char *path, deja_error *err);
/* Compresses with gzip if the name ends with .gz.  Fails if a file of that name exists, unless
 * `replace` is set or the file is empty. */
int dcso_file_write(const struct dcso *d, const char *path, bool replace, deja_error *err);

#endif
