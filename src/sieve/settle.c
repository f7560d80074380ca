/* settle.c - decides the pending keys in one pass over the runs.
 *
 * The fingerprints of all pending keys are in memory.  Sorted, they are compared with one run after
 * the other, each read once from front to back, and then with the recent keys.  Of equal keys that
 * were not found anywhere, the first to arrive is new (late) and the others are seen.  The outcome is
 * one bit per position in the spool, which is then read in order to return tokens and records.
 *
 *   settle     pending [0, n) is sorted and decided: n_settled = n
 *   settled    reads the spool, returns entries; late ones go to `handed`
 *   commit     `handed` goes to the log and into `recent`; after the last, a new spool with the keys
 *              that became pending in the meantime takes the place of the old one
 *
 * Until then the sorted array stays: a key in it is certainly seen, whichever way it was decided.
 * A crash before the last commit brings all these keys back as pending; late ones that are in the
 * log by then are settled as seen. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "sieve/sieve.h"

enum {
    HANDED = 1 << 16 /* late keys that may wait for a commit */
};

void dj_settle_reset(deja_sieve *s)
{
    dj_batches_fini(&s->reading);
    dj_free(s->alloc, s->is_late, (s->n_settled + 7) / 8);
    s->is_late = NULL;
    s->n_settled = s->n_late = s->n_returned = 0;
    s->batch = (deja_slice){NULL, 0};
}

bool dj_settle_has(const deja_sieve *s, const deja_fingerprint *key)
{
    const size_t i = dj_prints_find(s->pending, s->n_settled, key);
    return i < s->n_settled && dj_print_equal(&s->pending[i], key);
}

/* Turns the marks of dj_sieve_find into one bit for each late key. */
static void decide(deja_sieve *s)
{
    for (size_t i = 0; i < s->n_pending; i++) {
        deja_fingerprint *key = &s->pending[i];
        const bool repeated = i > 0 && dj_print_equal(key, key - 1);
        const bool late = !(key->tag & DJ_FOUND) && !repeated && !dj_recent_has(&s->recent, key);
        key->tag &= ~DJ_FOUND;
        if (late) {
            s->is_late[key->tag / 8] |= (uint8_t)(1 << key->tag % 8);
            s->n_late++;
        }
    }
}

int deja_sieve_settle(deja_sieve *s, deja_error *err)
{
    if (!s->writes)
        return dj_fail(err, DEJA_EINVAL, "%s is open for reading only", s->folder.path);
    if (s->n_settled)
        return dj_fail(err, DEJA_EINVAL, "return and commit the %zu keys that are settled first",
                       s->n_settled);
    const size_t n = s->n_pending;
    if (!n)
        return DEJA_OK;
    s->is_late = dj_alloc(s->alloc, (n + 7) / 8, 64);
    if (!s->is_late)
        return dj_fail_memory(err);
    dj_prints_sort(s->pending, n);
    const int rc = dj_sieve_find(s, s->pending, n, err);
    if (rc < 0) {
        for (size_t i = 0; i < n; i++)
            s->pending[i].tag &= ~DJ_FOUND;
        dj_free(s->alloc, s->is_late, (n + 7) / 8);
        s->is_late = NULL;
        return rc;
    }
    decide(s);
    s->n_settled = n;
    s->spool_len = s->spool.len;
    s->passes += s->has_runs;
    dj_batches_init(&s->reading, &s->spool, s->alloc);
    return DEJA_OK;
}

