/* text.h - append bytes to the caller's buffer.
 *
 * A text never writes past its capacity.  It drops bytes that do not fit and leaves
 * `short_of_room` set, so a writer needs to check only once, at its end. */
#ifndef DJ_TEXT_H
#define DJ_TEXT_H
#include "deja.h"
#include <string.h>

struct dj_text {
    char *at; /* start of the buffer */
    size_t len, cap;
    bool short_of_room;
};

static inline struct dj_text dj_text_in(char *room, size_t cap)
{
    return (struct dj_text){room, 0, cap, false};
}

static inline void dj_text_byte(struct dj_text *t, char c)
{
    if (t->len < t->cap)
        t->at[t->len++] = c;
    else
        t->short_of_room = true;
}

static inline void dj_text_bytes(struct dj_text *t, const void *bytes, size_t n)
{
    if (n > t->cap - t->len) {
        t->short_of_room = true;
        return;
    }
    if (n)
        memcpy(t->at + t->len, bytes, n);
    t->len += n;
}

/* A byte percent-encoded: %2F. */
static inline void dj_text_triplet(struct dj_text *t, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    const char triplet[3] = {'%', digits[byte >> 4], digits[byte & 15]};
    dj_text_bytes(t, triplet, 3);
}

static inline deja_slice dj_text_slice(const struct dj_text *t)
{
    return (deja_slice){t->at, t->len};
}

#endif
