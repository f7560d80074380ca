/* pipeline.h - reads and hashes records while the caller looks up and writes others.
 *
 * With two threads, one reads, splits and hashes the next blocks while the caller works on the
 * current one; they share a small ring of blocks.  A caller that would wait does some of that work
 * itself.  With one thread, the calls do everything in place.  Batches arrive in input order. */
#ifndef CLI_SESSION_PIPELINE_H
#define CLI_SESSION_PIPELINE_H
#include "tools/input/input.h"

/* Keyless records (blocks.h) are neither hashed nor looked up.  So `hash` holds the hashes of
 * `keyed` keys, without gaps.  When the command has answered these, batch_spread gives each record
 * its answer. */
struct batch {
    struct block block;
    size_t keyed;    /* records with a key: block.n if none is keyless */
    uint64_t *hash;  /* keyed times pipeline_hash.words numbers */
    uint8_t *answer; /* room for block.n answers */

    /* private */
    size_t hash_cap, answer_cap;
    bool ready;
    int failed; /* 0, or the status to return after its records */
    int status; /* result of input_next */
    deja_error error;
};

/* Turns the first `keyed` answers, one per key, into block.n answers, one per record.  Keyless
 * records get BATCH_KEYLESS.  The array is b->answer, or another one with room for block.n. */
enum {
    BATCH_KEYLESS = 2
}; /* neither 0 nor 1 */
void batch_spread(const struct batch *b, uint8_t *answer);

/* A step between picking the keys of a block and hashing them, which changes the keys, for example
 * to canonical URLs.  It may set keys[i] to a slice in block_room, replace the records with
 * block_rekey, and drop some or all of them, but must not change the data.  It runs in either
 * thread, possibly for two blocks at a time with the same context.  It returns DEJA_OK, or a
 * status that ends the input after the records that it left in the block. */
struct pipeline_step {
    int (*run)(void *context, struct block *b, deja_error *err);
    void *context; /* must stay valid until pipeline_close */
};

/* How keys are hashed, each to `words` numbers.  It runs in either thread; the context must stay
 * valid until pipeline_close. */
struct pipeline_hash {
    size_t words;
    void (*run)(const void *context, const deja_slice *keys, size_t n, uint64_t *hash);
    const void *context;
};

/* The hash functions of a filter; add and contains may run on it at the same time. */
struct pipeline_hash pipeline_hash_of(const deja_filter *filter);

struct pipeline;
/* Reads `in`, which must stay valid until pipeline_close; until then, call only input_progress on
 * it.  threads: 1 for one thread, more for two.  step may be NULL. */
int pipeline_open(struct input *in, struct pipeline_hash hash, const struct pipeline_step *step,
                  uint32_t threads, struct pipeline **out, deja_error *err);
/* Returns 1 and a batch that is valid until the next call, 0 at the end, or a negative status. */
int pipeline_next(struct pipeline *p, struct batch **out, deja_error *err);
/* The same, but returns PIPELINE_IDLE if nothing arrives within this many milliseconds. */
#define PIPELINE_IDLE 2
int pipeline_next_within(struct pipeline *p, int timeout_ms, struct batch **out, deja_error *err);
void pipeline_close(struct pipeline *p); /* may be called before the end; NULL is fine */

#endif
