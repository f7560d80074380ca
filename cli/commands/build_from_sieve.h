/* build_from_sieve.h - deja build --from-sieve: a filter file of the keys of a sieve.
 *
 * A sieve has the 64-bit hashes of its keys, as a filter with the same secret key computes them, but
 * not the keys.  So it makes every kind of filter that needs no more than that. */
#ifndef CLI_COMMANDS_BUILD_FROM_SIEVE_H
#define CLI_COMMANDS_BUILD_FROM_SIEVE_H
#include "cli/commands/build_options.h"
#include "cli/session/command.h"

/* Refuses options that cannot be combined with --from-sieve. */
int build_from_sieve_check(const struct build_options *o, deja_error *err);
int build_from_sieve_run(struct call *call, deja_error *err);

#endif
