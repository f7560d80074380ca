/* test_store.c - files between processes, in places where they cannot be, and far too large.
 *
 * Whatever runs in another process says how it went by its exit status: cmocka's assertions are
 * for this one alone. */
#include "child.h"
#include "core/base/bytes.h"
#include "core/hash/hash.h"
#include "deja.h"
#include "numbered.h"
#include "rng.h"
#include "scratch.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <time.h>

#define HEADER_LEN 4096u
#define RECORD_A   3072u
#define MB         ((uint64_t)1 << 20)
#define GB         ((uint64_t)1 << 30)

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* --- Filters -------------------------------------------------------------- */

static uint64_t missing(const deja_filter *f, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += !deja_filter_contains(f, key_of(&i));
    return n;
}

static deja_filter *open_file(const char *path, unsigned flags)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_filter_open(path, flags, NULL, &f, &err) < 0)
        fail_msg("%s", err.text);
    return f;
}

static deja_filter *create_file(const char *path, unsigned flags, const deja_options *opt)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_filter_create(path, flags, opt, &f, &err) < 0)
        fail_msg("%s", err.text);
    return f;
}

static void sync_file(deja_filter *f)
{
    deja_error err = {0};
    if (deja_filter_sync(f, &err) < 0)
        fail_msg("%s", err.text);
}

static deja_options small(void)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.capacity = 1000;
    opt.seed = 1;
    return opt;
}

/* Grows at 100, 500, 2100 keys. */
static deja_options growing(void)
{
    deja_options opt = small();
    opt.kind = DEJA_SCALABLE;
    opt.capacity = 100;
    return opt;
}

/* n keys, synced. */
static const char *make_file(const char *name, const deja_options *opt, uint64_t n)
{
    const char *path = scratch_path(name);
    deja_filter *f = create_file(path, 0, opt);
    assert_int_equal(take(f, 0, n), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    return path;
}

static void refused(int rc, int status, const deja_error *err, const char *word)
{
    if (rc != status || !strstr(err->text, word))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err->text, status, word);
}

static void open_is_refused(const char *path, unsigned flags, int status, const char *word)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    refused(deja_filter_open(path, flags, NULL, &f, &err), status, &err, word);
    assert_null(f);
}

static void create_is_refused(const char *path, unsigned flags, int status, const char *word)
{
    const deja_options opt = small();
    deja_filter *f = NULL;
    deja_error err = {0};
    refused(deja_filter_create(path, flags, &opt, &f, &err), status, &err, word);
    assert_null(f);
}

/* --- Other processes ------------------------------------------------------ */

/* A child that says "ready" and waits to be told to go on. */
struct peer {
    pid_t pid;
    int to, from;
};

static struct peer peer_start(child_work *work, const char *path)
{
    int to[2], from[2];
    MUST(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    fflush(NULL);
    const pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(to[1]); /* or it would wait for itself */
        close(from[0]);
        _exit(work(path, to[0], from[1]));
    }
    close(to[0]);
    close(from[1]);
    return (struct peer){pid, to[1], from[0]};
}

static bool tell(int fd)
{
    return write(fd, "x", 1) == 1;
}

static bool hear(int fd)
{
    char c;
    return read(fd, &c, 1) == 1;
}

static int peer_end(struct peer p)
{
    close(p.to);
    close(p.from);
    return end_of(p.pid);
}

/* --- What is synced is what is opened ------------------------------------- */

