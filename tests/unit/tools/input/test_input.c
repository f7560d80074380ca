/* test_input.c - files as records and keys.
 *
 * Results are compared with a splitter that reads one byte at a time.  Blocks are as small as 16
 * bytes, so that every record meets a boundary. */
#include "tools/base/fail.h"

#include "reading.h" /* after fail.h: cmocka has a macro of that name */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* --- Lines --------------------------------------------------------------- */

static void keys_are_lines_without_their_ends(void **state)
{
    (void)state;
    keys_are(TEXT("a\nbc\n"), "a|bc|");
    keys_are(TEXT(""), "");
    keys_are(TEXT("\n"), "|");
    keys_are(TEXT("a\n\n\nb\n"), "a|||b|");
}

static void lists_with_crlf_and_with_lf_have_the_same_keys(void **state)
{
    (void)state;
    keys_are(TEXT("a\r\nb\r\n\r\nc\r\n"), "a|b||c|");
    keys_are(TEXT("a\r\r\n"), "a\r|"); /* only one of them belongs to the line end */
    keys_are(TEXT("a\rb\n\r\n"), "a\rb||");
    keys_are(TEXT("a\r"), "a|");
}

static void records_are_the_bytes_of_the_input(void **state)
{
    (void)state;
    struct reading r = read_file(file(0, TEXT("a\r\n\n\xff\xfe b\t\nlast\n")));
    assert_listed(&r.records, "a\r\n|\n|\xff\xfe b\t\n|last\n|");
    assert_false(r.terminator_added);
    reading_free(&r);
}

static void nul_bytes_in_lines_are_ordinary(void **state)
{
    (void)state;
    struct reading r = read_file(file(0, TEXT("a\0b\n\0\n")));
    assert_int_equal(r.n, 2);
    struct bytes keys = {0};
    put_counted(&keys, "a\0b", 3);
    put_counted(&keys, "", 1);
    assert_same(&r.keys, &keys);
    drop(&keys);
    reading_free(&r);
}

static void a_last_line_without_end_gets_one(void **state)
{
    (void)state;
    struct reading r = read_file(file(0, TEXT("a\nb")));
    assert_listed(&r.records, "a\n|b\n|");
    assert_listed(&r.keys, "a|b|");
    assert_true(r.terminator_added);
    reading_free(&r);
}

static void files_do_not_run_into_each_other(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\nb")), file(1, TEXT("")), file(2, TEXT("c\r")),
                           file(3, TEXT("d\n"))};
    struct input_options o = options_for(paths, LEN(paths));
    struct reading r = read_all(&o);
    assert_listed(&r.records, "a\n|b\n|c\r\n|d\n|");
    assert_listed(&r.keys, "a|b|c|d|");
    assert_int_equal(r.progress.total, 7);
    assert_int_equal(r.progress.raw, 7);
    assert_int_equal(r.progress.decoded, 7);
    reading_free(&r);
}

static void a_byte_order_mark_is_not_part_of_the_first_key(void **state)
{
    (void)state;
    keys_are(TEXT("\357\273\277a\nb\n"), "a|b|");
    keys_are(TEXT("\357\273\277\r\nb\n"), "|b|");
    keys_are(TEXT("a\n\357\273\277b\n"), "a|\357\273\277b|");
    keys_are(TEXT("\357\273\277"), ""); /* an empty file as some editors write it */
    keys_are(TEXT("\xef\xbb\n"), "\xef\xbb|");
    keys_are(TEXT("\xef\xbb"), "\xef\xbb|");
    struct reading r = read_file(file(0, TEXT("\357\273\277a\n")));
    assert_listed(&r.records, "\357\273\277a\n|");
    reading_free(&r);
}

