/* jsonpick.c - finds one string in a JSON object.
 *
 * To find a string it is enough to know where strings and brackets end, so this is not a JSON
 * parser: it builds nothing, checks only the text before the string, and ignores the rest.  In valid
 * JSON it finds the same string as a parser; in invalid JSON it may still find one.  Other values
 * are skipped by counting brackets, so nesting uses neither stack nor memory.  The text may
 * contain any byte.
 *
 * Escapes become UTF-8.  Half of a surrogate pair becomes U+FFFD, the replacement character.  A
 * backslash that does not start a JSON escape is kept. */
#include "tools/input/jsonpick.h"
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffd

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (scan_is_blank(*at) || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* Skips from an opening quote to after the closing one; NULL if it is missing. */
static const char *skip_string(const char *at, const char *end)
{
    const char *quote = scan_quote(at + 1, end);
    return quote ? quote + 1 : NULL;
}

/* Quotes and brackets, 16 bytes at a time.  */
static const char *find_structure(const char *at, const char *end)
{
    for (; end - at >= MARKS_BYTES; at += MARKS_BYTES) {
        const uint32_t marks = marks_of(at, '"') | marks_of(at, '[') | marks_of(at, ']') |
                               marks_of(at, '{') | marks_of(at, '}');
        if (marks)
            return at + marks_first(marks);
    }
    while (at < end && *at != '"' && *at != '[' && *at != ']' && *at != '{' && *at != '}')
        at++;
    return at;
}

static const char *skip_brackets(const char *at, const char *end)
{
    size_t depth = 0;
    while ((at = find_structure(at, end)) < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (!at)
                return NULL;
            continue;
        }
        if (*at == '[' || *at == '{')
            depth++;
        else if (--depth == 0)
            return at + 1;
        at++;
    }
    return NULL;
}

/* Does this byte end a number, true, false or null? */
static bool ends_literal(char c)
{
    return c == ',' || c == '}' || c == ']' || c == ' ' ||
           (c >= '\t' && c <= '\r' && c != '\v' && c != '\f');
}

/* The end of the value that starts at `at`; NULL if it has none. */
static const char *skip_value(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    if (*at == '"')
        return skip_string(at, end);
    if (*at == '{' || *at == '[')
        return skip_brackets(at, end);
    const char *begin = at;
    while (at < end && !ends_literal(*at))
        at++;
    return at > begin ? at : NULL;
}

/* --- Escapes --------------------------------------------------------------- */

static size_t put_utf8(uint32_t c, char *out)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(first[n] | c);
    return n;
}

/* The number in \uXXXX at `at`, or -1 if there is no such escape. */
static long hex4(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return -1;
    long value = 0;
    for (int i = 2; i < 6; i++) {
        const int digit = ascii_hex(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

size_t jsonpick_unescape(const char **at, const char *end, char out[4])
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *from = *at;
    const long high = hex4(from, end);
    if (high >= 0) {
        const long low = hex4(from + 6, end);
        const bool pair = high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
        *at += pair ? 12 : 6;
        if (pair)
            return put_utf8((uint32_t)(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)), out);
        return put_utf8(high >= 0xd800 && high < 0xe000 ? REPLACEMENT : (uint32_t)high, out);
    }
    const char *letter = end - from > 1 ? memchr(letters, from[1], sizeof letters - 1) : NULL;
    if (letter) {
        out[0] = meanings[letter - letters];
        *at += 2;
    } else {
        out[0] = *from;
        *at += 1;
    }
    return 1;
}

bool jsonpick_is_raw(deja_slice value)
{
    return value.len > 0 && *(const char *)value.data == '"';
}

size_t jsonpick_decode(deja_slice raw, char *out)
{
    const char *at = (const char *)raw.data + 1;
    const char *end = (const char *)raw.data + raw.len - 1;
    size_t len = 0;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(out + len, at, plain);
        len += plain;
        at += plain;
        if (slash)
            len += jsonpick_unescape(&at, end, out + len);
    }
    return len;
}

/* --- Members --------------------------------------------------------------- */

/* Whether this is the string in [at, end), which includes its quotes and may have escapes. */
static bool is_called(const char *at, const char *end, bool escapes, const char *name, size_t len)
{
    at++;
    end--;
    if (!escapes)
        return (size_t)(end - at) == len && memcmp(at, name, len) == 0;
    size_t same = 0;
    while (at < end) {
        char c[4];
        size_t n = 1;
        if (*at == '\\')
            n = jsonpick_unescape(&at, end, c);
        else
            c[0] = *at++;
        if (len - same < n || memcmp(name + same, c, n) != 0)
            return false;
        same += n;
    }
    return same == len;
}

/* --- Walking an object ------------------------------------------------------ */

bool jsonpick_walk(struct jsonpick_walk *w, deja_slice text)
{
    const char *end = (const char *)text.data + text.len;
    const char *at = skip_space(text.data, end);
    *w = (struct jsonpick_walk){at, end, NULL};
    if (at == end || *at != '{')
        return false;
    w->at = at + 1;
    return true;
}