static void open_after_sync_is_identity_for(const deja_options *opt)
{
    enum { N = 800 };
    const char *path = scratch_path("identity");
    deja_filter *f = create_file(path, 0, opt);
    deja_stats before = DEJA_STATS_INIT, after = DEJA_STATS_INIT;
    assert_int_equal(take(f, 0, N), DEJA_OK);
    assert_int_equal(take(f, 0, N / 2), DEJA_OK);
    sync_file(f);
    assert_int_equal(deja_filter_stats(f, &before), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    for (unsigned flags = 0; flags <= DEJA_OPEN_WRITE; flags++) {
        f = open_file(path, flags);
        assert_int_equal(missing(f, 0, N), 0);
        assert_int_equal(deja_filter_stats(f, &after), DEJA_OK);
        assert_memory_equal(&before, &after, sizeof before);
        deja_filter_free(f);
    }
    assert_int_equal(after.offered, N + N / 2);
    unlink(path);
}

static void open_after_sync_is_identity(void **state)
{
    deja_options opt = small();
    open_after_sync_is_identity_for(&opt);
    opt.kind = DEJA_CLASSIC;
    open_after_sync_is_identity_for(&opt);
    opt.filters = 3;
    opt.hash = DEJA_HASH_MURMUR3;
    open_after_sync_is_identity_for(&opt);
    opt = small();
    opt.kind = DEJA_EXACT;
    open_after_sync_is_identity_for(&opt);
    opt.kind = DEJA_SPECTRAL;
    opt.counter_bits = 16;
    open_after_sync_is_identity_for(&opt);
    opt.kind = DEJA_PAIRED;
    opt.counter_bits = 0;
    open_after_sync_is_identity_for(&opt);
    opt = small();
    opt.kind = DEJA_WINDOW;
    opt.generations = 5;
    open_after_sync_is_identity_for(&opt);
    opt = growing();
    open_after_sync_is_identity_for(&opt);
}

static void sync_without_adds_changes_nothing(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("idle", &opt, 10);
    const struct bytes before = read_file(path);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    sync_file(f);
    sync_file(f);
    deja_filter_free(f);
    const struct bytes after = read_file(path);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, before.len);
    free(before.data);
    free(after.data);
    unlink(path);
}

static void what_cannot_be_synced_says_so(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("reader", &opt, 10);
    deja_filter *f = open_file(path, 0);
    deja_error err = {0};
    const uint64_t i = 1;
    refused(deja_filter_sync(f, &err), DEJA_EINVAL, &err, "reading only");
    assert_int_equal(deja_filter_add(f, key_of(&i), NULL), DEJA_EINVAL);
    deja_filter_free(f);
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    refused(deja_filter_sync(f, &err), DEJA_ENOTSUP, &err, "no file");
    deja_filter_free(f);
    unlink(path);
}

/* --- One writer, many readers --------------------------------------------- */

static int try_to_write(const char *path, int in, int out)
{
    (void)in, (void)out;
    deja_filter *f = NULL;
    deja_error err = {0};
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err) == DEJA_EBUSY);
    CHECK(strstr(err.text, path) && strstr(err.text, "in use"));
    CHECK(deja_filter_open(path, 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, 10) == 0);
    deja_filter_free(f);
    return CHILD_FINE;
}

static void second_writer_is_told_that_it_is_busy(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("busy", &opt, 10);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    in_child(try_to_write, path);
    open_is_refused(path, DEJA_OPEN_WRITE, DEJA_EBUSY, "in use"); /* nor in this process */
    deja_filter_free(f);
    deja_filter_free(open_file(path, DEJA_OPEN_WRITE));
    unlink(path);
}

static void the_lock_holds_from_create_through_growth(void **state)
{
    const deja_options opt = growing();
    const char *path = scratch_path("grown");
    deja_filter *f = create_file(path, 0, &opt);
    assert_int_equal(take(f, 0, 10), DEJA_OK);
    sync_file(f);
    in_child(try_to_write, path);
    assert_int_equal(take(f, 0, 1000), DEJA_OK); /* the name leads to another file now */
    in_child(try_to_write, path);
    deja_filter_free(f);
    deja_filter_free(open_file(path, DEJA_OPEN_WRITE));
    unlink(path);
}

static int hold_open(const char *path, int in, int out)
{
    deja_filter *f = NULL;
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) == DEJA_OK);
    CHECK(tell(out) && hear(in));
    return 1; /* it is killed before that */
}

static void killed_writer_gives_the_lock_back(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("killed", &opt, 10);
    const struct peer p = peer_start(hold_open, path);
    assert_true(hear(p.from));
    open_is_refused(path, DEJA_OPEN_WRITE, DEJA_EBUSY, "in use");
    kill(p.pid, SIGKILL);
    assert_int_equal(peer_end(p), CHILD_KILLED + SIGKILL);
    deja_filter_free(open_file(path, DEJA_OPEN_WRITE));
    unlink(path);
}

/* Adds 100 keys each time it is told to; never syncs. */
static int add_on_demand(const char *path, int in, int out)
{
    deja_filter *f = NULL;
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) == DEJA_OK);
    for (uint64_t n = 0; hear(in); n += 100) {
        CHECK(take(f, n, n + 100) == DEJA_OK);
        CHECK(tell(out));
    }
    deja_filter_free(f);
    return CHILD_FINE;
}