static void blocks_know_their_file_and_line(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("aaaaaaaa\nbbbbbbbb\ncccccccc\n")), file(1, TEXT("d\n"))};
    struct input_options o = options_for(paths, 2);
    o.block_size = 16;
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    uint64_t next = 1;
    while (next <= 3) {
        assert_int_equal(input_next(in, &b, NULL), 1);
        assert_string_equal(b.path, paths[0]);
        assert_int_equal(b.line, next);
        next += b.n;
    }
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_string_equal(b.path, paths[1]);
    assert_int_equal(b.line, 1);
    assert_int_equal(input_next(in, &b, NULL), 0);
    assert_int_equal(b.n, 0);
    input_close(in);
    block_fini(&b);
}

/* --- Against a naive splitter -------------------------------------------- */

static void compare_with_naive(char terminator, bool fields)
{
    struct bytes content[3] = {{0}};
    struct block b;
    block_init(&b); /* reused by all rounds, as in production */
    for (int round = 0; round < 400; round++) {
        const char *paths[LEN(content)];
        struct input_options o = options_for(paths, 1 + below(LEN(content)));
        o.terminator = terminator;
        o.pick.has_delimiter = fields;
        o.pick.delimiter = below(2) ? ',' : '\t';
        o.pick.field[0] = fields ? 1 + (unsigned)below(4) : 0;
        o.block_size = below(3) ? 16 + below(200) : 16 + below(5000);
        struct reading want = {0};
        size_t rarity = 1 + below(80);
        for (size_t i = 0; i < o.n_paths; i++) {
            random_lines(&content[i], terminator, rarity);
            paths[i] = file(i, content[i].data, content[i].len);
            split_naively(&want, &o, content[i].data, content[i].len);
        }
        struct reading got = read_with(&o, &b);
        assert_int_equal(got.rc, end_of(&want));
        assert_int_equal(got.n, want.n);
        assert_same(&got.records, &want.records);
        assert_same(&got.keys, &want.keys);
        assert_int_equal(got.keyless, want.keyless);
        reading_free(&got);
        reading_free(&want);
    }
    block_fini(&b);
    for (size_t i = 0; i < LEN(content); i++)
        drop(&content[i]);
}

static void blocks_of_any_size_give_the_lines_of_a_naive_splitter(void **state)
{
    (void)state;
    compare_with_naive('\n', false);
}

static void blocks_of_any_size_give_nul_terminated_records(void **state)
{
    (void)state;
    compare_with_naive(0, false);
}

static void blocks_of_any_size_give_the_fields_of_a_naive_splitter(void **state)
{
    (void)state;
    compare_with_naive('\n', true);
    compare_with_naive(0, true);
}

static void a_large_file_of_short_and_long_lines_is_split_like_a_small_one(void **state)
{
    (void)state;
    struct bytes content = {0};
    while (content.len < 6 * MIB) {
        /* Stretches of empty, ordinary and long lines. */
        static const size_t longest[] = {1, 4, 100, 300000};
        size_t most = longest[below(LEN(longest))];
        for (size_t i = 0; i < (most > 1000 ? 5 : 20000); i++) {
            put_letters(&content, below(most));
            put_byte(&content, '\n');
        }
    }
    struct reading want = {0};
    const char *path = file(0, content.data, content.len);
    struct input_options o = options_for(&path, 1);
    split_naively(&want, &o, content.data, content.len);
    struct reading got = read_all(&o);
    assert_same(&got.records, &want.records);
    assert_same(&got.keys, &want.keys);
    reading_free(&got);
    reading_free(&want);
    drop(&content);
}

/* --- Long lines ---------------------------------------------------------- */

static void a_line_longer_than_the_block_makes_it_grow_and_shrink_again(void **state)
{
    (void)state;
    const size_t length = 20 * MIB;
    struct bytes content = {0};
    put(&content, TEXT("before\n"));
    put_letters(&content, length);
    put(&content, TEXT("\nafter\n"));
    while (content.len < 26 * MIB) {
        put_letters(&content, 63);
        put_byte(&content, '\n');
    }
    const char *path = file(0, content.data, content.len);
    struct input_options o = options_for(&path, 1);
    struct input *in;
    struct block b;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    bool seen = false;
    size_t at = 0;
    while (input_next(in, &b, NULL) > 0) {
        assert_memory_equal(b.data, content.data + at, b.len);
        at += b.len;
        for (size_t i = 0; i < b.n; i++)
            seen = seen || b.keys[i].len == length;
        if (b.len < length)
            assert_true(b.data_cap <= 2 * MIB);
        else
            assert_true(b.data_cap <= 40 * MIB);
    }
    assert_true(seen);
    assert_int_equal(at, content.len);
    input_close(in);
    block_fini(&b);
    drop(&content);
}

