/* dcso_info.h - `deja info` for a DCSO bloom file. */
#ifndef CLI_REPORT_DCSO_INFO_H
#define CLI_REPORT_DCSO_INFO_H
#include "cli/session/command.h"

/* Reports one file as text or, if json is not NULL, as an object in the array that is open there.
 * `further` is true for every file but the first.  Returns COMMAND_DONE, or COMMAND_FAILED after
 * printing the error. */
int dcso_inform(const struct call *call, const char *path, bool further, struct json *json);

#endif
