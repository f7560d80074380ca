/* paramfile.h - names of query parameters, from a file or a comma-separated list.
 *
 *     # our own campaigns
 *     ref
 *     campaign_*        a prefix
 *
 * A file has one name per line.  Surrounding blanks, empty lines, and comments are ignored; a
 * comment starts with a # at the start of a line or after a blank. */
#ifndef CLI_OPTIONS_PARAMFILE_H
#define CLI_OPTIONS_PARAMFILE_H
#include "deja.h"

struct paramnames { /* begin with {0} */
    deja_slice *name;
    size_t n;
    char *text; /* the text of the file, or NULL */
};

/* Fails with DEJA_EINVAL if a line is not a name; the error text says which line. */
int paramnames_read(struct paramnames *p, const char *path, deja_error *err);
/* Splits "a,b,c_*".  The text must outlive the names.  Empty names are skipped. */
int paramnames_split(struct paramnames *p, const char *text, deja_error *err);
void paramnames_fini(struct paramnames *p);

#endif
