/* logline.h - finds the request target in a line of a web server's log, Common or Combined:
 *
 *     [vhost] host ident user [date] "GET /target HTTP/1.1" status bytes "referer" "agent"
 *
 * The fields before the date and after the request are optional. */
#ifndef TOOLS_INPUT_LOGLINE_H
#define TOOLS_INPUT_LOGLINE_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

/* Finds the target, which may contain spaces; false if the request is "-", "*", truncated, or not
 * HTTP.  Servers escape quotes, backslashes and bytes that are not printable.  A target with a
 * backslash is raw: logline_decode writes what the client sent to out, which has room for raw.len
 * bytes, and returns its length. */
bool logline_target(deja_slice line, deja_slice *target);
bool logline_is_raw(deja_slice target);
size_t logline_decode(deja_slice raw, char *out);

#endif
