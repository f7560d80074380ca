/* replace.c - creates a file that appears under its name atomically.
 *
 * Linux can create a file without a name (O_TMPFILE) and link it later, so a crash leaves nothing
 * behind.  To replace another file, it needs a rename, so the new file gets a temporary name just
 * before that.  The directory is synced last: only then does the name survive a power failure.
 *
 * A file that someone else has moved to that name must not be lost.  The name is compared with the
 * file to be replaced before the rename, which detects nearly all moves; a move between the two
 * calls is detected because the rename exchanges the two names, so the file that was there gets
 * our temporary name.  If that is not the file to be replaced, the names are exchanged back: for
 * some microseconds readers see our file instead.  A file system without the exchange
 * (RENAME_EXCHANGE) gets a plain rename, and the gap.  A free name is taken with link, which has
 * no gap. */
#include "store/replace.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_AT_ONCE 1000 /* files under construction for one name in one process */

/* The process id, or if this process already makes a file for that name, the id with three more
 * digits. */
static char *temporary_name(const char *name, int attempt)
{
    char *out = NULL;
    static const char form[] = ".%s.%lld.new";
    const long long pid = getpid(), number = attempt ? pid * MOST_AT_ONCE + attempt : pid;
    const int len = snprintf(NULL, 0, form, name, number);
    if (len > 0 && (out = malloc((size_t)len + 1)))
        snprintf(out, (size_t)len + 1, form, name, number);
    return out;
}

/* Sets t->name and t->folder; on failure the latter stays -1 and errno gives the reason. */
static void open_folder(struct dj_tmp *t, const char *path)
{
    const char *slash = strrchr(path, '/');
    t->name = strdup(slash ? slash + 1 : path);
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (t->name && folder)
        t->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else
        errno = ENOMEM;
    free(folder);
}

/* A file with our temporary name was left by a killed process with the same process id, which is
 * common in containers.  If it is locked, its writer is alive: another container, or this process
 * for another filter. */
