/* paramfile.h - names of query parameters: from a file, or with commas between them.
 *
 *     # our own campaigns
 *     ref
 *     campaign_*        the beginning of names
 *
 * In a file each line has one name; blanks around it, empty lines and what follows a # at the
 * beginning of a line or behind a blank do not count. */
#ifndef CLI_OPTIONS_PARAMFILE_H
#define CLI_OPTIONS_PARAMFILE_H
#include "deja.h"

struct paramnames { /* begin with {0} */
    deja_slice *name;
    size_t n;
    char *text; /* of the file, when there is one */
};

/* DEJA_EINVAL names the file and the line where something is no name. */
int paramnames_read(struct paramnames *p, const char *path, deja_error *err);
/* "a,b,c_*"; text outlives the names.  Empty pieces do not count. */
int paramnames_split(struct paramnames *p, const char *text, deja_error *err);
void paramnames_fini(struct paramnames *p);

#endif