static void a_line_beyond_the_limit_is_an_error_with_its_number(void **state)
{
    (void)state;
    for (size_t length = 90; length < 110; length++) {
        struct bytes content = {0};
        put(&content, TEXT("a\nb\n"));
        put_letters(&content, length);
        put(&content, TEXT("\nc\n"));
        const char *path = file(0, content.data, content.len);
        struct input_options o = options_for(&path, 1);
        o.block_size = 16;
        o.record_max = 100;
        struct reading r = read_all(&o);
        if (length < 100) {
            assert_int_equal(r.rc, 0);
            assert_int_equal(r.n, 4);
        } else {
            assert_int_equal(r.rc, DEJA_ENOMEM);
            assert_listed(&r.keys, "a|b|");
            assert_contains(r.err.text, path);
            assert_contains(r.err.text, "line 3 is longer than 100 bytes");
        }
        reading_free(&r);
        drop(&content);
    }
}

static void memory_that_is_refused_is_an_error_with_file_and_line(void **state)
{
    (void)state;
#ifdef THREAD_SANITIZER
    skip(); /* its allocator ends the process instead */
#endif
    const char *path = file(0, TEXT("a\n"));
    struct input_options o = options_for(&path, 1);
    o.block_size = SIZE_MAX / 4;
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_ENOMEM);
    assert_contains(r.err.text, path);
    assert_contains(r.err.text, "out of memory");
    assert_contains(r.err.text, "at line 1");
}

/* --- Files that cannot be read ------------------------------------------- */

static void a_missing_file_is_named_before_any_work(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\n")), "/nonexistent/list.txt"};
    struct input_options o = options_for(paths, 2);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_int_equal(r.n, 0);
    assert_string_equal(r.err.text, "/nonexistent/list.txt does not exist; check its name");
}

static void a_directory_is_refused_with_a_way_out(void **state)
{
    (void)state;
    const char *path = folder;
    struct input_options o = options_for(&path, 1);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_contains(r.err.text, folder);
    assert_contains(r.err.text, "is a directory; name files, or use find");
}

static void a_file_without_read_permission_is_named(void **state)
{
    (void)state;
    const char *path = file(0, TEXT("a\n"));
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* root may read everything, so drop privileges */
        int wrong = geteuid() == 0 && seteuid(65534) != 0;
        struct input_options o = options_for(&path, 1);
        struct input *in;
        deja_error err;
        wrong |= input_open(&o, &in, &err) != DEJA_EIO;
        wrong |= !strstr(err.text, path) || !strstr(err.text, "permission denied");
        _exit(wrong);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void a_file_that_vanishes_later_is_an_error_when_its_turn_comes(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\n")), file(1, TEXT("b\n"))};
    struct input_options o = options_for(paths, 2);
    struct input *in;
    struct block b;
    deja_error err;
    block_init(&b);
    assert_int_equal(input_open(&o, &in, &err), DEJA_OK);
    unlink(paths[1]);
    assert_int_equal(input_next(in, &b, &err), 1);
    assert_int_equal(input_next(in, &b, &err), DEJA_EIO);
    assert_contains(err.text, paths[1]);
    input_close(in);
    block_fini(&b);
}

static void a_read_that_fails_is_an_error_with_its_reason(void **state)
{
    (void)state;
    const char *path = "/proc/self/mem"; /* nothing is mapped at address 0 */
    if (access(path, R_OK) != 0)
        skip();
    struct input_options o = options_for(&path, 1);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_string_equal(r.err.text, "/proc/self/mem cannot be read: Input/output error; 0 lines "
                                    "before that were read");
    reading_free(&r);
}

static void other_open_errors_give_the_reason_of_the_system(void **state)
{
    (void)state;
    char path[100];
    snprintf(path, sizeof path, "%s/below", file(0, TEXT("a\n")));
    const char *paths[] = {path};
    struct input_options o = options_for(paths, 1);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_EIO);
    assert_contains(r.err.text, path);
    assert_contains(r.err.text, "cannot be opened: Not a directory");
}

