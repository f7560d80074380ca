/* sieverecord.c - records keys that their owner knows to be handed over.
 *
 * After a crash, a program may find lines that it had handed over and not yet committed.  Judging
 * them again would make some of them wait, behind an older pending key that is the same.  They are
 * looked up exactly instead; those that are nowhere join the log, as late keys do. */
#include "core/base/status.h"
#include "sieve/sieve.h"

enum {
    LOT = 1 << 16 /* keys looked up in one pass */
};

/* Keeps the keys that are neither in the runs nor recent, each once. */
static int keep_unknown(deja_sieve *s, deja_fingerprint *key, size_t *n, deja_error *err)
{
    size_t kept = 0;
    dj_prints_sort(key, *n);
    const int rc = dj_sieve_find(s, key, *n, err);
    for (size_t i = 0; i < *n && rc == DEJA_OK; i++) {
        const bool repeated = kept > 0 && dj_print_equal(&key[i], &key[kept - 1]);
        if (!(key[i].tag & DJ_FOUND) && !repeated && !dj_recent_has(&s->recent, &key[i]))
            key[kept++] = key[i];
    }
    *n = kept;
    return rc;
}

static int record_lot(deja_sieve *s, const deja_fingerprint *fp, size_t n, deja_error *err)
{
    if (!dj_sieve_grow(s, (void **)&s->handed, &s->handed_cap, n, sizeof *s->handed))
        return dj_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        s->handed[i] = (deja_fingerprint){fp[i].hash, fp[i].check, 0};
    int rc = keep_unknown(s, s->handed, &n, err);
    if (rc < 0)
        return rc;
    s->n_handed = n;
    rc = dj_settle_commit(s, err);
    s->n_handed = 0; /* after a failure, the caller repeats the call */
    return rc;
}

int deja_sieve_record(deja_sieve *s, const deja_fingerprint *fp, size_t n, deja_error *err)
{
    int rc = DEJA_OK;
    if (!s->writes)
        return dj_fail(err, DEJA_EINVAL, "%s is open for reading only", s->folder.path);
    if (s->n_fresh || s->n_handed || s->n_settled)
        return dj_fail(err, DEJA_EINVAL,
                       "record after a commit: %zu keys are not committed, %zu are settled",
                       s->n_fresh + s->n_handed, s->n_settled);
    for (size_t some; n && rc == DEJA_OK; fp += some, n -= some) {
        some = n < LOT ? n : LOT;
        rc = record_lot(s, fp, some, err);
    }
    return rc;
}
