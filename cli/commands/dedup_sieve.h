/* dedup_sieve.h - deja dedup --sieve DIR: no line is lost, in fixed memory. */
#ifndef CLI_COMMANDS_DEDUP_SIEVE_H
#define CLI_COMMANDS_DEDUP_SIEVE_H
#include "cli/commands/dedup_options.h"
#include "cli/session/command.h"

/* Paragraphs for the description of the command. */
#define DEDUP_SIEVE_TEXT                                                                          \
    "With --sieve DIR no line is lost, however many there are, and memory stays within -m (by "   \
    "default a quarter of the machine's). DIR is created if it is missing, and kept between "     \
    "runs like a state. A line whose key the sieve's filter does not know is new and printed "    \
    "immediately, in order. A line that looks seen may have to wait until its key has been "      \
    "looked up on disk; if it turns out to be new, it is printed late, after newer lines. All "   \
    "lines are settled when the input ends, when there is no room for more, and at the latest "   \
    "when --late says. The summary reports how many came late; a filter alone would have lost "   \
    "them.\n\n"                                                                                   \
    "--late TIME (30s, 15m, 6h), LINES (100k, 1M) or BYTES (500MB, 2G) limits how long lines "    \
    "wait, how many, or how much text. Each time, deja reads the keys on disk once, so a "        \
    "short wait costs time. A number with G, T or B is in bytes.\n\n"                             \
    "Ctrl-C ends the input and settles the waiting lines; a second Ctrl-C ends deja at once, "    \
    "and these lines come out in the next run. So do those that wait when deja is killed or "     \
    "the disk is full."

/* Can the other options be combined with it? */
int dedup_sieve_check(const struct dedup_options *o, deja_error *err);
/* Runs the command. */
int dedup_sieve_run(struct call *call, deja_error *err);

#endif
