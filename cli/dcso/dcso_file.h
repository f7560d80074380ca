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

/* Reads a plain or gzip file, detected by content.  Memory grows with the bytes that arrive, not
 * with what a field says.  Errors name the file and the problem.  stop may be NULL. */
int dcso_file_read(struct dcso_file *f, const char *path, const atomic_bool *stop,
                   deja_error *err);
void dcso_file_free(struct dcso_file *f);
/* Does this regular file start like a DCSO bloom file?  Also false if it cannot be read. */
bool dcso_file_is(const char *path);
/* Reads only the header, and fills *d except for the body; false if it is not valid. */
bool dcso_file_peek(const char *path, struct dcso *d);

/* Can a file of that name be written? */
int dcso_file_check_name(const char *path, deja_error *err);
/* Compresses with gzip if the name ends with .gz.  Fails if a file of that name exists, unless
 * `replace` is set or the file is empty. */
int dcso_file_write(const struct dcso *d, const char *path, bool replace, deja_error *err);

#endif
