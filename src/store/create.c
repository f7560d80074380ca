/* create.c - creates a filter in a file, and lets it grow.
 *
 * Space is reserved before it is mapped: otherwise, a full disk would cause a SIGBUS in the middle
 * of an add instead of an error here.
 *
 * To grow, a file that has its name is copied to a new file with the new part at the end, which is
 * renamed over the old one.  Readers, and the next run after a crash, see the old file or the new
 * one.  Sizes grow geometrically, so all copies together are smaller than the result. */
#include "store/create.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/sound.h"
#include "store/sync.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes fd longer and reserves space on the disk; on failure, the length is unchanged. */
static int reserve(int fd, uint64_t len, const char *path, deja_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || ftruncate(fd, (off_t)len) < 0)
        return dj_fail_errno(err, "%s: cannot extend it to %.0f MB", path, (double)len / 1e6);
    while (dj_os_reserve(fd, len) < 0) {
        if (errno == EINTR)
            continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            return DEJA_OK; /* the file system cannot reserve: sync reports a full disk */
        const bool small = len < 10000000;
        const int rc = dj_fail_errno(err, "%s: no space for %.0f %s", path,
                                     (double)len / (small ? 1e3 : 1e6), small ? "kB" : "MB");
        const int saved = errno;
        if (ftruncate(fd, st.st_size) < 0)
            return rc;
        errno = saved;
        return rc;
    }
    return DEJA_OK;
}

int dj_file_check_replaced(const char *path, deja_error *err)
{
    uint8_t start[DJ_MAGIC_LEN];
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? DEJA_OK : dj_fail_errno(err, "%s: cannot be replaced", path);
    int rc = dj_file_lock(fd, path, err);
    const ssize_t got = dj_read_at(fd, start, sizeof start, 0);
    if (rc == DEJA_OK && got < 0)
        rc = dj_fail_errno(err, "%s: cannot be replaced", path);
    else if (rc == DEJA_OK && got != 0 && (got != sizeof start || !dj_header_is_magic(start)))
        rc = dj_fail(err, DEJA_EINVAL,
                     "%s exists and is not a deja filter file: remove it first, or choose another "
                     "name",
                     path);
    close(fd);
    return rc;
}

int dj_file_check_flags(unsigned flags, deja_error *err)
{
    const unsigned unknown = flags & ~(DEJA_CREATE_REPLACE | DEJA_CREATE_MODE(0xffff));
    return unknown ? dj_fail_flags(err, unknown) : DEJA_OK;
}

int dj_file_check_name(const char *path, unsigned flags, deja_error *err)
{
    struct stat st;
    const int rc = dj_file_check_flags(flags, err);
    if (rc < 0)
        return rc;
    if (flags >> DEJA_CREATE_MODE_SHIFT & ~0777u)
        return dj_fail(err, DEJA_EINVAL, "%s: permissions are 0777 at most, not %o", path,
                       flags >> DEJA_CREATE_MODE_SHIFT);
    if (stat(path, &st) < 0)
        return errno != ENOENT || lstat(path, &st) < 0
                   ? DEJA_OK
                   : dj_fail(err, DEJA_EINVAL, "%s is a symbolic link to a missing file", path);
    if (S_ISDIR(st.st_mode))
        return dj_fail(err, DEJA_EINVAL, "%s is a directory", path);
    if (!S_ISREG(st.st_mode)) /* a rename would remove a device or a pipe */
        return dj_fail(err, DEJA_EINVAL, "%s is not a regular file", path);
    if (!(flags & DEJA_CREATE_REPLACE))
        return st.st_size == 0 ? DEJA_OK : dj_fail(err, DEJA_EINVAL, "%s already exists", path);
    return dj_file_check_replaced(path, err);
}

/* Gives the new file the owner, group and permissions of the old one.  Only root can change the
 * owner; other users can choose only one of their own groups.  If the group cannot be kept, the
 * new group gets no more access than everybody else. */
