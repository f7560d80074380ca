/* test_piecetable.c - the table of pieces describes the bodies after every sync, whatever changed
 * them, and a sync reads only what has changed. */
#include "core/base/bytes.h"
#include "rng.h"
#include "sharing.h"
#include "storing.h"
#include <pthread.h>
#include <stdatomic.h>

#define HEADER_LEN 4096u
#define PIECE      65536u
#define MB         ((uint64_t)1 << 20)
#define ROUNDS     25

static deja_options large(uint32_t kind)
{
    deja_options opt = small();
    opt.kind = kind;
    opt.capacity = kind == DEJA_EXACT ? 200000 : 1000000;
    opt.fp_rate = 0.001;
    return opt;
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    MUST(stat(path, &st) == 0);
    return (uint64_t)st.st_size;
}

static uint64_t bytes_of(const deja_filter *f)
{
    return stats_of(f).bytes;
}

/* The file is intact, and the writer's counts are those of a reader, which ignores the table. */
static void is_described(const char *path, const deja_filter *writer)
{
    deja_error err = {0};
    if (deja_file_verify(path, &err) < 0)
        fail_msg("%s", err.text);
    deja_filter *reader = open_file(path, 0);
    assert_int_equal(stats_of(writer).bits_set, stats_of(reader).bits_set);
    deja_filter_free(reader);
}

/* --- Every way to change a body -------------------------------------------------- */

static void merge_some(deja_filter *f, const deja_options *opt, uint64_t from)
{
    deja_filter *other = new_filter(*opt);
    deja_error err = {0};
    add_keys(other, from, from + 50);
    if (deja_filter_merge(f, other, &err) < 0)
        fail_msg("%s", err.text);
    deja_filter_free(other);
}

/* One random change of a body. */
static void change(deja_filter *f, const deja_options *opt, struct rng *rng, uint64_t at)
{
    switch (rng_below(rng, 4)) {
    case 0:
        add_keys(f, at, at + 1 + rng_below(rng, 20));
        break;
    case 1:
        add_keys(f, at, at + 1000);
        break;
    case 2:
        if (deja_filter_can(f, DEJA_CAN_REMOVE)) {
            add_keys(f, at, at + 3);
            assert_int_equal(deja_filter_remove(f, key_of(&at), NULL, NULL), DEJA_OK);
        }
        break;
    default:
        if (deja_filter_can(f, DEJA_CAN_MERGE) && rng_below(rng, 4) == 0)
            merge_some(f, opt, at);
    }
}

static void stays_described(const deja_options *opt)
{
    struct rng rng = rng_seeded(opt->kind);
    const char *path = scratch_path("state");
    deja_filter *f = create_file(path, 0, opt);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        change(f, opt, &rng, 10000 * round);
        change(f, opt, &rng, 10000 * round + 2000);
        if (round && rng_below(&rng, 4) == 0) { /* not synced: the next writer must notice */
            deja_filter_free(f);
            f = open_file(path, DEJA_OPEN_WRITE);
        }
        (void)stats_of(f);
        sync_file(f);
        is_described(path, f);
        if (rng_below(&rng, 3) == 0) {
            deja_filter_free(f);
            f = open_file(path, DEJA_OPEN_WRITE);
        }
    }
    assert_true(size_of(path) > HEADER_LEN + bytes_of(f));
    deja_filter_free(f);
    unlink(path);
}

static void every_kind_stays_described(void **state)
{
    static const uint32_t kinds[] = {DEJA_CLASSIC, DEJA_BLOCKED,  DEJA_LAYERED, DEJA_SPECTRAL,
                                     DEJA_PAIRED,  DEJA_SCALABLE, DEJA_WINDOW,  DEJA_EXACT};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        deja_options opt = large(kinds[i]);
        stays_described(&opt);
    }
}

static void every_variant_stays_described(void **state)
{
    (void)state;
    deja_options opt = large(DEJA_CLASSIC);
    opt.filters = 3;
    opt.hash = DEJA_HASH_MURMUR3;
    stays_described(&opt);
    opt = large(DEJA_BLOCKED);
    opt.filters = 2;
    stays_described(&opt);
    for (opt.cache_lines = 2; opt.cache_lines <= 3; opt.cache_lines++)
        stays_described(&opt); /* each line of a key is in a piece of its own */
    opt = large(DEJA_EXACT);
    opt.flags = DEJA_DATES;
    stays_described(&opt);
    opt = large(DEJA_SPECTRAL);
    opt.flags = DEJA_SPREAD;
    stays_described(&opt);
    opt = large(DEJA_SCALABLE);
    opt.part_kind = DEJA_EXACT;
    opt.capacity = 200000;
    stays_described(&opt);
    opt = large(DEJA_SCALABLE); /* too small for a table until it grows */
    opt.capacity = 3000;
    opt.growth = 200;
    stays_described(&opt);
}