static void readers_see_adds_before_any_sync_for(uint32_t kind)
{
    deja_options opt = small();
    opt.kind = kind;
    const char *path = make_file("seen", &opt, 0);
    const struct peer p = peer_start(add_on_demand, path);
    deja_filter *f = open_file(path, 0);
    for (uint64_t n = 0; n < 500; n += 100) {
        assert_true(missing(f, n, n + 100) > 90);
        assert_true(tell(p.to) && hear(p.from));
        assert_int_equal(missing(f, 0, n + 100), 0);
    }
    assert_int_equal(deja_file_verify(path, NULL), DEJA_EBUSY);
    deja_filter_free(f);
    assert_int_equal(peer_end(p), CHILD_FINE);
    unlink(path);
}

static void readers_see_adds_before_any_sync(void **state)
{
    readers_see_adds_before_any_sync_for(DEJA_BLOCKED);
    readers_see_adds_before_any_sync_for(DEJA_CLASSIC);
    readers_see_adds_before_any_sync_for(DEJA_EXACT);
    readers_see_adds_before_any_sync_for(DEJA_SPECTRAL);
    readers_see_adds_before_any_sync_for(DEJA_PAIRED);
    readers_see_adds_before_any_sync_for(DEJA_WINDOW);
}

static void reader_keeps_the_file_from_before_it_grew(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("outgrown", &opt, 50);
    deja_filter *old = open_file(path, 0), *writer = open_file(path, DEJA_OPEN_WRITE);
    assert_int_equal(take(writer, 50, 400), DEJA_OK);
    assert_int_equal(missing(old, 0, 100), 0); /* up to where it grew, synced or not */
    assert_true(missing(old, 100, 400) > 290);
    deja_filter *now = open_file(path, 0);
    assert_int_equal(missing(now, 0, 400), 0);
    deja_filter_free(now);
    deja_filter_free(writer);
    deja_filter_free(old);
    unlink(path);
}

static int add_and_sync_for_ever(const char *path, int in, int out)
{
    deja_filter *f = NULL;
    (void)in;
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) == DEJA_OK);
    CHECK(tell(out));
    for (uint64_t i = 0;; i++) {
        CHECK(deja_filter_add(f, key_of(&i), NULL) == DEJA_OK);
        CHECK(deja_filter_sync(f, NULL) == DEJA_OK);
    }
}

/* A reader copies the header while the writer replaces a record in it, and may get half of it;
 * verify reads bodies that change under its eyes.  Neither is damage. */
static void a_writer_at_work_is_never_taken_for_damage(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("at_work", &opt, 1);
    const struct peer p = peer_start(add_and_sync_for_ever, path);
    assert_true(hear(p.from));
    const time_t end = time(NULL) + 2;
    while (time(NULL) < end)
        for (int i = 0; i < 100; i++) {
            deja_filter_free(open_file(path, 0));
            const int rc = deja_file_verify(path, NULL);
            assert_true(rc == DEJA_OK || rc == DEJA_EBUSY);
        }
    kill(p.pid, SIGKILL);
    assert_int_equal(peer_end(p), CHILD_KILLED + SIGKILL);
    unlink(path);
}

/* --- New files ------------------------------------------------------------ */

static void creating_twice_is_refused(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("twice", &opt, 10);
    create_is_refused(path, 0, DEJA_EINVAL, "exists");
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 10), 0);
    deja_filter_free(f);
    unlink(path);
}

