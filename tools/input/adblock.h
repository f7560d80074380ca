/* adblock.h - the host or URL in a network rule of an ad blocker.
 *
 *     ||host^, ||host, host, 0.0.0.0 host     the host
 *     ||host/path, |http://host/path          the text after the bars, without ^, | or * at its end
 *
 * A rule with options counts only if it blocks whole pages, no matter which site links to them: all
 * its options are among all, document, doc, popup, third-party, 3p, important, match-case and _.  A
 * rule with a type ($script), a context ($domain=) or a port is limited.  One that changes requests
 * or pages instead ($csp, $removeparam) is "other". */
#ifndef TOOLS_INPUT_ADBLOCK_H
#define TOOLS_INPUT_ADBLOCK_H
#include "tools/input/blocklist.h"

enum blocklist_line adblock_begin(struct blocklist *l, deja_slice line);
bool adblock_next(struct blocklist *l, deja_slice *key);

#endif
