/* manifest.c - the file that says which files make up a sieve.
 *
 * A change to a sieve (new keys on disk, runs merged, pending keys settled) writes new files under
 * names that were never used, and then replaces the manifest atomically.  A crash leaves the old set
 * of files or the new one.  Files that the manifest does not list are left over from a crash, and
 * the next writer deletes them.
 *
 *   256 bytes   the fields below; unused bytes are zero
 *   40 each     runs: number, keys, bytes, checksum of the head, level
 *   8 bytes     checksum of everything before */
#include "sieve/manifest.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/base/status.h"
#include "store/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIXED_LEN = 256,
    RUN_LEN = 40,
    SUM_LEN = 8,
    KEY_AT = 16,
    N_RUNS_AT = 176,
    MOST_LEN = FIXED_LEN + DJ_MAX_RUNS * RUN_LEN + SUM_LEN,
    VERSION = 1
};
#define MAGIC "dejasiev"

/* The 64-bit fields and their places. */
static const struct {
    size_t at, offset;
} fields[] = {
    {48, offsetof(struct dj_manifest, seed)},     {56, offsetof(struct dj_manifest, key_check)},
    {64, offsetof(struct dj_manifest, id)},       {72, offsetof(struct dj_manifest, url_rules)},
    {80, offsetof(struct dj_manifest, sequence)}, {88, offsetof(struct dj_manifest, next)},
    {96, offsetof(struct dj_manifest, log)},      {104, offsetof(struct dj_manifest, spool)},
    {112, offsetof(struct dj_manifest, flushes)}, {120, offsetof(struct dj_manifest, filter_for)},
    {128, offsetof(struct dj_manifest, waited)},  {136, offsetof(struct dj_manifest, settled)},
    {144, offsetof(struct dj_manifest, late)},    {152, offsetof(struct dj_manifest, passes)},
    {160, offsetof(struct dj_manifest, merges)},
};

static size_t encode(const struct dj_manifest *m, const struct dj_runs *runs, uint8_t *out)
{
    uint8_t *p = out + FIXED_LEN;
    memset(out, 0, FIXED_LEN);
    memcpy(out, MAGIC, 8);
    dj_store32(out + 8, VERSION);
    dj_store32(out + 12, m->flags);
    memcpy(out + KEY_AT, m->key, DEJA_KEY_LEN);
    for (size_t i = 0; i < DJ_ARRAY_LEN(fields); i++) {
        uint64_t value;
        memcpy(&value, (const uint8_t *)m + fields[i].offset, sizeof value);
        dj_store64(out + fields[i].at, value);
    }
    dj_store32(out + 168, m->profile);
    dj_store64(out + N_RUNS_AT, runs->n);
    for (size_t i = 0; i < runs->n; i++, p += RUN_LEN) {
        const struct dj_run *run = &runs->run[i];
        dj_store64(p, run->number);
        dj_store64(p + 8, run->keys);
        dj_store64(p + 16, run->bytes);
        dj_store64(p + 24, run->sum);
        dj_store32(p + 32, run->level);
        dj_store32(p + 36, 0);
    }
    dj_store64(p, dj_checksum(out, (size_t)(p - out)));
    return (size_t)(p - out) + SUM_LEN;
}

static void decode(const uint8_t *in, struct dj_manifest *m, struct dj_runs *runs)
{
    *m = (struct dj_manifest){.flags = dj_load32(in + 12), .profile = dj_load32(in + 168)};
    memcpy(m->key, in + KEY_AT, DEJA_KEY_LEN);
    for (size_t i = 0; i < DJ_ARRAY_LEN(fields); i++) {
        const uint64_t value = dj_load64(in + fields[i].at);
        memcpy((uint8_t *)m + fields[i].offset, &value, sizeof value);
    }
    runs->n = (size_t)dj_load64(in + N_RUNS_AT);
    for (size_t i = 0; i < runs->n; i++) {
        const uint8_t *p = in + FIXED_LEN + i * RUN_LEN;
        runs->run[i] = (struct dj_run){.number = dj_load64(p),
                                       .keys = dj_load64(p + 8),
                                       .bytes = dj_load64(p + 16),
                                       .sum = dj_load64(p + 24),
                                       .level = dj_load32(p + 32),
                                       .fd = -1};
    }
}

