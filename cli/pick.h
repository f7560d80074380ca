/* pick.h - which part of a line is its key.
 *
 * A line comes without its terminator.  Its key is a piece of it: found, not copied.  Where the
 * piece has to be decoded first (quotes of CSV, escapes of JSON) it is called raw, and
 * pick_decode writes it out. */
#ifndef CLI_PICK_H
#define CLI_PICK_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, NULL or false: not given.  What is pointed to outlives the pick. */
struct pick_options {
    unsigned field;     /* counted from 1 */
    bool has_delimiter; /* of fields; without one: '\t', with CSV ',' */
    char delimiter;
    const char *csv_column; /* only digits: a number, from 1; otherwise a name */
};

struct pick {
    const struct pick_ops *ops;
    struct pick_options opt; /* with all defaults filled in */
    unsigned column;         /* of fields, from 1; may differ from file to file */
    bool by_name;            /* look the column up in each file's header */
};

/* What differs from format to format; NULL: the format does not have that. */
struct pick_ops {
    /* The key of a line; false when it has none.  NULL: the whole line is. */
    bool (*cut)(const struct pick *p, deja_slice line, deja_slice *key);
    /* Does a key that was cut need decoding?  Into out, which has room for key.len bytes; returns
     * how many were written. */
    bool (*is_raw)(deja_slice key);
    size_t (*decode)(deja_slice key, char *out);
};

/* DEJA_EINVAL: options that contradict each other. */
int pick_init(struct pick *p, const struct pick_options *opt, char terminator, deja_error *err);

static inline bool pick_is_csv(const struct pick *p)
{
    return p->opt.csv_column != NULL;
}

#endif
