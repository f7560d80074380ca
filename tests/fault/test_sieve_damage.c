/* test_sieve_damage.c - damaged, missing, crafted and foreign files in the directory of a sieve: the
 * message names the file, and nothing is lost.
 *
 * `verify` must find every flipped bit.  A writer must not mistake a sieve without its manifest for
 * an empty directory, delete a file that is not the sieve's, or miss that it is no longer alone. */
#define SIEVING_NO_SYNC
#include "child.h"
#include "core/base/bytes.h"
#include "core/hash/hash.h"
#include "sieving.h"
#include <dirent.h>

enum {
    LINES = 1500,
#ifdef __SANITIZE_ADDRESS__
    STEP = 53 /* between the bytes that are flipped */
#else
    STEP = 3
#endif
};

/* --- Files of a sieve ---------------------------------------------------------------- */

static const char *in_folder(const struct sieving *w, const char *name)
{
    static char path[4][800];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", w->path, name);
    return p;
}

/* The names in the directory that begin with this, in order; returns how many. */
static size_t names_of(const struct sieving *w, const char *with, char name[][64], size_t most)
{
    struct dirent **found = NULL;
    size_t kept = 0;
    const int n = scandir(w->path, &found, NULL, alphasort);
    MUST(n >= 0);
    for (int i = 0; i < n; i++) {
        if (found[i]->d_name[0] != '.' && strncmp(found[i]->d_name, with, strlen(with)) == 0) {
            MUST(kept < most);
            snprintf(name[kept++], 64, "%.63s", found[i]->d_name);
        }
        free(found[i]);
    }
    free(found);
    return kept;
}

/* The first file whose name begins with this. */
static const char *file_of(const struct sieving *w, const char *with)
{
    char name[32][64];
    MUST(names_of(w, with, name, 32) > 0);
    return in_folder(w, name[0]);
}

static void make(struct sieving *w)
{
    sieving_make(w, scratch_path("sieve"), LINES);
    assert_string_equal(w->wrong, "");
}

/* Settles and checks everything: the files are as they were. */
static void finish(struct sieving *w)
{
    deja_error err = {0};
    sieving_open(w);
    if (!w->wrong[0] && sieving_settle(w, &err) < 0)
        WRONG(w, "settle: %s", err.text);
    if (!w->wrong[0])
        sieving_check(w);
    assert_string_equal(w->wrong, "");
    sieving_end(w);
}

/* A writer and `verify` refuse the sieve, and name the file. */
static void must_refuse(struct sieving *w, const char *path, int status)
{
    deja_sieve *s = NULL;
    deja_error err = {0};
    int rc = dj_sieve_open(w->path, DEJA_OPEN_CREATE, &w->opt, &w->share, &s, &err);
    if (rc == DEJA_OK)
        rc = deja_sieve_settle(s, &err);
    assert_int_equal(rc, status);
    assert_non_null(strstr(err.text, path));
    deja_sieve_free(s);
    rc = deja_sieve_verify(w->path, &err);
    assert_true(rc == status || (rc == DEJA_EFORMAT && strstr(path, "manifest")));
    assert_non_null(strstr(err.text, strstr(path, "manifest") ? w->path : path));
}

/* --- Flipped bits -------------------------------------------------------------------------- */

static void flip_every_byte(struct sieving *w, const char *name)
{
    const struct bytes all = read_file(in_folder(w, name));
    const int fd = open(in_folder(w, name), O_RDWR | O_CLOEXEC);
    MUST(fd >= 0);
    for (size_t at = 0; at < all.len; at += STEP) {
        const uint8_t flipped = all.data[at] ^ (uint8_t)(1 << at % 8);
        deja_error err = {0};
        MUST(pwrite(fd, &flipped, 1, (off_t)at) == 1);
        if (deja_sieve_verify(w->path, &err) == DEJA_OK || !strstr(err.text, name))
            fail_msg("byte %zu of %s: %s", at, name, err.text);
        MUST(pwrite(fd, &all.data[at], 1, (off_t)at) == 1);
    }
    close(fd);
    free(all.data);
}