static bool remove_stale(const struct dj_tmp *t)
{
    const int fd = openat(t->folder, t->temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool stale = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    const bool removed = stale && unlinkat(t->folder, t->temporary, 0) == 0;
    if (fd >= 0)
        close(fd);
    errno = EEXIST;
    return removed;
}

/* Creates and locks the file; EEXIST if another one has its name. */
static int create_locked(const struct dj_tmp *t, mode_t mode)
{
    static const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = openat(t->folder, t->temporary, flags, mode);
    if (fd < 0 && errno == EEXIST && remove_stale(t))
        fd = openat(t->folder, t->temporary, flags, mode);
    if (fd < 0)
        return fd;
    const bool taken = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (!taken && dj_is_named(t->folder, t->temporary, AT_SYMLINK_NOFOLLOW, fd))
        return fd;
    close(fd); /* between the two calls, another thread took it for a stale one */
    errno = EEXIST;
    return -1;
}

static int open_temporary(struct dj_tmp *t, mode_t mode)
{
    int fd = -1;
    for (int attempt = 0; attempt < MOST_AT_ONCE; attempt++) {
        free(t->temporary);
        t->temporary = temporary_name(t->name, attempt);
        if (!t->temporary) {
            errno = ENOMEM;
            return -1;
        }
        fd = create_locked(t, mode);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0) { /* another file has this name: do not remove it */
        const int saved = errno;
        free(t->temporary);
        t->temporary = NULL;
        errno = saved;
    }
    return fd;
}

static void reopen_folder(struct dj_tmp *t, int folder, const char *name)
{
    t->name = strdup(name);
    if (t->name)
        t->folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else
        errno = ENOMEM;
}

/* Creates the file in t->folder; path is for messages. */
static int open_there(struct dj_tmp *t, const char *path, mode_t mode, deja_error *err)
{
    if (t->folder < 0) {
        int rc = dj_fail_errno(err, "%s: cannot open its directory", path);
        dj_tmp_discard(t);
        return rc;
    }
    t->fd = dj_os_unnamed(t->folder, mode);
    if (t->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        t->fd = open_temporary(t, mode);
    if (t->fd < 0) {
        int rc = dj_fail_errno(err, "%s: cannot create", path);
        dj_tmp_discard(t);
        return rc;
    }
    return DEJA_OK;
}

int dj_tmp_open(struct dj_tmp *t, const char *path, mode_t mode, deja_error *err)
{
    *t = DJ_TMP_NONE;
    open_folder(t, path);
    return open_there(t, path, mode, err);
}

int dj_tmp_open_in(struct dj_tmp *t, int folder, const char *name, mode_t mode, deja_error *err)
{
    *t = DJ_TMP_NONE;
    reopen_folder(t, folder, name);
    return open_there(t, name, mode, err);
}

bool dj_is_named(int folder, const char *name, int flags, int fd)
{
    struct stat mine, named;
    if (fstat(fd, &mine) < 0 || fstatat(folder, name, &named, flags) < 0)
        return false;
    if (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev)
        return true; /* errno is unchanged: the caller may still need it */
    errno = ESTALE;
    return false;
}

int dj_fail_moved(const char *path, deja_error *err)
{
    const bool gone = errno == ENOENT || errno == ENOTDIR;
    if (!gone && errno != ESTALE)
        return dj_fail_errno(err, "%s: cannot check whether it is still the same file", path);
    errno = ESTALE;
    return dj_fail(
        err, DEJA_EIO,
        gone ? "%s was deleted or moved while it was being written; keys added since the "
               "last sync are not saved: restore the file and add them again"
             : "%s was replaced by another file while it was being written. The other "
               "file is unchanged; keys added since the last sync are not saved: add "
               "them again",
        path);
}

static int take_free_name(const struct dj_tmp *t)
{
    if (!t->temporary)
        return dj_os_link(t->fd, t->folder, t->name);
    if (linkat(t->folder, t->temporary, t->folder, t->name, 0) < 0)
        return -1;
    return unlinkat(t->folder, t->temporary, 0);
}

/* Our file gets the name, and the file of that name gets our temporary one. */
static int exchange_names(const struct dj_tmp *t)
{
    return dj_os_exchange(t->folder, t->temporary, t->folder, t->name);
}

/* Undoes an exchange with a file that is not, or may not be, the one to be replaced.  If yet
 * another file has arrived since, that one now has the temporary name, and keeps it. */
static int give_back(struct dj_tmp *t)
{
    const int why = errno;
    if (exchange_names(t) < 0 ||
        !dj_is_named(t->folder, t->temporary, AT_SYMLINK_NOFOLLOW, t->fd)) {
        free(t->temporary);
        t->temporary = NULL;
    }
    errno = why;
    return -1;
}

/* Gives our file the name of the file `over`. */
static int rename_over(struct dj_tmp *t, int over)
{
    if (!dj_is_named(t->folder, t->name, AT_SYMLINK_NOFOLLOW, over))
        return -1;
    if (exchange_names(t) < 0)
        return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP
                   ? renameat(t->folder, t->temporary, t->folder, t->name)
                   : -1;
    if (!dj_is_named(t->folder, t->temporary, AT_SYMLINK_NOFOLLOW, over))
        return give_back(t);
    (void)unlinkat(t->folder, t->temporary, 0); /* a failure leaves a copy of the old file */
    return 0;
}

static int take_occupied_name(struct dj_tmp *t, int over)
{
    if (!dj_is_named(t->folder, t->name, AT_SYMLINK_NOFOLLOW, over))
        return -1; /* check first: a failure would leave a temporary name */
    if (!t->temporary) {
        char *name = temporary_name(t->name, 0);
        if (!name) {
            errno = ENOMEM;
            return -1;
        }
        unlinkat(t->folder, name, 0); /* left by a killed process with the same process id */
        if (dj_os_link(t->fd, t->folder, name) < 0) {
            free(name);
            return -1;
        }
        t->temporary = name;
    }
    return rename_over(t, over);
}

/* Opens and locks the file with this name if it is empty, such as one made by mktemp(1); otherwise
 * returns -1 and EEXIST.  The lock makes the check and the rename one step: if two processes find
 * the same empty file, the second one sees that the name belongs to another file. */
static int lock_empty(const struct dj_tmp *t)
{
    struct stat st;
    const int fd = openat(t->folder, t->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
        S_ISREG(st.st_mode) && st.st_size == 0 &&
        dj_is_named(t->folder, t->name, AT_SYMLINK_NOFOLLOW, fd))
        return fd;
    if (fd >= 0)
        close(fd);
    errno = EEXIST;
    return -1;
}

static int take_name(struct dj_tmp *t, int over)
{
    if (over != DJ_TMP_NEW)
        return take_occupied_name(t, over);
    int rc = take_free_name(t);
    const int empty = rc < 0 && errno == EEXIST ? lock_empty(t) : -1;
    if (empty >= 0) {
        rc = take_occupied_name(t, empty);
        const int saved = errno;
        close(empty);
        errno = saved;
    }
    return rc;
}

int dj_tmp_commit(struct dj_tmp *t, int over, deja_error *err)
{
    if (dj_os_sync(t->fd) < 0)
        return dj_fail_errno(err, "%s: cannot write", t->name);
    if (take_name(t, over) < 0) {
        if (errno == EEXIST)
            return dj_fail(
                err, DEJA_EINVAL,
                "%s already exists: it was created while this filter was being written, "
                "and is unchanged",
                t->name);
        if (errno == ESTALE || (over != DJ_TMP_NEW && errno == ENOENT))
            return dj_fail_moved(t->name, err);
        return dj_fail_errno(err, "%s: cannot take its name", t->name);
    }
    free(t->temporary);
    t->temporary = NULL;
    t->fd = -1; /* the file has its name, even if the sync of its directory fails */
    if (dj_os_sync(t->folder) < 0)
        return dj_fail_errno(err, "%s: cannot sync its directory", t->name);
    return DEJA_OK;
}

void dj_tmp_discard(struct dj_tmp *t)
{
    if (t->temporary)
        unlinkat(t->folder, t->temporary, 0);
    if (t->fd >= 0)
        close(t->fd);
    if (t->folder >= 0)
        close(t->folder);
    free(t->temporary);
    free(t->name);
    *t = DJ_TMP_NONE;
}