static void of_two_creators_the_first_to_sync_wins(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("race");
    deja_filter *first = create_file(path, 0, &opt), *second = create_file(path, 0, &opt);
    deja_error err = {0};
    assert_int_equal(take(first, 0, 10), DEJA_OK);
    assert_int_equal(take(second, 10, 20), DEJA_OK);
    sync_file(first);
    refused(deja_filter_sync(second, &err), DEJA_EINVAL, &err, "exists");
    deja_filter_free(second);
    deja_filter_free(first);
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 10), 0);
    assert_true(missing(f, 10, 20) > 8);
    deja_filter_free(f);
    unlink(path);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static void replacing_puts_the_new_file_in_place_at_its_first_sync(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("replaced", &opt, 10);
    deja_filter *old = open_file(path, 0), *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    assert_int_equal(take(f, 100, 110), DEJA_OK);
    deja_filter *before = open_file(path, 0);
    assert_int_equal(missing(before, 0, 10), 0);
    deja_filter_free(before);
    sync_file(f);
    deja_filter_free(f);
    deja_filter *now = open_file(path, 0);
    assert_int_equal(missing(now, 100, 110), 0);
    assert_true(missing(now, 0, 10) > 8);
    deja_filter_free(now);
    assert_int_equal(missing(old, 0, 10), 0); /* who has it open keeps it */
    deja_filter_free(old);
    unlink(path);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static void replacing_creates_where_there_is_nothing(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("fresh");
    deja_filter *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
}

static void replacing_a_file_that_is_written_is_refused(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("locked", &opt, 10);
    const struct peer p = peer_start(hold_open, path);
    assert_true(hear(p.from));
    create_is_refused(path, DEJA_CREATE_REPLACE, DEJA_EBUSY, "in use");
    kill(p.pid, SIGKILL);
    peer_end(p);
    unlink(path);
}

static void only_filters_and_empty_files_are_replaced(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("notes.txt");
    struct stat st;
    write_file(path, "https://example.com/\n", 21);
    create_is_refused(path, DEJA_CREATE_REPLACE, DEJA_EINVAL, "no deja file");
    const struct bytes b = read_file(path);
    assert_int_equal(b.len, 21);
    free(b.data);
    write_file(path, "", 0);
    MUST(chmod(path, 0640) == 0);
    deja_filter *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 0777, 0640); /* as whoever made it wished */
}

static void new_file_that_is_not_synced_leaves_nothing(void **state)
{
    const deja_options opt = growing();
    deja_filter *f = create_file(scratch_path("never"), 0, &opt);
    assert_int_equal(scratch_count(scratch_folder), 0);
    assert_int_equal(take(f, 0, 1000), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static int create_and_wait(const char *path, int in, int out)
{
    const deja_options opt = growing();
    deja_filter *f = NULL;
    CHECK(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    CHECK(take(f, 0, 1000) == DEJA_OK);
    CHECK(tell(out) && hear(in));
    return 1;
}

static void killed_before_its_first_sync_leaves_nothing(void **state)
{
    const struct peer p = peer_start(create_and_wait, scratch_path("never"));
    assert_true(hear(p.from));
    kill(p.pid, SIGKILL);
    assert_int_equal(peer_end(p), CHILD_KILLED + SIGKILL);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static void growth_before_the_first_sync_is_kept(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("grown_early", &opt, 1000);
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1000), 0);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
}

/* --- Places where a file cannot be ---------------------------------------- */

static void folders_are_not_files(void **state)
{
    open_is_refused(scratch_folder, 0, DEJA_EINVAL, "not a regular file");
    open_is_refused(scratch_folder, DEJA_OPEN_WRITE, DEJA_EINVAL, "is a directory");
    create_is_refused(scratch_folder, 0, DEJA_EINVAL, "is a directory");
    create_is_refused(scratch_folder, DEJA_CREATE_REPLACE, DEJA_EINVAL, "is a directory");
}

static void named_pipe_is_refused_without_waiting(void **state)
{
    const char *path = scratch_path("pipe");
    MUST(mkfifo(path, 0666) == 0);
    open_is_refused(path, 0, DEJA_EINVAL, "not a regular file");
    open_is_refused(path, DEJA_OPEN_WRITE, DEJA_EINVAL, "not a regular file");
    create_is_refused(path, 0, DEJA_EINVAL, "exists");
}

static void missing_folder_is_named(void **state)
{
    const char *path = scratch_path("nowhere/x.deja");
    open_is_refused(path, 0, DEJA_EIO, path);
    create_is_refused(path, 0, DEJA_EIO, path);
}

/* Root may write anywhere: go on as nobody. */
static bool be_nobody(void)
{
    return geteuid() != 0 ||
           (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

static int use_read_only_folder(const char *path, int in, int out)
{
    (void)in, (void)out;
    const deja_options opt = small();
    char other[600];
    deja_filter *f = NULL;
    deja_error err = {0};
    if (!be_nobody() || access(path, R_OK) != 0)
        return CHILD_SKIPS;
    snprintf(other, sizeof other, "%s.new", path);
    CHECK(deja_filter_create(other, 0, &opt, &f, &err) == DEJA_EIO);
    CHECK(strstr(err.text, other) && strstr(err.text, "Permission denied"));
    /* What is in the folder can be read, and written too when the file itself allows it. */
    CHECK(deja_filter_open(path, 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, 10) == 0);
    deja_filter_free(f);
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err) == DEJA_OK);
    CHECK(take(f, 10, 20) == DEJA_OK && deja_filter_sync(f, &err) == DEJA_OK);
    deja_filter_free(f);
    return CHILD_FINE;
}

static int use_read_only_file(const char *path, int in, int out)
{
    (void)in, (void)out;
    deja_filter *f = NULL;
    deja_error err = {0};
    if (!be_nobody() || access(path, R_OK) != 0)
        return CHILD_SKIPS;
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err) == DEJA_EIO);
    CHECK(strstr(err.text, path) && strstr(err.text, "Permission denied"));
    CHECK(deja_filter_open(path, 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, 10) == 0);
    deja_filter_free(f);
    CHECK(deja_file_verify(path, &err) == DEJA_OK);
    return CHILD_FINE;
}