static void verify_finds_every_flipped_bit(void **state)
{
    struct sieving w;
    char name[32][64];
    make(&w);
    const size_t n = names_of(&w, "", name, 32);
    assert_true(n > 5);
    for (size_t i = 0; i < n; i++)
        if (strcmp(name[i], "lock") != 0)
            flip_every_byte(&w, name[i]);
    finish(&w);
}

static void a_file_that_was_cut_short_is_found(void **state)
{
    struct sieving w;
    char name[32][64];
    make(&w);
    const size_t n = names_of(&w, "", name, 32);
    for (size_t i = 0; i < n; i++) {
        const struct bytes all = read_file(in_folder(&w, name[i]));
        for (size_t len = 0; len < all.len; len += 1 + all.len / 9) {
            deja_error err = {0};
            write_file(in_folder(&w, name[i]), all.data, len);
            if (deja_sieve_verify(w.path, &err) == DEJA_OK || !strstr(err.text, name[i]))
                fail_msg("%s, cut to %zu bytes: %s", name[i], len, err.text);
        }
        write_file(in_folder(&w, name[i]), all.data, all.len);
        free(all.data);
    }
    finish(&w);
}

/* A crash during a write leaves such an end, which no sync has promised. */
static void an_incomplete_last_batch_is_cut_off(void **state)
{
    static const char *const types[] = {"log-", "spool-"};
    struct sieving w;
    make(&w);
    for (size_t i = 0; i < 2; i++) {
        const char *path = file_of(&w, types[i]);
        struct bytes all = read_file(path);
        const size_t len = all.len;
        all.data = realloc(all.data, len + 50);
        MUST(all.data);
        memcpy(all.data + len, all.data + DJ_JOURNAL_HEAD, 50);
        write_file(path, all.data, len + 50);
        free(all.data);
        assert_int_equal(deja_sieve_verify(w.path, NULL), DEJA_OK);
    }
    finish(&w);
}

/* --- Missing files, and other things in their place --------------------------------------- */

static void become_folder(const char *path)
{
    MUST(mkdir(path, 0700) == 0);
}

static void become_pipe(const char *path)
{
    MUST(mkfifo(path, 0600) == 0);
}

static void become_broken_link(const char *path)
{
    MUST(symlink("nowhere", path) == 0);
}

static void stay_away(const char *path)
{
    (void)path;
}

static void missing_and_strange_files_are_named(void **state)
{
    static const char *const types[] = {"run-", "log-", "spool-", "manifest"};
    static const struct {
        void (*become)(const char *path);
        int status, of_manifest;
    } others[] = {{stay_away, DEJA_EFORMAT, DEJA_EFORMAT},
                  {become_broken_link, DEJA_EFORMAT, DEJA_EFORMAT},
                  {become_folder, DEJA_EIO, DEJA_EIO},
                  {become_pipe, DEJA_EIO, DEJA_EIO}};
    struct sieving w;
    make(&w);
    const char *aside = scratch_path("aside");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
            const char *path = file_of(&w, types[i]);
            MUST(rename(path, aside) == 0);
            others[k].become(path);
            must_refuse(&w, path, i == 3 ? others[k].of_manifest : others[k].status);
            if (remove(path) < 0)
                assert_true(k == 0);
            MUST(rename(aside, path) == 0);
        }
    finish(&w);
}

/* The filter can be rebuilt, whatever has become of its copy. */
static void a_damaged_filter_is_rebuilt(void **state)
{
    static void (*const become[])(const char *path) = {stay_away, become_broken_link, become_pipe};
    deja_error err = {0};
    for (size_t i = 0; i < 3; i++) {
        struct sieving w;
        make(&w);
        const char *path = in_folder(&w, DJ_FILTER_FILE);
        MUST(unlink(path) == 0);
        become[i](path);
        assert_true(i == 2 || deja_sieve_verify(w.path, &err) == DEJA_OK);
        finish(&w);
        scratch_clear(NULL);
    }
}

/* Judges, settles, flushes and saves. */
static void feed_and_save(struct sieving *w, uint64_t from, uint64_t to)
{
    deja_error err = {0};
    sieving_open(w);
    sieving_feed(w, from, to);
    if (!w->wrong[0] && (sieving_settle(w, &err) < 0 || dj_sieve_flush(w->s, &err) < 0 ||
                         deja_sieve_save(w->s, &err) < 0))
        WRONG(w, "save: %s", err.text);
    assert_string_equal(w->wrong, "");
    sieving_forget(w);
}

