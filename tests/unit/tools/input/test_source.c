/* test_source.c - reading from standard input and pipes, slow and fast; interrupting a wait. */
#include "reading.h"
#include "tools/input/input.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/time.h>

/* --- Standard input and pipes -------------------------------------------- */

static void standard_input_is_a_dash_and_the_default(void **state)
{
    (void)state;
    static const char *const dash[] = {"-"};
    for (size_t n = 0; n < 2; n++) {
        stdin_from(open(file(0, TEXT("xx\na\nb\n")), O_RDONLY));
        assert_int_equal(lseek(STDIN_FILENO, 3, SEEK_SET), 3); /* a line was read already */
        struct input_options o = options_for(n ? dash : NULL, n);
        assert_int_equal(input_estimate(&o), 2);
        struct reading r = read_all(&o);
        assert_listed(&r.keys, "a|b|");
        assert_int_equal(r.progress.total, 4);
        assert_int_equal(r.progress.raw, 4);
        reading_free(&r);
        stdin_back();
    }
}

static void a_closed_standard_input_is_an_error(void **state)
{
    (void)state;
    saved_stdin = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    struct input_options o = options_for(NULL, 0);
    struct reading r = read_all(&o);
    stdin_back();
    assert_int_equal(r.rc, DEJA_EIO);
    assert_contains(r.err.text, "standard input is closed");
}

static void a_slow_pipe_delivers_each_line_at_once(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    struct input_options o = options_for(NULL, 0);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    send(ends[1], TEXT("one\n")); /* delivered at once, with the pipe still open */
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "one\n", b.len);
    assert_string_equal(b.path, "standard input");
    send(ends[1], TEXT("two\nthr"));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "two\n", b.len);
    assert_int_equal(b.line, 2);
    send(ends[1], TEXT("ee\nfour"));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "three\n", b.len);
    close(ends[1]);
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_memory_equal(b.data, "four\n", b.len);
    assert_int_equal(input_next(in, &b, NULL), 0);
    struct input_progress p;
    input_progress(in, &p);
    assert_int_equal(p.total, 0);
    assert_int_equal(p.raw, 18);
    input_close(in);
    block_fini(&b);
    stdin_back();
}

/* Before the first block and after it, but not for a file, which never makes anyone wait. */
static void the_wait_for_standard_input_has_a_limit(void **state)
{
    (void)state;
    int ends[2];
    const char *paths[] = {file(0, TEXT("a\n")), "-"};
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    struct input_options o = options_for(NULL, 0), later = options_for(paths, 2);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    assert_false(input_is_terminal(in));
    assert_false(input_wait(in, 0));
    send(ends[1], TEXT("one\n"));
    assert_true(input_wait(in, 0));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_false(input_wait(in, 0));
    input_close(in);
    assert_int_equal(input_open(&later, &in, NULL), DEJA_OK);
    assert_true(input_wait(in, 0));
    input_close(in);
    block_fini(&b);
    close(ends[1]);
    stdin_back();
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0)
        return;
    stdin_from(terminal);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    assert_true(input_is_terminal(in));
    input_close(in);
    assert_int_equal(input_open(&later, &in, NULL), DEJA_OK);
    assert_false(input_is_terminal(in)); /* a file is first */
    input_close(in);
    stdin_back();
}

static void a_fast_pipe_fills_blocks(void **state)
{
    (void)state;
    struct bytes content = {0};
    while (content.len < 5 * MIB) {
        put_letters(&content, 60);
        put_byte(&content, '\n');
    }
    struct input_options o = options_for(NULL, 0);
    struct reading want = {0};
    split_naively(&want, &o, content.data, content.len);
    struct reading r = read_pipe(o, (struct writer){.data = content.data, .len = content.len});
    assert_same(&r.records, &want.records);
    assert_int_equal(r.progress.raw, content.len);
    reading_free(&r);
    reading_free(&want);
    drop(&content);
}

static void only_the_header_may_begin_with_a_byte_order_mark(void **state)
{
    (void)state;
    static const char content[] = "\357\273\277u\n\357\273\277a\n"; /* in two pieces */
    struct input_options o = options_for(NULL, 0);
    o.pick.csv_column = "u";
    struct reading r =
        read_pipe(o, (struct writer){.data = content, .len = 10, .piece = 5, .pause_us = 20000});
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "\357\273\277a|");
    reading_free(&r);
}

struct watcher {
    const struct input *in;
    atomic_bool done;
    bool went_back;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;
    struct input_progress last = {0};
    while (!atomic_load(&w->done)) {
        struct input_progress now;
        input_progress(w->in, &now);
        if (now.raw < last.raw || now.decoded < last.decoded || now.records < last.records)
            w->went_back = true;
        last = now;
    }
    return NULL;
}

