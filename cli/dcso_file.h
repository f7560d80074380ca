/* dcso_file.h - bloom files of DCSO's on disk: read whole, checked on the way; written whole or
 * not at all. */
#ifndef CLI_DCSO_FILE_H
#define CLI_DCSO_FILE_H
#include "dcso.h"
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

/* Can a file of that name be made? */
int dcso_file_check_name(const char *path, deja_error *err);
/* In the place of an older one; with gzip when the name ends with .gz. */
int dcso_file_write(const struct dcso *d, const char *path, deja_error *err);

#endif
