/* planted.h - results of an experiment that nobody measured: a test plants them, and a mistake in
 * them, and sees what the experiment's report answers. */
#ifndef TEST_PLANTED_H
#define TEST_PLANTED_H
#include "lab/engine/lab_runner.h"
#include "lab/report/lab_claim.h"
#include "lab/report/lab_report.h"
#include "unit.h"
#include <string.h>

struct planted {
    struct lab lab;
    struct lab_results r;
    struct lab_report report;
};

/* Results of `runs` runs with n URLs of `mean_len` bytes; all values are 0. */
static inline void planted_begin(struct planted *p, const struct lab_experiment *e, uint64_t n,
                                 double mean_len, uint32_t runs)
{
    *p = (struct planted){.lab = {.keys = {.n = n, .mean_len = mean_len}, .runs = runs}};
    assert_int_equal(lab_results_init(&p->r, &p->lab, e, NULL), DEJA_OK);
    lab_report_init(&p->report, e);
}

static inline void planted_end(struct planted *p)
{
    lab_report_fini(&p->report);
    lab_results_fini(&p->r);
}

/* The same value in all runs. */
static inline void planted_set(struct planted *p, uint32_t unit, uint32_t index, double value)
{
    for (uint32_t run = 0; run < p->r.runs; run++)
        lab_values(&p->r, unit, run)[index] = value;
}

/* Makes the report, anew. */
static inline void planted_report(struct planted *p)
{
    lab_report_fini(&p->report);
    lab_report_init(&p->report, p->r.experiment);
    p->r.experiment->report(&p->r, &p->report);
}

/* The claim whose text contains `words`. */
static inline const struct lab_claim *planted_claim(const struct planted *p, const char *words)
{
    for (size_t i = 0; i < p->report.n_claims; i++)
        if (strstr(p->report.claim[i]->claim, words))
            return p->report.claim[i];
    fail_msg("no claim about %s", words);
    return NULL;
}

static inline enum lab_outcome planted_holds(const struct planted *p, const char *words)
{
    return planted_claim(p, words)->holds.test.outcome;
}

static inline enum lab_outcome planted_printed(const struct planted *p, const char *words)
{
    return planted_claim(p, words)->printed.test.outcome;
}

#endif
