/* renew.c - replaces the filter in a file with another one, or copies it to another file.
 *
 * Folding and the next visit need a new header, and a header is written only once.  So, like
 * growth, they fill and seal a new file without a name and rename it over the old one.  Readers,
 * and the next run after a crash, see the old filter or the new one.  The new file is locked
 * before it gets its name, and the old file stays locked until it is replaced. */
#include "store/renew.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "filter/counts.h"
#include "filter/filter.h"
#include "store/create.h"
#include "store/sync.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static bool has_name(const struct dj_file *file)
{
    return file->tmp.fd < 0;
}

static void inherit_over(struct dj_file *next, const struct dj_file *file)
{
    if (next->over >= 0)
        close(next->over);
    next->over = file->over >= 0 ? fcntl(file->over, F_DUPFD_CLOEXEC, 0) : -1;
}

int dj_file_next(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                 deja_error *err)
{
    const struct dj_file *file = f->store;
    const bool replace = has_name(file) || file->replace;
    const int rc = dj_file_make_filter(file->path, replace ? DEJA_CREATE_REPLACE : 0, plan, f->key,
                                       f->alloc, NULL, file->fd, out, err);
    if (rc == DEJA_OK && !has_name(file)) /* it replaces the same file as f would have */
        inherit_over((*out)->store, file);
    return rc;
}

/* Seals the new file, with a sequence number after the old file's, and gives it the name. */
static int take_place(const struct dj_file *old, deja_filter *next, deja_error *err)
{
    struct dj_file *file = next->store;
    struct dj_header h;
    dj_header_of(next, true, &h);
    const uint64_t checksum = dj_file_checksum(next);
    if (dj_os_sync_map(file->fd, file->map, file->map_len) < 0)
        return dj_fail_errno(err, "%s: cannot write", file->path);
    int rc = dj_file_head(next, &h, file->fd, err);
    file->stamp = dj_file_stamp(file);
    file->sequence = (old->sequence + 1) & ~UINT64_C(1); /* a new file starts with record A */
    if (rc == DEJA_OK)
        rc = dj_file_check(file, err);
    if (rc == DEJA_OK)
        rc = dj_file_seal(next, checksum, err);
    return rc == DEJA_OK ? dj_tmp_commit(&file->tmp, old->fd, err) : rc;
}

int dj_file_replace(deja_filter *f, deja_filter *next, deja_error *err)
{
    const struct dj_file *old = f->store, *file = next->store;
    int rc = dj_file_check_named(old, err); /* next was computed from it */
    if (rc < 0)
        return rc;
    if (has_name(old)) {
        next->syncs = f->syncs;
        rc = take_place(old, next, err);
        if (!has_name(file))
            return rc;
        next->syncs++;
        atomic_store(&next->writing, false);
    }
    dj_filter_swap(f, next);
    return rc; /* an error if only the sync of the directory failed */
}

int deja_filter_copy(const deja_filter *from, const char *path, unsigned flags, deja_filter **out,
                     deja_error *err)
{
    deja_filter *f = NULL;
    *out = NULL;
    int rc = dj_file_check_name(path, flags, err);
    if (rc == DEJA_OK)
        rc = dj_file_make_filter(path, flags, &from->plan, from->key, from->alloc, from, -1, &f,
                                 err);
    if (!f)
        return rc;
    struct dj_record r;
    dj_filter_walk(from, true);
    for (uint32_t i = 0; i < f->n_parts; i++)
        memcpy(f->part[i]->body, from->part[i]->body, (size_t)f->part[i]->body_len);
    dj_counts_pass_on(from, &r);
    dj_filter_walk(from, false);
    dj_counts_take(f, &r);
    f->unclean = from->unclean;
    rc = deja_filter_check_file(from, err);
    if (rc == DEJA_OK)
        rc = deja_filter_check_file(f, err);
    if (rc < 0)
        deja_filter_free(f);
    else
        *out = f;
    return rc;
}
