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
#include "lab/engine/lab_mlbf.h"

#define HALVES_BITS 6.2352 /* bits per line of its half, for each bit array: p = 0.05 */
#define HALVES_K    4u
#define HALVES_RATE 0.050269 /* rate of such a filter: (1 - e^(-k / bits))^k */

struct lab_halves {
    char delimiter; /* between segments: '/' or ' ' */
    uint32_t robin; /* number of layers that words go to in turn; 0: one per segment */
};

/* The results: lines that both filters report, unless stated otherwise. */
enum lab_halves_value {
    HALVES_PLAIN,     /* one Bloom filter of whole lines, as in the published program */
    HALVES_ONE,       /* one Bloom filter of segments: Algorithms 1 and 2 as printed */
    HALVES_LAYERED,   /* Algorithms 3 and 4, each array of the same size */
    HALVES_EQUAL,     /* one Bloom filter of whole lines with the memory of all those arrays */
    HALVES_KIND,      /* deja's own layered kind, created for p = 0.05 */
    HALVES_PAPER,     /* the same with --layered paper and the paper's k and m */
    HALVES_ARRAYS,    /* number of arrays: the layers and the one of the XOR */
    HALVES_KIND_BITS, /* memory of deja's own filters, bits per line of a half */
    HALVES_PAPER_BITS,
    HALVES_MISSED, /* lines that their own filter did not find: must be 0 */
    HALVES_ASKED,
    HALVES_ONE_SURE, /* as lab_ideal.h predicts: three values each */
    HALVES_ONE_CHANCE,
    HALVES_ONE_VARIANCE,
    HALVES_LAYERED_SURE,
    HALVES_LAYERED_CHANCE,
    HALVES_LAYERED_VARIANCE,
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
/* The same for one of the papers' filters with k functions: the lines that both report. */
double lab_halves_both(struct lab_task *t, const struct lab_mlbf_how *how, uint32_t k,
                       const deja_slice *line, uint64_t rows);

#endif
