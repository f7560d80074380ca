/* out_json.c - JSON, printed without building a tree in memory.
 *
 * Keys and file names may contain any bytes, JSON only Unicode: each invalid UTF-8 sequence becomes
 * one U+FFFD.  Control characters of terminals are escaped (printable.h).  NaN and infinity become
 * null. */
#include "tools/base/number.h"
#include "tools/base/out.h"
#include "tools/base/printable.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>

size_t json_escape(char out[JSON_ESCAPE], uint32_t c)
{
    static const char letters[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
    const char *letter = c == '\0' || c > 0x7f ? NULL : strchr(letters, (int)c);
    const int n = letter ? snprintf(out, JSON_ESCAPE, "\\%c", escapes[letter - letters])
                         : snprintf(out, JSON_ESCAPE, "\\u%04x", (unsigned)c & 0xffff);
    return (size_t)n;
}

static void json_quote(struct out *o, const void *data, size_t len)
{
    const unsigned char *s = data;
    out_text(o, "\"");
    while (len > 0) {
        enum printable_class class;
        char escape[JSON_ESCAPE];
        uint32_t code;
        size_t n = printable_next(s, len, &class, &code);
        if (class == PRINTABLE_NOT_UTF8) /* the longest prefix of a character */
            out_text(o, "\\ufffd");
        else if (class == PRINTABLE_CONTROL || code == '"' || code == '\\')
            out_write(o, escape, json_escape(escape, code));
        else
            out_write(o, s, n);
        s += n;
        len -= n;
    }
    out_text(o, "\"");
}

static void json_newline(struct json *j)
{
    if (j->one_line)
        return;
    out_text(j->out, "\n");
    out_spaces(j->out, (size_t)j->depth * 2);
}

/* Prints the text before a value: comma, line break, key. */
static void json_lead(struct json *j, const char *key)
{
    assert((key != NULL) == (j->depth > 0 && j->close[j->depth - 1] == '}'));
    if (j->filled)
        out_text(j->out, j->one_line ? ", " : ",");
    if (j->depth > 0)
        json_newline(j);
    if (key) {
        json_quote(j->out, key, strlen(key));
        out_text(j->out, ": ");
    }
    j->filled = true;
}

static void json_tail(struct json *j)
{
    if (j->depth == 0)
        out_text(j->out, "\n");
}

static void json_open(struct json *j, const char *key, const char *open, char close)
{
    json_lead(j, key);
    assert(j->depth < JSON_DEPTH);
    out_text(j->out, open);
    j->close[j->depth++] = close;
    j->filled = false;
}

void json_begin(struct json *j, struct out *out)
{
    *j = (struct json){.out = out};
}

void json_begin_line(struct json *j, struct out *out)
{
    *j = (struct json){.out = out, .one_line = true};
}

void json_object(struct json *j, const char *key)
{
    json_open(j, key, "{", '}');
}

void json_array(struct json *j, const char *key)
{
    json_open(j, key, "[", ']');
}

void json_end(struct json *j)
{
    assert(j->depth > 0);
    char close = j->close[--j->depth];
    if (j->filled)
        json_newline(j);
    out_write(j->out, &close, 1);
    j->filled = true;
    json_tail(j);
}

void json_bytes(struct json *j, const char *key, const void *s, size_t len)
{
    json_lead(j, key);
    json_quote(j->out, s, len);
    json_tail(j);
}

void json_string(struct json *j, const char *key, const char *text)
{
    if (!text)
        json_null(j, key);
    else
        json_bytes(j, key, text, strlen(text));
}

static void json_plain(struct json *j, const char *key, const char *text)
{
    json_lead(j, key);
    out_text(j->out, text);
    json_tail(j);
}

void json_uint(struct json *j, const char *key, uint64_t n)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, n);
    json_plain(j, key, text);
}

void json_real(struct json *j, const char *key, double x)
{
    json_plain(j, key, isfinite(x) ? num_exact(x).s : "null");
}

void json_bool(struct json *j, const char *key, bool b)
{
    json_plain(j, key, b ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_plain(j, key, "null");
}
