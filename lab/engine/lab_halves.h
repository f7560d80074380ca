/* lab_halves.h - how the multi-layer papers count false positives (Algorithm 5).
 *
 * The lines are cut into two halves, each half goes into a filter of its own, then half of all
 * lines, drawn at random, is asked of both.  Each of them is in one; one that both claim to have
 * is a false positive of the other.  The papers divide by all lines, of which only half was asked.
 */
#ifndef LAB_ENGINE_LAB_HALVES_H
#define LAB_ENGINE_LAB_HALVES_H
#include "lab/engine/lab.h"
#include "lab/engine/lab_math.h"

#define HALVES_BITS 6.2352 /* a line of its half, for each bit array: p = 0.05 */
#define HALVES_K    4u
#define HALVES_RATE 0.050269 /* of such a filter: (1 - e^(-k / bits))^k */

struct lab_halves {
    char delimiter; /* of the layers: '/' or ' '                              */
    uint32_t robin; /* layers that words go to in turn; 0: one a segment      */
};

/* What came out. */
enum lab_halves_value {
    HALVES_PLAIN,     /* one Bloom filter as the paper sizes it                 */
    HALVES_LAYERED,   /* the multi-layer filter, each array of that size        */
    HALVES_EQUAL,     /* one Bloom filter with the memory of all those arrays   */
    HALVES_ARRAYS,    /* of them: layers and the one of the XOR                 */
    HALVES_KIND,      /* deja's own kind layered, made for p = 0.05 (URLs only) */
    HALVES_KIND_BITS, /* and its memory, bits a line                            */
    HALVES_MISSED,    /* lines that their own filter did not find: must be none */
    HALVES_ASKED,
    HALVES_VALUES
};
/* A plain filter for a half of n lines: as the paper has it for one array, otherwise the best that
 * can be made of the memory of so many. */
struct lab_bloom lab_halves_plain(double n, double arrays);
/* The standard deviation of its rate, when n lines are asked of two such filters. */
double lab_halves_sigma(const struct lab_bloom *b);

int lab_halves(const struct lab *lab, const struct lab_halves *how, const deja_slice *line,
               uint64_t rows, uint64_t seed, double *value, deja_error *err);

#endif
