/* header.h - the line at the beginning of a file that says what its columns are.
 *
 * CSV: the first record.  Some exports have comments, lines with a # in front, before that, and
 * some have the names in the last of these comments and none below:
 *
 *     # all of it, free to use
 *     # id,dateadded,url
 *     "1","2024-02-03","http://..."
 *
 * So comments at the beginning are left out, and the last one is the header if it names the column
 * that is asked for.
 *
 * CDX: a legend, with a letter for each column; it may be missing. */
#ifndef TOOLS_INPUT_HEADER_H
#define TOOLS_INPUT_HEADER_H
#include "tools/input/pick.h"

struct header {
    char *text; /* of the first file that has one, with its terminator; NULL: none yet */
    size_t len;
    bool differ; /* a later file had another one */

    /* private */
    unsigned column; /* when a file has no header */
    char *comment;   /* the last one of this file, with its terminator; NULL: none */
    size_t comment_len;
};
void header_init(struct header *h, const struct pick *p);
void header_fini(struct header *h);

/* Another file begins. */
void header_begin(struct header *h, struct pick *p);
/* Does a record with this first byte end at a mere terminator, whatever quotes are in it? */
static inline bool header_is_comment(const struct pick *p, char first)
{
    return p->header == PICK_CSV_HEADER && first == '#';
}

/* What the next record is, with its terminator and perhaps a byte order mark in front; p learns
 * its column from a header.  Errors name the path.  DEJA_EINVAL: no such column. */
enum header_is {
    HEADER_NOT,     /* a record like all that follow */
    HEADER_COMMENT, /* to be left out; ask again for the next */
    HEADER_TAKEN    /* the header, to be left out */
};
int header_look(struct header *h, struct pick *p, deja_slice record, const char *path,
                deja_error *err);
/* No comment follows: was the last one the header?  1: yes; 0: no. */
int header_in_comment(struct header *h, struct pick *p, deja_error *err);
/* The file has ended without a record. */
int header_end(struct header *h, struct pick *p, const char *path, deja_error *err);

#endif
