/* jsonpick.h - finds one string in a JSON object. */
#ifndef TOOLS_INPUT_JSONPICK_H
#define TOOLS_INPUT_JSONPICK_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

/* The path of a string in an object; the notations of jq and JSONPath are accepted as well:
 *
 *   a.b    .a.b    $.a.b      the member "a.b" if there is one, otherwise member b of the object a
 *   ."a.b" .["a.b"] $['a.b']  only the member "a.b"
 *
 * Quotes and brackets are special only after a leading dot or dollar sign; otherwise the whole text
 * is plain names.  A quoted name has no escapes. */
#define JSONPICK_STEPS 8
struct jsonpick_step {
    deja_slice name;
    bool exact; /* the name was quoted: dots are part of it */
};
struct jsonpick_path {
    struct jsonpick_step step[JSONPICK_STEPS];
    unsigned n;
};
/* False if the text is not a path.  The path points into the text, which must outlive it. */
bool jsonpick_parse(struct jsonpick_path *path, const char *text);

/* Finds the string at `path` in the object that `text` begins with.  Returns false if there is no
 * such member or it is not a string.  If several members have the same name, the first one counts.
 *
 * If the string has no escapes, *value is its content.  Otherwise *value is raw: it begins with
 * the opening quote, and jsonpick_decode writes its content to out, which has room for raw.len
 * bytes, and returns its length. */
bool jsonpick_find(deja_slice text, const struct jsonpick_path *path, deja_slice *value);
bool jsonpick_is_raw(deja_slice value);
size_t jsonpick_decode(deja_slice raw, char *out);
/* Decodes the escape at *at, a backslash in the content of a string that ends at `end`, into up to
 * 4 bytes, never more than the escape has, and returns their number.  *at moves past it. */
size_t jsonpick_unescape(const char **at, const char *end, char out[4]);

/* Walks the members of the object that `text` begins with; jsonpick_walk returns false if it does
 * not begin with one.  A name is given like a string above: as its content, or raw.  A value
 * begins where its slice begins; the slice ends with the text. */
struct jsonpick_walk {
    const char *at, *end, *value;
};
bool jsonpick_walk(struct jsonpick_walk *w, deja_slice text);
bool jsonpick_next(struct jsonpick_walk *w, deja_slice *name, deja_slice *value);

#endif
