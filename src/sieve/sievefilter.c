/* sievefilter.c - the filter of a sieve: of the keys in its runs, in memory.
 *
 * It is derived data.  deja_sieve_save keeps a copy in a file, and the manifest records for which set
 * of runs; a writer that finds none, an old one or a damaged one reads the runs once instead.  The
 * number of keys that were added shows that a copy is old even if someone put it there: from a
 * backup, or in a copy of the directory that was made during a save. */
#include "core/base/status.h"
#include "sieve/sieve.h"
#include "store/file.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static deja_options filter_options(const deja_sieve *s)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_BLOCKED;
    opt.memory = s->share.filter;
    opt.hashes = DJ_SIEVE_HASHES;
    opt.key = s->key;
    opt.flags = s->made_with & DEJA_KEY_APART;
    opt.alloc = s->alloc;
    return opt;
}

int dj_add_to_filter(void *filter, const uint64_t *hash, size_t n)
{
    return deja_filter_add_hashed(filter, hash, n, NULL, NULL, NULL);
}

/* Reads the saved copy of the filter of this many keys.  Any error means that it must be rebuilt. */
static int load_filter(deja_sieve *s, uint64_t keys, deja_filter **out)
{
    const deja_options opt = filter_options(s);
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_import *im = NULL;
    struct stat st;
    deja_stats have = DEJA_STATS_INIT;
    deja_plan want = DEJA_PLAN_INIT;
    expect.key = s->key;
    expect.alloc = s->alloc;
    *out = NULL;
    const int fd = openat(s->folder.fd, DJ_FILTER_FILE, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return DEJA_EIO;
    uint8_t *buffer = dj_alloc(s->alloc, s->share.buffer, 64);
    int rc = buffer ? DEJA_OK : DEJA_ENOMEM;
    if (rc == DEJA_OK && (fstat(fd, &st) < 0 || (uint64_t)st.st_size > 2 * s->share.filter))
        rc = DEJA_EFORMAT;
    if (rc == DEJA_OK)
        rc = deja_import_new(0, &expect, &im, NULL);
    for (uint64_t at = 0; rc == DEJA_OK && at < (uint64_t)st.st_size;) {
        const ssize_t got = dj_read_at(fd, buffer, s->share.buffer, at);
        rc = got > 0 ? deja_import_write(im, buffer, (size_t)got, NULL) : DEJA_EIO;
        at += got > 0 ? (uint64_t)got : 0;
    }
    if (rc == DEJA_OK)
        rc = deja_import_finish(im, out, NULL);
    if (rc == DEJA_OK &&
        (deja_filter_stats(*out, 0, &have, NULL) < 0 || deja_plan_make(&opt, &want, NULL) < 0 ||
         have.kind != want.kind || have.bytes != want.bytes || have.hashes != want.hashes ||
         have.offered != keys)) {
        deja_filter_free(*out); /* made with different memory, or an older copy */
        *out = NULL;
        rc = DEJA_EMISMATCH;
    }
    deja_import_free(im);
    dj_free(s->alloc, buffer, s->share.buffer);
    close(fd);
    return rc;
}

int dj_sieve_need_filter(deja_sieve *s, deja_error *err)
{
    const deja_options opt = filter_options(s);
    if (!s->has_runs || s->filter)
        return DEJA_OK;
    pthread_mutex_lock(&s->lock);
    const bool saved = s->manifest.filter_for && s->manifest.filter_for == s->manifest.flushes;
    const uint64_t keys = dj_runs_keys(s->runs);
    pthread_mutex_unlock(&s->lock);
    if (saved && load_filter(s, keys, &s->filter) == DEJA_OK)
        return DEJA_OK;
    deja_filter *f = NULL;
    int rc = deja_filter_new(&opt, &f, err);
    if (rc == DEJA_OK)
        rc = dj_sieve_each(s, dj_add_to_filter, f, err);
    if (rc == DEJA_OK)
        s->filter = f;
    else
        deja_filter_free(f);
    return rc;
}

/* Writes the filter as a file of its own. */
static int write_filter(deja_sieve *s, deja_error *err)
{
    const uint64_t len = deja_filter_export_len(s->filter);
    struct dj_tmp tmp = DJ_TMP_NONE;
    uint8_t *buffer = dj_alloc(s->alloc, s->share.buffer, 64);
    int rc = buffer ? dj_folder_begin(&s->folder, DJ_FILTER_FILE, &tmp, err) : dj_fail_memory(err);
    const int fd = tmp.fd;
    for (uint64_t at = 0; at < len && rc == DEJA_OK;) {
        const size_t got = deja_filter_export(s->filter, at, buffer, s->share.buffer);
        if (!got || !dj_write_at(fd, buffer, got, at))
            rc = dj_folder_failed(&s->folder, DJ_FILTER_FILE, "cannot write it", err);
        at += got;
    }
    const int over = openat(s->folder.fd, DJ_FILTER_FILE, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (rc == DEJA_OK)
        rc = dj_folder_commit(&s->folder, &tmp, over < 0 ? DJ_TMP_NEW : over, err);
    if (over >= 0)
        close(over);
    if (fd >= 0 && tmp.fd < 0)
        close(fd);
    dj_tmp_discard(&tmp);
    dj_free(s->alloc, buffer, s->share.buffer);
    return rc;
}

int deja_sieve_save(deja_sieve *s, deja_error *err)
{
    bool taken;
    int rc = deja_sieve_sync(s, err);
    if (rc < 0 || !s->filter)
        return rc;
    pthread_mutex_lock(&s->lock);
    if (s->manifest.filter_for != s->manifest.flushes) {
        struct dj_manifest m = dj_sieve_next(s);
        m.filter_for = m.flushes;
        rc = write_filter(s, err);
        if (rc == DEJA_OK)
            rc = dj_sieve_publish(s, &m, &taken, err);
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}
