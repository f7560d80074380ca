/* dedup.c - which lines of a stream are new, when a line must not count as seen too early.
 *
 * A filter in a mapped file outlives the process at every moment: a bit that was set is seen by
 * the next run even after kill -9, whereas a line in the process's own output buffer is gone.
 * So keys are not added when they are judged.  They wait in a pending set until the caller has
 * handed their lines over and commits:
 *
 *   judge     known to the filter or pending: seen.  Otherwise new, and pending from now on.
 *             A window counts from the last time that a key came, so there all keys wait, in
 *             their order; those that wait count as seen, however small the window is.
 *   (caller)  writes the lines of the new keys; syncs the output when it is a file
 *   commit    pending keys go into the filter
 *
 * A crash before the commit repeats lines in the next run; it never loses one.
 *
 * The pending set is a hash table of 64-bit identities (open addressing, at most half full) over
 * a list of the hashes in the order they came. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filters/filter.h"
#include <stdlib.h>

struct deja_dedup {
    deja_filter *f;
    size_t words;
    uint64_t *hash; /* of the pending keys, words each */
    size_t n, cap;
    uint64_t passed;  /* keys judged as seen since the last commit: offered, and not added */
    uint64_t *table;  /* identities; 0: free */
    size_t table_len; /* a power of two, at least twice cap */
};

int deja_dedup_new(deja_filter *f, deja_dedup **out, deja_error *err)
{
    *out = NULL;
    const int rc = dj_plan_refuse_static(&f->plan, err);
    if (rc < 0)
        return rc;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return dj_fail(err, DEJA_ENOMEM, "out of memory");
    (*out)->f = f;
    (*out)->words = deja_filter_hash_words(f);
    return DEJA_OK;
}

void deja_dedup_free(deja_dedup *d)
{
    if (!d)
        return;
    free(d->hash);
    free(d->table);
    free(d);
}

size_t deja_dedup_pending(const deja_dedup *d)
{
    return d->n;
}

static uint64_t identity(const uint64_t *hash, size_t words)
{
    uint64_t id = hash[0];
    for (size_t i = 1; i < words; i++)
        id = dj_mix64(id + hash[i]);
    return id ? id : 1;
}

/* Put id into the table; false when it is there. */
static bool insert(deja_dedup *d, uint64_t id)
{
    size_t at = (size_t)(id * DJ_GOLDEN >> 32) & (d->table_len - 1);
    while (d->table[at]) {
        if (d->table[at] == id)
            return false;
        at = (at + 1) & (d->table_len - 1);
    }
    d->table[at] = id;
    return true;
}

static void fill_table(deja_dedup *d)
{
    memset(d->table, 0, d->table_len * sizeof *d->table);
    for (size_t i = 0; i < d->n; i++)
        insert(d, identity(d->hash + i * d->words, d->words));
}

/* Room for n more keys, before any of them is judged. */
static int reserve(deja_dedup *d, size_t n)
{
    if (d->n + n <= d->cap)
        return DEJA_OK;
    size_t cap = d->cap ? d->cap : 4096;
    while (cap < d->n + n)
        cap *= 2;
    uint64_t *hash = realloc(d->hash, cap * d->words * sizeof *hash);
    if (!hash)
        return DEJA_ENOMEM;
    d->hash = hash;
    uint64_t *table = malloc(2 * cap * sizeof *table);
    if (!table)
        return DEJA_ENOMEM;
    free(d->table);
    d->table = table;
    d->table_len = 2 * cap;
    d->cap = cap;
    fill_table(d);
    return DEJA_OK;
}

int deja_dedup_judge(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    int rc = reserve(d, n);
    if (rc < 0)
        return rc;
    deja_filter_contains_hashed(d->f, hash, n, is_new); /* seen, so far */
    if (dj_filter_is_lost(d->f))                        /* all of them would be dropped as seen */
        return dj_filter_lost();
    const bool renews = d->f->plan.kind == DEJA_WINDOW;
    for (size_t i = 0; i < n; i++, hash += d->words) {
        const bool seen = is_new[i];
        const bool fresh = (!seen || renews) && insert(d, identity(hash, d->words));
        is_new[i] = !seen && fresh;
        if (is_new[i] || renews) {
            memcpy(d->hash + d->n * d->words, hash, d->words * sizeof *hash);
            d->n++;
        } else {
            d->passed++;
        }
    }
    return DEJA_OK;
}

int deja_dedup_commit(deja_dedup *d)
{
    size_t done = 0;
    /* How many came is what the account of lost keys rests on (stats.c). */
    atomic_fetch_add_explicit(&d->f->offered, d->passed, memory_order_relaxed);
    d->passed = 0;
    if (!d->n)
        return DEJA_OK;
    const int rc = deja_filter_add_hashed(d->f, d->hash, d->n, NULL, &done);
    d->n -= done;
    memmove(d->hash, d->hash + done * d->words, d->n * d->words * sizeof *d->hash);
    fill_table(d);
    return rc;
}
