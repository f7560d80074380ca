/* lab_stairs.h - does time grow along a line in k, or in steps of eight?
 *
 * One hash computation per function gives a line.  deja computes eight salts of lookup2 at once, in
 * the lanes of a vector, and F filters share the lanes.  This gives a staircase: ceil(k F / 8)
 * computations. */
#ifndef LAB_EXPERIMENTS_LAB_STAIRS_H
#define LAB_EXPERIMENTS_LAB_STAIRS_H
#include "lab/engine/lab_tests.h"
#include "lab/experiments/lab_thesis.h"

#define STAIRS_LANES 8u

/* Times per filter of k = 3 .. 10, several times over: group g has 1 + g % STAIRS_FILTERS filters,
 * and a constant of its own. */
#define STAIRS_FILTERS 3u
struct lab_stairs_data {
    const double *time; /* groups * THESIS_K */
    uint32_t groups;
};

struct lab_stairs {
    double slope, rise; /* of each model alone: ns per function; ns per step, of eight */
    double line_share, stairs_share; /* of the variance within groups that each explains */
    double both_share;               /* and both together */
    double steps; /* both together: the share of the growth from 3 to 10 that is due to steps */
    struct lab_test line; /* "less than half of the growth is due to steps" */
};

struct lab_stairs lab_stairs(const struct lab_stairs_data *d);

/* The value of the better line, or of the better staircase, at one k of a group. */
double lab_stairs_line_at(const struct lab_stairs_data *d, const struct lab_stairs *s,
                          uint32_t group, uint32_t k);
double lab_stairs_steps_at(const struct lab_stairs_data *d, const struct lab_stairs *s,
                           uint32_t group, uint32_t k);

#endif
