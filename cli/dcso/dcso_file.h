/* dcso_file.h - bloom files of DCSO's on disk: read whole, checked on the way; written whole or
 * not at all. */
#ifndef CLI_DCSO_DCSO_FILE_H
#define CLI_DCSO_DCSO_FILE_H
#include "cli/dcso/dcso.h"
#include <stdatomic.h>

struct dcso_file {
    struct dcso filter;
    uint64_t data_len; /* bytes behind the bits, which are the owner's */
    bool gzip;
};

/* Plain or gzip, by content.  Memory is taken as bytes come, never because a field asks for it.
 * Errors name the file and what is wrong.  stop may be NULL. */
int dcso_file_read(struct dcso_file *f, const char *path, const atomic_bool *stop,
                   deja_error *err);
void dcso_file_free(struct dcso_file *f);
/* Does a regular file begin as one?  False also when it cannot be read. */
bool dcso_file_is(const char *path);
/* Reads its header alone, into everything but the body; false if that is not a valid one. */
bool dcso_file_peek(const char *path, struct dcso *d);

/* Can a file of that name be made? */
int dcso_file_check_name(const char *path, deja_error *err);
/* With gzip if the name ends with .gz.  A file of that name is an error unless `replace` is set or
 * it is empty. */
int dcso_file_write(const struct dcso *d, const char *path, bool replace, deja_error *err);

#endif
