/* test_moved.c - the file of a writer is moved, replaced or deleted while it is open.
 *
 * Whatever the writer does next, it stops with a message.  The file that now has the name and the
 * file that the writer has open both stay unchanged. */
#include "core/base/os.h"
#include "storing.h"
#include <errno.h>

#define FIRST 50u
#define OTHER 1000000u /* keys of the file that replaces it */

/* A filter with FIRST keys, open for writing. */
static deja_filter *open_writer(const char *path, const deja_options *opt)
{
    deja_filter *f = create_file(path, 0, opt);
    add_keys(f, 0, FIRST);
    sync_file(f);
    return f;
}

static struct bytes move_into(const char *path)
{
    const deja_options opt = small();
    const char *other = make_file("other", &opt, 0);
    deja_filter *f = open_file(other, DEJA_OPEN_WRITE);
    add_keys(f, OTHER, OTHER + 100);
    sync_file(f);
    deja_filter_free(f);
    MUST(rename(other, path) == 0);
    return read_file(path);
}

static int unfinished; /* new files, which have a temporary name on some systems */

static void is_unchanged(const char *path, const struct bytes *before)
{
    struct bytes now = read_file(path);
    assert_int_equal(now.len, before->len);
    assert_memory_equal(now.data, before->data, now.len);
    free(now.data);
    /* and no other file is left */
    assert_int_equal(scratch_count(scratch_folder), 1 + (DJ_OS_LINUX ? 0 : unfinished));
}

static void told_as_moved(int rc, const deja_error *err, const char *word)
{
    assert_int_equal(rc, DEJA_EIO);
    if (!strstr(err->text, word) || !strstr(err->text, "seen"))
        fail_msg("\"%s\" has no \"%s\"", err->text, word);
}

/* The writer's possible next steps; each fails if its file was moved. */
static int add_next(deja_filter *f, deja_error *err)
{
    const int rc = take(f, FIRST, FIRST + 1);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(deja_filter_check_file(f, err), DEJA_EIO);
    return rc;
}

static int add_and_grow(deja_filter *f, deja_error *err)
{
    const int rc = take(f, FIRST, 100 * FIRST);
    assert_int_equal(deja_filter_check_file(f, err), DEJA_EIO);
    return rc;
}

static int fold(deja_filter *f, deja_error *err)
{
    return deja_filter_fold(f, 1, err);
}

static int rotate(deja_filter *f, deja_error *err)
{
    return deja_filter_rotate(f, NULL, err);
}

static int remove_next(deja_filter *f, deja_error *err)
{
    const uint64_t key = 1;
    const int rc = deja_filter_remove(f, key_of(&key), NULL, NULL);
    assert_int_equal(deja_filter_check_file(f, err), DEJA_EIO);
    return rc;
}

typedef int operation(deja_filter *f, deja_error *err);

static const struct {
    uint32_t kind;
    operation *run;
    uint64_t before; /* keys that are added, but not synced, before the file is moved */
} cases[] = {
    {DEJA_BLOCKED, add_next, 0},
    {DEJA_SCALABLE, add_next, 0},
    {DEJA_SCALABLE, add_and_grow, 1}, /* already written to, so the next check is when it grows */
    {DEJA_LAYERED, add_and_grow, 1},
    {DEJA_WINDOW, add_and_grow, 1}, /* it turns */
    {DEJA_BLOCKED, deja_filter_sync, 0},
    {DEJA_BLOCKED, deja_filter_sync, 1},
    {DEJA_EXACT, deja_filter_sync, 1},
    {DEJA_BLOCKED, fold, 0},
    {DEJA_BLOCKED, fold, 1},
    {DEJA_BLOCKED, rotate, 0},
    {DEJA_SCALABLE, rotate, 1},
    {DEJA_SPECTRAL, remove_next, 0},
    {DEJA_PAIRED, remove_next, 0},
};
#define N_CASES (sizeof cases / sizeof *cases)

static deja_filter *begin_case(size_t i, const char *path)
{
    deja_options opt = small();
    opt.kind = cases[i].kind;
    opt.capacity = 100;
    if (cases[i].run == fold)
        opt.memory = 4096;
    deja_filter *f = open_writer(path, &opt);
    add_keys(f, FIRST, FIRST + cases[i].before);
    return f;
}

