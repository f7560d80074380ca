/* losses.h - how many new lines a run of dedup probably lost.
 *
 * The statistics of a filter estimate the losses of all runs, as if each key had been judged with
 * all earlier keys in the filter.  A run with a state judges lines before it adds the keys of the
 * lines around them, so the first lines of a run are judged with the bits of earlier runs only:
 * none of the first lines in a new state can be lost.  Their losses are estimated here.  For the
 * rest of the run, the difference between the statistics after and before it is accurate.
 *
 * Counting the bits of a large filter takes longer than a short list.  So the body is read only
 * if the losses can matter. */
#ifndef CLI_SESSION_LOSSES_H
#define CLI_SESSION_LOSSES_H
#include "deja.h"

#define LOSSES_LEAST 0.01 /* expected lines; fewer are not reported */

struct losses {   /* start with {0} */
    double first; /* expected losses up to the mark */
    bool judged;  /* the first lines that matter are in it */
    bool marked;
    double mark; /* the losses of all runs when the next lines were judged */
};

/* Call it before n lines that were judged to be new are added to the filter. */
void losses_add(struct losses *l, const deja_filter *f, uint64_t n);
/* The expected losses of a run after its last keys were added. */
double losses_of_run(const struct losses *l, const deja_filter *f);
/* The same without a state, for a filter in memory that took n new lines in this run. */
double losses_in_memory(const deja_filter *f, uint64_t n);

#endif
