/* sieveadd.h - adds the keys of a session to a sieve.
 *
 * No line waits for output: a key that looks seen is pending without a record
 * (DEJA_SIEVE_NO_RECORD), and a pass over the runs counts it as new or known. */
#ifndef CLI_SESSION_SIEVEADD_H
#define CLI_SESSION_SIEVEADD_H
#include "cli/session/session.h"

struct sieveadd {
    deja_sieve *sieve; /* open for writing; borrowed, like these: */
    const char *path;
    struct session *session;
    uint64_t added, known; /* keys, so far */
    uint64_t token[DEJA_SIEVE_BATCH];
    double synced; /* when, in seconds of the session */
    bool unsynced; /* the sieve has changed since then */
    deja_sieve_report before;
};

/* Call it before the first batch.  Decides keys that an interrupted add has left.  Fails if other
 * programs have left lines that wait for output: adding would settle these and lose them. */
int sieveadd_begin(struct sieveadd *a, deja_sieve *sieve, const char *path, struct session *s,
                   deja_error *err);
/* Adds the keys of all batches, then settles, and saves the filter.  Keys are durable after at most
 * half a minute, and at the end, even after Ctrl-C or a failure. */
int sieveadd_run(struct sieveadd *a, deja_error *err);

/* The closing line, the details of -v, or the report of --json.  now: the sieve after the run. */
void sieveadd_report(const struct sieveadd *a, const deja_sieve_report *now);

#endif
