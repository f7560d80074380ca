/* test_frontier.c - the queue on disk: order, formats, crashes, visits, the sorted index. */
#include "crawler/queue/frontier.h"
#include "scratch.h"
#include "unit.h"

#include <sqlite3.h>
#include <sys/wait.h>

static frontier *open_queue(void)
{
    frontier *f;
    deja_error err = {0};
    if (frontier_open(scratch_folder, &f, &err) != DEJA_OK)
        fail_msg("%s", err.text);
    return f;
}

static int64_t host(frontier *f, const char *name)
{
    int64_t id;
    deja_error err;
    assert_int_equal(frontier_host(f, (deja_slice){name, strlen(name)}, &id, &err), DEJA_OK);
    return id;
}

static int64_t put(frontier *f, int64_t at, uint32_t depth, const char *url)
{
    const struct frontier_url u = {.host = at, .depth = depth, .url = {url, strlen(url)}};
    int64_t id;
    deja_error err;
    assert_int_equal(frontier_add(f, 1, &u, &id, &err), DEJA_OK);
    return id;
}

static void commit(frontier *f)
{
    deja_error err;
    assert_int_equal(frontier_commit(f, &err), DEJA_OK);
}

/* Takes the next URL, which must be `want`; NULL: there must be none. */
static struct frontier_url take(frontier *f, int64_t at, const char *want)
{
    struct frontier_url u = {0};
    size_t n;
    deja_error err;
    assert_int_equal(frontier_take(f, at, &u, 1, &n, &err), DEJA_OK);
    assert_int_equal(n, want != NULL);
    if (want)
        assert_string_equal(u.url.data, want);
    return u;
}

static void taken_is(frontier *f, int64_t at, const char *want)
{
    struct frontier_url u = take(f, at, want);
    frontier_url_free(&u);
}

static void done(frontier *f, int64_t id, const struct frontier_page *p)
{
    deja_error err;
    assert_int_equal(frontier_done(f, id, p, &err), DEJA_OK);
}

static void urls_come_by_depth_and_then_by_arrival(void **state)
{
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a"), b = host(f, "http://b");
    assert_true(a != b);
    assert_int_equal(host(f, "http://a"), a);
    put(f, a, 2, "deep");
    put(f, a, 1, "first");
    put(f, b, 0, "other");
    put(f, a, 1, "second");
    struct frontier_url u[8];
    size_t n;
    deja_error err;
    assert_int_equal(frontier_take(f, a, u, 8, &n, &err), DEJA_OK);
    assert_int_equal(n, 3);
    assert_string_equal(u[0].url.data, "first");
    assert_string_equal(u[1].url.data, "second");
    assert_string_equal(u[2].url.data, "deep");
    for (size_t i = 0; i < n; i++)
        frontier_url_free(&u[i]);
    taken_is(f, a, NULL);
    taken_is(f, b, "other");
    frontier_close(f);
}

static void a_url_that_is_put_back_comes_again(void **state)
{
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a");
    deja_error err;
    put(f, a, 1, "x");
    struct frontier_url u = take(f, a, "x");
    u.attempts = 3;
    assert_int_equal(frontier_put_back(f, &u, &err), DEJA_OK);
    frontier_url_free(&u);
    u = take(f, a, "x");
    assert_int_equal(u.attempts, 3);
    frontier_url_free(&u);
    frontier_close(f);
}

/* In a child process: dies with committed, taken and uncommitted work. */
static void die_at_work(void)
{
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a");
    const struct frontier_page page = {.status = 200};
    put(f, a, 1, "done");
    put(f, a, 1, "taken");
    put(f, a, 1, "waits");
    struct frontier_url u = take(f, a, "done");
    done(f, u.id, &page);
    (void)take(f, a, "taken");
    commit(f);
    put(f, a, 1, "lost");
    (void)kill(getpid(), SIGKILL);
}

static void committed_work_survives_a_kill(void **state)
{
    const pid_t child = fork();
    int status;
    if (child == 0)
        die_at_work();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a");
    taken_is(f, a, "taken");
    taken_is(f, a, "waits");
    taken_is(f, a, NULL);
    frontier_close(f);
}

