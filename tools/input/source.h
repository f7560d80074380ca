/* source.h - the files, pipes and standard input that the user named, one after the other, as
 * decoded bytes.
 *
 * Errors name the file.  "-" is standard input, and so is no path at all. */
#ifndef TOOLS_INPUT_SOURCE_H
#define TOOLS_INPUT_SOURCE_H
#include "tools/input/decode.h"

struct source {
    const char *const *paths;
    size_t n_paths;
    const atomic_bool *stop; /* or NULL; true: every call ends soon */
    uint64_t total;          /* bytes in all of them; 0 when one is not a regular file */

    /* The present one: */
    const char *path;   /* for messages: "standard input" for standard input */
    struct decode *dec; /* NULL between files */

    /* private */
    size_t next;
    int fd;
    uint64_t raw_base; /* bytes of the files before it */
    atomic_bool quit;
};

/* Looks at all paths, so that a wrong name is found before hours of work on the others. */
int source_init(struct source *s, const char *const *paths, size_t n_paths,
                const atomic_bool *stop, deja_error *err);
void source_fini(struct source *s);

/* 1: the next file is open; 0: there is none, or stopped; negative: a status. */
int source_next(struct source *s, deja_error *err);
void source_close(struct source *s); /* the present file */
bool source_stopped(const struct source *s);
void source_quit(struct source *s); /* from any thread: stop, as `stop` does */
/* Whether the present file has bytes, or ends, within so many milliseconds. */
bool source_wait(const struct source *s, int timeout_ms);
uint64_t source_raw_bytes(const struct source *s); /* read so far, of all files */

/* The paths with "no path" turned into "-". */
const char *const *source_paths(const char *const *paths, size_t *n);
bool source_is_stdin(const char *path);

#endif
