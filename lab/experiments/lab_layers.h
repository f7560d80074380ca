/* lab_layers.h - the lists of `layered`, and its tables and figure. */
#ifndef LAB_EXPERIMENTS_LAB_LAYERS_H
#define LAB_EXPERIMENTS_LAB_LAYERS_H
#include "lab/engine/lab_halves.h"
#include "lab/report/lab_report.h"

/* Unit 0, 1, ...: the lists, as long as the published ones; the last unit: recombined lines. */
#define LAYERS_LISTS 5u
uint32_t layers_lists(const struct lab *lab); /* those that the lab's URLs are enough for, or 1 */
uint64_t layers_rows(const struct lab *lab, uint32_t list);

/* The results of a unit, as a rate of the queried lines in all runs. */
struct lab_rate layers_rate(const struct lab_results *r, uint32_t unit, uint32_t value);
/* What theory expects for the value, for one run; NAN: nothing. */
struct layers_theory {
    double rate, sigma;
};
struct layers_theory layers_theory(const struct lab_results *r, uint32_t unit, uint32_t value);

/* A published count: of which list, and its unit, or LAYERS_LISTS if the lab has no list so long. */
struct layers_published {
    const char *table;
    uint64_t rows;
    uint32_t list;
};
#define LAYERS_PUBLISHED 9u
extern const struct layers_published layers_published[LAYERS_PUBLISHED];
/* subject "classic" or "layered", quantity "false_positive" or "false_positive_count" */
struct lab_printed layers_printed(const struct layers_published *p, const char *subject,
                                  const char *quantity);

void layers_tables(const struct lab_results *r, struct lab_report *report);
void layers_figure(const struct lab_results *r, struct lab_report *report);

#endif
