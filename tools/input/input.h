/* input.h - files, pipes and standard input as blocks of records, each with its key.
 *
 * A record is what is printed again: a line with its terminator, byte for byte as it came, or in
 * CSV a record, which may have line breaks inside quotes.  Its key is what is compared, and pick.h
 * says which part of the line that is.  The line is taken without its terminator, and without one
 * '\r' before a '\n', so that lists from Windows and from elsewhere agree.  If the whole line is
 * the key, an empty line has an empty key.  If the key is a part of the line, a line without that
 * part, or with nothing in it, is keyless: its key's data is NULL (blocks.h), it is counted in
 * `missing`, and `strict` makes it an error.
 *
 * In lists of hosts a line may have several keys: each is a record of its own, and they share the
 * line's bytes (blocks.h).  Comments, blank lines and names of the machine itself are not records;
 * any other line without a host is keyless.
 *
 * The header of a CSV or CDX file is no record either: input_header has it (header.h).
 *
 * Any byte but the terminator is ordinary, NUL and invalid UTF-8 included; only a byte order mark
 * that begins a file is left out of the key (not with terminator 0).  A last record without
 * terminator gets one (terminator_added).
 *
 * Compressed files are recognised by content (decode.h).  A block never spans two files.  From a
 * pipe it is handed on as soon as it has a record and nothing more came for two milliseconds, so
 * the lines of a slow pipe do not wait for a full block.
 *
 * Errors name the file, and the line where it is known; they come after all complete records
 * before them, and from then on always.
 *   DEJA_EIO      a file cannot be opened or read
 *   DEJA_EFORMAT  compressed data is damaged or cut short; a CSV quote is never closed
 *   DEJA_ENOTSUP  a file is an archive, a database or the like, and not lines
 *   DEJA_EINVAL   options that contradict each other; a CSV or CDX file without that column; after
 *                 the last record: all of them are keyless, and the text says what they have
 *                 instead; with strict, the first line without a key
 *   DEJA_ENOMEM   out of memory, or a record is longer than record_max
 *
 * Threads: input_next is for one thread at a time; blocks are independent of each other, may be
 * used by other threads, and end before input_close.  input_progress may be called from anywhere
 * at any time between open and close. */
#ifndef TOOLS_INPUT_INPUT_H
#define TOOLS_INPUT_INPUT_H
#include "tools/input/blocks.h"
#include "tools/input/pick.h"
#include <stdatomic.h>

/* Begin with INPUT_OPTIONS_INIT.  What is pointed to outlives the input and its blocks. */
struct input_options {
    const char *const *paths; /* "-" is standard input, and so is no path at all */
    size_t n_paths;
    char terminator;          /* '\n', or 0 for -z                                   */
    struct pick_options pick; /* which part of a line is the key                     */
    bool strict;              /* a line without a key is an error                    */
    size_t block_size;        /* bytes; 0: 1 MiB                                     */
    size_t block_records;     /* records, at most; 0: as many as fit                 */
    size_t record_max;        /* bytes; 0: 1 GiB                                     */
    const atomic_bool *stop;  /* or NULL; true: input_next ends soon, as at the end  */
};
#define INPUT_OPTIONS_INIT                                                                        \
    {                                                                                             \
        .terminator = '\n'                                                                        \
    }

struct input;
/* Looks at all paths, so that a wrong name is found before hours of work on the others. */
int input_open(const struct input_options *opt, struct input **out, deja_error *err);
/* 1: a block; 0: the end, or stopped; negative: a deja_status. */
int input_next(struct input *in, struct block *b, deja_error *err);
/* False if nothing can be read for so many milliseconds; true if input_next would have something
 * to do: bytes, the end, or an error. */
bool input_wait(const struct input *in, int timeout_ms);
/* From any thread: a call that waits for bytes ends soon, as at the end, and so do all others. */
void input_quit(struct input *in);
void input_close(struct input *in); /* NULL is fine */

/* The header of the first CSV or CDX file that has one, with its terminator; false when there is
 * none, or not yet: it is there before the first block is.  Good until input_close. */
bool input_header(const struct input *in, deja_slice *header);
/* Did a later file have another header?  Then its records have other columns than the first's. */
bool input_headers_differ(const struct input *in);

struct input_progress {
    uint64_t raw;     /* bytes read                                            */
    uint64_t total;   /* bytes to read; 0 when something is not a regular file */
    uint64_t decoded; /* bytes after decompression                             */
    uint64_t records; /* delivered                                             */
    uint64_t missing; /* of these, keyless                                     */
};
void input_progress(const struct input *in, struct input_progress *out);
/* What is picked from a line, for messages. */
struct pick_text input_wanted(const struct input *in);

/* How many records there will be, without reading everything: 0 when that cannot be told, because
 * something is compressed or not a regular file.  Files below 2 MiB are counted exactly (a CSV
 * header or a line break inside quotes counts as a record, in a list of hosts every blank, since
 * a key may follow); for larger ones 32 samples of 64 KiB
 * are scaled up with 5 % to spare.  At most about 64 MiB are read for it, however many files there
 * are, and nothing is consumed. */
uint64_t input_estimate(const struct input_options *opt);

#endif
