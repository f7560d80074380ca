/* lab_mlbf.h - the multi-layer Bloom filter as in its paper, for the lab only.
 *
 * Algorithms 3 and 4: one bit array for each segment of a URL, and one more whose positions are
 * the XOR of the segments' positions.  Every array has m bits, however few segments it
 * receives. */
#ifndef LAB_ENGINE_LAB_MLBF_H
#define LAB_ENGINE_LAB_MLBF_H
#include "deja.h"

/* Deeper segments share the last layer.  Lines come from a user's file, so their number of words
 * must not determine how many arrays of m bits there are. */
#define LAB_MLBF_LAYERS 64u

struct lab_mlbf {
    uint64_t m;
    uint32_t k;
    uint64_t seed;
    char delimiter;  /* '/': the scheme is removed first; ' ': words */
    uint32_t robin;  /* words go to this many layers in turn, at most LAB_MLBF_LAYERS;
                      * 0: segment i goes to layer i */
    uint32_t layers; /* allocated so far */
    uint8_t *layer[LAB_MLBF_LAYERS];
    uint8_t *joint; /* the array of the XOR */
};

/* DEJA_EINVAL if m is 0; DEJA_ENOMEM. */
int lab_mlbf_init(struct lab_mlbf *f, uint64_t m, uint32_t k, uint64_t seed, char delimiter,
                  uint32_t robin, deja_error *err);
void lab_mlbf_fini(struct lab_mlbf *f);
int lab_mlbf_add(struct lab_mlbf *f, deja_slice key); /* or DEJA_ENOMEM */
bool lab_mlbf_has(const struct lab_mlbf *f, deja_slice key);

/* The number of words in a line. */
uint32_t lab_mlbf_words(deja_slice line, char delimiter);

#endif
