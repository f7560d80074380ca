/* lab_runner.h - run all units of all runs on some threads, and estimate the time left. */
#ifndef LAB_ENGINE_LAB_RUNNER_H
#define LAB_ENGINE_LAB_RUNNER_H
#include "lab/engine/lab.h"
#include "tools/base/out.h"

/* Allocate the results of an experiment. */
int lab_results_init(struct lab_results *r, const struct lab *lab, const struct lab_experiment *e,
                     deja_error *err);
void lab_results_fini(struct lab_results *r);

/* The number of runs and units of an experiment. */
uint32_t lab_runs(const struct lab *lab, const struct lab_experiment *e);
uint32_t lab_units(const struct lab *lab, const struct lab_experiment *e);
/* The seed of a task; depends only on these four, and is never 0. */
uint64_t lab_seed(const struct lab *lab, const char *experiment, uint32_t unit, uint32_t run);

/* Run the units missing in the results.  Experiments that measure time come last, one unit at a
 * time, with nothing else running.  LAB_STOPPED if the user asked to stop; the journal in the
 * folder then holds the finished units. */
struct lab_journal;
int lab_run(const struct lab *lab, struct lab_results *results, size_t n,
            struct lab_journal *journal, struct console *console, deja_error *err);

/* The number of finished tasks, and of all tasks. */
uint64_t lab_tasks_done(const struct lab_results *results, size_t n);
uint64_t lab_tasks(const struct lab_results *results, size_t n);

#endif
