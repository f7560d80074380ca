/* foreign_info.h - `deja info` for a filter file of another program. */
#ifndef CLI_REPORT_FOREIGN_INFO_H
#define CLI_REPORT_FOREIGN_INFO_H
#include "cli/session/command.h"

struct foreign_format;

/* Reports one file, of this format or (NULL) any, as text or, if json is not NULL, as an object in the array that is open there.
 * `further` is true for every file but the first.  Returns COMMAND_DONE, or COMMAND_FAILED after
 * printing the error. */
int foreign_inform(const struct call *call, const char *path, const struct foreign_format *format,
                   const char *column, bool further, struct json *json);

#endif
