/* pick.h - picks the part of a line that is its key.
 *
 *   lines    the whole line, or the whole paragraph (paragraphs.h)
 *   fields   the Nth field between delimiters, without quoting; without a delimiter, the Nth word
 *            between blanks
 *   CSV      the unquoted content of a column (csv.h), given by its number, or by its name in each
 *            file's header
 *   log      the request target in a web server's log, Common or Combined (logline.h)
 *   squid    the URL in a proxy's log: the seventh word
 *   cdx      the original URL in an index of web archives: the word that the legend, a first line
 *            such as " CDX N b a m s k r M S V g", calls a; without a legend, the third word
 *   cdxj     the string "url" in the JSON object after two words
 *   jsonl    the string "url" in the JSON object that is the line (jsonpick.h)
 *   hosts    every host in the line of a block list (hostlist.h)
 *   dnsmasq, unbound, rpz   every name in the line of a DNS server's block list (namelist.h)
 *   adblock  the host or URL in a rule of an ad blocker (adblock.h)
 *
 * A line in which that part is missing or empty is keyless: it matches nothing, not even another
 * keyless line.  A key can be empty only if the whole line is the key.
 *
 * Several fields or columns can be the key together.  They are joined with the byte 0x1F, and 0x1F
 * and 0x10 inside a field get a 0x10 before them, so different fields never give the same key.  A
 * line that lacks one of the fields, or in which all are empty, is keyless.
 *
 * Lines are passed without their terminators.  A key is a piece of its line, not a copy.  A piece
 * that must be decoded first (quotes of CSV, escapes of JSON and logs) is called raw.  A line whose
 * fields must be joined is raw as a whole. */
#ifndef TOOLS_INPUT_PICK_H
#define TOOLS_INPUT_PICK_H
#include "deja.h"
#include "tools/input/blocklist.h"
#include "tools/input/jsonpick.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pick_format {
    PICK_LINES = 1,
    PICK_LOG,
    PICK_SQUID,
    PICK_CDX,
    PICK_CDXJ,
    PICK_JSONL,
    PICK_HOSTS,
    PICK_DNSMASQ,
    PICK_UNBOUND,
    PICK_RPZ,
    PICK_ADBLOCK
};
/* Returns the name as typed on the command line, or NULL for other numbers. */
const char *pick_format_name(uint32_t format);

#define PICK_COLUMNS 16 /* fields or columns of a key, at most */

/* 0, NULL or false: not given.  All pointers must stay valid as long as the pick. */
struct pick_options {
    uint32_t format;              /* a pick_format */
    unsigned field[PICK_COLUMNS]; /* counted from 1; 0 ends the list */
    bool has_delimiter;           /* without one: blanks, or for CSV ',' */
    char delimiter;               /* any byte, including 0 */
    const char *csv_column;       /* columns, in one line of CSV; only digits: a number, counted
                                   * from 1; otherwise a name */
    const char *json_key;         /* for JSON: a path (jsonpick.h); the default is url */
    bool paragraphs;              /* records are paragraphs, not lines */
};

/* Lines that may come before the first record of a file. */
enum pick_header {
    PICK_NO_HEADER,
    PICK_CSV_HEADER, /* the first record, or a comment, names the columns */
    PICK_CDX_LEGEND  /* the first line may be a legend */
};

struct pick {
    const struct pick_ops *ops;
    struct pick_options opt;
    enum pick_header header;
    /* Of fields, words and CSV, counted from 1; may differ between files: */
    unsigned column[PICK_COLUMNS];
    deja_slice name[PICK_COLUMNS]; /* of a CSV column, possibly raw; data is NULL: by number */
    unsigned columns;              /* more than 1: they are joined */
    struct jsonpick_path json_key;
};

/* The functions of a format; NULL if the format does not need one. */
struct pick_ops {
    /* Finds the key of a line; false if it has none.  The caller treats an empty key as none.
     * NULL: the key is the whole line, even if it is empty. */
    bool (*cut)(const struct pick *p, deja_slice line, deja_slice *key);
    /* Instead of the next two: writes the key of a line for which cut returned true, and returns
     * its length.  out NULL: the room that it needs. */
    size_t (*join)(const struct pick *p, deja_slice line, char *out);
    /* Does a key need decoding?  decode writes it to out, which has room for key.len bytes, and
     * returns its length. */
    bool (*is_raw)(deja_slice key);
    size_t (*decode)(deja_slice key, char *out);
    /* Instead of cut, for any number of keys in a line. */
    enum blocklist_line (*begin)(struct blocklist *l, deja_slice line);
    bool (*next)(struct blocklist *l, deja_slice *key);
};

/* Fails with DEJA_EINVAL if options contradict each other. */
int pick_init(struct pick *p, const struct pick_options *opt, char terminator, deja_error *err);

static inline bool pick_is_csv(const struct pick *p)
{
    return p->opt.csv_column;
}

/* May a record have several lines? */
static inline bool pick_spans_lines(const struct pick *p)
{
    return p->opt.csv_column || p->opt.paragraphs;
}

/* The last field or column that the key needs. */
unsigned pick_last(const struct pick *p);

/* Is it the format of a block list, in which a line has any number of keys? */
bool pick_is_list(uint32_t format);

/* What the key is, for messages: 'column "url"', "fields 1,3", "a request target", "a host". */
struct pick_text {
    char text[64];
};
struct pick_text pick_wanted(const struct pick *p);

/* Whether a line is the legend of a CDX file. */
bool pick_is_legend(deja_slice line);

#endif
