/* sievefilter.c - the filter of a sieve: of the keys in its runs, in memory.
 *
 * It is derived data.  deja_sieve_save keeps a copy in a file, and the manifest records for which set
 * of runs; a writer that finds none, an old one or a damaged one reads the runs once instead.  The
 * number of keys that were added shows that a copy is old even if someone put it there: from a
 * backup, or in a copy of the directory that was made during a save.
 *
 * A filter takes its whole share of the memory only if the runs have keys for it: the system clears
 * every page that a program touches, which took seconds for a small sieve that was given much memory.
 * A filter with fewer bytes per key than TIGHT is made again from the runs, in its share or with ROOMY
 * bytes per key.  So its keys are at least ROOMY / TIGHT times as many whenever that happens, and all
 * these walks together read less than one and a half times what the last one does. */
#include "core/base/status.h"
#include "sieve/sieve.h"
#include "store/file.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TIGHT = 8,       /* bytes per key: a new key waits with a probability of 2 in 10^5 */
    ROOMY = 32,      /* of a filter that does not take its whole share */
    MOST_ROOMY = 64, /* of one that does */
    ALWAYS_ROOM = 1 << 16
};

uint64_t dj_sieve_filter_room(const struct dj_shares *share, uint64_t keys)
{
    const uint64_t most = share->filter;
    if (most <= ALWAYS_ROOM || most / MOST_ROOMY <= keys)
        return most;
    return keys * ROOMY > ALWAYS_ROOM ? keys * ROOMY : ALWAYS_ROOM;
}

/* Whether a filter of this size is too small for this many keys, and may be larger. */
static bool is_tight(const deja_sieve *s, uint64_t room, uint64_t keys)
{
    return room < s->share.filter && room / TIGHT < keys;
}

static deja_options filter_options(const deja_sieve *s, uint64_t room)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_BLOCKED;
    opt.memory = room;
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

/* The memory for which this filter was made, and whether this sieve can use it. */
static bool is_usable(const deja_sieve *s, const deja_filter *f, uint64_t keys, uint64_t *room)
{
    const deja_options opt = filter_options(s, s->share.filter);
    deja_stats have = DEJA_STATS_INIT;
    deja_plan most = DEJA_PLAN_INIT;
    if (deja_filter_stats(f, 0, &have, NULL) < 0 || deja_plan_make(&opt, &most, NULL) < 0)
        return false;
    *room = have.bytes == most.bytes ? s->share.filter : have.bytes;
    return have.kind == most.kind && have.bytes <= most.bytes && have.hashes == most.hashes &&
           have.offered == keys && !is_tight(s, *room, keys);
}

/* Reads the saved copy of the filter of this many keys.  Any error means that it must be rebuilt. */
static int load_filter(deja_sieve *s, uint64_t keys, deja_filter **out)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_import *im = NULL;
    struct stat st;
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
    if (rc == DEJA_OK && !is_usable(s, *out, keys, &s->filter_room)) {
        deja_filter_free(*out); /* made with more memory or much less, or an older copy */
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
    if (!s->has_runs || s->filter)
        return DEJA_OK;
    pthread_mutex_lock(&s->lock);
    const bool saved = s->manifest.filter_for && s->manifest.filter_for == s->manifest.flushes;
    const uint64_t keys = dj_runs_keys(s->runs);
    pthread_mutex_unlock(&s->lock);
    if (saved && load_filter(s, keys, &s->filter) == DEJA_OK)
        return DEJA_OK;
    deja_filter *f = NULL;
    s->filter_room = dj_sieve_filter_room(&s->share, keys);
    const deja_options opt = filter_options(s, s->filter_room);
    int rc = deja_filter_new(&opt, &f, err);
    if (rc == DEJA_OK)
        rc = dj_sieve_each(s, dj_add_to_filter, f, err);
    if (rc == DEJA_OK)
        s->filter = f;
    else
        deja_filter_free(f);
    return rc;
}

int dj_sieve_extend_filter(deja_sieve *s, const deja_fingerprint *key, size_t n)
{
    deja_stats have = DEJA_STATS_INIT;
    if (!s->filter)
        return DEJA_OK;
    const int rc = deja_filter_stats(s->filter, 0, &have, NULL);
    if (rc < 0)
        return rc;
    if (!is_tight(s, s->filter_room, have.offered + n))
        return dj_each_print(key, n, dj_add_to_filter, s->filter);
    deja_filter_free(s->filter); /* first, because both would take too much memory */
    s->filter = NULL;
    return DEJA_OK;
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
