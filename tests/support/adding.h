/* adding.h - short calls for tests of foreign filters: one key, files in memory. */
#ifndef ADDING_H
#define ADDING_H
#include "tools/foreign/foreign.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define ADDING_MOST ((size_t)1 << 20) /* bytes of a file */

static inline bool adding_has(const struct foreign *f, const char *text)
{
    const deja_slice key = {text, strlen(text)};
    uint64_t hash[FOREIGN_WORDS];
    uint8_t found;
    f->format->hash(f, &key, 1, hash);
    foreign_contains(f, hash, 1, &found);
    return found;
}

static inline bool adding_add(struct foreign *f, const char *text)
{
    const deja_slice key = {text, strlen(text)};
    uint64_t hash[FOREIGN_WORDS];
    uint8_t is_new;
    size_t done;
    f->format->hash(f, &key, 1, hash);
    assert_int_equal(foreign_add(f, hash, 1, &is_new, &done, NULL), DEJA_OK);
    return is_new;
}

static inline const struct foreign_format *adding_detect(const uint8_t *data, size_t len)
{
    return foreign_detect(&(struct foreign_head){data, len, len});
}

static inline int adding_read(struct foreign *f, const struct foreign_format *format,
                              const uint8_t *data, size_t len, deja_error *err)
{
    const deja_slice bytes = {data, len};
    struct foreign_in in = foreign_in_memory(&bytes);
    *f = (struct foreign){.format = format};
    const int rc = format->read(f, &in, err);
    if (rc < 0)
        foreign_free(f);
    return rc;
}

static inline bool adding_put(struct foreign_out *out, const void *data, uint64_t len)
{
    deja_slice *to = out->target;
    if (len > ADDING_MOST - to->len)
        return false;
    memcpy((char *)(uintptr_t)to->data + to->len, data, (size_t)len);
    to->len += (size_t)len;
    return true;
}

/* The bytes of its file, to free. */
static inline deja_slice adding_bytes(const struct foreign *f)
{
    deja_slice bytes = {malloc(ADDING_MOST), 0};
    struct foreign_out out = {adding_put, &bytes};
    assert_non_null(bytes.data);
    assert_true(f->format->write(f, &out));
    return bytes;
}

static inline void adding_writes(const struct foreign *f, const uint8_t *expected, size_t len)
{
    const deja_slice bytes = adding_bytes(f);
    assert_int_equal(bytes.len, len);
    assert_memory_equal(bytes.data, expected, len);
    free((void *)(uintptr_t)bytes.data);
}

#endif
