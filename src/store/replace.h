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
/* fsync the file, give it its name, fsync the folder.  `over` is the file that it replaces, open
 * in any way, or DJ_TMP_NEW: any other file of that name is an error, unless it is empty, and
 * stays.  The descriptor of the new file stays open and is the caller's. */
#define DJ_TMP_NEW (-1)
int dj_tmp_commit(struct dj_tmp *t, int over, deja_error *err);
/* Whether `name`, in the folder or absolute, is that file; flags as for fstatat.  False also sets
 * errno: ENOENT, ESTALE for another file, or why nobody can tell. */
bool dj_is_named(int folder, const char *name, int flags, int fd);
/* The error for a name that is no longer that of the file behind it, by errno. */
int dj_fail_moved(const char *path, deja_error *err);
/* Forget a file that was not committed; nothing left to do once it was. */
void dj_tmp_discard(struct dj_tmp *t);

#endif