static void progress_can_be_watched_from_another_thread(void **state)
{
    (void)state;
    struct bytes content = {0};
    put_letters(&content, 200000);
    for (size_t i = 0; i < content.len; i += 1 + below(20))
        content.data[i] = '\n';
    const char *paths[] = {file(0, content.data, content.len), file(1, content.data, 1000)};
    struct input_options o = options_for(paths, 2);
    o.block_size = 1000;
    struct watcher w = {0};
    struct input *in;
    struct block b;
    pthread_t thread;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    w.in = in;
    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    while (input_next(in, &b, NULL) > 0)
        ;
    atomic_store(&w.done, true);
    pthread_join(thread, NULL);
    assert_false(w.went_back);
    struct input_progress p;
    input_progress(in, &p);
    assert_int_equal(p.raw, content.len + 1000);
    assert_int_equal(p.total, content.len + 1000);
    input_close(in);
    block_fini(&b);
    drop(&content);
}

static void single_bytes_through_a_pipe_make_the_same_records(void **state)
{
    (void)state;
    static const char *const contents[] = {"a\nbb\n\nccc", "\x1f\x8b\n",      "(\xb5/x\n", "\x1f",
                                           "Q*M\n",        "\357\273\277a\n", "\xef\xbb"};
    for (size_t i = 0; i < LEN(contents); i++) {
        size_t len = strlen(contents[i]);
        struct reading want = read_file(file(0, contents[i], len));
        struct reading r = read_pipe(
            options_for(NULL, 0),
            (struct writer){.data = contents[i], .len = len, .piece = 1, .pause_us = 2000});
        assert_int_equal(r.rc, 0);
        assert_same(&r.records, &want.records);
        assert_same(&r.keys, &want.keys);
        reading_free(&r);
        reading_free(&want);
    }
}

static void a_non_blocking_pipe_is_waited_for(void **state)
{
    (void)state;
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    stdin_from(ends[0]);
    struct writer w = {.fd = ends[1], .data = "a\nb\n", .len = 4, .piece = 1, .pause_us = 5000};
    assert_int_equal(pthread_create(&thread, NULL, write_pieces, &w), 0);
    struct input_options o = options_for(NULL, 0);
    struct reading r = read_all(&o);
    pthread_join(thread, NULL);
    stdin_back();
    assert_listed(&r.keys, "a|b|");
    reading_free(&r);
}

static void on_signal(int number)
{
    (void)number;
}

static void signals_do_not_disturb_a_wait(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
    struct itimerval often = {{0, 5000}, {0, 5000}};
    struct itimerval never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    struct reading r =
        read_pipe(options_for(NULL, 0),
                  (struct writer){.data = "a\nbb\nc", .len = 6, .piece = 1, .pause_us = 20000});
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN); /* a signal may still be pending */
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "a|bb|c|");
    reading_free(&r);
}

static atomic_bool stop;

static void *stop_soon(void *arg)
{
    (void)arg;
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    atomic_store(&stop, true);
    return NULL;
}

static void stop_ends_a_wait_for_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    struct input_options o = options_for(NULL, 0);
    o.stop = &stop;
    atomic_store(&stop, false);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    send(ends[1], TEXT("one\nincomplete"));
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.n, 1);
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    assert_int_equal(input_next(in, &b, NULL), 0); /* the pipe is still open */
    assert_int_equal(input_next(in, &b, NULL), 0);
    assert_int_equal(b.n, 0);
    pthread_join(thread, NULL);
    input_close(in);

    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK); /* with stop already set */
    assert_int_equal(input_next(in, &b, NULL), 0);
    input_close(in);
    block_fini(&b);
    close(ends[1]);
    stdin_back();
}

static void stop_ends_the_reading_of_a_file(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("aaaaaaaaaaaaaaaaaaaa\nb\nc\n"));
    struct input_options o = options_for(&path, 1);
    o.block_size = 16;
    o.stop = &stop;
    atomic_store(&stop, false);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    assert_int_equal(input_next(in, &b, NULL), 1);
    atomic_store(&stop, true);
    assert_int_equal(input_next(in, &b, NULL), 0);
    input_close(in);
    block_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_input_is_a_dash_and_the_default),
        cmocka_unit_test(a_closed_standard_input_is_an_error),
        cmocka_unit_test(a_slow_pipe_delivers_each_line_at_once),
        cmocka_unit_test(the_wait_for_standard_input_has_a_limit),
        cmocka_unit_test(a_fast_pipe_fills_blocks),
        cmocka_unit_test(only_the_header_may_begin_with_a_byte_order_mark),
        cmocka_unit_test(progress_can_be_watched_from_another_thread),
        cmocka_unit_test(single_bytes_through_a_pipe_make_the_same_records),
        cmocka_unit_test(a_non_blocking_pipe_is_waited_for),
        cmocka_unit_test(signals_do_not_disturb_a_wait),
        cmocka_unit_test(stop_ends_a_wait_for_a_pipe),
        cmocka_unit_test(stop_ends_the_reading_of_a_file),
    };
    return cmocka_run_group_tests_name("unit.source", tests, make_folder, remove_folder);
}
