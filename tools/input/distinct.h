/* distinct.h - a list of distinct keys in memory, in their original order, contiguous in one
 * buffer.
 *
 * An exact filter (64-bit fingerprints) recognizes the duplicates.  The probability that two of 4
 * million distinct keys collide is 4e-7; a collision would lose one key. */
#ifndef TOOLS_INPUT_DISTINCT_H
#define TOOLS_INPUT_DISTINCT_H
#include "tools/input/input.h"

struct distinct { /* begin with {0} */
    char *bytes;
    size_t used, cap;
    size_t *end; /* where each key ends in bytes */
    size_t n, room;
    uint64_t duplicates; /* keys that were skipped */
    deja_filter *seen;
};

/* Append a key, always or only if it is new; `most` is the maximum number of keys. */
int distinct_append(struct distinct *d, deja_slice key, deja_error *err);
int distinct_offer(struct distinct *d, deja_slice key, size_t most, deja_error *err);
/* Add the new keys of the input until there are `most` keys.  Skips keys that are empty or longer
 * than `longest` bytes. */
int distinct_read(struct distinct *d, const struct input_options *in, size_t most, size_t longest,
                  deja_error *err);
/* Returns the keys in an array that the caller frees, or NULL if out of memory.  They point into
 * bytes, which must not grow again. */
deja_slice *distinct_slices(const struct distinct *d, deja_error *err);
void distinct_fini(struct distinct *d);

#endif
