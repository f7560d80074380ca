/* dedup_counts.h - deja dedup --counts and -u: how many times each line occurs. */
#ifndef CLI_COMMANDS_DEDUP_COUNTS_H
#define CLI_COMMANDS_DEDUP_COUNTS_H
#include "cli/commands/dedup_options.h"
#include "cli/session/command.h"

/* Do the options ask for it? */
bool dedup_counts_wanted(const struct dedup_options *o);
/* Can the other options be combined with it? */
int dedup_counts_check(const struct dedup_options *o, deja_error *err);
/* Runs the command. */
int dedup_counts_run(struct call *call, deja_error *err);

#endif
