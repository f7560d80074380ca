/* source.h - reads the files, pipes and standard input that the user named, in sequence,
 * decompressed.
 *
 * Errors name the file.  "-", or no path at all, is standard input. */
#ifndef TOOLS_INPUT_SOURCE_H
#define TOOLS_INPUT_SOURCE_H
#include "tools/input/decode.h"

struct source {
    const char *const *paths;
    size_t n_paths;
    const atomic_bool *stop; /* or NULL; once it is true, every call ends soon */
    uint64_t total;          /* bytes in all of them; 0 if one is not a regular file */
    bool twice;              /* set after source_init: source_rewind will be called */

    /* The current one: */
    const char *path;   /* for messages; or "standard input" */
    struct decode *dec; /* NULL between files */

    /* private */
    size_t next;
    int fd;
    struct source_kept *kept; /* with `twice`: what the second reading needs, for each path */
    uint64_t raw_base;        /* bytes read from earlier files */
    atomic_bool quit;
};

/* Checks all paths first, so that a wrong name is reported before hours of work on the others. */
int source_init(struct source *s, const char *const *paths, size_t n_paths,
                const atomic_bool *stop, deja_error *err);
void source_fini(struct source *s);

/* Returns 1 if the next file is open, 0 if there are no more files or it was stopped, or a
 * negative status. */
int source_next(struct source *s, deja_error *err);
void source_close(struct source *s); /* the current file */
/* Starts again with the first byte of the first file.  Pipes have been copied (spool.h). */
void source_rewind(struct source *s);
bool source_stopped(const struct source *s);
void source_quit(struct source *s); /* from any thread: has the same effect as `stop` */
/* Is standard input the first file, and still to be opened? */
bool source_begins_with_stdin(const struct source *s);
/* Do bytes, or the end of the current file, arrive within this many milliseconds?  Before the
 * first source_next, if source_begins_with_stdin: on standard input. */
bool source_wait(const struct source *s, int timeout_ms);
uint64_t source_raw_bytes(const struct source *s); /* read so far from all files */

/* The paths, or "-" if there are none. */
const char *const *source_paths(const char *const *paths, size_t *n);
bool source_is_stdin(const char *path);

#endif
