/* damaged.h - small valid files of several kinds to damage, and checks of the result. */
#ifndef TEST_DAMAGED_H
#define TEST_DAMAGED_H
#include "deja.h"
#include "scratch.h"
#include "unit.h"

#define HEADER_LEN  4096u
#define RECORD_A    3072u
#define RECORD_B    3584u
#define TABLE       (HEADER_LEN + (1u << 20)) /* of pieces, in a file of a megabyte */
#define RECORD_LEN  512u
#define AT_PART(i)  (512u + 64u * (i))
#define AT_CHECKSUM 2560u
#define N_KEYS      40u

/* --- Files to be damaged ------------------------------------------------- */

static struct bytes blocked, grown, exact, fixed, paired, layered, merged;

static inline deja_slice key_of(const uint32_t *i)
{
    return (deja_slice){i, sizeof *i};
}

static inline void take_keys(deja_filter *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        MUST(deja_filter_add(f, key_of(&i), NULL, NULL) == DEJA_OK);
}

/* The file's bytes; the file is removed. */
static inline struct bytes taken(const char *path)
{
    const struct bytes b = read_file(path);
    unlink(path);
    return b;
}

/* Synced twice, so that both records have been used. */
static inline struct bytes make_file(const deja_options *opt)
{
    const char *path = scratch_path("made");
    deja_filter *f = NULL;
    MUST(deja_filter_create(path, 0, opt, &f, NULL) == DEJA_OK);
    take_keys(f, 0, N_KEYS / 2);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    take_keys(f, N_KEYS / 2, N_KEYS);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    deja_filter_free(f);
    return taken(path);
}

/* Grown after its first sync and not synced since: record B was never written. */
static inline struct bytes make_grown(void)
{
    const char *path = scratch_path("made");
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    opt.kind = DEJA_SCALABLE;
    opt.capacity = N_KEYS / 2;
    opt.seed = 3;
    MUST(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    take_keys(f, 0, N_KEYS / 4);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    take_keys(f, N_KEYS / 4, N_KEYS);
    deja_filter_free(f);
    return taken(path);
}

/* A static filter is written once, so record B never is. */
static inline struct bytes make_fixed(void)
{
    const char *path = scratch_path("made");
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    opt.kind = DEJA_STATIC;
    opt.fingerprint_bits = 8;
    opt.seed = 4;
    MUST(deja_builder_new(&opt, &b, NULL) == DEJA_OK);
    for (uint32_t i = 0; i < N_KEYS; i++)
        MUST(deja_builder_add_batch(b, &(deja_slice){&i, sizeof i}, 1, NULL) == DEJA_OK);
    MUST(deja_builder_finish(b, path, 0, &f, NULL) == DEJA_OK);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    deja_filter_free(f);
    deja_builder_free(b);
    return taken(path);
}

/* A series with one part of its own and one of a filter with a different key. */
static inline struct bytes make_merged(void)
{
    const char *path = scratch_path("made");
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL, *other = NULL;
    opt.kind = DEJA_SCALABLE;
    opt.capacity = N_KEYS;
    opt.seed = 5;
    MUST(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    opt.seed = 6;
    MUST(deja_filter_new(&opt, &other, NULL) == DEJA_OK);
    take_keys(f, 0, N_KEYS / 2);
    take_keys(other, N_KEYS / 2, N_KEYS);
    MUST(deja_filter_merge(f, other, NULL) == DEJA_OK);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    deja_filter_free(f);
    deja_filter_free(other);
    return taken(path);
}

static inline int make_files(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    scratch_open(state);
    opt.memory = 1024;
    opt.capacity = 2 * N_KEYS;
    opt.seed = 1;
    opt.cache_lines = 1;
    blocked = make_file(&opt);
    opt.cache_lines = 0;
    opt.kind = DEJA_EXACT;
    exact = make_file(&opt);
    opt.kind = DEJA_LAYERED;
    opt.memory = 0;
    layered = make_file(&opt);
    grown = make_grown();
    merged = make_merged();
    fixed = make_fixed();
    opt.kind = DEJA_PAIRED;
    paired = make_file(&opt);
    return 0;
}

static inline int drop_files(void **state)
{
    free(blocked.data);
    free(exact.data);
    free(grown.data);
    free(merged.data);
    free(fixed.data);
    free(paired.data);
    free(layered.data);
    return scratch_close(state);
}

/* --- Checking the result ------------------------------------------------- */

/* Opens read-only; checks that a rejection has a message and that a file that opens has all its
 * keys. */
static inline int open_status(const char *path, unsigned flags, deja_error *err)
{
    deja_filter *f = NULL;
    *err = (deja_error){0};
    const int rc = deja_filter_open(path, flags, NULL, &f, err);
    if (rc < 0) {
        assert_null(f);
        assert_int_equal(err->status, rc);
        assert_true(strlen(err->text) > strlen(path));
        return rc;
    }
    for (uint32_t i = 0; i < N_KEYS; i++)
        assert_true(deja_filter_contains(f, key_of(&i)));
    deja_filter_free(f);
    return rc;
}

static inline void opens(const char *path)
{
    deja_error err;
    if (open_status(path, 0, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void refused(const char *path, unsigned flags, int status, const char *word)
{
    deja_error err;
    const int rc = open_status(path, flags, &err);
    if (rc != status || !strstr(err.text, word))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, word);
    if (!(flags & DEJA_OPEN_REPAIR))
        assert_true(deja_file_verify(path, &err) < 0);
}

static inline void put_byte(int fd, size_t at, uint8_t byte)
{
    MUST(pwrite(fd, &byte, 1, (off_t)at) == 1);
}

static inline const char *place(const char *name, const struct bytes *b)
{
    const char *path = scratch_path(name);
    write_file(path, b->data, b->len);
    return path;
}

static inline struct bytes copy_of(const struct bytes *b)
{
    struct bytes c = {malloc(b->len), b->len};
    MUST(c.data);
    memcpy(c.data, b->data, b->len);
    return c;
}

#endif
