/* input.h - reads files, pipes and standard input as blocks of records, each with its key.
 *
 * A record is what a command prints: a line with its terminator, unchanged, or a CSV record, which
 * may have line breaks inside quotes, or a paragraph with the blank line after it (paragraphs.h).  Its key is what is compared; pick.h says which part of the
 * line that is.  The key excludes the terminator and one '\r' before a '\n', so lists from Windows
 * match others.  If the whole line is the key, an empty line has an empty key.  If the key is a
 * part of the line, a line in which that part is missing or empty is keyless: its key's data is
 * NULL (blocks.h), it is counted in `missing`, and `strict` makes it an error.
 *
 * In lists of hosts a line may have several keys.  Each is a record, and they share the line's
 * bytes (blocks.h).  Comments, blank lines and the machine's own names are not records; any other
 * line without a host is keyless.  A rule that was skipped on purpose (blocklist.h) is keyless and
 * counted in `skipped`; `strict` accepts it.
 *
 * The header of a CSV or CDX file is not a record either: input_header returns it (header.h).
 *
 * All bytes except the terminator are ordinary, including NUL and invalid UTF-8.  Only a byte order
 * mark at the start of a file is not part of the key (except with terminator 0).  A last record
 * without terminator gets one (terminator_added).
 *
 * Compressed files are recognized by content (decode.h).  A block never spans two files.  A block
 * from a pipe is returned as soon as it has a record and nothing more arrives for two milliseconds,
 * so the lines of a slow pipe do not wait for a full block.
 *
 * Errors name the file and, if known, the line.  They are returned after all complete records
 * before them, and by every further call.
 *   DEJA_EIO      a file cannot be opened or read
 *   DEJA_EFORMAT  compressed data is damaged or truncated; a CSV quote is never closed
 *   DEJA_ENOTSUP  a file is an archive, a database or another format without lines
 *   DEJA_EINVAL   contradictory options; a CSV or CDX file without that column; after the last
 *                 record: all records are keyless (the text says what they have instead); with
 *                 strict, the first line without a key
 *   DEJA_ENOMEM   out of memory, or a record is longer than record_max
 *
 * Threads: only one thread at a time may call input_next.  Other threads may use the blocks; free
 * them before input_close.  Any thread may call input_progress between open and close. */
#ifndef TOOLS_INPUT_INPUT_H
#define TOOLS_INPUT_INPUT_H
#include "tools/input/blocks.h"
#include "tools/input/pick.h"
#include <stdatomic.h>

/* What input_estimate counts. */
enum input_estimated {
    INPUT_RECORDS,
    INPUT_WORDS,      /* between blanks */
    INPUT_TEXT_BREAKS /* records, and the line breaks (\n) in their JSON strings */
};

/* Start with INPUT_OPTIONS_INIT.  All pointers must stay valid until input_close. */
struct input_options {
    const char *const *paths; /* "-", or no path at all, is standard input */
    size_t n_paths;
    char terminator;          /* '\n', or 0 for -z                                   */
    struct pick_options pick; /* which part of a line is the key                     */
    bool strict;              /* a line without a key is an error                    */
    size_t block_size;        /* bytes; 0: 1 MiB                                     */
    size_t block_records;     /* records, at most; 0: as many as fit                 */
    size_t record_max;        /* bytes; 0: 1 GiB                                     */
    size_t odd_most;          /* lines of each kind that blocks name for a report    */
    const atomic_bool *stop;  /* or NULL; true: input_next soon returns 0            */
    bool twice;               /* input_rewind will be called: pipes are copied first */
    enum input_estimated estimated;
};
#define INPUT_OPTIONS_INIT                                                                        \
    {                                                                                             \
        .terminator = '\n'                                                                        \
    }

struct input;
/* Checks all paths first, so that a wrong name is reported before hours of work on the others. */
int input_open(const struct input_options *opt, struct input **out, deja_error *err);
/* Returns 1 and a block, 0 at the end or if stopped, or a negative deja_status. */
int input_next(struct input *in, struct block *b, deja_error *err);
/* Returns false if nothing arrives within this many milliseconds, and true if input_next would
 * return bytes, the end, or an error without waiting. */
bool input_wait(const struct input *in, int timeout_ms);
/* Will it read lines that the user types?  Call it before the first input_next. */
bool input_is_terminal(const struct input *in);
/* Only with `twice`, and while no other thread uses the input: starts again with the first record.
 * Files are opened again; if one has changed, so have its records.  Blocks name no odd lines the
 * second time. */
void input_rewind(struct input *in);
/* From any thread: this and all further calls of input_next soon return 0. */
void input_quit(struct input *in);
void input_close(struct input *in); /* NULL is fine */

/* The header of the first CSV or CDX file that has one, with its terminator.  False if no file
 * has one, or before the first block.  Valid until input_close. */
bool input_header(const struct input *in, deja_slice *header);
/* Whether a later file had a different header, and so different columns. */
bool input_headers_differ(const struct input *in);

struct input_progress {
    uint64_t raw;     /* bytes read                                            */
    uint64_t total;   /* bytes to read; 0 if an input is not a regular file    */
    uint64_t decoded; /* bytes after decompression                             */
    uint64_t records; /* returned in blocks                                    */
    uint64_t missing; /* of these, keyless                                     */
    uint64_t rules;   /* of these, block list rules skipped on purpose         */
    uint64_t skipped[BLOCKLIST_REASONS]; /* rules or single names, by reason   */
};
void input_progress(const struct input *in, struct input_progress *out);
/* Describes the key, for messages. */
struct pick_text input_wanted(const struct input *in);

/* Estimates the number of records, or what opt->estimated says; 0 if an input is compressed or not a regular file.  Files below
 * 2 MiB are counted, except that a CSV header, a line break inside quotes, and each blank in a
 * list of hosts count as a record.  For larger files 32 samples of 64 KiB are scaled up, plus 5%.
 * It reads at most about 64 MiB in all, and consumes nothing. */
uint64_t input_estimate(const struct input_options *opt);

#endif
