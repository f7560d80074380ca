/* jsonpick.h - one string out of a JSON object. */
#ifndef CLI_JSONPICK_H
#define CLI_JSONPICK_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

/* The string called `path` in the object that `text` begins with: a.b is the member b of the
 * object a, or a member whose name has a dot in it.  False when there is no such member, or when
 * it is no string.  Of several members of one name the first counts.
 *
 * A string that stands there as it is, is given without its quotes.  Otherwise it is given raw,
 * and its first byte is the quote: jsonpick_decode writes its content to out, which has room for
 * raw.len bytes, and returns its length. */
bool jsonpick_find(deja_slice text, deja_slice path, deja_slice *value);
bool jsonpick_is_raw(deja_slice value);
size_t jsonpick_decode(deja_slice raw, char *out);

#endif