static void file_names_in_messages_are_short_and_harmless(void **state)
{
    (void)state;
    assert_string_equal(fail_path("list.txt").text, "list.txt");
    assert_string_equal(fail_path("a\x1b[2Jb\n\x7f").text, "a\\x1b[2Jb\\x0a\\x7f");
    assert_string_equal(fail_path("na\u00efve \u202e").text, "na\u00efve \\u202e");
    char path[300];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 5, ".txt", 5);
    struct fail_path shown = fail_path(path);
    assert_true(strlen(shown.text) < sizeof shown.text);
    assert_memory_equal(shown.text, "...xxx", 6);
    assert_contains(shown.text, "xxx.txt");
    /* Whole characters and whole escapes, for every length. */
    for (size_t n = 1; n < 140; n++) {
        char odd[600] = "";
        for (size_t i = 0; i < n; i++)
            strncat(odd, i % 3 ? "\xe2\x82\xac" : "\x1b", 4);
        shown = fail_path(odd);
        const char *text = shown.text + (memcmp(shown.text, "...", 3) == 0 ? 3 : 0);
        while (*text) {
            const size_t wide = *text == '\\' ? 4 : 3;
            assert_memory_equal(text, wide == 4 ? "\\x1b" : "\xe2\x82\xac", wide);
            text += wide;
        }
        assert_true(strlen(shown.text) < sizeof shown.text);
        assert_true(strlen(shown.text) > (n > 40 ? sizeof shown.text - 5 : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_lines_without_their_ends),
        cmocka_unit_test(lists_with_crlf_and_with_lf_have_the_same_keys),
        cmocka_unit_test(records_are_the_bytes_of_the_input),
        cmocka_unit_test(nul_bytes_in_lines_are_ordinary),
        cmocka_unit_test(a_last_line_without_end_gets_one),
        cmocka_unit_test(files_do_not_run_into_each_other),
        cmocka_unit_test(a_byte_order_mark_is_not_part_of_the_first_key),
        cmocka_unit_test(blocks_know_their_file_and_line),
        cmocka_unit_test(blocks_of_any_size_give_the_lines_of_a_naive_splitter),
        cmocka_unit_test(blocks_of_any_size_give_nul_terminated_records),
        cmocka_unit_test(blocks_of_any_size_give_the_fields_of_a_naive_splitter),
        cmocka_unit_test(a_large_file_of_short_and_long_lines_is_split_like_a_small_one),
        cmocka_unit_test(a_line_longer_than_the_block_makes_it_grow_and_shrink_again),
        cmocka_unit_test(a_line_beyond_the_limit_is_an_error_with_its_number),
        cmocka_unit_test(memory_that_is_refused_is_an_error_with_file_and_line),
        cmocka_unit_test(a_missing_file_is_named_before_any_work),
        cmocka_unit_test(a_directory_is_refused_with_a_way_out),
        cmocka_unit_test(a_file_without_read_permission_is_named),
        cmocka_unit_test(a_file_that_vanishes_later_is_an_error_when_its_turn_comes),
        cmocka_unit_test(a_read_that_fails_is_an_error_with_its_reason),
        cmocka_unit_test(other_open_errors_give_the_reason_of_the_system),
        cmocka_unit_test(file_names_in_messages_are_short_and_harmless),
    };
    return cmocka_run_group_tests_name("unit.input", tests, make_folder, remove_folder);
}
