/* buffer.h - byte buffers and arrays that grow. */
#ifndef TOOLS_BASE_BUFFER_H
#define TOOLS_BASE_BUFFER_H
#include "tools/base/ascii.h"
#include <stdlib.h>
#include <string.h>

struct buffer { /* begin with {0} */
    char *data;
    size_t len, cap;
};

/* Makes room for len more bytes.  If out of memory, returns false and changes nothing. */
static inline bool buffer_reserve(struct buffer *b, size_t len)
{
    if (len <= b->cap - b->len)
        return true;
    size_t cap = b->cap ? b->cap : 256;
    while (cap - b->len < len) {
        if (cap > SIZE_MAX / 2)
            return false;
        cap *= 2;
    }
    char *data = realloc(b->data, cap);
    if (!data)
        return false;
    b->data = data;
    b->cap = cap;
    return true;
}

static inline bool buffer_add(struct buffer *b, const void *data, size_t len)
{
    if (!buffer_reserve(b, len))
        return false;
    if (len > 0)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    return true;
}

static inline bool buffer_text(struct buffer *b, const char *text)
{
    return buffer_add(b, text, strlen(text));
}

/* Appends with ASCII letters in lower case. */
static inline bool buffer_lower(struct buffer *b, deja_slice s)
{
    const size_t from = b->len;
    if (!buffer_add(b, s.data, s.len))
        return false;
    for (size_t i = from; i < b->len; i++)
        b->data[i] = ascii_lower(b->data[i]);
    return true;
}

static inline deja_slice buffer_slice(const struct buffer *b)
{
    return (deja_slice){b->data, b->len};
}

static inline void buffer_fini(struct buffer *b)
{
    free(b->data);
    *b = (struct buffer){0};
}

/* Makes room for `need` items (above 0) in an array that has room for *cap.  Returns the array,
 * which may have moved, or NULL if out of memory; the old array is then unchanged. */
static inline void *array_grow(void *array, size_t *cap, size_t need, size_t item)
{
    if (need <= *cap)
        return array;
    const size_t more = need > SIZE_MAX / 2 ? need : need + need / 2 + 16;
    void *larger = more <= SIZE_MAX / item ? realloc(array, more * item) : NULL;
    *cap = larger ? more : *cap;
    return larger;
}

/* Replaces an array whose content is no longer needed with one for n items.  Returns NULL if out
 * of memory; the old array is freed in either case. */
static inline void *array_renew(void *array, size_t *cap, size_t n, size_t item)
{
    free(array);
    array = n <= SIZE_MAX / item ? malloc(n * item) : NULL;
    *cap = array ? n : 0;
    return array;
}

#endif
