/* sieve.h - the parts of a sieve, and what its files share. */
#ifndef DJ_SIEVE_H
#define DJ_SIEVE_H
#include "sieve/manifest.h"
#include "sieve/recent.h"
#include "sieve/sievespool.h"
#include <pthread.h>
#include <stdatomic.h>

#define DJ_SIEVE_HASHES 4 /* k of the filter; see sieve.c */
#define DJ_SIEVE_FAN    8 /* runs that one merge joins */
/* With this many runs, a flush waits for a merge; if merges fail, it fails at twice the number.  Each
 * run is an open file, and many systems allow a process 1024. */
#define DJ_SIEVE_MANY   256

#define DJ_FILTER_FILE  "filter.deja"
#define DJ_LOCK_FILE    "lock"
#define DJ_PRINT_LEN    12                   /* bytes of a fingerprint in the log */
#define DJ_MOST_PENDING ((uint64_t)DJ_FOUND) /* the tag has 31 bits for the position */

/* How the memory of a sieve is divided, in bytes. */
struct dj_shares {
    uint64_t filter;  /* at most */
    uint64_t recent;  /* the table and the copy that is sorted; without a filter, also its share */
    uint64_t pending; /* 16 per key */
    size_t buffer;    /* of one file that is read or written */
};

/* The thread that merges runs (compact.c). */
struct dj_compactor {
    pthread_t thread;
    bool started;
    bool asked;                  /* there may be work */
    pthread_cond_t wake, merged; /* with the sieve's lock */
    atomic_bool stop;
    atomic_bool pause; /* somebody is waiting for an answer */
    bool merging;
    uint64_t failed; /* merges, and why the last one did */
    deja_error why;
};

struct deja_sieve {
    struct dj_folder folder;
    int lock_fd, manifest_fd;
    bool writes;
    uint32_t flags;  /* of the options */
    uint64_t memory; /* as in the options */
    struct dj_shares share;
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
    uint8_t key[DEJA_KEY_LEN];
    struct dj_printer printer;
    uint64_t id, seed;  /* as in the manifest; these never change */
    uint32_t made_with; /* its flags */

    /* The files.  The compactor changes them too, with the lock. */
    pthread_mutex_t lock;
    struct dj_manifest manifest;
    struct dj_runs *runs, *spare; /* spare: the next list of runs, while it is made */
    struct dj_compactor compactor;

    /* Everything below belongs to the caller's thread. */
    bool has_runs;
    uint64_t waited, settled, late, passes; /* the manifest has older values */

    deja_filter *filter;  /* of the keys in runs; NULL while there are none, and for readers */
    uint64_t filter_room; /* the memory for which it was made */
    struct dj_recent recent;
    struct dj_journal log;
    deja_fingerprint *fresh; /* in `recent`, judged new, and not committed */
    size_t n_fresh, fresh_cap;

    struct dj_journal spool;
    deja_fingerprint *pending; /* tag: position in the spool.  The first n_settled are decided, */
    size_t n_pending, pending_cap; /* sorted, and not yet dropped from the spool */
    uint32_t *which;               /* scratch of judge, DEJA_SIEVE_BATCH numbers */

    /* Keys that settle has decided (settle.c). */
    size_t n_settled;
    uint8_t *is_late; /* a bit for each, by position in the spool */
    size_t n_late, n_returned;
    uint64_t spool_len;        /* where they end in the spool */
    struct dj_batches reading; /* the next one is in this batch ... */
    deja_slice batch;          /* ... at the front of this */
    deja_fingerprint *handed;  /* late ones that were returned and are not committed */
    size_t n_handed, handed_cap;
};

/* deja_sieve_open with other shares of memory, for tests. */
int dj_sieve_open(const char *path, unsigned flags, const deja_sieve_options *opt,
                  const struct dj_shares *share, deja_sieve **out, deja_error *err);
/* Locks the directory for its writer: *fd holds the lock until it is closed, like the directory.
 * DEJA_EBUSY: another process has it. */