static void copy_rights(const struct stat *old, int to)
{
    mode_t mode = old->st_mode & 0777;
    if (fchown(to, old->st_uid, old->st_gid) < 0 && fchown(to, (uid_t)-1, old->st_gid) < 0)
        mode &= S_IRWXU | S_IRWXO | (mode & S_IRWXO) << 3;
    (void)fchmod(to, mode);
}

static bool contains_its_key(const deja_filter *f)
{
    return !f->plan.seeded && !(f->plan.flags & DEJA_KEY_APART);
}

/* Gives the unnamed file the rights of the one that it will replace (`like`, or the file at its
 * path), then the permissions that the caller asks for. */
static int settle_rights(const struct dj_file *file, int like, mode_t asked, deja_error *err)
{
    struct stat st;
    if (like >= 0 ? fstat(like, &st) == 0 : stat(file->path, &st) == 0)
        copy_rights(&st, file->fd);
    if (asked && fchmod(file->fd, asked) < 0)
        return dj_fail_errno(err, "%s: cannot set its permissions", file->path);
    return DEJA_OK;
}

/* Creates a file without a name for the first n_parts parts of a filter, whose shapes are set.
 * The first sync gives it its name. */
static int begin_file(deja_filter *f, unsigned flags, uint32_t n_parts, int like, deja_error *err)
{
    struct dj_file *file = f->store;
    struct dj_header h;
    const mode_t asked = flags >> DEJA_CREATE_MODE_SHIFT;
    const bool open_to_all = !contains_its_key(f) && !asked && like < 0;
    int rc = dj_filter_check(f, n_parts, err);
    if (rc == DEJA_OK)
        rc = dj_tmp_open(&file->tmp, file->path, open_to_all ? 0666 : 0600, err);
    if (rc < 0)
        return rc;
    file->fd = file->tmp.fd;
    file->replace = flags & DEJA_CREATE_REPLACE;
    if (file->replace)
        file->over = dj_os_open_to_recognize(file->path);
    if (file->replace && file->over < 0 && errno != ENOENT)
        return dj_fail_errno(err, "%s: cannot be replaced", file->path);
    f->n_parts = n_parts;
    dj_header_of(f, true, &h);
    rc = settle_rights(file, like, asked, err);
    if (rc == DEJA_OK)
        rc = dj_file_lock(file->fd, file->path, err);
    if (rc == DEJA_OK)
        rc = reserve(file->fd, h.file_len, file->path, err);
    uint8_t *map;
    if (rc == DEJA_OK)
        rc = dj_map(file->fd, h.file_len, true, file->path, &map, err);
    if (rc == DEJA_OK)
        dj_file_adopt(f, &h, map);
    else
        f->n_parts = 0;
    atomic_store(&f->writing, true); /* nobody else can open it, so begin_writing is not needed */
    return rc;
}

int dj_file_make_filter(const char *path, unsigned flags, const struct dj_plan *plan,
                        const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc,
                        const deja_filter *like, int rights, deja_filter **out, deja_error *err)
{
    deja_filter *f = dj_filter_make(plan, key, alloc);
    const uint32_t parts = like ? like->n_parts : dj_plan_parts(plan);
    struct dj_file *file = f && dj_filter_make_parts(f, parts) ? dj_file_make(path, alloc) : NULL;
    if (!file) {
        if (f)
            dj_filter_unmake(f);
        return dj_fail_memory(err);
    }
    f->owner = &dj_file_ops;
    f->store = file;
    for (uint32_t i = 0; like && i < parts; i++)
        *f->part[i] = *like->part[i]; /* begin_file gives each a body of its own */
    const int rc = begin_file(f, flags, parts, rights, err);
    if (rc < 0)
        deja_filter_free(f);
    else
        *out = f;
    return rc;
}

int dj_file_create(const char *path, unsigned flags, const struct dj_plan *plan,
                   const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc, deja_filter **out,
                   deja_error *err)
{
    const int rc = dj_file_check_name(path, flags, err);
    return rc < 0 ? rc : dj_file_make_filter(path, flags, plan, key, alloc, NULL, -1, out, err);
}