static void read_only_folder_keeps_new_files_out(void **state)
{
    const deja_options opt = small();
    const char *folder = scratch_path("sealed_folder");
    MUST(mkdir(folder, 0755) == 0 && chmod(scratch_folder, 0755) == 0);
    const char *path = make_file("sealed_folder/x.deja", &opt, 10);
    MUST(chmod(path, 0666) == 0 && chmod(folder, 0555) == 0);
    in_child(use_read_only_folder, path);
    MUST(chmod(folder, 0755) == 0);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
    rmdir(folder);
}

static void read_only_file_is_read_and_not_written(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("sealed", &opt, 10);
    MUST(chmod(scratch_folder, 0755) == 0 && chmod(path, 0444) == 0);
    in_child(use_read_only_file, path);
    unlink(path);
}

/* --- No room --------------------------------------------------------------- */

/* A file system of that size on the folder, in a world of its own: it is gone with the process. */
static bool mount_small(const char *folder, const char *size)
{
    const int own = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    return unshare(own) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, size) == 0 && chdir(folder) == 0;
}

static int create_without_room(const char *path, int in, int out)
{
    (void)in, (void)out;
    if (!mount_small(path, "size=1m"))
        return CHILD_SKIPS;
    deja_options opt = small();
    deja_filter *f = NULL;
    deja_error err = {0};
    opt.memory = 4 * MB;
    CHECK(deja_filter_create("x.deja", 0, &opt, &f, &err) == DEJA_EIO);
    CHECK(!f && strstr(err.text, "x.deja") && strstr(err.text, "No space left"));
    CHECK(scratch_count(".") == 0);
    opt.memory = MB / 2; /* and what was taken has been given back */
    CHECK(deja_filter_create("x.deja", 0, &opt, &f, &err) == DEJA_OK);
    CHECK(take(f, 0, 1000) == DEJA_OK && deja_filter_sync(f, &err) == DEJA_OK);
    deja_filter_free(f);
    CHECK(deja_file_verify("x.deja", &err) == DEJA_OK);
    return CHILD_FINE;
}

/* 40,000 keys a 39 bits are 200 kB; the next part is 1 MB. */
static deja_options growing_large(void)
{
    deja_options opt = growing();
    opt.capacity = 40000;
    return opt;
}

/* Adds until there is no room to grow; returns how many keys were taken. */
static uint64_t fill_up(deja_filter *f)
{
    uint64_t n = 0;
    while (n < 1000000 && take(f, n, n + 1) == DEJA_OK)
        n++;
    return n;
}

static int grow_without_room(bool named)
{
    const deja_options opt = growing_large();
    deja_filter *f = NULL;
    deja_error err = {0};
    CHECK(deja_filter_create("x.deja", 0, &opt, &f, &err) == DEJA_OK);
    if (named)
        CHECK(deja_filter_sync(f, &err) == DEJA_OK);
    const uint64_t n = fill_up(f);
    CHECK(n >= 40000 && n < 1000000);
    CHECK(take(f, n, n + 1) == DEJA_EIO && errno == ENOSPC);
    CHECK(missing(f, 0, n) == 0);
    CHECK(deja_filter_sync(f, &err) == DEJA_OK);
    CHECK(scratch_count(".") == 1);
    /* What was taken is there for others ... */
    deja_filter *reader = NULL;
    CHECK(deja_filter_open("x.deja", 0, NULL, &reader, &err) == DEJA_OK);
    CHECK(missing(reader, 0, n) == 0);
    deja_filter_free(reader);
    CHECK(deja_file_verify("x.deja", &err) == DEJA_OK);
    /* ... and when there is room again it goes on. */
    CHECK(mount(NULL, ".", NULL, MS_REMOUNT, "size=64m") == 0);
    CHECK(take(f, n, n + 1000) == DEJA_OK && deja_filter_sync(f, &err) == DEJA_OK);
    deja_filter_free(f);
    CHECK(deja_filter_open("x.deja", 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, n + 1000) == 0);
    deja_filter_free(f);
    CHECK(deja_file_verify("x.deja", &err) == DEJA_OK);
    return CHILD_FINE;
}

