/* journal.h - an append-only file of batches with checksums. */
#ifndef DJ_JOURNAL_H
#define DJ_JOURNAL_H
#include "core/base/alloc.h"
#include "sieve/sievefolder.h"

#define DJ_JOURNAL_HEAD 4096 /* bytes before the first batch */
#define DJ_BATCH_HEAD   32   /* bytes before the payload of a batch */

struct dj_journal {
    const struct dj_folder *folder;
    const char *type; /* "log" or "spool" */
    uint64_t number, id;
    int fd;       /* -1: none */
    uint64_t len; /* bytes, with the head */
    uint64_t batches;
    uint64_t marks;   /* sync marks written so far */
    uint64_t durable; /* bytes that the newest mark promises */
    bool failed;      /* a sync or a truncation failed: nothing more is promised */
};

/* Reads the batches of a journal in order. */
struct dj_batches {
    const struct dj_journal *journal;
    uint64_t at, number; /* of the next batch */
    uint8_t *data;       /* its payload */
    size_t len, cap;
    uint32_t count; /* of entries in it */
    const deja_allocator *alloc;
};

/* Creates the file and makes its head durable, but not its name. */
int dj_journal_create(struct dj_journal *j, const struct dj_folder *folder, const char *type,
                      uint64_t number, uint64_t id, deja_error *err);
/* Opens an existing file and checks its head; dj_journal_trim then finds its end. */
int dj_journal_open(struct dj_journal *j, const struct dj_folder *folder, const char *type,
                    uint64_t number, uint64_t id, bool write, deja_error *err);
void dj_journal_close(struct dj_journal *j);
/* Verifies what dj_journal_open tolerates: both marks, and the bytes of the head that must be zero. */
int dj_journal_verify_head(const struct dj_journal *j, deja_error *err);
/* Appends a batch of len > 0 payload bytes, which begin DJ_BATCH_HEAD bytes after `batch`.  After
 * DEJA_OK it survives a kill; on failure the journal is as before. */
int dj_journal_append(struct dj_journal *j, uint8_t *batch, size_t len, uint32_t count,
                      deja_error *err);
/* Drops the batches after an earlier length. */
void dj_journal_cut(struct dj_journal *j, uint64_t len, uint64_t batches);
/* Makes all batches durable. */
int dj_journal_sync(struct dj_journal *j, deja_error *err);

void dj_batches_init(struct dj_batches *b, const struct dj_journal *j,
                     const deja_allocator *alloc);
void dj_batches_fini(struct dj_batches *b);
/* Reads the next batch; 1: there is one, 0: there is none, negative: an error.  An incomplete batch
 * that no sync has promised is the end; a damaged one that was synced is an error. */
int dj_batches_next(struct dj_batches *b, deja_error *err);
/* After the last batch: the journal ends here.  A writer cuts off an incomplete batch. */
int dj_journal_trim(struct dj_journal *j, const struct dj_batches *b, bool write, deja_error *err);

#endif
