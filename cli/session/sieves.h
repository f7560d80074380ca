/* sieves.h - sieves in sessions: opens them, and hashes keys for them. */
#ifndef CLI_SESSION_SIEVES_H
#define CLI_SESSION_SIEVES_H
#include "cli/session/session.h"

/* Opens a sieve between session_begin, which made `given`, and session_open: takes memory, secret
 * key, seed and URL rules from the options, and the profile from the sieve.  Sets s->hash.  flags as
 * for deja_sieve_open. */
int sieves_open(struct session *s, const char *path, unsigned flags, const deja_options *given,
                deja_sieve **out, deja_error *err);
/* Prefixes an error with the name of the sieve unless it has it: some name only a file in the
 * directory.  Returns rc. */
int sieves_name(int rc, const char *path, deja_error *err);
/* Ends a run that added keys: makes them durable, and saves the filter if the next run can load it
 * faster than it can read all runs. */
int sieves_save(deja_sieve *s, deja_error *err);
/* Notes the options of size and kind that were given and have no effect on a sieve. */
void sieves_note_ignored(struct console *console, const struct shared_options *c);
/* An option that was given and cannot be combined with an option for sieves, and the reason; or
 * NULLs. */
struct conflict {
    const char *option, *why;
};
int sieves_refuse(const char *with, struct conflict c, deja_error *err);
/* Refuses -m if it was given with a filter file. */
int sieves_refuse_memory(const struct shared_options *c, const char *path, deja_error *err);
/* The memory of a sieve if -m is not given: a quarter of the machine's. */
uint64_t sieves_memory(void);

/* The hashes of a batch whose keys were hashed for a sieve. */
const deja_fingerprint *sieves_fingerprints(const struct batch *b);

/* "certain to 1 in 10^11" for a probability of a wrong answer of at most `wrong`; "certain" for 0. */
struct sieves_text {
    char s[40];
};
struct sieves_text sieves_certainty(double wrong);

/* Prints what a run did and what the sieve takes, for -v. */
void sieves_tell_costs(struct console *console, const char *path, const deja_sieve_report *before,
                       const deja_sieve_report *now);
/* Warns if runs could not be merged. */
void sieves_warn_merges(struct console *console, const char *path, const deja_sieve_report *now);

#endif
