/* csv.h - records and fields of CSV: RFC 4180, and an answer for everything that breaks it.
 *
 * A record ends at a terminator outside of quotes; fields end at a delimiter outside of quotes.
 * Quotes count only where a field begins with one: then "" is one quote, and the next single
 * quote closes.  No input is refused:
 *   ab"c"d      a quote inside an unquoted field is a byte like others: ab"c"d
 *   "ab"c"d     what follows the closing quote belongs to the field as it is: abc"d
 *    "ab"       a space is a byte like others, so this field is unquoted and keeps its quotes
 *   "ab         at the end of the data: csv_open tells that the quote was never closed
 * One '\r' before a '\n' that ends a record belongs to the terminator; elsewhere, '\r' is a byte
 * like others. */
#ifndef TOOLS_INPUT_CSV_H
#define TOOLS_INPUT_CSV_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

enum csv_state {
    CSV_START,  /* a field begins here (at first: a record) */
    CSV_PLAIN,  /* inside a field, outside of quotes */
    CSV_QUOTED, /* inside quotes */
    CSV_CLOSED  /* after a quote inside quotes: the end of them, or half of "" */
};

/* Where the records end.  Begin with {delimiter, terminator, CSV_START}; data may come in pieces,
 * in whatever sizes, because the state lives here between calls. */
struct csv_scan {
    char delimiter, terminator;
    enum csv_state state;
};
/* As deja_lines_ends, for records.  When it returns cap, the scan stands after the last record
 * found, otherwise at len: continue from there. */
size_t csv_ends(struct csv_scan *s, deja_slice text, size_t from, size_t *ends, size_t cap);
/* Does the scan stand inside quotes? */
bool csv_open(const struct csv_scan *s);

/* The fields of one record, which comes without its terminator. */
struct csv_cursor {
    const char *at, *end; /* at is NULL behind the last field */
    char delimiter;
};
struct csv_cursor csv_cursor(const char *record, size_t len, char delimiter);
/* The next field, or false.  A field whose content stands in the record in one piece is given as
 * that piece, without its quotes.  Otherwise it is given raw, and its first byte is a quote: that
 * is how to know that it needs csv_unquote. */
bool csv_next(struct csv_cursor *c, deja_slice *field);
bool csv_is_raw(deja_slice field);
/* The content of a raw field into out, which has room for field.len bytes; returns its length,
 * which is less than field.len. */
size_t csv_unquote(deja_slice field, char *out);

#endif
