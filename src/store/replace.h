/* replace.h - a new file that appears under its name whole or not at all. */
#ifndef DJ_REPLACE_H
#define DJ_REPLACE_H
#include "deja.h"
#include <sys/types.h>

/* An unnamed file in the folder of `path`; where the file system has none, a file with a
 * temporary name beside it, since rename must not cross file systems. */
struct dj_tmp {
    int fd;          /* -1: none, or handed over */
    int folder;      /* -1: none */
    char *name;      /* last component of path */
    char *temporary; /* its name while it waits, or NULL */
};
#define DJ_TMP_NONE                                                                               \
    (struct dj_tmp)                                                                               \
    {                                                                                             \
        -1, -1, NULL, NULL                                                                        \
    }

/* mode: of the new file, less the umask. */
int dj_tmp_open(struct dj_tmp *t, const char *path, mode_t mode, deja_error *err);
/* fsync the file, give it its name, fsync the folder.  Without replace, a file of that name is an
 * error unless it is empty.  The descriptor stays open and is the caller's. */
int dj_tmp_commit(struct dj_tmp *t, bool replace, deja_error *err);
/* Forget a file that was not committed; nothing left to do once it was. */
void dj_tmp_discard(struct dj_tmp *t);

#endif
