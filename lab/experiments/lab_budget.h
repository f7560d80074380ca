/* lab_budget.h - the lecture's budget: a million URLs of 50 characters in 2 MB. */
#ifndef LAB_EXPERIMENTS_LAB_BUDGET_H
#define LAB_EXPERIMENTS_LAB_BUDGET_H
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"

#define LECTURE_NAME  "lecture on compressed caches"
#define BUDGET_LENGTH 50u /* characters of a URL */
#define BUDGET_BYTES  2u  /* per URL: 2 MB for a million */

/* Its values. */
enum lab_budget_value {
    BUDGET_SIZE,      /* bytes of the filter that was made within the budget */
    BUDGET_FUNCTIONS, /* its k */
    BUDGET_MISSED,    /* URLs that were added and are not found: must be 0 */
    BUDGET_HITS,      /* URLs that were not added and are found */
    BUDGET_STRINGS,   /* bytes of the URLs themselves */
    BUDGET_VALUES
};

/* Fills a classic filter of 2 bytes per URL with URLs of exactly 50 characters, and queries them
 * and as many others. */
void lab_budget_run(struct lab_task *t);

/* What the other parts of the experiment have measured. */
struct lab_budget {
    uint32_t unit;        /* of lab_budget_run */
    double bitmap;        /* bits per URL of the bitmap with ten slots per URL */
    double bloom;         /* and of the Bloom filter of this size */
    double function_bits; /* of the perfect hash function, per URL that it knows; 0: not built */
};
/* The table of sizes, relative to the URLs, and a claim for each statement of the lecture. */
void lab_budget_report(const struct lab_results *r, struct lab_report *report,
                       const struct lab_budget *b);

#endif
