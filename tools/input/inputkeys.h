/* inputkeys.h - the keys of the records in a block, and the state that input.c shares with this
 * step. */
#ifndef TOOLS_INPUT_INPUTKEYS_H
#define TOOLS_INPUT_INPUTKEYS_H
#include "tools/input/csv.h"
#include "tools/input/header.h"
#include "tools/input/input.h"
#include "tools/input/paragraphs.h"
#include "tools/input/pickhint.h"
#include "tools/input/source.h"

struct input {
    struct input_options opt;
    struct source source;
    struct pick pick;
    struct header header;
    struct pickhint hint;  /* the first lines without a key, until a line has one */
    bool had_key, lacking; /* a line had a key; a line without one was not empty */
    size_t records_max;    /* records per block, at most */

    /* The current file: */
    bool ended;       /* all of it has been read */
    bool at_start;    /* before its first record: there may be a byte order mark ... */
    size_t bom_len;   /* ... of this length */
    bool want_header; /* the next record may be a header, or a comment before it */
    uint64_t line;    /* lines before the current block */
    struct csv_scan csv;
    struct paragraph_scan paragraph;
    struct blocklist list;

    char *carry; /* read, but not yet returned */
    size_t carry_len, carry_cap;
    size_t scanned;  /* bytes of carry, later of the block, that were searched for ends */
    size_t mean_len; /* mean length of the records in the last block */
    bool raw;        /* some keys in the current block need decoding */
    bool lull;       /* the last block ended because no more bytes arrived */

    int failed; /* 0, or the status of every further input_next */
    deja_error error;

    _Atomic uint64_t raw_bytes, decoded, records, missing, rules;
    _Atomic uint64_t skipped[BLOCKLIST_REASONS];
};

static inline void input_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* "line" or "record", for messages about n of them. */
const char *input_unit(const struct input *in, uint64_t n);
int input_no_memory(const struct input *in, uint64_t line, size_t bytes, deja_error *err);
/* Counts the lines up to the end of the last complete record. */
uint64_t input_lines_before(const struct input *in, const struct block *b);

/* Finds the keys of the records from `first` on; some may be raw. */
int input_make_keys(struct input *in, struct block *b, size_t first, deja_error *err);
/* Decodes the raw keys. */
int input_decode_keys(const struct input *in, struct block *b, deja_error *err);
/* For lines with any number of keys: each key becomes a record that shares the line's bytes.  Lines
 * that are not records are removed from the data. */
int input_spread_keys(struct input *in, struct block *b, deja_error *err);

#endif
