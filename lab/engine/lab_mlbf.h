/* lab_mlbf.h - the filters of the multi-layer papers, for the lab only.
 *
 * Their figures name two filters, but there are three:
 * - LAB_MLBF_LINE: the "Bloom filter" of the published code.  One array; a line is hashed whole.
 * - LAB_MLBF_ONE: Algorithms 1 and 2 as printed.  One array; each segment a_i is hashed and
 *   inserted, and a line is found if all its segments are.  The paper's program never does this.
 * - LAB_MLBF_LAYERED: Algorithms 3 and 4.  One array for each segment of a line, and one more whose
 *   positions are the XOR of the segments' positions.
 * Every array has m bits, however few segments it receives. */
#ifndef LAB_ENGINE_LAB_MLBF_H
#define LAB_ENGINE_LAB_MLBF_H
#include "deja.h"

/* Deeper segments share the last layer.  Lines come from a user's file, so their number of words
 * must not determine how many arrays of m bits there are. */
#define LAB_MLBF_LAYERS 64u

enum lab_mlbf_rule {
    LAB_MLBF_LAYERED,
    LAB_MLBF_ONE,
    LAB_MLBF_LINE
};

struct lab_mlbf_how {
    enum lab_mlbf_rule rule;
    char delimiter; /* '/': the scheme is removed first; ' ': words */
    uint32_t robin; /* words go to this many layers in turn, at most LAB_MLBF_LAYERS;
                     * 0: segment i goes to layer i */
};

struct lab_mlbf {
    uint64_t m;
    uint32_t k;
    uint64_t seed;
    struct lab_mlbf_how how;
    uint32_t layers; /* allocated so far */
    uint8_t *layer[LAB_MLBF_LAYERS];
    uint8_t *joint; /* the array of the XOR; NULL unless layered */
};

/* DEJA_EINVAL if m is 0; DEJA_ENOMEM. */
int lab_mlbf_init(struct lab_mlbf *f, uint64_t m, uint32_t k, uint64_t seed,
                  const struct lab_mlbf_how *how, deja_error *err);
void lab_mlbf_fini(struct lab_mlbf *f);
int lab_mlbf_add(struct lab_mlbf *f, deja_slice key); /* or DEJA_ENOMEM */
bool lab_mlbf_has(const struct lab_mlbf *f, deja_slice key);
/* The number of arrays so far. */
uint32_t lab_mlbf_arrays(const struct lab_mlbf *f);

/* --- Segments, for a model of these filters -------------------------------- */

/* The part of a line that is divided, and its next segment.  rest->data is NULL after the last
 * one. */
deja_slice lab_mlbf_begin(const struct lab_mlbf_how *how, deja_slice line);
deja_slice lab_mlbf_next(const struct lab_mlbf_how *how, deja_slice *rest);
/* The layer of a segment: 0, 1, ... */
uint32_t lab_mlbf_layer(const struct lab_mlbf_how *how, uint32_t segment);

/* The number of words in a line. */
uint32_t lab_mlbf_words(deja_slice line, char delimiter);

#endif
