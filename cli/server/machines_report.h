/* machines_report.h - which rates applied to the answers of F servers, some of which were missing. */
#ifndef CLI_SERVER_MACHINES_REPORT_H
#define CLI_SERVER_MACHINES_REPORT_H
#include "cli/server/machines.h"
#include "tools/base/out.h"

/* F is n.  all: also if nothing was missing. */
void machines_report_tell(const struct machines *m, size_t n, bool all, struct console *console);
void machines_report_json(const struct machines *m, size_t n, struct json *json);

#endif