/* From a backup, for example.  It lacks keys, which would come out a second time. */
static void an_older_copy_of_the_filter_is_not_used(void **state)
{
    struct sieving w;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    w.share.filter = 1 << 16;
    feed_and_save(&w, 0, LINES / 2);
    const struct bytes old = read_file(in_folder(&w, DJ_FILTER_FILE));
    feed_and_save(&w, LINES / 2, LINES);
    write_file(in_folder(&w, DJ_FILTER_FILE), old.data, old.len);
    free(old.data);
    feed_and_save(&w, 0, LINES);
    finish(&w);
}

/* A writer that reads no run does not notice that one is damaged. */
static void a_copy_of_the_filter_is_used_instead_of_the_runs(void **state)
{
    struct sieving w;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    w.share.filter = 1 << 16; /* larger than the head of its file */
    feed_and_save(&w, 0, LINES);
    const char *path = file_of(&w, "run-");
    const struct bytes all = read_file(path);
    all.data[200] ^= 1;
    write_file(path, all.data, all.len);
    sieving_open(&w);
    assert_string_equal(w.wrong, "");
    sieving_forget(&w);
    MUST(unlink(in_folder(&w, DJ_FILTER_FILE)) == 0);
    must_refuse(&w, path, DEJA_EFORMAT);
    all.data[200] ^= 1;
    write_file(path, all.data, all.len);
    free(all.data);
    finish(&w);
}

static void a_newer_version_is_refused(void **state)
{
    static const char *const types[] = {"manifest", "run-", "log-", "spool-"};
    struct sieving w;
    deja_sieve *s = NULL;
    make(&w);
    for (size_t i = 0; i < 4; i++) {
        const char *path = file_of(&w, types[i]);
        const struct bytes all = read_file(path);
        deja_error err = {0};
        dj_store32(all.data + 8, 2);
        if (i == 0)
            dj_store64(all.data + all.len - 8, dj_checksum(all.data, all.len - 8));
        write_file(path, all.data, all.len);
        assert_int_equal(deja_sieve_open(w.path, 0, NULL, &s, &err), DEJA_EVERSION);
        assert_int_equal(deja_sieve_verify(w.path, &err), DEJA_EVERSION);
        assert_int_equal(deja_sieve_open(w.path, DEJA_OPEN_CREATE, NULL, &s, &err), DEJA_EVERSION);
        assert_non_null(strstr(err.text, path));
        assert_non_null(strstr(err.text, "version 2; this deja reads version 1"));
        dj_store32(all.data + 8, 1);
        if (i == 0)
            dj_store64(all.data + all.len - 8, dj_checksum(all.data, all.len - 8));
        write_file(path, all.data, all.len);
        free(all.data);
    }
    finish(&w);
}

/* --- Crafted manifests ------------------------------------------------------------------- */

/* Writes a number into the manifest and makes its checksum valid. */
static void craft(struct sieving *w, size_t at, uint64_t value)
{
    const struct bytes all = read_file(in_folder(w, DJ_MANIFEST));
    MUST(at + 16 <= all.len);
    dj_store64(all.data + at, value);
    dj_store64(all.data + all.len - 8, dj_checksum(all.data, all.len - 8));
    write_file(in_folder(w, DJ_MANIFEST), all.data, all.len);
    free(all.data);
}

static void impossible_numbers_in_the_manifest_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
    } crafted[] = {{88, UINT64_MAX},
                   {88, 1},
                   {96, UINT64_MAX},
                   {104, UINT64_MAX},
                   {176, UINT64_MAX},
                   {176, 1025},
                   {176, 0},
                   {256, UINT64_MAX},
                   {256 + 8, 0},
                   {256 + 8, UINT64_MAX},
                   {256 + 16, 0},
                   {256 + 16, UINT64_MAX},
                   {256 + 24, UINT64_MAX},
                   {256 + 32, 64}};
    struct sieving w;
    make(&w);
    const struct bytes all = read_file(in_folder(&w, DJ_MANIFEST));
    for (size_t i = 0; i < sizeof crafted / sizeof crafted[0]; i++) {
        deja_sieve *s = NULL;
        deja_error err = {0};
        craft(&w, crafted[i].at, crafted[i].value);
        if (deja_sieve_verify(w.path, &err) != DEJA_EFORMAT || !strstr(err.text, w.path))
            fail_msg("%zu: %s", crafted[i].at, err.text);
        assert_int_equal(dj_sieve_open(w.path, DEJA_OPEN_WRITE, &w.opt, &w.share, &s, &err),
                         DEJA_EFORMAT);
        write_file(in_folder(&w, DJ_MANIFEST), all.data, all.len);
    }
    free(all.data);
    finish(&w);
}

