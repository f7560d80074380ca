/* sieve_info.h - `deja info` for a sieve. */
#ifndef CLI_REPORT_SIEVE_INFO_H
#define CLI_REPORT_SIEVE_INFO_H
#include "cli/session/command.h"

/* Reports one sieve as text or, if json is not NULL, as an object in the array that is open there.
 * key may be NULL; `further` is true for every file but the first.  Returns COMMAND_DONE, or
 * COMMAND_FAILED after printing the error. */
int sieve_inform(const struct call *call, const char *path, const uint8_t *key, bool further,
                 struct json *json);

#endif
