/* lab_listed.h - the lists of the multi-layer paper, what `lists` measures with them, and the
 * printed times. */
#ifndef LAB_EXPERIMENTS_LAB_LISTED_H
#define LAB_EXPERIMENTS_LAB_LISTED_H
#include "lab/experiments/lab_timed.h"
#include "lab/report/lab_report.h"

#define LISTED_SIZES 5u
#define LISTED_RUNS  5u /* the most that are made */

/* The values of a unit; times are ns per line. */
enum lab_listed {
    LISTED_ADD,
    LISTED_QUERY,
    LISTED_SORT,
    LISTED_HITS, /* absent lines that the program's flags report, and how many were asked */
    LISTED_ABSENT,
    LISTED_VALUES
};

/* The number of lengths that the lab's URLs are enough for, at least 1, and each of them. */
uint32_t listed_sizes(const struct lab *lab);
uint64_t listed_rows(const struct lab *lab, uint32_t size);

/* The time of the fastest run. */
double listed_time(const struct lab_results *r, uint32_t size, enum lab_timed_kind which,
                   enum lab_listed value);
/* The seconds that the paper's files print for a list of this length, for how many lines that is,
 * and the size of their hash table. */
struct lab_printed listed_printed(uint32_t size, enum lab_timed_kind which, enum lab_listed value);
double listed_lines(uint32_t size, enum lab_timed_kind which, enum lab_listed value);
struct lab_printed listed_slots(uint32_t size);

void listed_tables(const struct lab_results *r, struct lab_report *report);
void listed_figures(const struct lab_results *r, struct lab_report *report);

#endif
