/* lab_speed.h - the units and values of exp_speed.c, and its report. */
#ifndef LAB_EXPERIMENTS_LAB_SPEED_H
#define LAB_EXPERIMENTS_LAB_SPEED_H
#include "lab/experiments/lab_thesis.h"

/* Units 0 .. SPEED_GRID - 1: one k and F, all six sizes; the times to add, then those to query. */
#define SPEED_FILTERS 3u
#define SPEED_GRID    (SPEED_FILTERS * THESIS_K)
static inline uint32_t speed_k(uint32_t unit)
{
    return THESIS_K_MIN + unit % THESIS_K;
}
static inline uint32_t speed_filters(uint32_t unit)
{
    return 1 + unit / THESIS_K;
}

/* The units that follow: other structures. */
enum lab_speed_other {
    SPEED_LINEAR,
    SPEED_BINARY,
    SPEED_TABLE,
    SPEED_CLASSIC,
    SPEED_BLOCKED,
    SPEED_EXACT,
    SPEED_SCALABLE,
    SPEED_PLAIN5,
    SPEED_LAYERS5,
    SPEED_KIND,
    SPEED_OTHERS
};
extern const char *const speed_label[SPEED_OTHERS];
enum { /* their times */
    SPEED_ADD,
    SPEED_QUERY
};

/* The last unit: lab_shape.h. */
#define SPEED_SHAPE (SPEED_GRID + SPEED_OTHERS)
#define SPEED_UNITS (SPEED_SHAPE + 1)

void lab_speed_report(const struct lab_results *r, struct lab_report *report);

#endif