static void *add_from(void *filter)
{
    static _Atomic uint64_t thread;
    const uint64_t from = UINT64_C(1000000) * ++thread;
    for (uint64_t i = from; i < from + 40; i++)
        if (deja_filter_add(filter, key_of(&i), NULL, NULL) < 0)
            abort();
    return NULL;
}

static void several_threads_mark_what_they_change(void **state)
{
    const deja_options opt = large(DEJA_BLOCKED);
    const char *path = make_file("threads", &opt, 1);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    (void)state;
    for (int round = 0; round < 20; round++) {
        pthread_t other;
        MUST(pthread_create(&other, NULL, add_from, f) == 0);
        add_from(f);
        pthread_join(other, NULL);
        sync_file(f);
        is_described(path, f);
    }
    deja_filter_free(f);
}

/* At capacity, four keys in ten find their line full and may mark it, usually in another piece than
 * the slot that they get. */
static void marks_of_an_exact_filter_are_described(void **state)
{
    deja_options opt = large(DEJA_EXACT);
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        const char *path = make_file("marks", &opt, 200000);
        deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
        for (uint64_t at = 300000; at < 300100; at += 10) {
            if (shared)
                share(f);
            add_keys(f, at, at + 10);
            sync_file(f);
            is_described(path, f);
        }
        deja_filter_free(f);
        unlink(path);
    }
}

/* --- Only what has changed --------------------------------------------------------- */

static void damage(const char *path, uint64_t at)
{
    uint8_t byte;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    MUST(fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1);
    byte ^= 1;
    MUST(pwrite(fd, &byte, 1, (off_t)at) == 1);
    close(fd);
}

/* Twenty pieces; a key has one block. */
static const char *make_damaged(uint64_t at)
{
    deja_options opt = small();
    opt.memory = 20 * (uint64_t)PIECE;
    opt.cache_lines = 1;
    const char *path = make_file("damaged", &opt, 10);
    damage(path, at);
    return path;
}

static void add_number(const char *path, uint64_t hash)
{
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    assert_int_equal(deja_filter_add_hashed(f, &hash, 1, NULL, NULL, NULL), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
}

static void is_damaged(const char *path, const char *how)
{
    deja_error err = {0};
    refused(deja_file_verify(path, &err), DEJA_EFORMAT, &err, how);
}

static void damage_elsewhere_survives_a_sync(void **state)
{
    const char *path = make_damaged(HEADER_LEN + 3 * PIECE + 77);
    (void)state;
    is_damaged(path,
               "the checksum is wrong in 1 of 20 pieces of 64 KiB, the first at byte 200704");
    add_number(path, UINT64_MAX); /* in the last piece */
    is_damaged(path, "the first at byte 200704");
    damage(path, HEADER_LEN + 7 * PIECE);
    is_damaged(path, "2 of 20 pieces");
}

static void a_damaged_table_is_computed_again(void **state)
{
    const uint64_t table = HEADER_LEN + 20 * PIECE;
    const char *path = make_damaged(table + 16 * 5);
    (void)state;
    is_damaged(path, "the table of checksums is damaged");
    add_number(path, 1);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
}

/* The counts come from the table, not from the body. */
static void a_writer_counts_only_what_has_changed(void **state)
{
    const char *path = make_damaged(HEADER_LEN + 3 * PIECE + 77);
    deja_filter *writer = open_file(path, DEJA_OPEN_WRITE), *reader = open_file(path, 0);
    (void)state;
    const uint64_t told = stats_of(writer).bits_set, counted = stats_of(reader).bits_set;
    assert_true(told + 1 == counted || told == counted + 1);
    const uint64_t hash = UINT64_MAX;
    assert_int_equal(deja_filter_add_hashed(writer, &hash, 1, NULL, NULL, NULL), DEJA_OK);
    assert_true(stats_of(writer).bits_set > told);
    deja_filter_free(writer);
    deja_filter_free(reader);
}

/* --- Which files have a table ------------------------------------------------------- */

static void small_files_and_old_formats_have_no_table(void **state)
{
    deja_options opt = small();
    (void)state;
    opt.cache_lines = 1;
    opt.memory = MB - 64;
    assert_int_equal(size_of(make_file("below", &opt, 1)), HEADER_LEN + MB - 64);
    opt.memory = MB + 64;
    assert_int_equal(size_of(make_file("above", &opt, 1)), HEADER_LEN + MB + 64 + 17 * 16);
    opt.format = 1;
    assert_int_equal(size_of(make_file("old", &opt, 1)), HEADER_LEN + MB + 64);
}

/* A sync that fails after the table was written must not leave it in the way of the next part. */
static void growth_after_a_failed_sync_starts_with_zeros(void **state)
{
    deja_options opt = large(DEJA_SCALABLE);
    (void)state;
    opt.capacity = 600000;
    const char *path = scratch_path("taken");
    deja_filter *f = create_file(path, 0, &opt), *model = new_filter(opt);
    add_keys(f, 0, 1000);
    const deja_options tiny = small();
    make_file("taken", &tiny, 1);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_EINVAL);
    unlink(path);
    add_keys(f, 1000, 700000);
    add_keys(model, 0, 700000);
    assert_true(stats_of(f).parts > 1);
    sync_file(f);
    is_described(path, f);
    assert_int_equal(stats_of(f).bits_set, stats_of(model).bits_set);
    deja_filter_free(f);
    deja_filter_free(model);
}

