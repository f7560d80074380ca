/* canon.h - calls one profile's writer as canon.c does, and checks its contract.
 *
 * The buffer is on the heap and has exactly the requested size, so that a sanitizer sees any
 * write beyond it. */
#ifndef DJ_TEST_CANON_H
#define DJ_TEST_CANON_H
#include "core/url/url.h"
#include <stdlib.h>

/* A slice of a literal, which may contain NULs. */
#define S(literal) ((deja_slice){literal, sizeof(literal) - 1})

struct canon {
    int rc;
    char *room;
    deja_slice form;
};

static inline struct canon canon_by(dj_url_writer *write, uint32_t profile, deja_slice url)
{
    const struct deja_url_rules rules = {.profile = profile};
    const size_t cap = DEJA_URL_ROOM(url.len);
    struct canon c = {.room = malloc(cap)};
    char *const copy = malloc(url.len + 1); /* nothing after the URL may be read */
    assert_non_null(c.room);
    assert_non_null(copy);
    if (url.len)
        memcpy(copy, url.data, url.len);
    struct dj_text out = dj_text_in(c.room, cap);
    c.rc = write(&rules, (deja_slice){copy, url.len}, &out);
    free(copy);
    c.form = dj_text_slice(&out);
    if (c.rc == DEJA_OK) {
        assert_false(out.short_of_room);
        assert_true(c.form.len <= 3 * url.len + 256);
    }
    return c;
}

static inline void canon_free(struct canon *c)
{
    free(c->room);
}

/* The row's URL becomes `want`; if `want` is empty, the result is DEJA_ENOTURL. */
static inline void assert_canon(dj_url_writer *write, uint32_t profile, deja_slice url,
                                deja_slice want)
{
    struct canon c = canon_by(write, profile, url);
    const bool is_right = want.len == 0 ? c.rc == DEJA_ENOTURL
                                        : c.rc == DEJA_OK && c.form.len == want.len &&
                                              memcmp(c.form.data, want.data, want.len) == 0;
    if (!is_right)
        fail_msg("%.*s: status %d, \"%.*s\" instead of \"%.*s\"", (int)url.len,
                 (const char *)url.data, c.rc, (int)c.form.len, (const char *)c.form.data,
                 (int)want.len, (const char *)want.data);
    canon_free(&c);
}

struct canon_row {
    deja_slice url, want; /* an empty want: not a URL */
};

static inline void assert_canon_rows(dj_url_writer *write, uint32_t profile,
                                     const struct canon_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_canon(write, profile, row[i].url, row[i].want);
}

/* With one byte less than required, the writer reports that it ran out of room. */
static inline void assert_small_room_is_said(dj_url_writer *write, uint32_t profile)
{
    char room[DEJA_URL_ROOM(13) - 1];
    const struct deja_url_rules rules = {.profile = profile};
    struct dj_text out = dj_text_in(room, sizeof room);
    assert_int_equal(write(&rules, S("http://a.com/"), &out), DEJA_OK);
    assert_true(out.short_of_room);
}

#endif
