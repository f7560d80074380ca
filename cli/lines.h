/* lines.h - where the records of a buffer end: one byte, found at memory speed. */
#ifndef CLI_LINES_H
#define CLI_LINES_H
#include <stddef.h>

/* Every variant gives the same answers; they differ in speed only. */
struct split_ops {
    const char *name; /* "avx2", "portable" */
    /* For each byte `mark` in data[from .. len), in order, the offset just past it into ends[];
     * at most cap of them.  Returns how many: less than cap means that all were found, cap that
     * nothing beyond ends[cap - 1] was looked at.  Writes no further than ends[cap - 1]. */
    size_t (*ends)(const char *data, size_t from, size_t len, char mark, size_t *ends, size_t cap);
    /* How many bytes of data[0 .. len) are `mark`. */
    size_t (*count)(const char *data, size_t len, char mark);
};

extern const struct split_ops split_portable;
/* The fastest variant that this CPU runs. */
const struct split_ops *split_best(void);

#endif
