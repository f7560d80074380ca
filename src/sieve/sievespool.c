/* sievespool.c - pending keys with their tokens and records, in a journal.
 *
 * An entry is u64 hash, u32 check, u32 length of the record, u64 token, record.  Entries are read
 * back in order when they are settled, so memory holds only their fingerprints. */
#include "sieve/sievespool.h"
#include "core/base/bytes.h"
#include "core/base/status.h"

static deja_slice record_of(const deja_slice *record, uint32_t i)
{
    return record ? record[i] : (deja_slice){NULL, 0};
}

static uint8_t *put_entry(uint8_t *p, const deja_fingerprint *fp, uint64_t token,
                          deja_slice record)
{
    dj_store64(p, fp->hash);
    dj_store32(p + 8, fp->check);
    dj_store32(p + 12, (uint32_t)record.len);
    dj_store64(p + 16, token);
    if (record.len)
        memcpy(p + DJ_SPOOLED_LEAST, record.data, record.len);
    return p + DJ_SPOOLED_LEAST + record.len;
}

/* How many entries from which[from] on go into one batch, and their bytes. */
static size_t fill(const deja_slice *record, const uint32_t *which, size_t from, size_t n,
                   size_t cap, size_t *bytes)
{
    size_t i = from;
    *bytes = 0;
    for (; i < n; i++) {
        const size_t more = DJ_SPOOLED_LEAST + record_of(record, which[i]).len;
        if (i > from && *bytes + more > cap)
            break;
        *bytes += more;
    }
    return i - from;
}

int dj_spool_add(struct dj_journal *spool, const deja_fingerprint *fp, const uint64_t *token,
                 const deja_slice *record, const uint32_t *which, size_t n, size_t cap,
                 const deja_allocator *alloc, deja_error *err)
{
    const uint64_t len = spool->len, batches = spool->batches;
    int rc = DEJA_OK;
    for (size_t i = 0; i < n; i++)
        if (record_of(record, which[i]).len > UINT32_MAX)
            return dj_fail(err, DEJA_EINVAL, "a record of %zu bytes: 4 GiB are the most",
                           record_of(record, which[i]).len);
    for (size_t i = 0, some; i < n && rc == DEJA_OK; i += some) {
        size_t bytes;
        some = fill(record, which, i, n, cap, &bytes);
        uint8_t *batch = dj_alloc(alloc, DJ_BATCH_HEAD + bytes, 64);
        if (!batch) {
            rc = dj_fail_memory(err);
            break;
        }
        uint8_t *p = batch + DJ_BATCH_HEAD;
        for (size_t k = i; k < i + some; k++)
            p = put_entry(p, &fp[which[k]], token ? token[which[k]] : 0,
                          record_of(record, which[k]));
        rc = dj_journal_append(spool, batch, bytes, (uint32_t)some, err);
        dj_free(alloc, batch, DJ_BATCH_HEAD + bytes);
    }
    if (rc < 0 && spool->len > len)
        dj_journal_cut(spool, len, batches);
    return rc;
}

bool dj_spool_take(deja_slice *batch, struct dj_spooled *out)
{
    const uint8_t *p = batch->data;
    if (batch->len < DJ_SPOOLED_LEAST || dj_load32(p + 12) > batch->len - DJ_SPOOLED_LEAST)
        return false;
    out->print = (deja_fingerprint){dj_load64(p), dj_load32(p + 8), 0};
    out->token = dj_load64(p + 16);
    out->record = (deja_slice){p + DJ_SPOOLED_LEAST, dj_load32(p + 12)};
    batch->data = p + DJ_SPOOLED_LEAST + out->record.len;
    batch->len -= DJ_SPOOLED_LEAST + out->record.len;
    return true;
}
