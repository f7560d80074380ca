/* blocks.h - a block: some records in one piece of memory, each with its key.
 *
 *   data   | record 0 | record 1 | ... | record n-1 |
 *          0       ends[0]    ends[1]          ends[n-1] = len
 *
 * A key lies in data, or in the block's room when it does not stand there as it is: an unquoted
 * CSV field, a decoded JSON string, a canonical URL.  Both last until the block is filled again.
 *
 * A line with several keys is several records with the same end: the lines of `shared` blocks are
 * the stretches of equal ends. */
#ifndef TOOLS_INPUT_BLOCKS_H
#define TOOLS_INPUT_BLOCKS_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Made once by block_init, filled again and again by input_next.  With default options it takes
 * at most about 1.5 MiB; one that had to grow for a long record shrinks when it is filled again.
 */
struct block {
    char *data; /* n whole records, each with its terminator */
    size_t len;
    deja_slice *keys; /* key i, in data or in the room */
    size_t *ends;     /* where record i ends; it begins where the end before differs, or at 0 */
    size_t n;         /* never 0 after input_next returned 1 */
    const char *path; /* where from, for messages: "standard input" for standard input */
    uint64_t line;    /* of the first record in its file, from 1; with -z: which record */
    bool terminator_added;
    bool shared;       /* some lines have several keys */
    bool gaps;         /* some lines of the file were left out */
    bool keyless;      /* some records have no key (data is NULL): they match nothing, ever */
    deja_slice *forms; /* what to print for line i instead of it, when block_forms made them */

    /* private */
    size_t filled, data_cap, records_cap;
    struct block_room *rooms; /* the newest, which is the largest, first */
    deja_slice *new_keys;     /* between block_rekey and block_rekey_end */
    size_t *new_ends;
    size_t new_n, new_cap, forms_cap;
};
void block_init(struct block *b);
void block_fini(struct block *b);

/* Bytes that last as long as the block's content: room for len of them, or NULL when there is no
 * memory.  They are taken when block_take says how many were used, at most len; without it the
 * next call gives the same room again.  What was taken never moves. */
char *block_room(struct block *b, size_t len);
void block_take(struct block *b, size_t len);

/* Other records than there are, of the same data: while n, keys and ends are walked, each
 * block_rekey_add appends one, with ends that never decrease; block_rekey_end puts them in the
 * place of the old.  False when there is no memory; the block is as it was. */
void block_rekey(struct block *b);
bool block_rekey_add(struct block *b, deja_slice key, size_t end);
void block_rekey_end(struct block *b);

/* Room for n forms; false when there is no memory. */
bool block_forms(struct block *b);

/* For input.c: empty the block, and give it `size` bytes and `records` records.  0, or how many
 * bytes there was no memory for. */
size_t block_reset(struct block *b, size_t size, size_t records);

#endif