static void a_file_moved_into_its_place_is_left_alone(void **state)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const char *path = scratch_path("seen");
        deja_error err = {0};
        deja_filter *f = begin_case(i, path);
        struct bytes there = move_into(path);
        told_as_moved(cases[i].run(f, &err), &err, "replaced by another file");
        is_unchanged(path, &there);
        told_as_moved(deja_filter_sync(f, &err), &err, "replaced by another file");
        assert_int_equal(missing(f, 0, FIRST), 0); /* the old one still answers */
        deja_filter_free(f);
        is_unchanged(path, &there);
        unlink(path);
        free(there.data);
    }
}

static void a_deleted_file_is_not_recreated(void **state)
{
    for (size_t i = 0; i < N_CASES; i++) {
        const char *path = scratch_path("seen");
        deja_error err = {0};
        deja_filter *f = begin_case(i, path);
        MUST(unlink(path) == 0);
        told_as_moved(cases[i].run(f, &err), &err, "deleted or moved");
        assert_int_equal(scratch_count(scratch_folder), 0);
        deja_filter_free(f);
    }
}

/* A file that was moved away and back is the same file. */
static void a_file_that_is_moved_back_can_be_written(void **state)
{
    const deja_options opt = growing();
    const char *path = scratch_path("seen"), *aside = scratch_path("aside");
    deja_error err = {0};
    deja_filter *f = open_writer(path, &opt);
    MUST(rename(path, aside) == 0);
    told_as_moved(deja_filter_sync(f, &err), &err, "deleted or moved");
    MUST(rename(aside, path) == 0);
    add_keys(f, FIRST, 2000);
    sync_file(f);
    deja_filter_free(f);
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 2000), 0);
    deja_filter_free(f);
    unlink(path);
}

/* A new file replaces only the file that existed when it was started, if any. */
static void a_new_file_replaces_only_the_file_it_was_created_over(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("seen");
    deja_error err = {0};
    for (int begun_over = 0; begun_over < 2; begun_over++) {
        if (begun_over)
            make_file("seen", &opt, 5);
        deja_filter *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
        add_keys(f, 0, FIRST);
        struct bytes there = move_into(path);
        const int rc = deja_filter_sync(f, &err);
        assert_true(rc < 0 && strstr(err.text, "is unchanged"));
        unfinished = 1;
        is_unchanged(path, &there);
        deja_filter_free(f);
        unfinished = 0;
        is_unchanged(path, &there);
        free(there.data);
        f = create_file(path, DEJA_CREATE_REPLACE, &opt); /* started over it, it does */
        add_keys(f, 0, FIRST);
        sync_file(f);
        assert_int_equal(missing(f, 0, FIRST), 0);
        deja_filter_free(f);
        unlink(path);
    }
}

/* The same for a file that is folded or rotated before it has a name. */
static void a_new_file_that_was_renewed_remembers_what_it_replaces(void **state)
{
    deja_options opt = small();
    const char *path = scratch_path("seen");
    deja_error err = {0};
    opt.memory = 4096;
    make_file("seen", &opt, 5);
    deja_filter *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    struct bytes there = move_into(path);
    assert_int_equal(deja_filter_fold(f, 1, NULL), DEJA_OK);
    told_as_moved(deja_filter_sync(f, &err), &err, "replaced by another file");
    deja_filter_free(f);
    is_unchanged(path, &there);
    free(there.data);
    unlink(path);
}

/* Full paths are stored: changing the working directory does not change the place. */
static void another_working_directory_does_not_matter(void **state)
{
    const deja_options opt = growing();
    char before[512];
    MUST(getcwd(before, sizeof before) && chdir(scratch_folder) == 0);
    deja_filter *f = create_file("seen", 0, &opt);
    MUST(chdir("/") == 0);
    add_keys(f, 0, 10);
    sync_file(f);
    add_keys(f, 10, 2000);
    sync_file(f);
    deja_filter_free(f);
    MUST(chdir(before) == 0);
    const char *path = scratch_path("seen");
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 2000), 0);
    deja_filter_free(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_moved_into_its_place_is_left_alone),
        TEST(a_deleted_file_is_not_recreated),
        TEST(a_file_that_is_moved_back_can_be_written),
        TEST(a_new_file_replaces_only_the_file_it_was_created_over),
        TEST(a_new_file_that_was_renewed_remembers_what_it_replaces),
        TEST(another_working_directory_does_not_matter),
    };
    return cmocka_run_group_tests_name("fault.moved", tests, scratch_open, scratch_close);
}
