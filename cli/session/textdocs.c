/* textdocs.c - cuts paragraphs out of a JSON string; see textdocs.h.
 *
 * The text is decoded once, to compare its paragraphs.  The line is never encoded again: its string
 * is cut at the same line feeds, which are escapes there (\n or \u000a), and the pieces are copied.
 * Both walks use jsonpick_unescape, so they agree on what is an escape, even in invalid JSON, and
 * the cuts never fall inside one.  A line feed stays between any two paragraphs, so halves of
 * surrogate pairs cannot become neighbors: if the line was valid JSON, it still is. */
#include "cli/session/textdocs.h"
#include "tools/base/ascii.h"
#include <assert.h>

bool textdoc_next(deja_slice *rest, deja_slice *paragraph)
{
    while (rest->len > 0) {
        const char *at = rest->data, *end = at + rest->len;
        const char *feed = memchr(at, '\n', rest->len);
        const char *stop = feed ? feed : end;
        const char *next = feed ? feed + 1 : end;
        *paragraph = ascii_trim(ascii_between(at, stop));
        *rest = ascii_between(next, end);
        if (paragraph->len > 0)
            return true;
    }
    return false;
}

/* A position in the content of a JSON string. */
struct cursor {
    const char *at, *end;
};

/* Moves past one line; *is_blank: it has only white space.  Returns where it ends: at a line feed,
 * which the cursor has passed, or at the end. */
static const char *pass_line(struct cursor *c, bool *is_blank)
{
    *is_blank = true;
    while (c->at < c->end) {
        const char *slash = memchr(c->at, '\\', (size_t)(c->end - c->at));
        const char *stop = slash ? slash : c->end;
        while (*is_blank && c->at < stop)
            *is_blank = ascii_is_space(*c->at++);
        c->at = stop;
        if (!slash)
            break;
        char out[4];
        const size_t len = jsonpick_unescape(&c->at, c->end, out);
        if (len == 1 && out[0] == '\n')
            return slash;
        *is_blank = *is_blank && len == 1 && ascii_is_space(out[0]);
    }
    return c->end;
}

/* The next line of the string that is not blank. */
static bool next_raw(struct cursor *c, deja_slice *piece)
{
    while (c->at < c->end) {
        bool is_blank;
        const char *begin = c->at;
        *piece = ascii_between(begin, pass_line(c, &is_blank));
        if (!is_blank)
            return true;
    }
    return false;
}

bool textdoc_write(struct buffer *to, deja_slice line, const struct jsonpick_path *path,
                   const uint8_t *answer, size_t n, uint8_t want)
{
    const char *const line_end = (const char *)line.data + line.len;
    const char *done = line.data; /* where the last paragraph ended */
    deja_slice text, piece, gap = {line.data, 0};
    bool fine = jsonpick_find(line, path, &text), wanted = true;
    const size_t quote = fine && jsonpick_is_raw(text);
    const char *begin = fine ? (const char *)text.data + quote : line_end;
    struct cursor c = {begin, fine ? begin + text.len - 2 * quote : line_end};
    assert(fine);
    for (size_t i = 0; i < n && fine && next_raw(&c, &piece); i++) {
        if (wanted) /* also before the first paragraph: all of the line so far */
            gap = ascii_between(done, piece.data);
        wanted = answer[i] == want;
        if (wanted)
            fine = buffer_add(to, gap.data, gap.len) && buffer_add(to, piece.data, piece.len);
        done = (const char *)piece.data + piece.len;
    }
    return fine && buffer_add(to, done, (size_t)(line_end - done));
}
