/* build_sieve.h - deja build --sieve, and deja add to a sieve. */
#ifndef CLI_COMMANDS_BUILD_SIEVE_H
#define CLI_COMMANDS_BUILD_SIEVE_H
#include "cli/commands/build_options.h"
#include "cli/session/command.h"

/* Refuses options of build that cannot be combined with --sieve. */
int build_sieve_check(const struct build_options *o, deja_error *err);
/* Creates the sieve that the first operand names. */
int build_sieve_run(struct call *call, deja_error *err);
/* Adds keys to the sieve that the first operand names. */
int add_sieve_run(struct call *call, deja_error *err);

#endif
