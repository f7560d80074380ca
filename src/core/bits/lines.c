/* lines.c - finds the ends of lines at memory speed.
 *
 * For callers that have text in memory: a file, a mapping or a message.  Splitting is a separate
 * step, so add, contains, remove, count and the builder do not each need a variant for text.  The
 * slices for a few thousand lines stay in the caches between the two steps.
 *
 * The portable variant is memchr, which every libc optimizes.  It costs one call per line and,
 * usually, a branch misprediction. lines_avx2.c and lines_neon.c avoid both. */
#include "core/bits/lines.h"
#include "deja.h"
#include <string.h>

static size_t ends_portable(const char *data, size_t from, size_t len, char mark, size_t *ends,
                            size_t cap)
{
    size_t n = 0;
    while (n < cap && from < len) {
        const char *hit = memchr(data + from, mark, len - from);
        if (!hit)
            break;
        from = (size_t)(hit - data) + 1;
        ends[n++] = from;
    }
    return n;
}

static size_t count_portable(const char *data, size_t len, char mark)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += data[i] == mark;
    return n;
}

const struct dj_lines_kernel dj_lines_portable = {"portable", ends_portable, count_portable};

const struct dj_lines_kernel *dj_lines_best(void)
{
#ifdef DJ_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("popcnt"))
        return &dj_lines_avx2;
#endif
#ifdef DJ_HAVE_NEON
    return &dj_lines_neon;
#else
    return &dj_lines_portable;
#endif
}

size_t deja_lines_ends(deja_slice text, size_t from, char mark, size_t *ends, size_t cap)
{
    return dj_lines_best()->ends(text.data, from, text.len, mark, ends, cap);
}

size_t deja_lines_count(deja_slice text, char mark)
{
    return dj_lines_best()->count(text.data, text.len, mark);
}

#define LOT 256 /* ends found per call */

size_t deja_lines_split(deja_slice *text, char mark, deja_slice *line, size_t cap)
{
    const char *const data = text->data;
    size_t ends[LOT];
    size_t n = 0, at = 0, found = LOT;
    while (n < cap && found == LOT) {
        const size_t want = cap - n < LOT ? cap - n : LOT;
        found = deja_lines_ends(*text, at, mark, ends, want);
        for (size_t i = 0; i < found; i++) {
            line[n++] = (deja_slice){data + at, ends[i] - 1 - at};
            at = ends[i];
        }
    }
    if (n < cap && at < text->len) { /* the last line, if it has no mark */
        line[n++] = (deja_slice){data + at, text->len - at};
        at = text->len;
    }
    if (at)
        *text = (deja_slice){data + at, text->len - at};
    return n;
}