/* --- Import ------------------------------------------------------------------------ */

static int import_bytes(const struct bytes *b, size_t len, deja_error *err)
{
    deja_filter *f;
    const int rc = deja_filter_import(b->data, len, NULL, &f, err);
    deja_filter_free(f);
    return rc;
}

static void the_bytes_of_a_file_with_a_table_are_imported(void **state)
{
    const deja_options opt = large(DEJA_CLASSIC);
    struct bytes b = read_file(make_file("sent", &opt, 100));
    deja_error err = {0};
    deja_import *im;
    deja_filter *f;
    uint8_t back[32];
    (void)state;
    assert_int_equal(import_bytes(&b, b.len, &err), DEJA_OK);
    refused(import_bytes(&b, b.len - 1, &err), DEJA_EFORMAT, &err, "truncated");
    b.data[b.len - 1] ^= 1;
    refused(import_bytes(&b, b.len, &err), DEJA_EFORMAT, &err, "table of checksums");
    b.data[b.len - 1] ^= 1;
    b.data[HEADER_LEN + PIECE] ^= 1;
    refused(import_bytes(&b, b.len, &err), DEJA_EFORMAT, &err, "the first at byte 69632");
    b.data[HEADER_LEN + PIECE] ^= 1;
    /* In pieces, without the length; and back. */
    assert_int_equal(deja_import_new(0, NULL, &im, NULL), DEJA_OK);
    for (size_t at = 0; at < b.len; at += 1000)
        assert_int_equal(
            deja_import_write(im, b.data + at, b.len - at < 1000 ? b.len - at : 1000, NULL),
            DEJA_OK);
    assert_int_equal(deja_import_read(im, b.len - 20, back, sizeof back), 20);
    assert_memory_equal(back, b.data + b.len - 20, 20);
    refused(deja_import_write(im, "x", 1, &err), DEJA_EFORMAT, &err, "more bytes");
    deja_import_free(im);
    assert_int_equal(deja_filter_import(b.data, b.len, NULL, &f, NULL), DEJA_OK);
    assert_int_equal(missing(f, 0, 100), 0);
    assert_int_equal(deja_filter_export_len(f), HEADER_LEN + bytes_of(f));
    deja_filter_free(f);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_stays_described),
        TEST(every_variant_stays_described),
        TEST(several_threads_mark_what_they_change),
        TEST(marks_of_an_exact_filter_are_described),
        TEST(damage_elsewhere_survives_a_sync),
        TEST(a_damaged_table_is_computed_again),
        TEST(a_writer_counts_only_what_has_changed),
        TEST(small_files_and_old_formats_have_no_table),
        TEST(growth_after_a_failed_sync_starts_with_zeros),
        TEST(the_bytes_of_a_file_with_a_table_are_imported),
    };
    return cmocka_run_group_tests_name("unit.piecetable", tests, scratch_open, scratch_close);
}