/* Eight runs of the highest level: a merge must not write a manifest that cannot be read. */
static void runs_of_the_highest_level_stay_readable(void **state)
{
    struct sieving w;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    sieving_open(&w);
    for (uint64_t i = 0; !w.wrong[0] && r.runs < DJ_SIEVE_FAN; i++) {
        sieving_feed(&w, 50 * i, 50 * i + 50);
        assert_int_equal(dj_sieve_flush(w.s, NULL), DEJA_OK);
        assert_int_equal(deja_sieve_stats(w.s, &r, NULL), DEJA_OK);
    }
    sieving_forget(&w);
    const struct bytes all = read_file(in_folder(&w, DJ_MANIFEST));
    for (size_t i = 0; i < dj_load64(all.data + 176); i++)
        craft(&w, 256 + 40 * i + 32, 63);
    free(all.data);
    sieving_open(&w);
    assert_string_equal(w.wrong, "");
    sieving_feed(&w, 0, LINES);
    assert_string_equal(w.wrong, "");
    sieving_forget(&w);
    finish(&w);
}

/* --- The directory --------------------------------------------------------------------------- */

static bool exists(const struct sieving *w, const char *name)
{
    struct stat st;
    return lstat(in_folder(w, name), &st) == 0;
}

static void only_files_of_a_sieve_are_deleted(void **state)
{
    static const char *const others[] = {"run-notes",  "log-2026-01-01", "spool-", "notes",
                                         ".run-1.new", ".notes.17.new",  "run-1x"};
    static const char *const left[] = {"run-900",          "log-901",       "spool-902",
                                       ".manifest.77.new", ".run-12.5.new", ".filter.deja.9.new"};
    struct sieving w;
    make(&w);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        write_file(in_folder(&w, others[i]), "mine", 4);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        write_file(in_folder(&w, left[i]), "left", 4);
    finish(&w);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!exists(&w, others[i]))
            fail_msg("%s was deleted", others[i]);
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (exists(&w, left[i]))
            fail_msg("%s was not deleted", left[i]);
}

static void a_directory_with_other_files_does_not_become_a_sieve(void **state)
{
    static const char *const others[] = {"log-20260101", "run-notes", "log-1", ".x.new"};
    deja_error err = {0};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct sieving w = {.path = scratch_path("sieve")};
        deja_sieve *s = NULL;
        char text[5000] = "my own lines";
        MUST(mkdir(w.path, 0700) == 0);
        write_file(in_folder(&w, others[i]), text, sizeof text);
        const int rc = deja_sieve_open(w.path, DEJA_OPEN_CREATE, NULL, &s, &err);
        assert_true(rc == DEJA_EINVAL || rc == DEJA_EFORMAT);
        assert_non_null(strstr(err.text, "choose another directory"));
        assert_true(exists(&w, others[i]));
        scratch_clear(NULL);
    }
}

/* Even if no run exists yet, the log has keys that must not be forgotten. */
static void a_sieve_without_its_manifest_is_not_created_again(void **state)
{
    struct sieving w;
    deja_error err = {0};
    deja_sieve *s = NULL;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    sieving_open(&w);
    sieving_feed(&w, 0, 10);
    sieving_forget(&w);
    const char *aside = scratch_path("aside");
    MUST(rename(in_folder(&w, DJ_MANIFEST), aside) == 0);
    assert_int_equal(deja_sieve_open(w.path, DEJA_OPEN_CREATE, NULL, &s, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, in_folder(&w, DJ_MANIFEST)));
    assert_non_null(strstr(err.text, "restore the sieve"));
    MUST(rename(aside, in_folder(&w, DJ_MANIFEST)) == 0);
    finish(&w);
}

