/* merge_sieve.h - deja merge for sieves. */
#ifndef CLI_COMMANDS_MERGE_SIEVE_H
#define CLI_COMMANDS_MERGE_SIEVE_H
#include "cli/session/command.h"

/* Whether an operand is a sieve. */
bool merge_sieve_wanted(const struct call *call);
/* Writes the union of the operands to `to`, a new sieve or one of them.  key: of --key, or NULL.
 * Nothing is written if one operand is not a sieve, or if their secret keys or URL rules differ. */
int merge_sieve_run(const struct call *call, const struct shared_options *c, const uint8_t *key,
                    deja_error *err);

#endif
