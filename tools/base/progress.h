/* progress.h - one line on the terminal that tells how far the work is.
 *
 * Only on a terminal's standard error, never with -q, and not when the results scroll over the
 * same terminal.  It appears after half a second, is rewritten at most ten times a second, and
 * leaves no trace at the end. */
#ifndef TOOLS_BASE_PROGRESS_H
#define TOOLS_BASE_PROGRESS_H
#include "tools/base/out.h"

struct progress_now {
    uint64_t items; /* lines, keys, URLs so far                            */
    uint64_t done;  /* of total, in any unit, such as bytes of the input   */
    uint64_t total; /* 0: not known, as from a pipe                        */
    double fill;    /* of the filter, 0..1; negative: do not show          */
    double lost;    /* keys expected to be lost; negative: do not show     */
};

struct progress {
    struct console *console;
    const char *items; /* what is counted: "lines" */
    bool on;
    double begin, next; /* seconds of the monotonic clock */
};

/* results may be NULL: nothing is printed meanwhile. */
void progress_begin(struct progress *p, struct console *console, const struct out *results,
                    const char *items);
/* Whether it is time for a new line; ask before computing the numbers.  Costs one look at the
 * clock, so ask once a batch, not once a line. */
bool progress_due(const struct progress *p);
void progress_show(struct progress *p, const struct progress_now *now);
void progress_end(struct progress *p);
double progress_seconds(const struct progress *p); /* since progress_begin, also when off */

#endif