static int grow_named_without_room(const char *path, int in, int out)
{
    (void)in, (void)out;
    return mount_small(path, "size=1m") ? grow_without_room(true) : CHILD_SKIPS;
}

static int grow_unnamed_without_room(const char *path, int in, int out)
{
    (void)in, (void)out;
    return mount_small(path, "size=1m") ? grow_without_room(false) : CHILD_SKIPS;
}

static void in_small_folder(child_work *work)
{
    const char *folder = scratch_path("small");
    MUST(mkdir(folder, 0777) == 0);
    const int status = end_of(start(work, folder));
    rmdir(folder);
    if (status == CHILD_SKIPS)
        skip();
    assert_int_equal(status, CHILD_FINE);
}

static void full_disk_at_create_is_an_error_that_leaves_nothing(void **state)
{
    in_small_folder(create_without_room);
}

static void full_disk_at_growth_loses_nothing(void **state)
{
    in_small_folder(grow_named_without_room);
}

static void full_disk_at_growth_of_a_new_file_loses_nothing(void **state)
{
    in_small_folder(grow_unnamed_without_room);
}

/* --- What growing must keep ------------------------------------------------ */

static void growing_keeps_who_may_read_the_file(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("private", &opt, 10);
    struct stat st;
    MUST(chmod(path, 0600) == 0); /* its key is in there */
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    assert_int_equal(take(f, 0, 1000), DEJA_OK);
    deja_filter_free(f);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(path);
}

static void growing_behind_a_symbolic_link_keeps_the_link(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("target", &opt, 10), *link = scratch_path("link");
    struct stat st;
    MUST(symlink("target", link) == 0);
    deja_filter *f = open_file(link, DEJA_OPEN_WRITE);
    assert_int_equal(take(f, 0, 1000), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    MUST(lstat(link, &st) == 0);
    assert_true(S_ISLNK(st.st_mode));
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1000), 0);
    deja_filter_free(f);
    unlink(link);
    unlink(path);
}

static void key_that_is_kept_nowhere_is_refused(void **state)
{
    deja_options opt = small();
    deja_filter *f = NULL;
    opt.seed = 0;
    opt.flags = DEJA_KEY_APART; /* and no key: nobody could open the file again */
    const int rc = deja_filter_create(scratch_path("lost_key"), 0, &opt, &f, NULL);
    deja_filter_free(f);
    assert_int_equal(rc, DEJA_EINVAL);
}

/* --- Large files ------------------------------------------------------------ */

/* Record A, the only one of a file that was synced once, is right again for what was changed. */
static void fix_record(uint8_t *page)
{
    dj_store64(page + RECORD_A + 296, dj_load64(page + 2560));
    dj_store64(page + RECORD_A + 504, dj_checksum(page + RECORD_A, 504));
}

/* A sound and empty file of that many bytes, nearly all of them holes: a small one with another
 * size in its header, sealed with a checksum that only verify would miss. */
static const char *make_sparse(const char *name, uint32_t kind, uint64_t body_len)
{
    deja_options opt = small();
    opt.kind = kind;
    const char *path = make_file(name, &opt, 0);
    struct bytes b = read_file(path);
    dj_store64(b.data + 32, UINT64_C(1) << 33); /* keys: more than 32 bits count */
    dj_store64(b.data + 120, HEADER_LEN + body_len);
    dj_store64(b.data + 512, 8 * body_len);
    dj_store64(b.data + 512 + 16, UINT64_C(1) << 33);
    dj_store64(b.data + 512 + 40, body_len);
    dj_store64(b.data + 2560, dj_checksum(b.data, 2560));
    fix_record(b.data);
    write_file(path, b.data, HEADER_LEN);
    free(b.data);
    if (truncate(path, (off_t)(HEADER_LEN + body_len)) < 0) {
        print_message("no file of %.1f GB here: %s\n", (double)body_len / 1e9, strerror(errno));
        unlink(path);
        skip();
    }
    return path;
}

/* Numbers that belong to both ends of a body (blocked, exact), nine for each: one more than fits
 * into a line of exact, so that the last ones go round to the first line. */