static void only_one_process_can_open_a_queue(void **state)
{
    frontier *f = open_queue(), *second;
    deja_error err;
    assert_int_equal(frontier_open(scratch_folder, &second, &err), DEJA_EBUSY);
    assert_non_null(strstr(err.text, "another process"));
    frontier_close(f);
    frontier_close(open_queue());
}

static void a_file_that_is_not_a_queue_is_refused(void **state)
{
    frontier *f;
    deja_error err;
    FILE *out = fopen(scratch_path("queue.db"), "w");
    MUST(out);
    for (int i = 0; i < 1000; i++)
        fputs("not a database, only text ", out);
    fclose(out);
    assert_int_equal(frontier_open(scratch_folder, &f, &err), DEJA_EFORMAT);
    assert_null(f);
    assert_int_equal(frontier_open(scratch_path("absent"), &f, &err), DEJA_EIO);
}

static void a_queue_of_another_version_is_refused(void **state)
{
    sqlite3 *db;
    frontier *f = open_queue();
    deja_error err;
    assert_int_equal(frontier_commit(f, &err), DEJA_OK);
    frontier_close(f);
    assert_int_equal(sqlite3_open(scratch_path("queue.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
    assert_int_equal(frontier_open(scratch_folder, &f, &err), DEJA_EVERSION);
    assert_non_null(strstr(err.text, "start another crawl"));
}

/* Changes the file without the queue's knowledge. */
static void edit(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(scratch_path("queue.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

/* The tables of format 3, which deja 0.2 made before it knew orders. */
static const char format_3[] =
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;CREATE TABLE host(id INTEGER "
    "PRIMARY KEY, name TEXT UNIQUE NOT NULL);CREATE TABLE url(id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "visit INTEGER NOT NULL, host INTEGER NOT NULL, depth INTEGER NOT NULL, hops INTEGER NOT NULL, "
    "attempts INTEGER NOT NULL, hidden INTEGER NOT NULL, state INTEGER NOT NULL, hash INTEGER NOT "
    "NULL, url TEXT NOT NULL, outcome INTEGER, status INTEGER, at_time INTEGER, mime TEXT, etag "
    "TEXT, modified TEXT, digest TEXT, file INTEGER, offset INTEGER, length INTEGER, revisit "
    "INTEGER);CREATE INDEX url_waits ON url(host, depth, id) WHERE state = 0;CREATE INDEX url_taken "
    "ON url(id) WHERE state = 1;PRAGMA user_version = 3;";

static void a_queue_of_format_3_is_upgraded(void **state)
{
    static const char rows[] =
        "INSERT INTO host VALUES(7, 'a');INSERT INTO url(visit, host, depth, hops, attempts, hidden, "
        "state, hash, url) VALUES(1, 7, 3, 0, 0, 0, 0, 11, 'deep'), (1, 7, 1, 2, 1, 1, 1, 12, "
        "'taken'), (1, 7, 1, 0, 0, 0, 0, 13, 'flat'), (1, 7, 0, 0, 0, 0, 2, 14, 'done');";
    deja_error err;
    edit(format_3);
    edit(rows);
    for (int opened = 0; opened < 2; opened++) { /* the second time, it has the newest format */
        frontier *f = open_queue();
        struct frontier_url u[4];
        size_t n;
        assert_int_equal(frontier_take(f, 7, u, 4, &n, &err), DEJA_OK);
        assert_int_equal(n, 3);
        assert_string_equal(u[0].url.data, "taken");
        assert_int_equal(u[0].hops, 2);
        assert_int_equal(u[0].attempts, 1);
        assert_true(u[0].hidden && u[0].parent == 0);
        assert_string_equal(u[1].url.data, "flat");
        assert_string_equal(u[2].url.data, "deep");
        for (size_t i = 0; i < n; i++)
            frontier_url_free(&u[i]);
        frontier_close(f);
    }
}

static int ignore_raise(void *ctx, int64_t id, int64_t priority, deja_error *err)
{
    *(int64_t *)ctx = priority;
    return DEJA_OK;
}

/* After the upgrade, and without an upgrade, links to an old row count. */
static void a_link_changes_the_row_of_its_url(void **state)
{
    deja_error err;
    int64_t number, raised = -1;
    frontier *f = open_queue();
    const int64_t a = host(f, "a");
    assert_int_equal(frontier_order(f, ORDER_BACKLINKS, NULL, NULL, &err), DEJA_OK);
    put(f, a, 1, "first");
    put(f, a, 1, "second");
    assert_int_equal(frontier_number((deja_slice){"second", 6}, &number, &err), DEJA_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(frontier_credit(f, 1, number, 0.5, ignore_raise, &raised, &err), DEJA_OK);
    assert_int_equal(raised, 3);
    int64_t best;
    assert_int_equal(frontier_best(f, a, &best, &err), DEJA_OK);
    assert_int_equal(best, 3);
    struct frontier_url u = take(f, a, "second");
    double cash;
    assert_int_equal(frontier_cash(f, u.id, &cash, &err), DEJA_OK);
    assert_true(cash == 2.5); /* it has no parent, so it began with 1 */
    raised = -1;
    assert_int_equal(frontier_credit(f, 1, number, 0, ignore_raise, &raised, &err), DEJA_OK);
    assert_int_equal(frontier_credit(f, 2, number, 0, ignore_raise, &raised, &err), DEJA_OK);
    assert_int_equal(frontier_credit(f, 1, number + 1, 0, ignore_raise, &raised, &err), DEJA_OK);
    assert_int_equal(raised, -1); /* it is taken; of another visit; unknown */
    frontier_url_free(&u);
    frontier_close(f);
}

static int weigh_last_letter(void *ctx, deja_slice url)
{
    return (int)(((const char *)url.data)[url.len - 1] - 'm');
}

static void another_order_applies_to_urls_that_wait(void **state)
{
    deja_error err;
    frontier *f = open_queue();
    const int64_t a = host(f, "a");
    put(f, a, 1, "1/m");
    put(f, a, 3, "3/m");
    put(f, a, 2, "2/n");
    assert_int_equal(frontier_order(f, ORDER_DEPTH, weigh_last_letter, NULL, &err), DEJA_OK);
    assert_int_equal(frontier_reorder(f, false, &err), DEJA_OK);
    taken_is(f, a, "2/n");
    taken_is(f, a, "3/m");
    taken_is(f, a, "1/m");
    frontier_close(f);
}

/* An order that counts links stops at a number that it cannot have written. */
static void damaged_counts_are_reported(void **state)
{
    static const char *const changes[] = {"links = -5", "cash = -5.0", "cash = 9e999",
                                          "depth = 'x'", "priority = x'00'"};
    deja_error err;
    int64_t number, raised;
    assert_int_equal(frontier_number((deja_slice){"u", 1}, &number, &err), DEJA_OK);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char sql[80];
        frontier *f = open_queue();
        put(f, host(f, "a"), 1, "u");
        commit(f);
        frontier_close(f);
        snprintf(sql, sizeof sql, "UPDATE url SET %s", changes[i]);
        edit(sql);
        f = open_queue();
        assert_int_equal(frontier_order(f, ORDER_OPIC, NULL, NULL, &err), DEJA_OK);
        if (frontier_credit(f, 1, number, 1, ignore_raise, &raised, &err) >= 0)
            fail_msg("%s", changes[i]);
        assert_non_null(strstr(err.text, "queue.db: a row of its table url is damaged"));
        frontier_close(f);
        edit("DELETE FROM url");
    }
}

static void settings_are_stored(void **state)
{
    frontier *f = open_queue();
    struct buffer blob = {0};
    deja_error err;
    int64_t n;
    assert_int_equal(frontier_get(f, "n", INT64_MAX, &n, &err), DEJA_OK);
    assert_int_equal(n, 0);
    assert_int_equal(frontier_set(f, "n", 7, &err), DEJA_OK);
    assert_int_equal(frontier_set(f, "n", INT64_MAX, &err), DEJA_OK);
    assert_int_equal(frontier_set_blob(f, "b", (deja_slice){"a\0b", 3}, &err), DEJA_OK);
    assert_int_equal(frontier_sync(f, &err), DEJA_OK);
    frontier_close(f);
    f = open_queue();
    assert_int_equal(frontier_get(f, "n", INT64_MAX, &n, &err), DEJA_OK);
    assert_true(n == INT64_MAX);
    assert_int_equal(frontier_get_blob(f, "b", &blob, NULL, &err), DEJA_OK);
    assert_int_equal(blob.len, 3);
    assert_memory_equal(blob.data, "a\0b", 3);
    buffer_fini(&blob);
    frontier_close(f);
}

static void damaged_settings_are_named(void **state)
{
    static const char *const values[] = {"-1", "'7'", "7.5", "x'07'", "NULL", "8"};
    struct buffer blob = {0};
    deja_error err;
    int64_t n;
    bool damaged;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char sql[80];
        frontier_close(open_queue());
        snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO setting VALUES('n', %s)", values[i]);
        edit(sql);
        frontier *f = open_queue();
        assert_int_equal(frontier_get(f, "n", 7, &n, &err), DEJA_EFORMAT);
        assert_non_null(strstr(err.text, "queue.db: its setting 'n' is damaged; restore"));
        const bool is_text = values[i][0] == '\'' || values[i][0] == 'x';
        assert_int_equal(frontier_get_blob(f, "n", &blob, NULL, &err),
                         is_text ? DEJA_OK : DEJA_EFORMAT);
        assert_int_equal(frontier_get_blob(f, "n", &blob, &damaged, &err), DEJA_OK);
        assert_int_equal(damaged, !is_text);
        frontier_close(f);
    }
    buffer_fini(&blob);
}

static int look_at_host(void *ctx, int64_t id, deja_slice name, uint64_t waiting, int64_t priority,
                        deja_error *err)
{
    return DEJA_OK;
}

static int look_at_text(void *ctx, deja_slice text, deja_error *err)
{
    return DEJA_OK;
}

/* No waiting row is usable; every function that reads one must report it. */
static void damaged_rows_are_reported(void **state)
{
    static const char *const changes[] = {"depth = -1",
                                          "depth = 4294967296",
                                          "depth = 'x'",
                                          "hops = 1.5",
                                          "attempts = x'00'",
                                          "hidden = 2",
                                          "url = x'687474703a2f2f612f'",
                                          "url = ''",
                                          "parent = -1",
                                          "parent = 'x'",
                                          "priority = 'x'",
                                          "priority = 1e300",
                                          "url = 'http://a/' || char(0)"};
    frontier *f = open_queue();
    const int64_t a = host(f, "a");
    struct frontier_url taken[2];
    deja_error err;
    size_t n;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char sql[120];
        put(f, a, 1, "http://a/");
        commit(f);
        frontier_close(f);
        snprintf(sql, sizeof sql, "UPDATE url SET %s", changes[i]);
        edit(sql);
        f = open_queue();
        if (frontier_take(f, a, taken, 2, &n, &err) != DEJA_EFORMAT)
            fail_msg("%s", changes[i]);
        assert_non_null(strstr(err.text, "a row of its table url is damaged"));
        frontier_close(f);
        edit("DELETE FROM url");
        f = open_queue();
    }
    put(f, a, 1, "http://a/");
    commit(f);
    frontier_close(f);
    edit("UPDATE url SET priority = 'high', url = 5.5");
    f = open_queue();
    assert_int_equal(frontier_each_host(f, look_at_host, NULL, &err), DEJA_EFORMAT);
    assert_int_equal(frontier_each_since(f, 0, look_at_text, NULL, &err), DEJA_OK); /* read as
                                                                                     * '5.5' */
    frontier_close(f);
    edit("UPDATE url SET priority = 0, url = x''; UPDATE host SET name = x'61'");
    f = open_queue();
    assert_int_equal(frontier_each_host(f, look_at_host, NULL, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "a row of its table host is damaged"));
    assert_int_equal(frontier_each_since(f, 0, look_at_text, NULL, &err), DEJA_EFORMAT);
    frontier_close(f);
    edit("UPDATE sqlite_sequence SET seq = 'x'");
    f = open_queue();
    int64_t last;
    assert_int_equal(frontier_last(f, &last, &err), DEJA_EFORMAT);
    frontier_close(f);
}

static int ignore_undone(void *ctx, const struct frontier_page *p, deja_error *err)
{
    return DEJA_OK;
}

static void damaged_pages_are_reported(void **state)
{
    static const char *const changes[] = {
        "at_time = 'x'",
        "at_time = -1",
        "at_time = 1000000000000",
        "mime = x'00'",
        "modified = x'61'",
        "digest = x'61'",
        "digest = 'longer than any digest could ever be, by far'",
        "file = 4294967296",
        "offset = -1",
        "length = 'x'"};
    static const struct frontier_page page = {
        .status = 200, .when = 12, .digest = {"sha1:X"}, .place = {1, 22, 33}};
    const deja_slice url = {"http://a/", 9};
    struct frontier_page p;
    deja_error err;
    uint64_t left;
    bool found;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char sql[120];
        frontier *f = open_queue();
        const int64_t a = host(f, "a"), id = put(f, a, 1, "http://a/");
        taken_is(f, a, "http://a/");
        done(f, id, &page);
        assert_int_equal(frontier_leave(f, &left, &err), DEJA_OK);
        commit(f);
        frontier_close(f);
        snprintf(sql, sizeof sql, "UPDATE url SET %s", changes[i]);
        edit(sql);
        f = open_queue();
        const int rc = frontier_copy_of(f, url, &p, &found, &err);
        if (rc != DEJA_EFORMAT)
            fail_msg("%s: %d", changes[i], rc);
        const bool in_index =
            strncmp(changes[i], "modified", 8) != 0 && !strstr(changes[i], "longer");
        if (in_index)
            assert_true(frontier_each_line(f, look_at_text, NULL, &err) < 0);
        frontier_close(f);
        edit("UPDATE url SET file = 1, offset = 0, outcome = 'x'");
        f = open_queue();
        assert_int_equal(frontier_undo(f, 1, 0, ignore_undone, NULL, &err), DEJA_EFORMAT);
        frontier_close(f);
        edit("DELETE FROM url");
    }
}

static void earlier_visits_are_remembered(void **state)
{
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a");
    const struct frontier_page page = {.status = 200,
                                       .when = 12,
                                       .mime = {"text/html", 9},
                                       .etag = {"\"e\"", 3},
                                       .digest = {"sha1:X"},
                                       .place = {1, 22, 33}};
    struct frontier_page got;
    deja_error err;
    bool found;
    uint64_t left;
    put(f, a, 1, "http://a/1");
    put(f, a, 1, "http://a/2");
    struct frontier_url u = take(f, a, "http://a/1");
    done(f, u.id, &page);
    frontier_url_free(&u);
    assert_int_equal(frontier_leave(f, &left, &err), DEJA_OK);
    assert_int_equal(left, 1);
    taken_is(f, a, NULL);
    assert_int_equal(frontier_was_known(f, (deja_slice){"http://a/2", 10}, 2, &found, &err), 0);
    assert_true(found);
    assert_int_equal(frontier_was_known(f, (deja_slice){"http://a/2", 10}, 1, &found, &err), 0);
    assert_false(found);
    assert_int_equal(frontier_copy_of(f, (deja_slice){"http://a/2", 10}, &got, &found, &err), 0);
    assert_false(found);
    assert_int_equal(frontier_copy_of(f, (deja_slice){"http://a/1", 10}, &got, &found, &err), 0);
    assert_true(found);
    assert_string_equal(got.etag.data, "\"e\"");
    assert_string_equal(got.modified.data, "");
    assert_string_equal(got.digest.text, "sha1:X");
    assert_int_equal(got.place.len, 33);
    assert_int_equal(frontier_sync(f, &err), DEJA_OK); /* no statement is left open */
    frontier_close(f);
}

/* Collects the key of each line of the index. */
static int add_key(void *ctx, deja_slice line, deja_error *err)
{
    const char *blank = memchr(line.data, ' ', line.len);
    return buffer_add(ctx, line.data, (size_t)(blank + 1 - (const char *)line.data)) ? DEJA_OK
                                                                                     : DEJA_ENOMEM;
}

static int add_url(void *ctx, deja_slice url, deja_error *err)
{
    return buffer_add(ctx, url.data, url.len) && buffer_text(ctx, " ") ? DEJA_OK : DEJA_ENOMEM;
}

static int add_host(void *ctx, int64_t id, deja_slice name, uint64_t waiting, int64_t priority,
                    deja_error *err)
{
    char text[100];
    snprintf(text, sizeof text, "%.*s %d %d ", (int)name.len, (const char *)name.data,
             (int)waiting, (int)(priority ? UINT32_MAX - priority : 0));
    return buffer_text(ctx, text) ? DEJA_OK : DEJA_ENOMEM;
}

static void text_is(struct buffer *b, const char *want)
{
    assert_true(buffer_add(b, "", 1));
    assert_string_equal(b->data, want);
    buffer_fini(b);
}

static void hosts_urls_and_entries_can_be_listed(void **state)
{
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a"), b = host(f, "http://b");
    const struct frontier_page page = {.status = 200, .place = {1, 2, 3}};
    struct buffer all = {0};
    deja_error err;
    const char *const urls[] = {"http://z.org/", "http://a.org/b", "http://www.a.org/a"};
    int64_t last = 0;
    for (size_t i = 0; i < 3; i++) {
        last = put(f, a, 1, urls[i]);
        struct frontier_url u = take(f, a, urls[i]);
        done(f, u.id, &page);
        frontier_url_free(&u);
    }
    put(f, b, 5, "x");
    put(f, b, 4, "y");
    assert_int_equal(frontier_each_line(f, add_key, &all, &err), DEJA_OK);
    text_is(&all, "org,a)/a org,a)/b org,z)/ ");
    assert_int_equal(frontier_each_since(f, last, add_url, &all, &err), DEJA_OK);
    text_is(&all, "x y ");
    assert_int_equal(frontier_each_host(f, add_host, &all, &err), DEJA_OK);
    text_is(&all, "http://b 2 4 ");
    assert_int_equal(frontier_each_done(f, 1, add_host, &all, &err), DEJA_OK);
    text_is(&all, "http://a 3 0 ");
    frontier_close(f);
}

static int count_undone(void *n, const struct frontier_page *p, deja_error *err)
{
    ++*(int *)n;
    assert_int_equal(p->status, 200);
    assert_int_equal(p->outcome, 0);
    return DEJA_OK;
}

static void pages_with_damaged_records_are_queued_again(void **state)
{
    frontier *f = open_queue();
    const int64_t a = host(f, "http://a");
    struct frontier_page page = {.status = 200};
    int n = 0;
    deja_error err;
    for (uint32_t i = 0; i < 4; i++) { /* two records in each of two files, at 0 and 100 */
        char url[20];
        snprintf(url, sizeof url, "http://a/%u", (unsigned)i);
        const int64_t id = put(f, a, i, url);
        taken_is(f, a, url);
        page.place = (struct warc_place){1 + i / 2, 100 * (i % 2), 50};
        done(f, id, &page);
    }
    page.place = (struct warc_place){0, 0, 0}; /* not archived, so not damaged */
    const int64_t id = put(f, a, 9, "http://a/9");
    taken_is(f, a, "http://a/9");
    done(f, id, &page);
    assert_int_equal(frontier_undo(f, 2, 100, count_undone, &n, &err), DEJA_OK);
    assert_int_equal(n, 1);
    taken_is(f, a, "http://a/3");
    taken_is(f, a, NULL);
    assert_int_equal(frontier_undo(f, 1, 1, count_undone, &n, &err), DEJA_OK);
    assert_int_equal(n, 3);
    taken_is(f, a, "http://a/1");
    taken_is(f, a, "http://a/2");
    taken_is(f, a, NULL);
    frontier_close(f);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)
    const struct CMUnitTest tests[] = {
        TEST(pages_with_damaged_records_are_queued_again),
        TEST(urls_come_by_depth_and_then_by_arrival),
        TEST(a_url_that_is_put_back_comes_again),
        TEST(committed_work_survives_a_kill),
        TEST(only_one_process_can_open_a_queue),
        TEST(a_file_that_is_not_a_queue_is_refused),
        TEST(a_queue_of_another_version_is_refused),
        TEST(a_queue_of_format_3_is_upgraded),
        TEST(a_link_changes_the_row_of_its_url),
        TEST(another_order_applies_to_urls_that_wait),
        TEST(damaged_counts_are_reported),
        TEST(settings_are_stored),
        TEST(damaged_settings_are_named),
        TEST(damaged_rows_are_reported),
        TEST(damaged_pages_are_reported),
        TEST(earlier_visits_are_remembered),
        TEST(hosts_urls_and_entries_can_be_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
