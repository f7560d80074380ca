/* check_sieve.h - looks up lines in a sieve.
 *
 * A pass over the runs costs the same for one key as for many, so lines are held until the memory
 * that -m allows is full, the input pauses, or it ends.  One pass then answers all of them, and they
 * are returned in the order of the input. */
#ifndef CLI_COMMANDS_CHECK_SIEVE_H
#define CLI_COMMANDS_CHECK_SIEVE_H
#include "cli/session/session.h"

struct held; /* a batch that waits */

struct check_sieve { /* start with {0} */
    deja_sieve *sieve;
    struct session *session;
    session_fn *answered; /* gets each batch with its answers, one per line */
    void *job;
    uint64_t passes;

    /* private */
    struct held *first, **last;
    deja_fingerprint *print; /* of all keys that wait */
    uint8_t *found;
    size_t n, print_cap, found_cap;
    uint64_t room, used; /* bytes */
};

/* Opens it between session_begin, which made `given`, and session_open. */
int check_sieve_open(struct check_sieve *c, struct session *s, const char *path,
                     const deja_options *given, deja_error *err);
/* A session_fn: holds the batch, and looks up all that are held if they fill the memory. */
int check_sieve_take(void *check_sieve, struct batch *b, deja_error *err);
/* Looks up what is held. */
int check_sieve_flush(struct check_sieve *c, deja_error *err);
void check_sieve_free(struct check_sieve *c);

#endif
