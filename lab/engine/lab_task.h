/* lab_task.h - what a running task does: make filters, fill them, query them.
 *
 * A task keeps its first failure in rc.  From then on these calls do nothing and return 0 or NULL,
 * so an experiment lists its steps without checking each one.  Memory and filters belong to the
 * task and are released when it ends. */
#ifndef LAB_ENGINE_LAB_TASK_H
#define LAB_ENGINE_LAB_TASK_H
#include "lab/engine/lab.h"

/* False if the task has failed or the user asked to stop.  Cheap: call it for every key. */
bool lab_going(struct lab_task *t);
/* Record a failure, unless there was one before. */
void lab_failed(struct lab_task *t, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for the result of a library call that has filled t->err. */
void lab_checked(struct lab_task *t, int rc);
void lab_release(struct lab_task *t); /* everything that the task owns */

void *lab_alloc(struct lab_task *t, uint64_t bytes); /* zeroed; NULL: failed */
/* Options for the lab's n keys, with the seed of the task. */
deja_options lab_options(const struct lab_task *t, uint32_t kind);
deja_filter *lab_filter(struct lab_task *t, const deja_options *opt); /* NULL: failed */
/* A filter that holds all keys; a static one is made by a builder. */
deja_filter *lab_full(struct lab_task *t, const deja_options *opt);

/* Both return the number of keys that the filter reports as present: before they are added, or
 * now.  lab_add also marks these keys in seen, unless it is NULL. */
double lab_add(struct lab_task *t, deja_filter *f, const deja_slice *keys, uint64_t n,
               uint8_t *seen);
double lab_ask(struct lab_task *t, const deja_filter *f, const deja_slice *keys, uint64_t n);
deja_stats lab_stats(struct lab_task *t, const deja_filter *f);

/* Time a step with the keys in LAB_PARTS parts: ns of processor time per key of the fastest part,
 * which other programs disturbed least.  Adds what the step returns to *sum, unless it is NULL. */
#define LAB_PARTS 5u
typedef double lab_step(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n);
double lab_fastest(struct lab_task *t, lab_step *step, void *ctx, const deja_slice *keys,
                   uint64_t n, double *sum);
lab_step lab_add_step, lab_ask_step; /* ctx is a filter */

/* The number of flags that are 1; the others are 0. */
size_t lab_ones(const uint8_t *flag, size_t n);

#endif
