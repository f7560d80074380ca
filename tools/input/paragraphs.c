/* paragraphs.c - finds paragraphs; see paragraphs.h.
 *
 * Most lines are decided by their first byte: if it is not blank, memchr finds the end of the line.
 * The scan can stop at any byte and continue when more have arrived, so a long line is never
 * searched twice. */
#include "tools/input/paragraphs.h"
#include "tools/base/scan.h"
#include <string.h>

static bool is_blank(char c)
{
    return scan_is_blank(c) || c == '\r';
}

size_t paragraph_ends(struct paragraph_scan *s, deja_slice text, size_t from, size_t *ends,
                      size_t cap)
{
    const char *const data = text.data;
    size_t n = 0;
    while (n < cap && from < text.len) {
        while (s->blank && from < text.len && is_blank(data[from]))
            from++;
        if (from == text.len)
            break;
        if (s->blank && data[from] == '\n') {
            from++;
            if (s->inside)
                ends[n++] = from;
            s->inside = false;
            continue;
        }
        s->inside = true;
        const char *end = memchr(data + from, '\n', text.len - from);
        s->blank = end != NULL;
        from = end ? (size_t)(end - data) + 1 : text.len;
    }
    return n;
}

size_t paragraph_margin(deja_slice record)
{
    const char *data = record.data;
    size_t line = 0; /* where the current line begins */
    for (size_t i = 0; i < record.len && (is_blank(data[i]) || data[i] == '\n'); i++)
        if (data[i] == '\n')
            line = i + 1;
    return line;
}

/* Returns the end of the last line that is not blank. */
static const char *last_line_end(const char *begin, const char *end)
{
    for (const char *at = end; at > begin && (is_blank(at[-1]) || at[-1] == '\n'); at--)
        if (at[-1] == '\n')
            end = at - 1;
    return end > begin && end[-1] == '\r' ? end - 1 : end;
}

deja_slice paragraph_of(deja_slice record)
{
    const char *end = (const char *)record.data + record.len;
    const char *begin = (const char *)record.data + paragraph_margin(record);
    return (deja_slice){begin, (size_t)(last_line_end(begin, end) - begin)};
}

bool paragraph_is_raw(deja_slice text)
{
    const char *end = (const char *)text.data + text.len;
    const char *at = text.data;
    while (at < end && (at = memchr(at, '\r', (size_t)(end - at))))
        if (++at < end && *at == '\n')
            return true;
    return false;
}

size_t paragraph_decode(deja_slice text, char *out)
{
    const char *from = text.data;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++)
        if (from[i] != '\r' || i + 1 == text.len || from[i + 1] != '\n')
            out[len++] = from[i];
    return len;
}
