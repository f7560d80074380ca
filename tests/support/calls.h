/* calls.h - calls that must succeed: if one fails, the test ends with the library's message. */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H
#include "deja.h"
#include "unit.h"

static inline deja_filter *new_filter(deja_options opt)
{
    deja_filter *f = NULL;
    deja_error err = {0, ""};
    if (deja_filter_new(&opt, &f, &err) < 0)
        fail_msg("refused: %s", err.text);
    return f;
}

static inline deja_filter *open_file(const char *path, unsigned flags)
{
    deja_filter *f = NULL;
    deja_error err = {0, ""};
    if (deja_filter_open(path, flags, NULL, &f, &err) < 0)
        fail_msg("%s", err.text);
    return f;
}

static inline deja_filter *create_file(const char *path, unsigned flags, const deja_options *opt)
{
    deja_filter *f = NULL;
    deja_error err = {0, ""};
    if (deja_filter_create(path, flags, opt, &f, &err) < 0)
        fail_msg("%s", err.text);
    return f;
}

static inline void sync_file(deja_filter *f)
{
    deja_error err = {0, ""};
    if (deja_filter_sync(f, &err) < 0)
        fail_msg("%s", err.text);
}

static inline deja_stats stats_of(const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    return s;
}

#endif
