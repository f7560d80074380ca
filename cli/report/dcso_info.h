/* dcso_info.h - `deja info` of a bloom file of DCSO's. */
#ifndef CLI_REPORT_DCSO_INFO_H
#define CLI_REPORT_DCSO_INFO_H
#include "cli/session/command.h"

/* One file, as text or, with json not NULL, as an object of the array that is open there.
 * `further`: it is not the first.  COMMAND_DONE, or COMMAND_FAILED with the error told. */
int dcso_inform(const struct call *call, const char *path, bool further, struct json *json);

#endif
