/* lab_thesis.h - what the thesis experiments share: their sizes, labels and tables.
 *
 * Goytil, Lundberg, "A novel spatio-temporal scheme for reducing the rate of false positives in
 * Bloom Filter based URL-caching", 2010. */
#ifndef LAB_EXPERIMENTS_LAB_THESIS_H
#define LAB_EXPERIMENTS_LAB_THESIS_H
#include "lab/engine/lab_bank.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"

/* k = 3 .. 10 and six multipliers, tables 5.9 to A.6. */
#define THESIS_K_MIN 3u
#define THESIS_K_MAX 10u
#define THESIS_K     (THESIS_K_MAX - THESIS_K_MIN + 1)
#define THESIS_SIZES 6u
extern const double thesis_multiplier[THESIS_SIZES]; /* 1.7 2.0 2.5 3.0 4.0 5.0 */
/* All combinations for one filter: the bank's members are the cells of a table, row by row. */
#define THESIS_CELLS (THESIS_K * THESIS_SIZES)
extern const struct lab_bloom_spec thesis_spec;
static inline uint32_t thesis_cell(uint32_t k, uint32_t size)
{
    return (k - THESIS_K_MIN) * THESIS_SIZES + size;
}

/* A table of rates by k and M: filters that must all agree, on some visits. */
struct thesis_grid {
    const char *id, *title;
    const struct lab_bloom_spec *spec; /* its rows and columns */
    uint32_t filters, visits;
    uint32_t unit, first; /* the value of its first cell; the others follow, row by row */
};
struct lab_table *thesis_grid(const struct lab_results *r, struct lab_report *report,
                              const struct thesis_grid *g);
/* The theory of `copies` filters that must agree. */
struct lab_bloom thesis_bloom(const struct lab_results *r, uint32_t k, uint32_t copies,
                              double multiplier, bool filling);
/* A new cell for the rate of b; row and column are "3 HF" and "1.7 M", after `prefix` ("F = 2, ")
 * if there is one.  `index` is the value of the unit. */
void thesis_rate(struct lab_table *t, const struct lab_results *r, uint32_t unit, uint32_t index,
                 uint32_t filters, const struct lab_bloom *b, const char *prefix);
/* What a table prints for the rate of b, in percent; NAN: nothing. */
double thesis_printed(const char *table, uint32_t filters, const struct lab_bloom *b);
/* A figure of such a table: the rate against the bits per URL of one filter, a series for each k.
 * The caption says how much a bit more gains. */
void thesis_draw(const struct lab_results *r, struct lab_report *report,
                 const struct thesis_grid *g, const char *id, const char *title);
/* A new cell for another number, with the printed one. */
struct lab_cell *thesis_number(struct lab_table *t, uint32_t filters, uint32_t k,
                               double multiplier, const char *unit, double mean);

/* Hits among n URLs per run, in all runs, with the scatter of these filters. */
struct lab_rate thesis_counted(const struct lab_results *r, uint32_t unit, uint32_t index,
                               const struct lab_bloom *b);
/* "8.794": the mean of a value, in percent of n. */
struct lab_text thesis_percent(const struct lab_results *r, uint32_t unit, uint32_t index);
/* Answer: in all pairs, F filters have the same rate as one filter with k F functions. */
void thesis_answer_equal(struct lab_answer *a, const struct lab_test *pair, size_t n);
/* Of the cells of table 5.9 in unit 0, one has the lower rate. */
struct lab_test thesis_test_fewer(const struct lab_results *r, uint32_t k, uint32_t size,
                                  uint32_t than_k, uint32_t than_size);

#endif
