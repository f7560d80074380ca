/* lab_memory.h - the report of exp_memory.c, and the order of its values. */
#ifndef LAB_EXPERIMENTS_LAB_MEMORY_H
#define LAB_EXPERIMENTS_LAB_MEMORY_H
#include "lab/experiments/lab_thesis.h"

/* Units 0 to 2 are one to three of the thesis' filters: a value per cell, bytes.  Unit 3 has
 * MEMORY_VALUES values for each of the structures. */
#define MEMORY_GRIDS    3u
#define MEMORY_SUBJECTS 10u
enum lab_memory_value {
    MEMORY_RESIDENT,  /* bytes of pages of 4 KiB */
    MEMORY_HUGE,      /* with huge pages, where the structure asks for them */
    MEMORY_ALLOCATED, /* from malloc */
    MEMORY_ASKED,     /* what it asks for */
    MEMORY_VALUES
};

struct memory_subject {
    const char *label;
    uint32_t kind; /* 0: not a filter */
    double rate;
    const char *note;
    const char *printed; /* its name in table 5.13, or NULL */
};
extern const struct memory_subject memory_subjects[MEMORY_SUBJECTS];

void lab_memory_report(const struct lab_results *r, struct lab_report *report);

#endif