static void an_interrupted_creation_is_repeated(void **state)
{
    struct sieving w;
    deja_error err = {0};
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    MUST(mkdir(w.path, 0700) == 0);
    write_file(in_folder(&w, "lock"), "", 0);
    write_file(in_folder(&w, "log-1"), "", 0);
    write_file(in_folder(&w, "spool-2"), (char[4096]){0}, 4096);
    write_file(in_folder(&w, ".manifest.123.new"), "half", 4);
    sieving_open(&w);
    sieving_feed(&w, 0, LINES);
    assert_string_equal(w.wrong, "");
    assert_int_equal(sieving_settle(&w, &err), DEJA_OK);
    sieving_check(&w);
    assert_string_equal(w.wrong, "");
    sieving_end(&w);
}

static void a_deleted_lock_file_lets_no_second_writer_in(void **state)
{
    struct sieving w;
    deja_error err = {0};
    deja_sieve *other = NULL;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    sieving_open(&w);
    sieving_feed(&w, 0, 100);
    MUST(unlink(in_folder(&w, "lock")) == 0);
    assert_int_equal(deja_sieve_open(w.path, DEJA_OPEN_WRITE, NULL, &other, &err), DEJA_EBUSY);
    assert_non_null(strstr(err.text, "in use by another process"));
    sieving_end(&w);
}

/* Its keys would be gone without a message. */
static void a_writer_notices_that_its_sieve_was_deleted_or_replaced(void **state)
{
    struct sieving w;
    for (int replaced = 0; replaced < 2; replaced++) {
        deja_error err = {0};
        sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
        sieving_open(&w);
        sieving_feed(&w, 0, 100);
        assert_int_equal(deja_sieve_sync(w.s, &err), DEJA_OK);
        const struct bytes all = read_file(in_folder(&w, DJ_MANIFEST));
        if (replaced) {
            MUST(unlink(in_folder(&w, DJ_MANIFEST)) == 0);
            write_file(in_folder(&w, DJ_MANIFEST), all.data, all.len);
        } else {
            MUST(nftw(w.path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
        }
        free(all.data);
        assert_int_equal(deja_sieve_sync(w.s, &err), DEJA_EIO);
        assert_non_null(strstr(err.text, in_folder(&w, DJ_MANIFEST)));
        assert_non_null(strstr(err.text, replaced ? "was replaced" : "was deleted"));
        sieving_end(&w);
        scratch_clear(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(verify_finds_every_flipped_bit, scratch_clear),
        cmocka_unit_test_teardown(a_file_that_was_cut_short_is_found, scratch_clear),
        cmocka_unit_test_teardown(an_incomplete_last_batch_is_cut_off, scratch_clear),
        cmocka_unit_test_teardown(missing_and_strange_files_are_named, scratch_clear),
        cmocka_unit_test_teardown(a_damaged_filter_is_rebuilt, scratch_clear),
        cmocka_unit_test_teardown(an_older_copy_of_the_filter_is_not_used, scratch_clear),
        cmocka_unit_test_teardown(a_copy_of_the_filter_is_used_instead_of_the_runs, scratch_clear),
        cmocka_unit_test_teardown(a_newer_version_is_refused, scratch_clear),
        cmocka_unit_test_teardown(impossible_numbers_in_the_manifest_are_refused, scratch_clear),
        cmocka_unit_test_teardown(runs_of_the_highest_level_stay_readable, scratch_clear),
        cmocka_unit_test_teardown(only_files_of_a_sieve_are_deleted, scratch_clear),
        cmocka_unit_test_teardown(a_directory_with_other_files_does_not_become_a_sieve,
                                  scratch_clear),
        cmocka_unit_test_teardown(a_sieve_without_its_manifest_is_not_created_again,
                                  scratch_clear),
        cmocka_unit_test_teardown(an_interrupted_creation_is_repeated, scratch_clear),
        cmocka_unit_test_teardown(a_deleted_lock_file_lets_no_second_writer_in, scratch_clear),
        cmocka_unit_test_teardown(a_writer_notices_that_its_sieve_was_deleted_or_replaced,
                                  scratch_clear),
    };
    return cmocka_run_group_tests_name("fault.sieve_damage", tests, scratch_open, scratch_close);
}
