/* replace.h - creates a file that appears under its name atomically. */
#ifndef DJ_REPLACE_H
#define DJ_REPLACE_H
#include "deja.h"
#include <sys/types.h>

/* An unnamed file in the directory of `path`, or one with a temporary name if the file system has
 * no unnamed files.  It is in the same directory, because rename cannot cross file systems. */
struct dj_tmp {
    int fd;          /* -1: none, or committed */
    int folder;      /* -1: none */
    char *name;      /* last component of path */
    char *temporary; /* its temporary name, or NULL */
};
#define DJ_TMP_NONE                                                                               \
    (struct dj_tmp)                                                                               \
    {                                                                                             \
        -1, -1, NULL, NULL                                                                        \
    }

/* mode: permissions of the new file, before the umask. */
int dj_tmp_open(struct dj_tmp *t, const char *path, mode_t mode, deja_error *err);
/* The same in an open directory. */
int dj_tmp_open_in(struct dj_tmp *t, int folder, const char *name, mode_t mode, deja_error *err);
/* Syncs the file, gives it its name, and syncs the directory.  `over` is an open descriptor of the
 * file that it replaces, or DJ_TMP_NEW.  Any other file of that name, unless it is empty, is an
 * error and is left alone.  The caller keeps the descriptor of the new file. */
#define DJ_TMP_NEW (-1)
int dj_tmp_commit(struct dj_tmp *t, int over, deja_error *err);
/* Whether `name`, absolute or relative to the directory, is the open file fd; flags as for fstatat.
 * If not, errno is ESTALE for another file, or the error of fstat or fstatat. */
bool dj_is_named(int folder, const char *name, int flags, int fd);
/* Returns the error, by errno, for a path that no longer names the file that was opened. */
int dj_fail_moved(const char *path, deja_error *err);
/* Removes a file that was not committed; after a commit, only frees memory. */
void dj_tmp_discard(struct dj_tmp *t);

#endif
