/* lines.h - finds the ends of lines at memory speed. */
#ifndef DJ_LINES_H
#define DJ_LINES_H
#include <stddef.h>

/* Every variant gives the results that deja_lines_ends and deja_lines_count document. */
struct dj_lines_kernel {
    const char *name; /* "avx2", "neon", "portable" */
    size_t (*ends)(const char *data, size_t from, size_t len, char mark, size_t *ends, size_t cap);
    size_t (*count)(const char *data, size_t len, char mark);
};

extern const struct dj_lines_kernel dj_lines_portable, dj_lines_avx2, dj_lines_neon;
/* The fastest variant that this CPU supports. */
const struct dj_lines_kernel *dj_lines_best(void);

#endif