int dj_sieve_lock(const struct dj_folder *folder, int *fd, deja_error *err);
/* Whether a sieve has files of this name, or temporary ones. */
bool dj_sieve_owns(const char *name);
/* The shares of this much memory. */
struct dj_shares dj_shares_of(uint64_t memory);
/* A function that gets the hashes of keys; a result other than 0 ends the walk and is returned. */
typedef int dj_take_hashes(void *ctx, const uint64_t *hash, size_t n);
int dj_each_print(const deja_fingerprint *key, size_t n, dj_take_hashes *take, void *ctx);
/* Walks the runs; take may be NULL, to verify them. */
int dj_sieve_each(deja_sieve *s, dj_take_hashes *take, void *ctx, deja_error *err);
/* A dj_take_hashes that adds to a filter. */
int dj_add_to_filter(void *filter, const uint64_t *hash, size_t n);
/* Makes sure that nobody has deleted or replaced the sieve of this writer. */
int dj_sieve_check_named(deja_sieve *s, deja_error *err);
/* Makes sure that there is a filter if there are runs: loads or rebuilds it. */
int dj_sieve_need_filter(deja_sieve *s, deja_error *err);
/* Adds the keys of a new run to the filter, or frees it if they are too many for its size. */
int dj_sieve_extend_filter(deja_sieve *s, const deja_fingerprint *key, size_t n);
/* The memory of a filter that is made for this many keys. */
uint64_t dj_sieve_filter_room(const struct dj_shares *share, uint64_t keys);
/* Writes the recent keys, all of which must be committed, to a run. */
int dj_sieve_flush(deja_sieve *s, deja_error *err);
/* Appends keys to the log. */
int dj_sieve_log(deja_sieve *s, const deja_fingerprint *key, size_t n, deja_error *err);
/* The next manifest, with the counts of the caller's thread; s->spare becomes a copy of s->runs.  Call
 * it with the lock. */
struct dj_manifest dj_sieve_next(deja_sieve *s);
/* Replaces the manifest with *m and the runs in s->spare, which then become s->runs.  *taken as for
 * dj_manifest_write; if it is true, the change has been made even if the call fails.  Call it with
 * the lock. */
int dj_sieve_publish(deja_sieve *s, struct dj_manifest *m, bool *taken, deja_error *err);
/* While the caller reads runs: merges wait. */
void dj_sieve_hold(deja_sieve *s);
void dj_sieve_release(deja_sieve *s);
/* Sets DJ_FOUND in the tags of the sorted keys that a run has. */
int dj_sieve_find(deja_sieve *s, deja_fingerprint *key, size_t n, deja_error *err);
/* Makes an array larger: at least `need` elements of `size` bytes; false if out of memory. */
bool dj_sieve_grow(const deja_sieve *s, void **array, size_t *cap, size_t need, size_t size);
/* Keys in all runs. */
uint64_t dj_runs_keys(const struct dj_runs *runs);

/* Checks the options and fills in the defaults. */
int dj_sieve_options_read(const deja_sieve_options *opt, deja_sieve_options *known,
                          deja_error *err);

/* forecast.c: the share of new keys for which a filter says "seen", and the bound on the
 * probability that any two of n keys have the same fingerprint. */
double dj_forecast_rate(uint64_t filter_bytes, uint64_t keys);
double dj_forecast_wrong(double keys);

/* settle.c */
void dj_settle_reset(deja_sieve *s);
/* Whether settle has decided this key and it is not committed yet. */
bool dj_settle_has(const deja_sieve *s, const deja_fingerprint *key);
/* Records late keys that were handed over, and drops the spool when all were. */
int dj_settle_commit(deja_sieve *s, deja_error *err);

/* compact.c */
int dj_compactor_init(deja_sieve *s);
/* Stops the thread; it starts again when there is work. */
void dj_compactor_stop(deja_sieve *s);
void dj_compactor_fini(deja_sieve *s);
/* Merges runs if there are enough, in the thread or here. */
void dj_compact(deja_sieve *s);
/* Before a flush: makes sure that runs do not arrive faster than they are merged. */
void dj_compact_room(deja_sieve *s);

#endif
