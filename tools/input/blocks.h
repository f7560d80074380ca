/* blocks.h - a block: consecutive records in one buffer, each with its key.
 *
 *   data   | record 0 | record 1 | ... | record n-1 |
 *          0       ends[0]    ends[1]          ends[n-1] = len
 *
 * A key points into data, or into the block's room if it differs from the text of the line: an
 * unquoted CSV field, a decoded JSON string, a canonical URL.  Both are valid until the block is
 * filled again.
 *
 * A line with several keys is several records with the same end.  In a `shared` block, each run of
 * equal ends is one line.
 *
 * Several keys may be parts of one text, as the n-grams of a paragraph are.  Then `units` says to
 * which text each key belongs. */
#ifndef TOOLS_INPUT_BLOCKS_H
#define TOOLS_INPUT_BLOCKS_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text whose parts are keys: those from the end of the previous unit up to `end`. */
struct block_unit {
    deja_slice text; /* data is NULL: the unit is a keyless record */
    size_t end;
};

/* Why a line is odd: it has no key, its key is not a URL, its host needs IDNA, which this build
 * lacks, or it is a rule of a block list that is skipped on purpose. */
enum block_oddity {
    BLOCK_NO_KEY,
    BLOCK_NO_URL,
    BLOCK_NO_IDNA,
    BLOCK_RULE,
    BLOCK_ODDITIES
};

struct block_odd {
    enum block_oddity why;
    uint64_t line;   /* in its file, counted from 1 */
    deja_slice text; /* the line, or its key; valid as long as the block's content */
};

/* block_init makes it, input_next fills it any number of times.  With default options it takes at
 * most about 1.5 MiB.  If it grew for a long record, the next fill shrinks it. */
struct block {
    char *data; /* n whole records, each with its terminator */
    size_t len;
    deja_slice *keys; /* key i, in data or in the room */
    size_t *
        ends; /* where record i ends; its line starts at the last different end before it, or at 0 */
    size_t n;         /* above 0 if input_next returned 1 */
    const char *path; /* of the file, for messages; or "standard input" */
    uint64_t
        line; /* of the first record in its file, counted from 1; with -z, records are counted */
    bool terminator_added;
    bool unseparated;  /* the last record is a paragraph without a blank line after it */
    bool shared;       /* some lines have several keys */
    bool keyless;      /* some records have no key (data is NULL): they never match anything */
    deja_slice *forms; /* after block_forms: what to print instead of line i */
    struct block_unit *units; /* if n_units is not 0, they cover all keys */
    size_t n_units;
    struct block_odd *odd; /* lines to name in a report: see block_report */
    size_t n_odd;
    size_t odd_most; /* of each kind; set by input_next */

    /* private */
    size_t filled, data_cap, records_cap;
    struct block_room *rooms; /* newest and largest first */
    deja_slice *new_keys;     /* between block_rekey and block_rekey_end */
    size_t *new_ends;
    size_t new_n, new_cap, forms_cap, units_cap;
    size_t odd_cap, odd_of[BLOCK_ODDITIES];
    struct block_gap *gaps; /* lines of the file that are not in the data, in order */
    size_t n_gaps, gaps_cap;
    size_t counted_to; /* the data up to here ... */
    uint64_t counted;  /* ... has this many lines */
};
void block_init(struct block *b);
void block_fini(struct block *b);

/* Returns room for len bytes that are valid as long as the block's content, or NULL if out of
 * memory.  block_take takes the first len of them; without it, the next call returns the same
 * room.  Bytes that were taken never move. */
char *block_room(struct block *b, size_t len);
void block_take(struct block *b, size_t len);

/* Replaces the records with different records of the same data: read n, keys and ends, append the
 * new records with block_rekey_add in order of their ends, and switch to them with
 * block_rekey_end.  False if out of memory; the block is then unchanged. */
void block_rekey(struct block *b);
bool block_rekey_add(struct block *b, deja_slice key, size_t end);
void block_rekey_end(struct block *b);
/* Between the two: the keys added since the last unit, at least one, are parts of this text. */
bool block_unit_add(struct block *b, deja_slice text);
/* Makes each unit one record, whose key is its text. */
void block_join_units(struct block *b);

/* Are there fewer odd lines of that kind than are wanted? */
static inline bool block_wants(const struct block *b, enum block_oddity why)
{
    return b->odd_of[why] < b->odd_most;
}
/* Adds a line to `odd` if it is wanted. */
void block_report(struct block *b, enum block_oddity why, uint64_t line, deja_slice text);
/* The line of record i in its file, counted from 1; with -z, the record.  A CSV record may have
 * several lines; this is its first.  Costs little if records are asked for in order. */
uint64_t block_line(struct block *b, size_t i);
/* The bytes of that record, without its terminator. */
deja_slice block_text(const struct block *b, size_t i);

/* Makes room for n forms; false if out of memory. */
bool block_forms(struct block *b);

/* For input.c: empties the block and gives it room for `size` bytes and `records` records.  Returns
 * 0, or the number of bytes that could not be allocated. */
size_t block_reset(struct block *b, size_t size, size_t records);
/* For input.c: a line was removed from the data at this offset.  False if out of memory. */
bool block_gap(struct block *b, size_t at);

#endif
