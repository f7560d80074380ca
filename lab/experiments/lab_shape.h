/* lab_shape.h - time against k and F, with one hash computation per function and in deja's way. */
#ifndef LAB_EXPERIMENTS_LAB_SHAPE_H
#define LAB_EXPERIMENTS_LAB_SHAPE_H
#include "lab/engine/lab_task.h"
#include "lab/experiments/lab_thesis.h"

#define SHAPE_FILTERS 3u
#define SHAPE_ROUNDS  5u
#define SHAPE_M       2.0 /* the bit-size multiplier */

enum lab_shape_step {
    SHAPE_ADD,
    SHAPE_QUERY,
    SHAPE_STEPS
};
enum lab_shape_way {
    SHAPE_ONE_BY_ONE, /* as in the thesis: k hash computations for a key, one after the other */
    SHAPE_DEJA,       /* eight of them at once */
    SHAPE_WAYS
};
/* Other structures, timed in the same rounds. */
enum lab_shape_other {
    SHAPE_TABLE,   /* a hash table of strings */
    SHAPE_CLASSIC, /* one XXH3 for all positions, 1 % */
    SHAPE_BLOCKED, /* and one cache line, 1 % */
    SHAPE_OTHERS
};
#define SHAPE_SUBJECTS (SHAPE_WAYS * SHAPE_FILTERS * THESIS_K + SHAPE_OTHERS)
#define SHAPE_VALUES   (SHAPE_STEPS * SHAPE_SUBJECTS * SHAPE_ROUNDS)

/* The number of a subject, and of its time in a round: ns per key. */
static inline uint32_t shape_subject(enum lab_shape_way way, uint32_t filters, uint32_t k)
{
    return (way * SHAPE_FILTERS + filters - 1) * THESIS_K + k - THESIS_K_MIN;
}
static inline uint32_t shape_other(enum lab_shape_other which)
{
    return SHAPE_WAYS * SHAPE_FILTERS * THESIS_K + which;
}
static inline uint32_t shape_value(enum lab_shape_step step, uint32_t subject, uint32_t round)
{
    return (step * SHAPE_SUBJECTS + subject) * SHAPE_ROUNDS + round;
}

/* Fills all filters and times each subject once per round, in a different order in each. */
void lab_shape_run(struct lab_task *t);

#endif
