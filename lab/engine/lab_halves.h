/* lab_halves.h - how the multi-layer papers count false positives (Algorithm 5).
 *
 * The lines are split into two halves, and each half goes into its own filter.  Then half of all
 * lines, drawn at random, are looked up in both.  Each line is in one of them; if both report it,
 * it is a false positive of the other.  The papers divide by all lines, although only half were
 * queried. */
#ifndef LAB_ENGINE_LAB_HALVES_H
#define LAB_ENGINE_LAB_HALVES_H
#include "lab/engine/lab.h"
#include "lab/engine/lab_math.h"

#define HALVES_BITS 6.2352 /* bits per line of its half, for each bit array: p = 0.05 */
#define HALVES_K    4u
#define HALVES_RATE 0.050269 /* rate of such a filter: (1 - e^(-k / bits))^k */

struct lab_halves {
    char delimiter; /* between layers: '/' or ' ' */
    uint32_t robin; /* number of layers that words go to in turn; 0: one per segment */
};

/* The results. */
enum lab_halves_value {
    HALVES_PLAIN,     /* one Bloom filter as the paper sizes it */
    HALVES_LAYERED,   /* the multi-layer filter, each array of that size */
    HALVES_EQUAL,     /* one Bloom filter with the memory of all those arrays */
    HALVES_ARRAYS,    /* their number: the layers and the one of the XOR */
    HALVES_KIND,      /* deja's own layered kind, created for p = 0.05 (URLs only) */
    HALVES_KIND_BITS, /* and its memory, bits per line */
    HALVES_MISSED,    /* lines that their own filter did not find: must be 0 */
    HALVES_ASKED,
    HALVES_VALUES
};
/* A plain filter for a half of n lines: for one array as in the paper, otherwise the best one with
 * the memory of that many arrays. */
struct lab_bloom lab_halves_plain(double n, double arrays);
/* The standard deviation of its rate if n lines are looked up in two such filters. */
double lab_halves_sigma(const struct lab_bloom *b);

/* Sets the first HALVES_VALUES values of the task. */
void lab_halves(struct lab_task *t, const struct lab_halves *how, const deja_slice *line,
                uint64_t rows);

#endif
