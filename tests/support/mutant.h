/* mutant.h - run an experiment of the lab with a planted mistake, and see which answers change.
 *
 * A verdict that never says "no" is worth nothing.  A test runs an experiment twice: as it is,
 * and with a mistake.  The linker sends a few calls of the lab through this file (--wrap, in
 * cmake/DejaTest.cmake), so the product has no hooks:
 *
 *   a wrong size      every filter gets another number of bits than the experiment asked for
 *   a wrong formula   the theory gives another rate
 *   a wrong hash      the hash functions read only the end of a URL, or the next visit and the
 *                     next filter get the salts of the first
 *   a biased sample   some of the URLs that should be absent were inserted
 *
 * A test can also change the measured values themselves. */
#ifndef TEST_MUTANT_H
#define TEST_MUTANT_H
#include "lab/engine/lab_keys.h"
#include "lab/engine/lab_math.h"
#include "lab/engine/lab_runner.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

/* All 0: nothing is planted. */
struct mutant {
    const char *name;
    double size;     /* bits, relative to the right number */
    double formula;  /* rate by the theory, relative to the right one */
    size_t read;     /* bytes at the end of a URL that the hash functions read */
    bool same_salts; /* for all visits, and for all filters of a URL */
    unsigned biased; /* 1 of this many queried URLs was inserted */
    void (*change)(struct lab_results *r);
};

static struct {
    const struct mutant *mutant;
    deja_filter *first; /* its salts are used by all */
    uint32_t hashes;
} planted;

/* --- Calls of the lab ---------------------------------------------------------- */

int __real_deja_filter_new(const deja_options *opt, deja_filter **f, deja_error *err);
int __wrap_deja_filter_new(const deja_options *opt, deja_filter **f, deja_error *err);
int __real_deja_filter_rotate(deja_filter *f, const deja_options *next, deja_error *err);
int __wrap_deja_filter_rotate(deja_filter *f, const deja_options *next, deja_error *err);
void __real_deja_filter_hash_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                   uint64_t *hash);
void __wrap_deja_filter_hash_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                   uint64_t *hash);
int __real_deja_plan_make(const deja_options *opt, deja_plan *plan, deja_error *err);
int __wrap_deja_plan_make(const deja_options *opt, deja_plan *plan, deja_error *err);
double __real_lab_bloom_rate(const struct lab_bloom *b);
double __wrap_lab_bloom_rate(const struct lab_bloom *b);

static inline deja_options mutant_sized(const deja_options *opt)
{
    deja_options o = *opt;
    const double factor = planted.mutant ? planted.mutant->size : 0;
    if (factor > 0 && o.multiplier > 0)
        o.multiplier *= factor;
    else if (factor > 0)
        o.capacity = (uint64_t)((double)o.capacity * factor);
    return o;
}

/* The filter with the most functions has the salts of all. */
static inline void mutant_keep_salts(const deja_options *opt)
{
    if (!planted.mutant || !planted.mutant->same_salts || opt->hashes <= planted.hashes)
        return;
    deja_filter_free(planted.first);
    planted.first = NULL;
    if (__real_deja_filter_new(opt, &planted.first, NULL) == DEJA_OK)
        planted.hashes = opt->hashes;
}

int __wrap_deja_filter_new(const deja_options *opt, deja_filter **f, deja_error *err)
{
    const deja_options o = mutant_sized(opt);
    mutant_keep_salts(opt);
    return __real_deja_filter_new(&o, f, err);
}

int __wrap_deja_filter_rotate(deja_filter *f, const deja_options *next, deja_error *err)
{
    const deja_options o = next ? mutant_sized(next) : (deja_options)DEJA_OPTIONS_INIT;
    return __real_deja_filter_rotate(f, next ? &o : NULL, err);
}

void __wrap_deja_filter_hash_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                   uint64_t *hash)
{
    __real_deja_filter_hash_batch(planted.first ? planted.first : f, keys, n, hash);
}

int __wrap_deja_plan_make(const deja_options *opt, deja_plan *plan, deja_error *err)
{
    const int rc = __real_deja_plan_make(opt, plan, err);
    if (planted.mutant && planted.mutant->formula > 0)
        plan->fp_rate *= planted.mutant->formula;
    return rc;
}

double __wrap_lab_bloom_rate(const struct lab_bloom *b)
{
    const double factor = planted.mutant ? planted.mutant->formula : 0;
    return __real_lab_bloom_rate(b) * (factor > 0 ? factor : 1);
}

/* --- A run --------------------------------------------------------------------- */

struct trial_run {
    struct lab lab;
    struct lab_results results;
    struct lab_report report;
};

