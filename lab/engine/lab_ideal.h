/* lab_ideal.h - the filters of the multi-layer papers with exact sets instead of bit arrays.
 *
 * Even with perfect hash functions, these filters report lines that were never added: segments of
 * different lines combine into a new one, or equal segments cancel out in the XOR.  The model
 * counts these structural false positives exactly, and predicts how many of the other lines a
 * filter of m bits and k functions will report by chance. */
#ifndef LAB_ENGINE_LAB_IDEAL_H
#define LAB_ENGINE_LAB_IDEAL_H
#include "lab/engine/lab_mlbf.h"

/* A set of 64-bit keys with a number for each: the chance that two of n keys are mistaken for each
 * other is n^2 / 2^65. */
struct lab_ideal_set {
    struct lab_ideal_slot {
        uint64_t key; /* 0: free */
        uint32_t layer;
        float sum;
    } * slot;
    uint64_t mask, n;
};

#define LAB_IDEAL_DEPTHS 8u /* segments of a line: 1, 2, ... 8 and more */

struct lab_ideal {
    struct lab_mlbf_how how;
    uint64_t m;
    uint32_t k;
    struct lab_ideal_set known;                   /* segments by layer, and XORs */
    struct lab_ideal_set strange;                 /* segments that were asked for but not added */
    double in_layer[LAB_MLBF_LAYERS];             /* distinct segments */
    double of_depth[LAB_IDEAL_DEPTHS];            /* distinct XORs */
    double layer_rate[LAB_MLBF_LAYERS];           /* for a strange segment */
    double joint_rate[LAB_IDEAL_DEPTHS];          /* for a strange XOR */
    double sure, chance, own_variance, joint_sum; /* of the lines asked for */
};

/* What to expect from the filter. */
struct lab_expected {
    double sure;     /* structural false positives: every such filter has them */
    double chance;   /* others, on average */
    double variance; /* of their number */
};

/* All return DEJA_OK or DEJA_ENOMEM.  Add all lines, call ready, then ask. */
int lab_ideal_init(struct lab_ideal *d, uint64_t m, uint32_t k, const struct lab_mlbf_how *how);
void lab_ideal_fini(struct lab_ideal *d);
int lab_ideal_add(struct lab_ideal *d, deja_slice line);
int lab_ideal_ready(struct lab_ideal *d);
int lab_ideal_ask(struct lab_ideal *d, deja_slice line);
struct lab_expected lab_ideal_expected(const struct lab_ideal *d);

/* The rate of the XOR array for strange lines of each depth, if it holds of_depth[i] lines of
 * depth i + 1.  The XOR of numbers below m is not uniform unless m is a power of two. */
int lab_ideal_joint(uint64_t m, uint32_t k, const double of_depth[LAB_IDEAL_DEPTHS],
                    double rate[LAB_IDEAL_DEPTHS]);

#endif