int deja_filter_create(const char *path, unsigned flags, const deja_options *opt,
                       deja_filter **out, deja_error *err)
{
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN];
    deja_options known;
    *out = NULL;
    const int rc = dj_filter_begin(opt, &known, &plan, key, err);
    return rc < 0 ? rc : dj_file_create(path, flags, &plan, key, known.alloc, out, err);
}

/* The next body goes where the piece table was. */
static uint64_t bodies_end(const struct dj_file *file)
{
    return file->map_len - file->table.len;
}

/* A file without a name is simply extended. */
static int grow_unnamed(deja_filter *f, const struct dj_header *h)
{
    const struct dj_file *file = f->store;
    const uint64_t bodies = bodies_end(file), table = file->table.len;
    uint8_t *map;
    int rc = reserve(file->fd, h->file_len, file->path, NULL);
    if (rc == DEJA_OK) /* if this fails, the first sync cuts the file to its length */
        rc = dj_map(file->fd, h->file_len, true, file->path, &map, NULL);
    if (rc < 0)
        return rc;
    memset(map + bodies, 0, (size_t)table); /* written by a sync that failed */
    dj_file_adopt(f, h, map);
    return DEJA_OK;
}

static bool copy_bodies(const struct dj_file *from, int to)
{
    return dj_write_at(to, from->map + DJ_HEADER_LEN, (size_t)(bodies_end(from) - DJ_HEADER_LEN),
                       DJ_HEADER_LEN);
}

static int grow_named(deja_filter *f, const struct dj_header *h)
{
    struct dj_file *file = f->store;
    struct dj_tmp tmp = DJ_TMP_NONE;
    uint8_t old_page[DJ_HEADER_LEN];
    const int old_fd = file->fd;
    const uint64_t old_sequence = file->sequence;
    struct stat old;
    memcpy(old_page, file->page, sizeof old_page);
    int rc = dj_tmp_open(&tmp, file->path, 0600, NULL);
    if (rc < 0)
        return rc;
    const int fd = tmp.fd;
    rc = dj_file_lock(fd, file->path, NULL);
    if (rc == DEJA_OK)
        rc = reserve(fd, h->file_len, file->path, NULL);
    if (fstat(old_fd, &old) == 0)
        copy_rights(&old, fd);
    if (rc == DEJA_OK)
        rc = dj_file_head(f, h, fd, NULL);
    if (rc == DEJA_OK && !copy_bodies(file, fd))
        rc = DEJA_EIO;
    file->fd = fd;
    file->sequence = (old_sequence + 1) & ~UINT64_C(1); /* a new file starts with record A */
    if (rc == DEJA_OK)
        rc = dj_file_record(f, DJ_OPEN, 0, NULL);
    /* Map it before it gets its name: after that, nothing may fail. */
    uint8_t *map = NULL;
    if (rc == DEJA_OK)
        rc = dj_map(fd, h->file_len, true, file->path, &map, NULL);
    if (rc == DEJA_OK)
        rc = dj_tmp_commit(&tmp, old_fd, NULL);
    if (tmp.fd >= 0) { /* it did not get the name: keep the old file */
        if (map)
            munmap(map, (size_t)h->file_len);
        file->fd = old_fd;
        file->sequence = old_sequence;
        memcpy(file->page, old_page, sizeof old_page);
    } else {
        dj_file_adopt(f, h, map);
        close(old_fd);
    }
    dj_tmp_discard(&tmp);
    return rc;
}

int dj_file_grow(deja_filter *f, uint32_t n_parts)
{
    const struct dj_file *file = f->store;
    struct dj_header h;
    const uint32_t before = f->n_parts;
    const int rc = dj_file_check_named(file, NULL);
    if (rc < 0)
        return rc;
    f->n_parts = n_parts; /* the new part has a shape but no body yet */
    dj_header_of(f, true, &h);
    f->n_parts = before;
    return file->tmp.fd >= 0 ? grow_unnamed(f, &h) : grow_named(f, &h);
}
