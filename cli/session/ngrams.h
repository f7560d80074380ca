/* ngrams.h - the n-grams of a text: all runs of N consecutive words, as keys.
 *
 * A word is a run of bytes that are not ASCII white space.  A text is normal if its words are
 * separated by single spaces and nothing surrounds them; then an n-gram is a slice of the text.  A
 * text with m >= N words has m - N + 1 n-grams.  A shorter one has a single n-gram: all its words. */
#ifndef CLI_SESSION_NGRAMS_H
#define CLI_SESSION_NGRAMS_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

#define NGRAMS_MAX 100 /* words */

bool ngrams_is_normal(deja_slice text);
/* Writes the normal form of a text to out, which has room for text.len bytes; returns its length. */
size_t ngrams_normalize(deja_slice text, char *out);

struct ngrams {
    const char *begin, *end; /* of the next n-gram; begin is NULL: there is none */
    const char *text_end;
};
/* The n-grams of a normal text, in order; n is at least 1. */
void ngrams_start(struct ngrams *g, deja_slice normal, unsigned n);
bool ngrams_next(struct ngrams *g, deja_slice *ngram);

#endif
