/* pipeline.h - records that arrive hashed: reading and hashing beside looking up and writing.
 *
 * With two threads, one reads, splits and hashes the next blocks while the caller is busy with
 * the present one; they share a small ring of blocks.  With one thread the same calls do the
 * work in place.  Either way batches come in input order. */
#ifndef CLI_PIPELINE_H
#define CLI_PIPELINE_H
#include "input.h"

struct batch {
    struct block block;
    uint64_t *hash;  /* block.n times deja_filter_hash_words(filter) numbers */
    uint8_t *answer; /* room for block.n answers */

    /* private */
    size_t hash_cap, answer_cap;
    int status; /* of input_next */
    deja_error error;
};

struct pipeline;
/* Reads `in` and hashes for `filter`; both outlive the pipeline, and neither is read by others
 * meanwhile, but for add, contains and input_progress.  threads: 1, or more for two. */
int pipeline_open(struct input *in, const deja_filter *filter, uint32_t threads,
                  struct pipeline **out, deja_error *err);
/* 1: a batch, the caller's until the next call; 0: the end; negative: a status. */
int pipeline_next(struct pipeline *p, struct batch **out, deja_error *err);
void pipeline_close(struct pipeline *p); /* also before the end; NULL is fine */

#endif
