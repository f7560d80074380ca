/* file.c - a filter's file: lock, mapping, header and sync records. */
#include "store/file.h"
#include "core/base/alloc.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "filter/counts.h"
#include "filter/filter.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the absolute path of a file that need not exist yet.  Follows symbolic links, because
 * growth replaces the file and not the link. */
static char *resolve(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole || errno != ENOENT)
        return whole ? whole : strdup(path); /* open will report the error */
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    const char *name = slash ? slash + 1 : path;
    const size_t room = real ? strlen(real) + strlen(name) + 2 : 0;
    if (real && (whole = malloc(room)))
        snprintf(whole, room, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    free(folder);
    free(real);
    return whole ? whole : strdup(path);
}

struct dj_file *dj_file_make(const char *path, const deja_allocator *alloc)
{
    struct dj_file *file = dj_alloc(alloc, sizeof *file, 64);
    if (!file)
        return NULL;
    file->fd = file->over = -1;
    file->tmp = DJ_TMP_NONE;
    file->path = resolve(path);
    const size_t len = file->path ? strlen(file->path) : 0, given = strlen(path);
    file->shown = given < len && strcmp(file->path + len - given, path) == 0
                      ? file->path + len - given
                      : file->path;
    if (!file->path || pthread_mutex_init(&file->beginning, NULL)) {
        free(file->path);
        dj_free(alloc, file, sizeof *file);
        return NULL;
    }
    return file;
}

void dj_file_free(struct dj_file *file, const deja_allocator *alloc)
{
    dj_file_take_map(file, NULL, 0);
    dj_table_free(&file->table, alloc);
    if (file->tmp.fd < 0 && file->fd >= 0)
        close(file->fd); /* also releases the lock */
    dj_tmp_discard(&file->tmp);
    if (file->over >= 0)
        close(file->over);
    pthread_mutex_destroy(&file->beginning);
    free(file->path);
    dj_free(alloc, file, sizeof *file);
}

/* Uses flock, not fcntl: the lock belongs to this descriptor, so it is not released when another
 * part of the same process opens and closes the file. */
int dj_file_lock(int fd, const char *path, deja_error *err)
{
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EINTR)
            continue;
        if (errno == EWOULDBLOCK)
            return dj_fail(err, DEJA_EBUSY,
                           "%s is in use by another process that writes it: wait for it, or use "
                           "another file",
                           path);
        return dj_fail_errno(err, "%s: cannot lock", path);
    }
    return DEJA_OK;
}

