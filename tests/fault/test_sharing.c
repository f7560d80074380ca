/* test_sharing.c - files shared between processes: one writer, and readers that see what it adds.
 *
 * Work in another process reports its result by its exit status: cmocka's assertions work only in
 * this one. */
#include "peer.h"
#include "storing.h"
#include <time.h>

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

static void a_second_writer_gets_the_error_busy(void **state)
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
    add_keys(f, 0, 10);
    sync_file(f);
    in_child(try_to_write, path);
    add_keys(f, 0, 1000); /* the name refers to another file now */
    in_child(try_to_write, path);
    deja_filter_free(f);
    deja_filter_free(open_file(path, DEJA_OPEN_WRITE));
    unlink(path);
}

static void a_killed_writer_releases_the_lock(void **state)
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

/* Adds 100 keys each time it gets the signal; never syncs. */
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

static void a_reader_keeps_the_file_from_before_it_grew(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("outgrown", &opt, 50);
    deja_filter *old = open_file(path, 0), *writer = open_file(path, DEJA_OPEN_WRITE);
    add_keys(writer, 50, 400);
    assert_int_equal(missing(old, 0, 100), 0); /* up to the point where it grew, synced or not */
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
        CHECK(deja_filter_add(f, key_of(&i), NULL, NULL) == DEJA_OK);
        CHECK(deja_filter_sync(f, NULL) == DEJA_OK);
    }
}

/* A reader may copy the header while the writer replaces a record in it, and get half of it;
 * verify reads bodies while they change.  Neither is damage. */
static void a_busy_writer_is_never_mistaken_for_damage(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_writer_gets_the_error_busy),
        TEST(the_lock_holds_from_create_through_growth),
        TEST(a_killed_writer_releases_the_lock),
        TEST(readers_see_adds_before_any_sync),
        TEST(a_reader_keeps_the_file_from_before_it_grew),
        TEST(a_busy_writer_is_never_mistaken_for_damage),
    };
    return cmocka_run_group_tests_name("fault.sharing", tests, scratch_open, scratch_close);
}