static size_t ends(uint64_t hash[18])
{
    for (uint64_t i = 0; i < 9; i++) {
        hash[i] = (i + 1) << 20;
        hash[9 + i] = UINT64_MAX - (i << 20);
    }
    return 18;
}

static void keys_at_both_ends_are_found_again_in(uint32_t kind)
{
    uint64_t hash[18 + 500];
    uint8_t answer[18 + 500];
    struct rng rng = rng_seeded(7);
    const char *path = make_sparse("large", kind, 5 * GB);
    const size_t n_ends = ends(hash), n = n_ends + 500;
    rng_fill(&rng, hash + n_ends, 500);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    size_t done = 0;
    assert_int_equal(deja_filter_add_hashed(f, hash, n, answer, &done), DEJA_OK);
    assert_int_equal(done, n);
    deja_filter_free(f);
    f = open_file(path, 0);
    deja_filter_contains_hashed(f, hash, n, answer);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(answer[i], 1);
    rng_fill(&rng, hash, n); /* strangers */
    deja_filter_contains_hashed(f, hash, n, answer);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(answer[i], 0);
    deja_filter_free(f);
    /* Bytes did change beyond 4 GiB, and at the very end. */
    if (kind != DEJA_CLASSIC) {
        uint8_t line[64] = {0}, none[64] = {0};
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        MUST(pread(fd, line, 64, (off_t)(HEADER_LEN + 5 * GB - 64)) == 64);
        assert_memory_not_equal(line, none, 64);
        close(fd);
    }
    unlink(path);
}

static void files_beyond_4_gb_hold_keys_at_both_ends(void **state)
{
    keys_at_both_ends_are_found_again_in(DEJA_BLOCKED);
    keys_at_both_ends_are_found_again_in(DEJA_EXACT);
    keys_at_both_ends_are_found_again_in(DEJA_SPECTRAL);
    keys_at_both_ends_are_found_again_in(DEJA_CLASSIC);
}

static void counts_beyond_32_bits_are_kept(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("counts", &opt, 10);
    const uint64_t many = (UINT64_C(1) << 33) + 7;
    struct bytes b = read_file(path);
    deja_stats s = DEJA_STATS_INIT;
    dj_store64(b.data + RECORD_A + 16, many);
    dj_store64(b.data + RECORD_A + 40, many);
    fix_record(b.data);
    write_file(path, b.data, b.len);
    free(b.data);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    assert_int_equal(take(f, 10, 20), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    f = open_file(path, 0);
    assert_int_equal(deja_filter_stats(f, &s), DEJA_OK);
    assert_int_equal(s.offered, many + 10);
    assert_in_range(s.keys, many + 8, many + 10);
    deja_filter_free(f);
    unlink(path);
}

/* Capacity, reservation and checksum at more than 4 GiB, without tricks. */
static void file_beyond_4_gb_is_created_and_synced(void **state)
{
    struct statvfs fs;
    MUST(statvfs(scratch_folder, &fs) == 0);
    if (SANITIZED || (uint64_t)fs.f_bavail * fs.f_frsize < 12 * GB) {
        print_message("needs 12 GB of disk and an unsanitized build\n");
        skip();
    }
    const char *path = scratch_path("huge");
    deja_options opt = small();
    opt.capacity = UINT64_C(6000000000);
    opt.memory = 4 * GB + 64 * MB;
    deja_filter *f = create_file(path, 0, &opt);
    struct stat st;
    assert_int_equal(take(f, 0, 1000), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_size, HEADER_LEN + opt.memory);
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1000), 0);
    deja_filter_free(f);
    unlink(path);
}

static size_t resident_pages(const char *path, uint64_t len)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)len / page;
    size_t n = 0;
    unsigned char *in_core = malloc(pages);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    MUST(fd >= 0 && in_core);
    void *map = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
    MUST(map != MAP_FAILED && mincore(map, (size_t)len, in_core) == 0);
    for (size_t i = 0; i < pages; i++)
        n += in_core[i] & 1;
    munmap(map, (size_t)len);
    close(fd);
    free(in_core);
    return n;
}

