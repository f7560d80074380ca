/* progress.h - a line that shows progress: items so far, rate, share, time left.
 *
 * On a terminal, it is shown after half a second, updated at most ten times a second, and erased
 * at the end; not if the results go to the same terminal.  Elsewhere, a line is printed once a
 * minute.  With -q there is none. */
#ifndef TOOLS_BASE_PROGRESS_H
#define TOOLS_BASE_PROGRESS_H
#include "tools/base/out.h"

struct progress_now {
    uint64_t items;    /* lines, keys, URLs so far                            */
    uint64_t done;     /* of total, in any unit, such as bytes of the input   */
    uint64_t total;    /* 0: unknown, as for a pipe                           */
    double fill;       /* of the filter, 0..1; negative: do not show          */
    double lost;       /* keys expected to be lost; negative: do not show     */
    const char *facts; /* more, each after two blanks; or NULL              */
};

struct progress {
    struct console *console;
    const char *items; /* name of the items: "lines" */
    bool on;
    double begin; /* console_seconds */
};

/* results: where the command prints, or NULL if it prints nothing until progress_end. */
void progress_begin(struct progress *p, struct console *console, const struct out *results,
                    const char *items);
/* Whether an update is due.  Ask before you compute the numbers.  The call reads the clock, so ask
 * once per batch, not once per line. */
bool progress_due(const struct progress *p);
void progress_show(struct progress *p, const struct progress_now *now);
void progress_end(struct progress *p);
/* Appends a share of the work, and the time left if it continues at this pace, to a line of `cap`
 * bytes.  elapsed: seconds so far. */
void progress_share(char *line, size_t cap, double share, double elapsed);
double
progress_seconds(const struct progress *p); /* since progress_begin, even if no line is shown */

#endif
