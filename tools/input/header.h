/* header.h - finds the line at the start of a file that names its columns.
 *
 * CSV: the first record.  Some exports start with comments, lines that begin with #; some have the
 * names only in the last of these comments:
 *
 *     # all of it, free to use
 *     # id,dateadded,url
 *     "1","2024-02-03","http://..."
 *
 * So comments at the start are skipped, and the last one is the header if it names the requested
 * column.
 *
 * CDX: an optional legend with a letter for each column. */
#ifndef TOOLS_INPUT_HEADER_H
#define TOOLS_INPUT_HEADER_H
#include "tools/input/pick.h"

struct header {
    char *text; /* of the first file with a header, with its terminator; NULL: none yet */
    size_t len;
    bool differ; /* a later file had a different header */

    /* private */
    unsigned column; /* column to use if a file has no header */
    char *comment;   /* last comment in this file, with its terminator; NULL: none */
    size_t comment_len;
};
void header_init(struct header *h, const struct pick *p);
void header_fini(struct header *h);

/* Starts the next file. */
void header_begin(struct header *h, struct pick *p);
/* Whether a record that starts with this byte is a comment, in which quotes are ordinary
 * bytes. */
static inline bool header_is_comment(const struct pick *p, char first)
{
    return p->header == PICK_CSV_HEADER && first == '#';
}

/* Classifies the next record, which has its terminator and may start with a byte order mark.  A
 * header sets the column in p.  Errors name the path; DEJA_EINVAL means that there is no such
 * column. */
enum header_is {
    HEADER_NOT,     /* an ordinary record */
    HEADER_COMMENT, /* skip it, and ask again for the next */
    HEADER_TAKEN    /* the header; skip it */
};
int header_look(struct header *h, struct pick *p, deja_slice record, const char *path,
                deja_error *err);
/* Call this when no comment follows.  Returns 1 if the last comment was the header, otherwise
 * 0. */
int header_in_comment(struct header *h, struct pick *p, deja_error *err);
/* Call this when a file ends before its first record. */
int header_end(struct header *h, struct pick *p, const char *path, deja_error *err);

#endif
