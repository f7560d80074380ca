/* pick.h - which part of a line is its key.
 *
 *   lines    the whole line
 *   fields   the Nth of the pieces between delimiters, without any quoting; without a delimiter,
 *            the Nth word between blanks
 *   CSV      the content of one column, unquoted (csv.h has the rules); the column is known by
 *            its number, or by its name in each file's header
 *   log      the request target in a web server's log, Common or Combined (logline.h)
 *   squid    the URL in a proxy's log: the seventh word
 *   cdx      the original URL in an index of web archives: the word that the legend, a first line
 *            such as " CDX N b a m s k r M S V g", calls a; without a legend, the third
 *   cdxj     the string called url in the JSON object behind two words
 *   jsonl    the string called url in the JSON object that is the line (jsonpick.h)
 *   hosts    every host in the line of a block list (hostlist.h)
 *
 * A line that has no such part, or an empty one, is keyless: it matches nothing, not even another
 * keyless line.  Only if the whole line is the key can a key be empty.
 *
 * A line comes without its terminator.  Its key is a piece of it: found, not copied.  Where the
 * piece has to be decoded first (quotes of CSV, escapes of JSON and of logs) it is called raw. */
#ifndef TOOLS_INPUT_PICK_H
#define TOOLS_INPUT_PICK_H
#include "deja.h"
#include "tools/input/hostlist.h"
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
    PICK_HOSTS
};
/* As typed on the command line; NULL for other numbers. */
const char *pick_format_name(uint32_t format);

/* 0, NULL or false: not given.  What is pointed to outlives the pick. */
struct pick_options {
    uint32_t format;        /* a pick_format */
    unsigned field;         /* counted from 1 */
    bool has_delimiter;     /* of fields; without one: blanks, with CSV ',' */
    char delimiter;         /* any byte, 0 too */
    const char *csv_column; /* only digits: a number, from 1; otherwise a name */
    const char *json_key;   /* for JSON: a path (jsonpick.h); default url */
};

/* How lines are separated, and what begins a file. */
enum pick_header {
    PICK_NO_HEADER,
    PICK_CSV_HEADER, /* the first record, or a comment, names the columns */
    PICK_CDX_LEGEND  /* the first line may be one */
};

struct pick {
    const struct pick_ops *ops;
    struct pick_options opt;
    enum pick_header header;
    unsigned column; /* of fields and words, from 1; may differ from file to file */
    struct jsonpick_path json_key;
};

/* What differs from format to format; NULL: the format does not have that. */
struct pick_ops {
    /* The key of a line; false if it has none.  An empty key does not count, which the caller
     * checks.  NULL: the key is the whole line, even if that is empty. */
    bool (*cut)(const struct pick *p, deja_slice line, deja_slice *key);
    /* Does a key that was cut need decoding?  Into out, which has room for key.len bytes; returns
     * how many were written. */
    bool (*is_raw)(deja_slice key);
    size_t (*decode)(deja_slice key, char *out);
    /* Any number of keys in a line, instead of cut. */
    enum hostlist_line (*begin)(struct hostlist *h, deja_slice line);
    bool (*next)(struct hostlist *h, deja_slice *key);
};

/* DEJA_EINVAL: options that contradict each other. */
int pick_init(struct pick *p, const struct pick_options *opt, char terminator, deja_error *err);

static inline bool pick_is_csv(const struct pick *p)
{
    return p->opt.csv_column;
}

/* What is picked, for messages: 'column "url"', "field 2", "a request target", "a host". */
struct pick_text {
    char text[64];
};
struct pick_text pick_wanted(const struct pick *p);

/* Is a line the legend of a CDX file? */
bool pick_is_legend(deja_slice line);

#endif
