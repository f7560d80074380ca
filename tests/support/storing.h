/* storing.h - small files with numbered keys, and checks that impossible ones are rejected. */
#ifndef TEST_STORING_H
#define TEST_STORING_H
#include "calls.h"
#include "child.h"
#include "numbered.h"
#include "scratch.h"

/* The folder is empty again after every case. */
#define TEST(name) cmocka_unit_test_teardown(name, scratch_clear)

static inline deja_options small(void)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.capacity = 1000;
    opt.seed = 1;
    return opt;
}

/* Grows at 100, 500, 2100 keys. */
static inline deja_options growing(void)
{
    deja_options opt = small();
    opt.kind = DEJA_SCALABLE;
    opt.capacity = 100;
    return opt;
}

/* n keys, synced. */
static inline const char *make_file(const char *name, const deja_options *opt, uint64_t n)
{
    const char *path = scratch_path(name);
    deja_filter *f = create_file(path, 0, opt);
    add_keys(f, 0, n);
    sync_file(f);
    deja_filter_free(f);
    return path;
}

static inline void refused(int rc, int status, const deja_error *err, const char *word)
{
    if (rc != status || !strstr(err->text, word))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err->text, status, word);
}

static inline void open_is_refused(const char *path, unsigned flags, int status, const char *word)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    refused(deja_filter_open(path, flags, NULL, &f, &err), status, &err, word);
    assert_null(f);
}

static inline void create_is_refused(const char *path, unsigned flags, int status,
                                     const char *word)
{
    const deja_options opt = small();
    deja_filter *f = NULL;
    deja_error err = {0};
    refused(deja_filter_create(path, flags, &opt, &f, &err), status, &err, word);
    assert_null(f);
}

#endif