/* Finds the name of the next member, with its quotes, and whether it has escapes; w->value becomes the start of its value.
 * The next call skips the value, so the name is found even if the line is truncated inside the
 * value. */
static bool next_member(struct jsonpick_walk *w, deja_slice *name, bool *escapes)
{
    if (w->value) {
        w->at = skip_value(w->value, w->end);
        w->value = NULL;
    }
    if (!w->at)
        return false;
    w->at = skip_space(w->at, w->end);
    while (w->at < w->end && *w->at == ',')
        w->at = skip_space(w->at + 1, w->end);
    if (w->at == w->end || *w->at != '"')
        return false;
    const char *called = w->at;
    const char *close = scan_string(called + 1, w->end, escapes);
    if (!close)
        return false;
    *name = (deja_slice){called, (size_t)(close + 1 - called)};
    const char *at = skip_space(close + 1, w->end);
    if (at == w->end || *at != ':')
        return false;
    w->value = skip_space(at + 1, w->end);
    return true;
}

bool jsonpick_next(struct jsonpick_walk *w, deja_slice *name, deja_slice *value)
{
    bool escapes;
    if (!next_member(w, name, &escapes))
        return false;
    if (!escapes)
        *name = (deja_slice){(const char *)name->data + 1, name->len - 2};
    *value = (deja_slice){w->value, (size_t)(w->end - w->value)};
    return true;
}

/* Returns the start of that member's value in the object at the start of `text`, or NULL. */
static const char *find_member(deja_slice text, deja_slice wanted)
{
    struct jsonpick_walk w;
    deja_slice name;
    bool escapes, more = jsonpick_walk(&w, text);
    while (more && (more = next_member(&w, &name, &escapes))) {
        const char *at = name.data;
        if (is_called(at, at + name.len, escapes, wanted.data, wanted.len))
            return w.value;
    }
    return NULL;
}

/* --- Paths ------------------------------------------------------------------ */

static bool opens_bracket(const char *at)
{
    return at[0] == '[' && (at[1] == '"' || at[1] == '\'');
}

/* Takes a name in quotes, or in brackets and quotes; returns its end, or NULL. */
static const char *take_quoted(struct jsonpick_path *path, const char *at)
{
    const bool bracket = opens_bracket(at);
    at += bracket;
    const char *close = strchr(at + 1, *at);
    if (!close || (bracket && close[1] != ']'))
        return NULL;
    path->step[path->n++] = (struct jsonpick_step){{at + 1, (size_t)(close - at - 1)}, true};
    return close + 1 + bracket;
}

/* Takes names separated by dots, up to the next quoted name. */
static const char *take_plain(struct jsonpick_path *path, const char *at)
{
    const char *end = at;
    while (*end && !(end[0] == '.' && (end[1] == '"' || opens_bracket(end + 1))) &&
           !opens_bracket(end))
        end++;
    path->step[path->n++] = (struct jsonpick_step){{at, (size_t)(end - at)}, false};
    return end > at ? end : NULL;
}

bool jsonpick_parse(struct jsonpick_path *path, const char *text)
{
    *path = (struct jsonpick_path){.n = 0};
    const bool rooted = text[0] == '.' || (text[0] == '$' && (text[1] == '.' || text[1] == '['));
    if (!rooted) {
        path->step[path->n++] = (struct jsonpick_step){{text, strlen(text)}, false};
        return text[0] != 0;
    }
    const char *at = text + (text[0] == '$');
    do {
        at += *at == '.';
        if (path->n == JSONPICK_STEPS)
            return false;
        at = *at == '"' || opens_bracket(at) ? take_quoted(path, at) : take_plain(path, at);
    } while (at && (*at == '.' || opens_bracket(at)));
    return at && *at == 0;
}

/* Returns the start of the value of a step.  A plain step is the name of a member; otherwise the
 * part before a dot names an object, in which the rest of the step is looked up. */
static const char *follow(deja_slice text, struct jsonpick_step step)
{
    for (;;) {
        const char *end = (const char *)text.data + text.len;
        const char *at = find_member(text, step.name);
        const char *dot = at || step.exact ? NULL : memchr(step.name.data, '.', step.name.len);
        if (!dot)
            return at;
        const size_t len = (size_t)(dot - (const char *)step.name.data);
        at = find_member(text, (deja_slice){step.name.data, len});
        if (!at)
            return NULL;
        text = (deja_slice){at, (size_t)(end - at)};
        step.name = (deja_slice){dot + 1, step.name.len - len - 1};
    }
}

bool jsonpick_find(deja_slice text, const struct jsonpick_path *path, deja_slice *value)
{
    const char *end = (const char *)text.data + text.len;
    const char *at = text.data;
    for (unsigned i = 0; at && i < path->n; i++)
        at = follow((deja_slice){at, (size_t)(end - at)}, path->step[i]);
    if (!at || at == end || *at != '"')
        return false;
    bool escapes;
    const char *close = scan_string(at + 1, end, &escapes);
    if (!close)
        return false;
    *value = (deja_slice){at + 1, (size_t)(close - at - 1)};
    if (escapes)
        *value = (deja_slice){at, (size_t)(close + 1 - at)};
    return true;
}
