/* run.h - an immutable file of sorted fingerprints. */
#ifndef DJ_RUN_H
#define DJ_RUN_H
#include "core/base/alloc.h"
#include "sieve/fingerprint.h"
#include "sieve/sievefolder.h"

#define DJ_RUN_BLOCK  65536                     /* bytes of the entries of a block at most */
#define DJ_RUN_BUFFER (2 * (DJ_RUN_BLOCK + 64)) /* the smallest buffer for reading or writing */

/* A block of a run, as in its index. */
struct dj_block {
    deja_fingerprint first;
    uint64_t at;        /* offset in the file */
    uint32_t len, keys; /* bytes with its head, and keys */
};

struct dj_run {
    uint64_t number, keys, bytes; /* as in the manifest ... */
    uint64_t sum;                 /* ... with the checksum of its head */
    uint32_t level;               /* merges between a key and the log; see compact.c */
    int fd;
    struct dj_block *index;
    size_t blocks;
};

/* Opens a run whose number, keys, bytes and sum are set; reads and checks its head and index. */
int dj_run_open(struct dj_run *run, const struct dj_folder *folder, uint64_t id,
                const deja_allocator *alloc, deja_error *err);
void dj_run_close(struct dj_run *run, const deja_allocator *alloc);

/* Writes a run. */
struct dj_run_writer {
    const struct dj_folder *folder;
    const deja_allocator *alloc;
    struct dj_tmp tmp;
    uint64_t id, number, keys;
    uint64_t at;     /* bytes written */
    uint8_t *buffer; /* bytes to be written; the last ones are an unfinished block */
    size_t cap, len, begun;
    uint32_t in_block; /* keys in it */
    deja_fingerprint last;
    struct dj_block *index;
    size_t blocks, room;
    uint64_t synced; /* bytes */
    bool steady;     /* sync in small steps, so that others can use the disk in between */
};
int dj_run_begin(struct dj_run_writer *w, const struct dj_folder *folder, uint64_t id,
                 uint64_t number, size_t buffer, const deja_allocator *alloc, deja_error *err);
/* Adds n keys in order; a key that equals the one before it is left out. */
int dj_run_add(struct dj_run_writer *w, const deja_fingerprint *key, size_t n, deja_error *err);
/* Gives the file its name, durably, and stores the open run.  There must be at least one key. */
int dj_run_finish(struct dj_run_writer *w, struct dj_run *run, deja_error *err);
/* Frees memory, and drops a file that is not finished. */
void dj_run_end(struct dj_run_writer *w);

/* Reads all keys of a run in order. */
struct dj_cursor {
    const struct dj_run *run;
    const struct dj_folder *folder;
    const deja_allocator *alloc;
    uint8_t *buffer;
    size_t cap;
    size_t from, to;        /* blocks in the buffer */
    size_t block;           /* the next block to be decoded */
    const uint8_t *p, *end; /* in the current block */
    uint32_t left;          /* keys left in it */
    uint64_t high, low;     /* the newest key: 32 bits and 64 bits */
};
int dj_cursor_init(struct dj_cursor *c, const struct dj_run *run, const struct dj_folder *folder,
                   size_t buffer, const deja_allocator *alloc, deja_error *err);
/* Begins with another run of the same directory. */
void dj_cursor_turn(struct dj_cursor *c, const struct dj_run *run);
void dj_cursor_fini(struct dj_cursor *c);
/* Decodes the next n <= cap keys; *n is 0 after the last.  DEJA_EFORMAT names the block. */
int dj_cursor_read(struct dj_cursor *c, deja_fingerprint *out, size_t cap, size_t *n,
                   deja_error *err);
/* Sets DJ_FOUND in the tag of every one of the n sorted keys that the run has.  Reads only blocks
 * that may have one. */
#define DJ_FOUND UINT32_C(0x80000000)
int dj_cursor_find(struct dj_cursor *c, deja_fingerprint *key, size_t n, deja_error *err);

#endif
