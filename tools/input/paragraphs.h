/* paragraphs.h - paragraphs of a text as records.
 *
 * A paragraph is a run of lines that are not blank.  A line is blank if it has only spaces, tabs
 * and carriage returns.  A record is a paragraph, the blank line that ends it, and any further
 * blank lines before it, so records joined together are the text:
 *
 *   | paragraph 0 \n \n | \n \n paragraph 1 \n \n | paragraph 2 \n |
 *
 * The last paragraph of a file may lack the blank line.  Blank lines after the last record of a
 * file belong to none. */
#ifndef TOOLS_INPUT_PARAGRAPHS_H
#define TOOLS_INPUT_PARAGRAPHS_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

/* Begins with PARAGRAPH_SCAN, at the start of a record. */
struct paragraph_scan {
    bool inside; /* the record has a line that is not blank */
    bool blank;  /* the current line, up to here, is blank */
};
#define PARAGRAPH_SCAN ((struct paragraph_scan){.inside = false, .blank = true})

/* Like deja_lines_ends: stores the offset just past the blank line of each paragraph, at most cap
 * of them, and returns how many it stored.  Scanning begins at `from`; if fewer than cap are found,
 * the next call continues at text.len. */
size_t paragraph_ends(struct paragraph_scan *s, deja_slice text, size_t from, size_t *ends,
                      size_t cap);

/* The paragraph of a record: without blank lines and without the end of its last line. */
deja_slice paragraph_of(deja_slice record);
/* The length of the blank lines before it. */
size_t paragraph_margin(deja_slice record);
/* Does a paragraph have lines that end with "\r\n"?  paragraph_decode writes it to out, which has
 * room for text.len bytes, with "\n" instead, and returns its length.  So texts from Windows match
 * others. */
bool paragraph_is_raw(deja_slice text);
size_t paragraph_decode(deja_slice text, char *out);

#endif
