/* sieves.h - sieves in sessions: opens them, and hashes keys for them. */
#ifndef CLI_SESSION_SIEVES_H
#define CLI_SESSION_SIEVES_H
#include "cli/session/session.h"

/* Opens a sieve between session_begin, which made `given`, and session_open: takes memory, secret
 * key, seed and URL rules from the options, and the profile from the sieve.  Sets s->hash.  flags as
 * for deja_sieve_open. */
int sieves_open(struct session *s, const char *path, unsigned flags, const deja_options *given,
                deja_sieve **out, deja_error *err);
/* The memory of a sieve if -m is not given: a quarter of the machine's. */
uint64_t sieves_memory(void);

/* The hashes of a batch whose keys were hashed for a sieve. */
const deja_fingerprint *sieves_fingerprints(const struct batch *b);

/* "certain to 1 in 10^11" for a probability of a wrong answer of at most `wrong`; "certain" for 0. */
struct sieves_text {
    char s[40];
};
struct sieves_text sieves_certainty(double wrong);

#endif