static void opening_a_gigabyte_does_not_read_it(void **state)
{
    const char *path = make_sparse("gigabyte", DEJA_BLOCKED, GB);
    const size_t before = resident_pages(path, HEADER_LEN + GB);
    deja_filter *f = open_file(path, 0);
    const size_t opened = resident_pages(path, HEADER_LEN + GB);
    assert_int_equal(missing(f, 0, 100), 100);
    const size_t asked = resident_pages(path, HEADER_LEN + GB);
    deja_filter_free(f);
    assert_true(before <= 64 && opened <= before + 64); /* of 262,145: the header, read ahead */
    assert_true(asked <= opened + 200);
    unlink(path);
}

static uint64_t rss(void)
{
    char line[256];
    unsigned long kb = 0;
    FILE *in = fopen("/proc/self/smaps_rollup", "r");
    while (in && fgets(line, sizeof line, in) && sscanf(line, "Rss: %lu kB", &kb) != 1)
        continue;
    if (in)
        fclose(in);
    return (uint64_t)kb << 10;
}

static int use_all_of_it(const char *path, int in, int out)
{
    (void)in, (void)out;
    const uint64_t body = 256 * MB, slack = 24 * MB, before = rss();
    deja_stats s = DEJA_STATS_INIT;
    deja_options opt = small();
    deja_filter *f = NULL;
    if (SANITIZED || !before)
        return CHILD_SKIPS;
    opt.memory = body;
    opt.capacity = 50000000;
    CHECK(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    CHECK(take(f, 0, 1000) == DEJA_OK);
    CHECK(deja_filter_sync(f, NULL) == DEJA_OK); /* reads every byte */
    CHECK(deja_filter_stats(f, &s) == DEJA_OK);  /* again */
    const uint64_t writing = rss() - before;
    CHECK(writing > body - slack && writing < body + slack);
    deja_filter_free(f);
    CHECK(rss() < before + slack);
    CHECK(deja_filter_open(path, 0, NULL, &f, NULL) == DEJA_OK);
    CHECK(rss() < before + slack);
    CHECK(deja_filter_stats(f, &s) == DEJA_OK);
    const uint64_t reading = rss() - before;
    CHECK(reading > body - slack && reading < body + slack);
    deja_filter_free(f);
    return CHILD_FINE;
}

static void filter_is_in_memory_once(void **state)
{
    const char *path = scratch_path("once");
    const int status = end_of(start(use_all_of_it, path));
    unlink(path);
    if (status == CHILD_SKIPS)
        skip();
    assert_int_equal(status, CHILD_FINE);
}

#define TEST(name) cmocka_unit_test_teardown(name, scratch_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(open_after_sync_is_identity),
        TEST(sync_without_adds_changes_nothing),
        TEST(what_cannot_be_synced_says_so),
        TEST(second_writer_is_told_that_it_is_busy),
        TEST(the_lock_holds_from_create_through_growth),
        TEST(killed_writer_gives_the_lock_back),
        TEST(readers_see_adds_before_any_sync),
        TEST(reader_keeps_the_file_from_before_it_grew),
        TEST(a_writer_at_work_is_never_taken_for_damage),
        TEST(creating_twice_is_refused),
        TEST(of_two_creators_the_first_to_sync_wins),
        TEST(replacing_puts_the_new_file_in_place_at_its_first_sync),
        TEST(replacing_creates_where_there_is_nothing),
        TEST(replacing_a_file_that_is_written_is_refused),
        TEST(only_filters_and_empty_files_are_replaced),
        TEST(new_file_that_is_not_synced_leaves_nothing),
        TEST(killed_before_its_first_sync_leaves_nothing),
        TEST(growth_before_the_first_sync_is_kept),
        TEST(folders_are_not_files),
        TEST(named_pipe_is_refused_without_waiting),
        TEST(missing_folder_is_named),
        TEST(read_only_folder_keeps_new_files_out),
        TEST(read_only_file_is_read_and_not_written),
        TEST(full_disk_at_create_is_an_error_that_leaves_nothing),
        TEST(full_disk_at_growth_loses_nothing),
        TEST(full_disk_at_growth_of_a_new_file_loses_nothing),
        TEST(growing_keeps_who_may_read_the_file),
        TEST(growing_behind_a_symbolic_link_keeps_the_link),
        TEST(key_that_is_kept_nowhere_is_refused),
        TEST(files_beyond_4_gb_hold_keys_at_both_ends),
        TEST(counts_beyond_32_bits_are_kept),
        TEST(file_beyond_4_gb_is_created_and_synced),
        TEST(opening_a_gigabyte_does_not_read_it),
        TEST(filter_is_in_memory_once),
    };
    return cmocka_run_group_tests_name("fault.store", tests, scratch_open, scratch_close);
}
