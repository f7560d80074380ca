/* pipeline.h - records that arrive hashed: reading and hashing beside looking up and writing.
 *
 * With two threads, one reads, splits and hashes the next blocks while the caller is busy with
 * the present one; they share a small ring of blocks.  A caller that has to wait takes a share of
 * that work.  With one thread the same calls do it all in place.  Either way batches come in input
 * order. */
#ifndef CLI_SESSION_PIPELINE_H
#define CLI_SESSION_PIPELINE_H
#include "tools/input/input.h"

/* Keyless records (blocks.h) are hashed by nobody and looked up nowhere.  So `hash` has only the
 * keys that there are, without gaps, and a command asks about `keyed` of them.  batch_spread then
 * gives each record its answer. */
struct batch {
    struct block block;
    size_t keyed;    /* records with a key: block.n, unless some are keyless */
    uint64_t *hash;  /* keyed times as many numbers as a key becomes */
    uint8_t *answer; /* room for block.n answers */

    /* private */
    size_t hash_cap, answer_cap;
    bool ready;
    int failed; /* what comes behind its records: 0, or a status */
    int status; /* of input_next */
    deja_error error;
};

/* Turns the first `keyed` answers, one per key, into block.n answers, one per record: keyless ones
 * become BATCH_KEYLESS.  The array is the batch's own, or another one with room for block.n. */
enum {
    BATCH_KEYLESS = 2
}; /* neither 0 nor 1 */
void batch_spread(const struct batch *b, uint8_t *answer);

/* A step between picking the keys of a block and hashing them, for what makes other keys of them:
 * canonical URLs.  It may put another slice into keys[i], one that lives in block_room, and other
 * records into the block with block_rekey; data stays as it is.  It runs in either thread, at
 * times for two blocks at once, so the context is shared.  It may leave records out, also all of
 * them.  DEJA_OK, or a status that ends the reading as an error of the input
 * does: the records that the step has left in the block are delivered before. */
struct pipeline_step {
    int (*run)(void *context, struct block *b, deja_error *err);
    void *context; /* outlives the pipeline */
};

/* How keys become numbers, `words` of them each; both outlive the pipeline.  It runs in either
 * thread. */
struct pipeline_hash {
    size_t words;
    void (*run)(const void *context, const deja_slice *keys, size_t n, uint64_t *hash);
    const void *context;
};

/* As this filter hashes.  Add and contains may run at the same time. */
struct pipeline_hash pipeline_hash_of(const deja_filter *filter);

struct pipeline;
/* Reads `in`, which outlives the pipeline; until it is closed, only input_progress may be called
 * on it.  threads: 1, or more for two.  step may be NULL. */
int pipeline_open(struct input *in, struct pipeline_hash hash, const struct pipeline_step *step,
                  uint32_t threads, struct pipeline **out, deja_error *err);
/* 1: a batch, the caller's until the next call; 0: the end; negative: a status. */
int pipeline_next(struct pipeline *p, struct batch **out, deja_error *err);
/* The same, but PIPELINE_IDLE if the input brings nothing for so many milliseconds. */
#define PIPELINE_IDLE 2
int pipeline_next_within(struct pipeline *p, int timeout_ms, struct batch **out, deja_error *err);
void pipeline_close(struct pipeline *p); /* also before the end; NULL is fine */

#endif
