/* dedup_audit.h - deja dedup --audit N: measures how many lines were lost.
 *
 * Only lines of this run can be checked, so the state must be new or empty. */
#ifndef CLI_COMMANDS_DEDUP_AUDIT_H
#define CLI_COMMANDS_DEDUP_AUDIT_H
#include "cli/commands/dedup_options.h"
#include "cli/session/audit.h"
#include "cli/session/session.h"

/* A paragraph for the description of the command. */
#define DEDUP_AUDIT_TEXT                                                                          \
    "--audit N measures the loss. deja keeps a random sample of N dropped lines, reads the "      \
    "input a second time, and checks the sample exactly: a dropped line that did not occur "      \
    "before was lost. It reports the number of lost lines with its 95% confidence interval "      \
    "(Clopper and Pearson), next to the number that the filter expects. It opens files twice, "   \
    "and copies a pipe to an unnamed file in $TMPDIR, or /tmp, so nothing is printed before "     \
    "the pipe ends. A state must be new: the lines of earlier runs cannot be checked."

#define DEDUP_AUDIT_MOST 10000000 /* lines */

struct dedup_audit { /* start with {0}; all calls are harmless without --audit */
    bool wanted, done;
    uint64_t keep;
    deja_filter *hasher; /* hashes for the second reading; holds no keys */
    struct audit sample;
};

/* Can the other options be combined with it? */
int dedup_audit_check(const struct dedup_options *o, deja_error *err);
/* Prepares the audit of a filter, before session_open.  Fails if the filter has keys of earlier
 * runs. */
int dedup_audit_begin(struct dedup_audit *a, const struct dedup_options *o,
                      const deja_filter *filter, struct session *s, deja_error *err);
/* Takes the keys of a batch that was judged, before session_fold. */
int dedup_audit_take(struct dedup_audit *a, const struct batch *b, deja_error *err);
/* Reads the input again.  Call it when all lines are delivered. */
int dedup_audit_run(struct dedup_audit *a, struct session *s, deja_error *err);
/* The account; expected: how many lines the filter should have lost. */
void dedup_audit_tell(const struct dedup_audit *a, struct console *console, double expected);
void dedup_audit_json(const struct dedup_audit *a, struct json *j, double expected);
void dedup_audit_fini(struct dedup_audit *a);

#endif
