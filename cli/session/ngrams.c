/* ngrams.c - the n-grams of a text; see ngrams.h.
 *
 * Two cursors walk over a normal text, N words apart.  Each step moves both to the next space, so
 * the cost per n-gram does not depend on N, and nothing is copied. */
#include "cli/session/ngrams.h"
#include "tools/base/ascii.h"
#include <string.h>

bool ngrams_is_normal(deja_slice text)
{
    const char *at = text.data;
    bool space = true; /* the previous byte was a space; so text must not start with one */
    for (size_t i = 0; i < text.len; i++) {
        const bool is = ascii_is_space(at[i]);
        if (is && (space || at[i] != ' '))
            return false;
        space = is;
    }
    return !space || text.len == 0;
}

size_t ngrams_normalize(deja_slice text, char *out)
{
    const char *from = text.data;
    size_t len = 0;
    bool between = false; /* words: a space is due */
    for (size_t i = 0; i < text.len; i++) {
        if (ascii_is_space(from[i])) {
            between = len > 0;
            continue;
        }
        if (between)
            out[len++] = ' ';
        between = false;
        out[len++] = from[i];
    }
    return len;
}

/* The end of the word at `at`. */
static const char *word_end(const char *at, const char *end)
{
    while (at < end && *at != ' ')
        at++;
    return at;
}

void ngrams_start(struct ngrams *g, deja_slice normal, unsigned n)
{
    const char *begin = normal.data;
    const char *end = begin + normal.len;
    const char *at = word_end(begin, end);
    for (unsigned i = 1; i < n && at < end; i++)
        at = word_end(at + 1, end);
    *g = (struct ngrams){begin, at, end};
}

bool ngrams_next(struct ngrams *g, deja_slice *ngram)
{
    if (!g->begin)
        return false;
    *ngram = (deja_slice){g->begin, (size_t)(g->end - g->begin)};
    if (g->end == g->text_end) {
        g->begin = NULL;
    } else {
        g->begin = word_end(g->begin, g->end) + 1;
        g->end = word_end(g->end + 1, g->text_end);
    }
    return true;
}