/* Makes sure that s->batch has the next entry. */
static int next_batch(deja_sieve *s, deja_error *err)
{
    while (!s->batch.len) {
        const int rc = dj_batches_next(&s->reading, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return dj_folder_damaged(&s->folder, dj_file_name_of("spool", s->spool.number).text,
                                     "it changed while it was in use", err);
        s->batch = (deja_slice){s->reading.data, s->reading.len};
    }
    return DEJA_OK;
}

int deja_sieve_settled(deja_sieve *s, deja_settled *out, size_t cap, size_t *n, deja_error *err)
{
    *n = 0;
    if (s->n_returned == s->n_settled || !cap)
        return DEJA_OK;
    /* Within one batch, so that all records stay valid. */
    int rc = next_batch(s, err);
    if (rc < 0)
        return rc;
    if (s->n_handed >= HANDED)
        return dj_fail(err, DEJA_EFULL, "%zu late keys are not committed: commit them first",
                       s->n_handed);
    if (cap > HANDED - s->n_handed)
        cap = HANDED - s->n_handed;
    if (!dj_sieve_grow(s, (void **)&s->handed, &s->handed_cap, s->n_handed + cap,
                       sizeof *s->handed))
        return dj_fail_memory(err);
    for (struct dj_spooled e; *n < cap && s->n_returned < s->n_settled && s->batch.len;) {
        if (!dj_spool_take(&s->batch, &e))
            return dj_folder_damaged(&s->folder, dj_file_name_of("spool", s->spool.number).text,
                                     "a batch is damaged", err);
        const size_t i = s->n_returned++;
        const bool late = s->is_late[i / 8] >> i % 8 & 1;
        if (late)
            s->handed[s->n_handed++] = e.print;
        out[(*n)++] = (deja_settled){.token = e.token,
                                     .record = e.record,
                                     .verdict = late ? DEJA_SIEVE_NEW : DEJA_SIEVE_SEEN};
    }
    return DEJA_OK;
}

/* --- Committing --------------------------------------------------------------------- */

/* The late keys that were handed over join the log and `recent`, which may have to become a run in
 * between. */
static int commit_handed(deja_sieve *s, deja_error *err)
{
    while (s->n_handed) {
        int rc = dj_recent_reserve(&s->recent, 1, false);
        if (rc == DEJA_EFULL)
            rc = dj_sieve_flush(s, err);
        if (rc == DEJA_OK && dj_recent_reserve(&s->recent, 1, false) < 0)
            rc = dj_fail_memory(err);
        if (rc < 0)
            return rc == DEJA_ENOMEM ? dj_fail_memory(err) : rc;
        size_t n = s->n_handed;
        const size_t room = dj_recent_most(&s->recent) - s->recent.n;
        n = n < room ? n : room;
        if (dj_recent_reserve(&s->recent, n, false) < 0)
            return dj_fail_memory(err);
        const deja_fingerprint *last = s->handed + s->n_handed - n;
        rc = dj_sieve_log(s, last, n, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < n; i++)
            dj_recent_add(&s->recent, &last[i]);
        s->n_handed -= n;
    }
    return DEJA_OK;
}

/* Copies the batches that arrived after settle. */
static int copy_rest(deja_sieve *s, struct dj_journal *to, deja_error *err)
{
    struct dj_batches b = s->reading;
    int rc;
    b.data = NULL;
    b.cap = 0;
    if (s->spool.len == s->spool_len)
        return DEJA_OK;
    while ((rc = dj_batches_next(&b, err)) > 0) {
        uint8_t *batch = dj_alloc(s->alloc, DJ_BATCH_HEAD + b.len, 64);
        if (!batch) {
            rc = dj_fail_memory(err);
            break;
        }
        memcpy(batch + DJ_BATCH_HEAD, b.data, b.len);
        rc = dj_journal_append(to, batch, b.len, b.count, err);
        dj_free(s->alloc, batch, DJ_BATCH_HEAD + b.len);
        if (rc < 0)
            break;
    }
    if (rc == 0 && b.at != s->spool.len)
        rc = dj_folder_damaged(&s->folder, dj_file_name_of("spool", s->spool.number).text,
                               "it changed while it was in use", err);
    dj_batches_fini(&b);
    return rc == DEJA_OK ? dj_journal_sync(to, err) : rc;
}

/* With the lock. */
static int exchange_spool(deja_sieve *s, deja_error *err)
{
    struct dj_journal spool = {.fd = -1};
    struct dj_manifest m = dj_sieve_next(s);
    bool taken = false;
    m.spool = s->manifest.next++;
    m.next++;
    m.settled = s->settled + s->n_settled;
    m.late = s->late + s->n_late;
    int rc = dj_journal_create(&spool, &s->folder, "spool", m.spool, m.id, err);
    if (rc == DEJA_OK)
        rc = copy_rest(s, &spool, err);
    if (rc == DEJA_OK)
        rc = dj_folder_sync(&s->folder, err);
    if (rc == DEJA_OK)
        rc = dj_sieve_publish(s, &m, &taken, err);
    if (!taken) {
        if (spool.fd >= 0)
            dj_folder_remove(&s->folder, dj_file_name_of("spool", m.spool).text);
        dj_journal_close(&spool);
        return rc;
    }
    const struct dj_file_name old = dj_file_name_of("spool", s->spool.number);
    dj_journal_close(&s->spool);
    if (rc == DEJA_OK)
        dj_folder_remove(&s->folder, old.text);
    s->spool = spool;
    s->settled = m.settled;
    s->late = m.late;
    return DEJA_OK;
}

int dj_settle_commit(deja_sieve *s, deja_error *err)
{
    int rc = commit_handed(s, err);
    if (rc < 0 || !s->n_settled || s->n_returned < s->n_settled)
        return rc;
    pthread_mutex_lock(&s->lock);
    rc = exchange_spool(s, err);
    pthread_mutex_unlock(&s->lock);
    if (rc < 0)
        return rc;
    const size_t n = s->n_settled;
    dj_settle_reset(s);
    s->n_pending -= n;
    memmove(s->pending, s->pending + n, s->n_pending * sizeof *s->pending);
    for (size_t i = 0; i < s->n_pending; i++)
        s->pending[i].tag -= (uint32_t)n;
    return DEJA_OK;
}