static inline void mutant_spoil_keys(struct lab_keys *k, const struct mutant *m)
{
    for (uint64_t i = 0; m->biased > 0 && i < k->n; i += m->biased)
        k->asked[i] = k->added[i];
    for (uint64_t i = 0; m->read > 0 && i < 2 * k->n; i++) {
        deja_slice *url = &k->added[i]; /* the queried ones follow */
        const size_t cut = url->len > m->read ? url->len - m->read : 0;
        *url = (deja_slice){(const char *)url->data + cut, url->len - cut};
    }
}

static inline void mutant_run_all(struct lab_results *r)
{
    const struct lab_experiment *e = r->experiment;
    for (uint32_t run = 0; run < r->runs; run++)
        for (uint32_t unit = 0; unit < r->units; unit++) {
            deja_error err = {0};
            struct lab_task task = {.lab = r->lab,
                                    .unit = unit,
                                    .run = run,
                                    .seed = UINT64_C(1000003) * (run + 1) + unit,
                                    .value = lab_values(r, unit, run),
                                    .err = &err};
            deja_filter_free(planted.first);
            planted.first = NULL;
            planted.hashes = 0;
            e->run(&task);
            lab_release(&task);
            assert_int_equal(task.rc, DEJA_OK);
        }
    deja_filter_free(planted.first);
    planted.first = NULL;
}

/* Runs an experiment in one thread, with fixed seeds and this mistake, and makes its report. */
static inline void trial_run(struct trial_run *t, const struct lab_experiment *e, uint64_t n,
                             uint32_t runs, const struct mutant *m)
{
    *t = (struct trial_run){.lab = {.runs = runs, .seed = 1, .threads = 1}};
    assert_int_equal(lab_keys_make(&t->lab.keys, n, 1, NULL), DEJA_OK);
    mutant_spoil_keys(&t->lab.keys, m);
    assert_int_equal(lab_results_init(&t->results, &t->lab, e, NULL), DEJA_OK);
    planted.mutant = m;
    mutant_run_all(&t->results);
    if (m->change)
        m->change(&t->results);
    lab_report_init(&t->report, e);
    e->report(&t->results, &t->report);
    planted.mutant = NULL;
    assert_false(t->report.failed);
}

static inline void trial_fini(struct trial_run *t)
{
    lab_report_fini(&t->report);
    lab_results_fini(&t->results);
    lab_keys_fini(&t->lab.keys);
}

/* --- Answers --------------------------------------------------------------------- */

/* Which answer: the claim that begins like this, and one of its two questions. */
struct question {
    const char *claim;
    bool printed;
};

static inline const struct lab_answer *answer_to(const struct lab_report *r,
                                                 const struct question *q)
{
    for (size_t i = 0; i < r->n_claims; i++)
        if (strncmp(r->claim[i]->claim, q->claim, strlen(q->claim)) == 0)
            return q->printed ? &r->claim[i]->printed : &r->claim[i]->holds;
    fail_msg("no claim '%s'", q->claim);
    return NULL;
}

static inline void assert_answer(const struct lab_report *r, const struct question *q,
                                 const char *mutant, enum lab_outcome outcome)
{
    const struct lab_answer *a = answer_to(r, q);
    const struct lab_answer wanted = {.given = true, .test.outcome = outcome};
    if (!a->given || a->test.outcome != outcome)
        fail_msg("%s: '%s', %s: %s instead of %s. %s %s", mutant, q->claim,
                 q->printed ? "reproduced" : "holds", lab_outcome_name(a),
                 lab_outcome_name(&wanted), lab_evidence(a, 1).s, a->text);
}

/* A mistake, and what it changes: these answers become "no", and these stay "yes". */
struct planting {
    struct mutant mutant;
    struct question no[6], yes[3];
};

/* As it is, the experiment answers all these questions with "yes". */
static inline void assert_plantings(const struct lab_experiment *e, uint64_t n, uint32_t runs,
                                    const struct planting *p, size_t n_plantings)
{
    static const struct mutant none;
    struct trial_run right;
    trial_run(&right, e, n, runs, &none);
    for (size_t i = 0; i < n_plantings; i++) {
        struct trial_run wrong;
        trial_run(&wrong, e, n, runs, &p[i].mutant);
        for (const struct question *q = p[i].no; q->claim; q++) {
            assert_answer(&right.report, q, "as it is", LAB_YES);
            assert_answer(&wrong.report, q, p[i].mutant.name, LAB_NO);
        }
        for (const struct question *q = p[i].yes; q->claim; q++)
            assert_answer(&wrong.report, q, p[i].mutant.name, LAB_YES);
        trial_fini(&wrong);
    }
    trial_fini(&right);
}

#endif
