/* counter_memory.h - exp_spectral: the memory of counters of every width, in two layouts. */
#ifndef LAB_COUNTER_MEMORY_H
#define LAB_COUNTER_MEMORY_H
#include "lab/engine/lab.h"

#define COUNTER_MEMORY_UNITS 16u /* 2 layouts, 4 widths, 2 rates */
/* Values of a unit. */
enum {
    COUNTER_FOUND, /* absent URLs with a count */
    COUNTER_BYTES,
    COUNTER_VALUES
};

/* Unit i of these; the later runs of a lab skip it. */
void counter_memory_run(struct lab_task *t, uint32_t i);
/* The table and a claim; `first`: the number of unit 0 in the results. */
void counter_memory_report(const struct lab_results *r, struct lab_report *report, uint32_t first);

#endif
