/* sync.c - makes adds durable, and verifies a file.
 *
 * A file is sealed (its newest record has a checksum of the bodies) or open (bits may have been
 * set since).  The order of writes:
 *
 *   first add   an "open" record, synced, before any bit changes.  So bodies that do not match
 *               their checksum are known to be in use, not damaged
 *   sync        the bodies and the piece table, synced; then a "sealed" record with the checksum of
 *               the table or, in a small file, of the bodies, synced
 *   turn        (window) the bodies, synced; an "open" record with the turn; zeros over the oldest
 *               generation; the bodies and a record again (window.c)
 *
 * A kill or a power failure in between leaves a file whose newest record says "open".  It has all
 * keys up to the last sync, because bits are only ever set (exact: slots only filled; window:
 * generations emptied only after all earlier keys are on disk), and perhaps some later keys.  The
 * counts are then estimated from the bodies. */
#include "store/sync.h"
#include "core/base/bytes.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "store/create.h"
#include "store/open.h"
#include "store/renew.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_begin_writing(deja_filter *f)
{
    struct dj_file *file = f->store;
    int rc = DEJA_OK;
    pthread_mutex_lock(&file->beginning);
    if (!atomic_load(&f->writing)) {
        rc = dj_file_check_named(file, NULL); /* writing to a truncated file would extend it */
        if (rc == DEJA_OK)
            rc = dj_file_record(f, DJ_OPEN, 0, NULL);
        if (rc == DEJA_OK)
            atomic_store_explicit(&f->writing, true, memory_order_release);
    }
    pthread_mutex_unlock(&file->beginning);
    return rc;
}

static void file_free(deja_filter *f)
{
    dj_file_free(f->store, f->alloc);
}

static void file_walk(const deja_filter *f, bool begin)
{
    const struct dj_file *file = f->store;
    dj_os_advise_map(file->map, file->map_len, begin ? DJ_OS_IN_ORDER : DJ_OS_AT_RANDOM);
}

static void file_change_all(deja_filter *f)
{
    struct dj_file *file = f->store;
    atomic_store_explicit(&file->table.all, true, memory_order_relaxed);
}

int dj_file_checkpoint(deja_filter *f)
{
    const struct dj_file *file = f->store;
    if (file->tmp.fd >= 0)
        return DEJA_OK; /* it has no name yet: a crash leaves nothing */
    const int rc = dj_file_check_named(file, NULL);
    if (rc < 0)
        return rc;
    if (dj_os_sync_map(file->fd, file->map, file->map_len) < 0)
        return DEJA_EIO;
    return dj_file_record(f, DJ_OPEN, 0, NULL);
}

static bool file_is_whole(const deja_filter *f)
{
    return dj_file_is_whole(f->store);
}

static int file_check(const deja_filter *f, deja_error *err)
{
    return f->read_only ? dj_file_check(f->store, err) : dj_file_check_named(f->store, err);
}

static const char *file_path(const deja_filter *f)
{
    return ((const struct dj_file *)f->store)->shown;
}

const struct dj_owner_ops dj_file_ops = {
    .begin_writing = file_begin_writing,
    .grow = dj_file_grow,
    .free = file_free,
    .next = dj_file_next,
    .replace = dj_file_replace,
    .walk = file_walk,
    .change_all = file_change_all,
    .checkpoint = dj_file_checkpoint,
    .follow = dj_file_follow,
    .is_whole = file_is_whole,
    .check = file_check,
    .path = file_path,
};

uint64_t dj_file_checksum(deja_filter *f)
{
    const struct dj_file *file = f->store;
    if (file->table.len)
        return dj_table_update(&file->table, f);
    dj_filter_walk(f, true);
    const uint64_t sum = dj_checksum(file->map + DJ_HEADER_LEN, file->map_len - DJ_HEADER_LEN);
    dj_filter_walk(f, false);
    return sum;
}

int dj_file_seal(deja_filter *f, uint64_t checksum, deja_error *err)
{
    struct dj_file *file = f->store;
    const int rc = dj_file_record(f, DJ_SEALED, checksum, err);
    if (rc == DEJA_OK)
        dj_table_is_current(&file->table, f->n_parts);
    return rc;
}

