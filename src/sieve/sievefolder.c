/* sievefolder.c - the directory of a sieve: names and files.
 *
 * All files are opened relative to a descriptor of the directory, so a sieve that is moved while it
 * is open stays one sieve. */
#include "sieve/sievefolder.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dj_file_name dj_file_name_of(const char *type, uint64_t number)
{
    struct dj_file_name name;
    snprintf(name.text, sizeof name.text, "%s-%llu", type, (ull)number);
    return name;
}

int dj_folder_sync_above(const struct dj_folder *folder, deja_error *err)
{
    const int above = openat(folder->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    const int rc =
        above >= 0 && dj_os_sync(above) == 0
            ? DEJA_OK
            : dj_fail_errno(err, "%s: cannot sync the directory above it", folder->path);
    if (above >= 0)
        close(above);
    return rc;
}

int dj_folder_open(struct dj_folder *folder, const char *path, bool create, deja_error *err)
{
    *folder = (struct dj_folder){-1, strdup(path)};
    if (!folder->path)
        return dj_fail_memory(err);
    const bool made = create && mkdir(path, 0700) == 0;
    if (create && !made && errno != EEXIST)
        return dj_fail_errno(err, "%s: cannot create this directory", path);
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return errno == ENOTDIR ? dj_fail(err, DEJA_EINVAL, "%s is not a directory", path)
                                : dj_fail_errno(err, "%s: cannot open this directory", path);
    return made ? dj_folder_sync_above(folder, err) : DEJA_OK;
}

void dj_folder_close(struct dj_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    *folder = (struct dj_folder){-1, NULL};
}

int dj_folder_sync(const struct dj_folder *folder, deja_error *err)
{
    return dj_os_sync(folder->fd) == 0
               ? DEJA_OK
               : dj_fail_errno(err, "%s: cannot sync this directory", folder->path);
}

int dj_folder_begin(const struct dj_folder *folder, const char *name, struct dj_tmp *tmp,
                    deja_error *err)
{
    const int rc = dj_tmp_open_in(tmp, folder->fd, name, 0600, err);
    return rc == DEJA_EIO ? dj_folder_failed(folder, name, "cannot create it", err) : rc;
}

/* Appends what to do about some errors. */
static void add_remedy(int error, deja_error *err)
{
    const char *remedy = error == ENOSPC || error == EDQUOT
                             ? "; make room and continue: no line is lost"
                         : error == EMFILE ? "; allow more open files (ulimit -n)"
                                           : NULL;
    const size_t len = err ? strlen(err->text) : 0;
    if (err && remedy)
        (void)snprintf(err->text + len, sizeof err->text - len, "%s", remedy);
}

int dj_folder_commit(const struct dj_folder *folder, struct dj_tmp *tmp, int over, deja_error *err)
{
    deja_error why = {0};
    const int rc = dj_tmp_commit(tmp, over, &why);
    const int saved = errno;
    if (rc < 0) /* the message begins with the name */
        (void)dj_fail(err, rc, "%s/%s", folder->path, why.text);
    if (rc < 0)
        add_remedy(saved, err);
    errno = saved;
    return rc;
}

void dj_folder_remove(const struct dj_folder *folder, const char *name)
{
    (void)unlinkat(folder->fd, name, 0);
}

int dj_folder_list(const struct dj_folder *folder, bool (*each)(void *ctx, const char *name),
                   void *ctx, deja_error *err)
{
    const int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        const int rc = dj_fail_errno(err, "%s: cannot list this directory", folder->path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    for (const struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !each(ctx, e->d_name))
            break;
    closedir(dir);
    return DEJA_OK;
}

int dj_folder_damaged(const struct dj_folder *folder, const char *name, const char *what,
                      deja_error *err)
{
    return dj_fail(err, DEJA_EFORMAT, "%s/%s: %s" DJ_RESTORE, folder->path, name, what);
}

int dj_folder_failed(const struct dj_folder *folder, const char *name, const char *what,
                     deja_error *err)
{
    const int rc = dj_fail_errno(err, "%s/%s: %s", folder->path, name, what), saved = errno;
    add_remedy(saved, err);
    errno = saved;
    return rc;
}
