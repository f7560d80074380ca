/* test_urlkeys.c - the step of the pipeline that makes URLs canonical. */
#include "cli/session/urlkeys.h"
#include "tools/input/input.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char list[] = "/tmp/deja-test-urlkeys-XXXXXX";

static int make_list(void **state)
{
    (void)state;
    const int fd = mkstemp(list);
    return fd < 0 ? -1 : close(fd);
}

static int remove_list(void **state)
{
    (void)state;
    return unlink(list);
}

/* The step's results for a text: keys separated by bars, "-" for none, a semicolon after each
 * line. */
struct trial {
    struct urlkeys u;
    char keys[4096];
    char forms[4096];
    deja_error err;
    int rc;
};

static void note_block(struct trial *t, const struct block *b)
{
    size_t len = strlen(t->keys);
    for (size_t i = 0; i < b->n; i++) {
        const bool last = i + 1 == b->n || b->ends[i + 1] != b->ends[i];
        len += (size_t)snprintf(t->keys + len, sizeof t->keys - len, "%.*s%s",
                                b->keys[i].data ? (int)b->keys[i].len : 1,
                                b->keys[i].data ? (const char *)b->keys[i].data : "-",
                                last ? ";" : "|");
        assert_true(b->keys[i].data || b->keyless);
    }
}