/* Whether the numbers make sense together; a checksum does not stop a crafted file. */
static bool is_sound(const struct dj_manifest *m, const struct dj_runs *runs)
{
    bool sound = m->log < m->next && m->spool < m->next && m->log != m->spool &&
                 m->next <= INT64_MAX && /* more files can follow */
                 !(m->flags & ~(DEJA_KEY_APART | DJ_SIEVE_SEEDED));
    uint64_t keys = 0;
    for (size_t i = 0; i < runs->n && sound; i++) {
        const struct dj_run *run = &runs->run[i];
        sound = run->number < m->next && run->keys > 0 && run->keys <= run->bytes / 9 &&
                run->keys <= UINT64_MAX / 2 - keys && run->bytes <= INT64_MAX && run->level < 64;
        keys += run->keys;
        for (size_t k = 0; k < i && sound; k++)
            sound = runs->run[k].number != run->number;
    }
    return sound;
}

static int check(const struct dj_folder *folder, const uint8_t *in, size_t len, deja_error *err)
{
    const uint64_t n = len >= FIXED_LEN + SUM_LEN ? dj_load64(in + N_RUNS_AT) : 0;
    if (len < 16 || memcmp(in, MAGIC, 8) != 0)
        return dj_folder_damaged(folder, DJ_MANIFEST, "not a sieve's manifest (bad magic)", err);
    if (dj_load32(in + 8) > VERSION)
        return dj_fail(err, DEJA_EVERSION, "%s/%s: version %u; this deja reads version %u",
                       folder->path, DJ_MANIFEST, dj_load32(in + 8), VERSION);
    if (len < FIXED_LEN + SUM_LEN || n > DJ_MAX_RUNS || len != FIXED_LEN + n * RUN_LEN + SUM_LEN ||
        dj_load64(in + len - SUM_LEN) != dj_checksum(in, len - SUM_LEN))
        return dj_folder_damaged(folder, DJ_MANIFEST, "it is damaged", err);
    return DEJA_OK;
}

int dj_manifest_read(const struct dj_folder *folder, struct dj_manifest *m, struct dj_runs *runs,
                     int *fd, deja_error *err)
{
    uint8_t *bytes = malloc(MOST_LEN + 1);
    runs->n = 0;
    *fd = openat(folder->fd, DJ_MANIFEST, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    int rc = DEJA_OK;
    if (*fd < 0)
        rc = dj_folder_failed(folder, DJ_MANIFEST, "cannot open it", err);
    else if (!bytes)
        rc = dj_fail_memory(err);
    if (rc == DEJA_OK) {
        const ssize_t len = dj_read_at(*fd, bytes, MOST_LEN + 1, 0);
        rc = len < 0 ? dj_folder_failed(folder, DJ_MANIFEST, "cannot read it", err)
                     : check(folder, bytes, (size_t)len, err);
    }
    if (rc == DEJA_OK) {
        decode(bytes, m, runs);
        if (!is_sound(m, runs))
            rc = dj_folder_damaged(folder, DJ_MANIFEST, "it is damaged", err);
    }
    const int saved = errno;
    if (rc < 0)
        runs->n = 0;
    if (rc < 0 && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    free(bytes);
    errno = saved;
    return rc;
}

int dj_manifest_write(const struct dj_folder *folder, const struct dj_manifest *m,
                      const struct dj_runs *runs, int *fd, bool *taken, deja_error *err)
{
    struct dj_tmp tmp = DJ_TMP_NONE;
    uint8_t *bytes = malloc(FIXED_LEN + runs->n * RUN_LEN + SUM_LEN);
    *taken = false;
    int rc = bytes ? dj_folder_begin(folder, DJ_MANIFEST, &tmp, err) : dj_fail_memory(err);
    const int new_fd = tmp.fd;
    if (rc == DEJA_OK && !dj_write_at(tmp.fd, bytes, encode(m, runs, bytes), 0))
        rc = dj_folder_failed(folder, DJ_MANIFEST, "cannot write it", err);
    if (rc == DEJA_OK) {
        rc = dj_folder_commit(folder, &tmp, *fd < 0 ? DJ_TMP_NEW : *fd, err);
        *taken = tmp.fd < 0;
    }
    if (*taken) {
        if (*fd >= 0)
            close(*fd);
        *fd = new_fd;
    }
    dj_tmp_discard(&tmp);
    free(bytes);
    return rc;
}
