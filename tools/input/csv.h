/* csv.h - finds records and fields of CSV: RFC 4180, with defined results for invalid CSV.
 *
 * A record ends at a terminator outside quotes, a field at a delimiter outside quotes.  Quotes are
 * special only in a field that starts with one: there, "" is one quote, and the next single quote
 * closes.  No input is rejected:
 *   ab"c"d      a quote inside an unquoted field is an ordinary byte: ab"c"d
 *   "ab"c"d     bytes after the closing quote belong to the field: abc"d
 *    "ab"       a space is an ordinary byte, so this field is unquoted and keeps its quotes
 *   "ab         at the end of the data: csv_open returns true: the quote was never closed
 * A '\r' before the '\n' that ends a record belongs to the terminator; elsewhere, '\r' is an
 * ordinary byte. */
#ifndef TOOLS_INPUT_CSV_H
#define TOOLS_INPUT_CSV_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

enum csv_state {
    CSV_START,  /* at the start of a field (initially, of a record) */
    CSV_PLAIN,  /* inside a field, outside quotes */
    CSV_QUOTED, /* inside quotes */
    CSV_CLOSED  /* after a quote inside quotes: it closes, or is the first half of "" */
};

/* Finds the ends of records.  Start with {delimiter, terminator, CSV_START}.  The state between
 * calls is here, so data may arrive in pieces of any size. */
struct csv_scan {
    char delimiter, terminator;
    enum csv_state state;
};
/* Like deja_lines_ends, for records.  If it returns cap, continue after the last record found,
 * otherwise at text.len. */
size_t csv_ends(struct csv_scan *s, deja_slice text, size_t from, size_t *ends, size_t cap);
/* Whether the scan is inside quotes. */
bool csv_open(const struct csv_scan *s);

/* The fields of one record, without its terminator. */
struct csv_cursor {
    const char *at, *end; /* at is NULL after the last field */
    char delimiter;
};
struct csv_cursor csv_cursor(const char *record, size_t len, char delimiter);
/* Gets the next field, or returns false.  If its content is one piece of the record, *field is
 * that piece, without quotes.  Otherwise *field is raw: it starts with a quote and needs
 * csv_unquote. */
bool csv_next(struct csv_cursor *c, deja_slice *field);
/* Gets the field of that number, counted from 1, as csv_next does; false if there are fewer. */
bool csv_cut(deja_slice record, char delimiter, unsigned column, deja_slice *field);
bool csv_is_raw(deja_slice field);
/* Writes the content of a raw field to out, which has room for field.len bytes.  Returns its
 * length, which is less than field.len. */
size_t csv_unquote(deja_slice field, char *out);

#endif