static struct trial *run_step(const char *text, const struct shared_options *c,
                              enum urlkeys_use use, size_t block_size)
{
    static struct trial t;
    const char *path = list;
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct block b;
    memset(&t, 0, sizeof t);
    FILE *f = fopen(list, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    o.paths = &path;
    o.n_paths = 1;
    o.block_size = block_size;
    block_init(&b);
    assert_int_equal(urlkeys_init(&t.u, c, use, &t.err), DEJA_OK);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    while (t.rc == DEJA_OK && input_next(in, &b, NULL) > 0) {
        t.rc = urlkeys_run(&t.u, &b, &t.err);
        note_block(&t, &b);
        for (size_t i = 0; t.u.forms && i < b.n; i++) { /* one key per line here */
            const size_t len = strlen(t.forms);
            snprintf(t.forms + len, sizeof t.forms - len, "%.*s;", (int)b.forms[i].len,
                     (const char *)b.forms[i].data);
        }
    }
    input_close(in);
    block_fini(&b);
    urlkeys_fini(&t.u);
    return &t;
}

static const char text[] = "HTTP://A.example:80\nno url\n\n-\nhttp://b.example/c?d\nmailto:x\n";

static void keys_become_canonical(void **state)
{
    (void)state;
    const struct shared_options c = {.url = DEJA_URL_SAFE};
    struct trial *t = run_step(text, &c, URLKEYS_COMPARE, 0);
    assert_string_equal(t->keys, "http://a.example/;no url;-;-;http://b.example/c?d;mailto:x;");
    assert_int_equal(t->u.no_url, 1);
    assert_int_equal(t->u.left_out, 0);
}

static void lines_without_a_storable_url_are_not_stored(void **state)
{
    (void)state;
    struct shared_options c = {.url = DEJA_URL_SAFE};
    struct trial *t = run_step(text, &c, URLKEYS_STORE, 0);
    assert_string_equal(t->keys, "http://a.example/;no url;-;-;http://b.example/c?d;mailto:x;");
    assert_int_equal(t->u.no_url, 1);
    assert_int_equal(t->u.left_out, 0);
    c.url = DEJA_URL_GSB;
    t = run_step(text, &c, URLKEYS_STORE, 0);
    assert_string_equal(t->keys, "a.example/;no%20url/;-;-;b.example/c?d;-;");
    assert_int_equal(t->u.no_url, 1);
    assert_int_equal(t->u.left_out, 1);
}

static void looking_up_keeps_every_line(void **state)
{
    (void)state;
    struct shared_options c = {.url = DEJA_URL_SAFE};
    struct trial *t = run_step(text, &c, URLKEYS_LOOK_UP, 0);
    assert_string_equal(t->keys, "http://a.example/;no url;-;-;http://b.example/c?d;mailto:x;");
    c.url = DEJA_URL_GSB;
    t = run_step(text, &c, URLKEYS_LOOK_UP, 0);
    assert_string_equal(t->keys, "a.example/;no%20url/;-;-;b.example/c?d|b.example/c|b.example/;"
                                 "-;");
    /* dedup uses one key per line: the form that a list stores. */
    t = run_step(text, &c, URLKEYS_COMPARE, 0);
    assert_string_equal(t->keys, "a.example/;no%20url/;-;-;b.example/c?d;mailto:x;");
}

static void canonical_forms_are_whole_urls(void **state)
{
    (void)state;
    const struct shared_options c = {.url = DEJA_URL_GSB, .canonical = true};
    struct trial *t = run_step(text, &c, URLKEYS_COMPARE, 0);
    assert_string_equal(t->forms,
                        "http://a.example/;http://no%20url/;;-;http://b.example/c?d;mailto:x;");
}

static void relative_links_are_resolved(void **state)
{
    (void)state;
    const struct shared_options c = {.url = DEJA_URL_SCRAPY, .base = "http://a/b/c"};
    struct trial *t =
        run_step("d\n/d\n?d\n//D/\n http://e:80/%7e\nHTTP:d\nhttps:d\nx+y:z\n1:2\n\n", &c,
                 URLKEYS_COMPARE, 0);
    assert_string_equal(t->keys, "http://a/b/d;http://a/d;http://a/b/c?d=;http://d/;"
                                 "http://e:80/~;http://a/b/d;https:///d;x+y:z;http://a/b/1:2;-;");
}

static void strict_stops_at_the_first_bad_line(void **state)
{
    (void)state;
    const struct shared_options c = {.url = DEJA_URL_SAFE, .strict = true};
    char want[200];
    for (size_t size = 30; size < 200; size += 17) {
        struct trial *t = run_step("http://a/\nhttp://b/\nhttp://c/\nhttp://d/\nno\n", &c,
                                   URLKEYS_COMPARE, size);
        assert_int_equal(t->rc, DEJA_ENOTURL);
        assert_string_equal(t->keys, "http://a/;http://b/;http://c/;http://d/;");
        snprintf(want, sizeof want,
                 "%s: line 5: 'no' is not a URL; without --strict such lines pass", list);
        assert_string_equal(t->err.text, want);
    }
}

/* Needs several chunks of room, and some forms are longer than a chunk. */
static void earlier_forms_survive_when_room_grows(void **state)
{
    (void)state;
    enum {
        LINES = 300,
        LEN = 3000
    };
    const struct shared_options c = {.url = DEJA_URL_SAFE};
    const char *path = list;
    struct input_options o = INPUT_OPTIONS_INIT;
    struct urlkeys u;
    struct input *in;
    struct block b;
    uint64_t n = 0;
    FILE *f = fopen(list, "w");
    assert_non_null(f);
    for (int i = 0; i < LINES; i++) {
        fprintf(f, "HTTP://h%d/", i);
        for (int j = 0; j < (i % 7 == 3 ? 40 * LEN : LEN); j++)
            putc(' ' + (j == 0 ? 'a' - ' ' : 0), f);
        fputs("z\n", f);
    }
    fclose(f);
    o.paths = &path;
    o.n_paths = 1;
    block_init(&b);
    assert_int_equal(urlkeys_init(&u, &c, URLKEYS_COMPARE, NULL), DEJA_OK);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    while (input_next(in, &b, NULL) > 0) {
        assert_int_equal(urlkeys_run(&u, &b, NULL), DEJA_OK);
        for (size_t i = 0; i < b.n; i++, n++) {
            char head[40];
            const int len = snprintf(head, sizeof head, "http://h%d/a", (int)n);
            const char *key = b.keys[i].data;
            const size_t blanks = (n % 7 == 3 ? 40 * LEN : LEN) - 1;
            assert_int_equal(b.keys[i].len, (size_t)len + 3 * blanks + 1);
            assert_memory_equal(key, head, (size_t)len);
            for (size_t j = 0; j < blanks; j++)
                assert_true(memcmp(key + len + 3 * j, "%20", 3) == 0);
            assert_int_equal(key[b.keys[i].len - 1], 'z');
        }
    }
    assert_int_equal(n, LINES);
    input_close(in);
    block_fini(&b);
    urlkeys_fini(&u);
}

static void an_invalid_base_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a.example", "/a", "mailto:a", "http://", "http://a b/"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct shared_options c = {.url = DEJA_URL_SAFE, .base = bad[i]};
        struct urlkeys u;
        deja_error err = {0};
        if (urlkeys_init(&u, &c, URLKEYS_COMPARE, &err) != OPT_USAGE)
            fail_msg("'%s' was accepted as a base", bad[i]);
        assert_non_null(strstr(err.text, "--base takes an absolute URL"));
        urlkeys_fini(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_canonical),
        cmocka_unit_test(lines_without_a_storable_url_are_not_stored),
        cmocka_unit_test(looking_up_keeps_every_line),
        cmocka_unit_test(canonical_forms_are_whole_urls),
        cmocka_unit_test(relative_links_are_resolved),
        cmocka_unit_test(strict_stops_at_the_first_bad_line),
        cmocka_unit_test(earlier_forms_survive_when_room_grows),
        cmocka_unit_test(an_invalid_base_is_refused),
    };
    return cmocka_run_group_tests_name("unit.urlkeys", tests, make_list, remove_list);
}
