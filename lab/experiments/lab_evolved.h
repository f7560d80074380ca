/* lab_evolved.h - what the experiment `evolved` counts: its lists, functions and values. */
#ifndef LAB_EXPERIMENTS_LAB_EVOLVED_H
#define LAB_EXPERIMENTS_LAB_EVOLVED_H
#include "lab/engine/lab_gp.h"
#include "lab/report/lab_report.h"

#define EVOLVED_BUCKETS 2u  /* per URL */
#define EVOLVED_POINTS  40u /* of a curve, after the one for the first generation */
#define EVOLVED_RUNS    10u /* the most */

/* A list is a unit. */
enum evolved_list {
    EVOLVED_OWN, /* the lab's URLs */
    EVOLVED_PAGES,
    EVOLVED_SECTIONS,
    EVOLVED_LISTS
};

struct evolved_function {
    const char *name;
    uint32_t hash;   /* 0: the evolved one, which is the first */
    uint64_t format; /* 1: the function as published, without the library's last step */
};
#define EVOLVED_FUNCTIONS 4u
extern const struct evolved_function evolved_functions[EVOLVED_FUNCTIONS];

/* What is counted for each function. */
enum evolved_count {
    EVOLVED_FIRST, /* collisions among the URLs of the first visit */
    EVOLVED_FRESH, /* among as many new ones */
    EVOLVED_AMONG, /* of the new ones, after those of the first visit */
    EVOLVED_COUNTS
};

/* The values of a unit. */
enum {
    EVOLVED_KEYS, /* n URLs of each visit */
    EVOLVED_TRIED,
    EVOLVED_COUNTED,
    EVOLVED_CURVE_FIRST = EVOLVED_COUNTED + EVOLVED_FUNCTIONS * EVOLVED_COUNTS,
    EVOLVED_CURVE_FRESH = EVOLVED_CURVE_FIRST + EVOLVED_POINTS + 1,
    EVOLVED_PROGRAM = EVOLVED_CURVE_FRESH + EVOLVED_POINTS + 1,
    EVOLVED_VALUES = EVOLVED_PROGRAM + LAB_GP_NUMBERS
};

uint32_t evolved_generations(const struct lab *lab);
void evolved_report(const struct lab_results *r, struct lab_report *report);

#endif