ssize_t dj_read_at(int fd, void *data, size_t len, uint64_t at)
{
    size_t have = 0;
    while (have < len) {
        const ssize_t got = pread(fd, (uint8_t *)data + have, len - have, (off_t)(at + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

bool dj_write_at(int fd, const void *data, size_t len, uint64_t at)
{
    const uint8_t *p = data;
    while (len) {
        const ssize_t put = pwrite(fd, p, len, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        at += (uint64_t)put;
        len -= (size_t)put;
    }
    return true;
}

int dj_map(int fd, uint64_t len, bool write, const char *path, uint8_t **map, deja_error *err)
{
    const int access = write ? PROT_READ | PROT_WRITE : PROT_READ;
    if (len > SIZE_MAX / 2)
        return dj_fail(err, DEJA_EINVAL,
                       "%s: %.0f MB are more than a 32-bit system can map: use a 64-bit system",
                       path, (double)len / 1e6);
    void *at = mmap(NULL, (size_t)len, access, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return dj_fail_errno(err, "%s: cannot map %.0f MB", path, (double)len / 1e6);
    dj_os_advise_map(at, (size_t)len,
                     DJ_OS_AT_RANDOM); /* reading ahead would only evict other pages */
    *map = at;
    return DEJA_OK;
}

void dj_file_take_map(struct dj_file *file, uint8_t *map, uint64_t len)
{
    if (file->map) {
        dj_guard_leave(&file->guard);
        munmap(file->map, file->map_len);
    }
    file->map = map;
    file->map_len = (size_t)len;
    if (map) {
        dj_guard_join(&file->guard, map, (size_t)len);
        file->stamp = dj_file_stamp(file);
    }
}

void dj_file_adopt(deja_filter *f, const struct dj_header *h, uint8_t *map)
{
    dj_file_take_map(f->store, map, h->file_len);
    for (uint32_t i = 0; i < h->n_parts; i++)
        dj_part_attach(f->part[i], map + h->offset[i]);
    dj_table_attach(&((struct dj_file *)f->store)->table, f, h, map);
    dj_filter_attached(f, h->n_parts);
}

int dj_file_record(deja_filter *f, enum dj_state state, uint64_t checksum, deja_error *err)
{
    struct dj_file *file = f->store;
    uint8_t bytes[DJ_RECORD_LEN];
    struct dj_record r;
    if (file->sequence >= DJ_MAX_SEQUENCE)
        return dj_fail(err, DEJA_EFORMAT, "%s: its sync sequence numbers are used up", file->path);
    dj_record_of(f, state, &r);
    r.sequence = file->sequence + 1;
    r.checksum = checksum;
    dj_record_encode(&r, f->plan.kind, file->page, bytes);
    if (!dj_write_at(file->fd, bytes, sizeof bytes, dj_record_offset(r.sequence)) ||
        dj_os_sync_data(file->fd) < 0)
        return dj_fail_errno(err, "%s: cannot write its sync record", file->path);
    file->sequence = r.sequence;
    return DEJA_OK;
}

int dj_file_head(deja_filter *f, const struct dj_header *h, int fd, deja_error *err)
{
    static const uint8_t no_records[2 * DJ_RECORD_LEN];
    struct dj_file *file = f->store;
    struct dj_header again;
    deja_error why = {0};
    dj_header_encode(h, file->page);
    /* Every operation has checked its result, so this catches only our own bugs. */
    if (dj_header_decode(file->page, &again, &why) < 0)
        return dj_fail(err, DEJA_EINVAL,
                       "%s: not written, because it could not be loaded again (%s)", file->path,
                       why.text);
    if (!dj_write_at(fd, file->page, DJ_RECORD_A, 0) ||
        !dj_write_at(fd, no_records, sizeof no_records, DJ_RECORD_A))
        return dj_fail_errno(err, "%s: cannot write its header", file->path);
    return DEJA_OK;
}

/* --- Is the file intact? ------------------------------------------------------------ */

/* Orders the reads before and after it, for this thread and its signal handler. */
static inline void in_order(void)
{
#ifdef DJ_TSAN /* ThreadSanitizer does not support fences */
    atomic_signal_fence(memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_acquire);
#endif
}

bool dj_file_is_whole(const struct dj_file *file)
{
    in_order();
    const uint64_t stamp = dj_file_stamp(file); /* this read may raise SIGBUS itself */
    in_order();
    return stamp == file->stamp && !atomic_load_explicit(&file->guard.lost, memory_order_relaxed);
}

int dj_file_check_named(const struct dj_file *file, deja_error *err)
{
    const int rc = dj_file_check(file, err);
    if (rc < 0 || file->tmp.fd >= 0 || dj_is_named(AT_FDCWD, file->path, 0, file->fd))
        return rc;
    /* On other errors, such as missing permission, continue: a rename would fail by itself. */
    return errno == ESTALE || errno == ENOENT || errno == ENOTDIR ? dj_fail_moved(file->path, err)
                                                                  : DEJA_OK;
}

int dj_file_check(const struct dj_file *file, deja_error *err)
{
    struct stat st;
    bool whole = dj_file_is_whole(file);
    if (whole && fstat(file->fd, &st) == 0) {
        const uint64_t len = (uint64_t)st.st_size;
        /* Nobody else has a file without a name; it may be too long after a failed growth. */
        whole = file->tmp.fd >= 0 ? len >= file->map_len : len == file->map_len;
    }
    if (whole)
        return DEJA_OK;
    errno = EIO;
    return dj_fail(err, DEJA_EIO,
                   "%s was truncated or overwritten by another program while it was in use: "
                   "restore it from a copy or rebuild it",
                   file->path);
}