/* Begins the header of a new file, which is written last, when the final size is known. */
static int begin_header(deja_filter *f, deja_error *err)
{
    struct dj_file *file = f->store;
    struct dj_header h;
    dj_header_of(f, true, &h);
    file->sequence = 0;
    if (ftruncate(file->fd, (off_t)h.file_len) <
        0) /* a growth that failed may have left it longer */
        return dj_fail_errno(err, "%s: cannot set its length", file->path);
    if (file->over >= 0) { /* another process may have started to write the old file */
        const int rc = dj_file_check_replaced(file->path, err);
        if (rc < 0)
            return rc;
    }
    const int rc = dj_file_head(f, &h, file->fd, err);
    file->stamp = dj_file_stamp(file);
    return rc;
}

/* Writes the bodies and the table to the disk, then the record with their checksum. */
static int seal(deja_filter *f, bool is_new, deja_error *err)
{
    const struct dj_file *file = f->store;
    const uint64_t checksum = dj_file_checksum(f);
    if (dj_os_sync_map(file->fd, file->map, file->map_len) < 0)
        return dj_fail_errno(err, "%s: cannot write", file->path);
    int rc = is_new ? begin_header(f, err) : DEJA_OK;
    if (rc == DEJA_OK)
        rc = dj_file_check(file, err); /* if pages are missing, the checksum is of zeros */
    return rc == DEJA_OK ? dj_file_seal(f, checksum, err) : rc;
}

int deja_filter_sync(deja_filter *f, deja_error *err)
{
    if (f->owner != &dj_file_ops)
        return dj_fail(err, DEJA_ENOTSUP, "a filter in memory has no file to sync");
    if (f->read_only)
        return dj_filter_explain(f, DEJA_EINVAL, 0, err);
    struct dj_file *file = f->store;
    const bool is_new = file->tmp.fd >= 0;
    int rc = dj_file_check_named(file, err);
    if (rc == DEJA_OK && !is_new && !atomic_load(&f->writing) && !f->unclean)
        return DEJA_OK;
    if (rc == DEJA_OK)
        rc = seal(f, is_new, err);
    if (rc == DEJA_OK && is_new)
        rc = dj_tmp_commit(&file->tmp, file->over, err);
    if (rc < 0)
        return rc;
    f->unclean = false;
    f->syncs++;
    atomic_store(&f->writing, false);
    dj_writer_reset(&f->writer);
    return DEJA_OK;
}

/* Whether the file has been written since its header was read. */
static bool has_moved_on(const char *path, const struct dj_record *since)
{
    struct dj_header now;
    struct dj_file *file;
    if (dj_file_read(path, &file, &now, NULL) < 0)
        return false;
    dj_file_free(file, NULL);
    return dj_header_latest(&now)->sequence != since->sequence;
}

static int compare_bodies(const struct dj_file *file, const struct dj_header *h, deja_error *why)
{
    const uint64_t checksum = dj_header_latest(h)->checksum;
    const uint8_t *body[DJ_MAX_PARTS];
    for (uint32_t i = 0; i < h->n_parts; i++)
        body[i] = file->map + h->offset[i];
    if (h->table)
        return dj_table_verify(h, body, file->map + h->table, checksum, why);
    return dj_checksum(file->map + DJ_HEADER_LEN, file->map_len - DJ_HEADER_LEN) == checksum
               ? DEJA_OK
               : dj_fail(why, DEJA_EFORMAT, "the body is damaged: its checksum is wrong");
}

static int compare(const struct dj_file *file, const struct dj_header *h, const char *path,
                   deja_error *err)
{
    const struct dj_record *r = dj_header_latest(h);
    const bool sealed = r->state == DJ_SEALED;
    deja_error why = {0};
    dj_os_advise_map(file->map, file->map_len, DJ_OS_IN_ORDER);
    const bool matches = sealed && compare_bodies(file, h, &why) == DEJA_OK;
    const int rc = dj_file_check(file, err);
    if (rc < 0)
        return rc;
    if (!sealed || (!matches && has_moved_on(path, r)))
        return dj_fail(
            err, DEJA_EBUSY,
            "%s is being written, or was not synced after its last add: it has no valid "
            "checksum until the next sync (DEJA_OPEN_REPAIR)",
            path);
    return matches ? DEJA_OK
                   : dj_fail(err, DEJA_EFORMAT, "%s: %s; restore it from a copy or rebuild it",
                             path, why.text);
}

int deja_file_verify(const char *path, deja_error *err)
{
    struct dj_header h;
    struct dj_file *file;
    int rc = dj_file_read(path, &file, &h, err);
    if (rc < 0)
        return rc;
    rc = compare(file, &h, path, err);
    dj_file_free(file, NULL);
    return rc;
}
