/* test_logline.c - the request target in a line of a web server's log. */
#include "tools/input/logline.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target in a line, decoded; NULL: there is none. */
static void target_is(const char *text, const char *want)
{
    const size_t len = strlen(text);
    char *line = malloc(len ? len : 1);
    char *out = malloc(len + 1);
    assert_true(line && out);
    memcpy(line, text, len);
    deja_slice target;
    const bool found = logline_target((deja_slice){line, len}, &target);
    assert_int_equal(found, want != NULL);
    if (found) {
        assert_true(target.len <= len);
        size_t n = target.len;
        if (logline_is_raw(target))
            n = logline_decode(target, out);
        else
            memcpy(out, target.data, n);
        out[n] = 0;
        assert_string_equal(out, want);
    }
    free(line);
    free(out);
}

/* A log line with this request. */
static void request_is(const char *request, const char *want)
{
    char line[400];
    snprintf(line, sizeof line, "10.0.0.1 - - [10/Oct/2024:13:55:36 +0200] \"%s\" 200 23 \"-\"",
             request);
    target_is(line, want);
}

static void every_usual_log_format_is_read(void **state)
{
    (void)state;
    target_is("::1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /a.gif HTTP/1.0\" 200 23", "/a.gif");
    target_is("h - - [d] \"GET /a?b=c HTTP/1.1\" 200 1 \"http://r/\" \"agent \\\"x\\\"\"",
              "/a?b=c");
    target_is("www.a.org:443 h - - [d] \"POST /a HTTP/2.0\" 200 1 \"-\" \"-\"", "/a");
    target_is("h - user with [brackets] in it [d] \"GET /a HTTP/1.1\" 200", "/a");
    target_is("h - \\\"[x] \\\"GET /b HTTP/1.1\\\" [d] \"GET /a HTTP/1.1\" 200", "/a");
}

static void every_kind_of_target_is_found(void **state)
{
    (void)state;
    request_is("GET http://example.org/a HTTP/1.1", "http://example.org/a");
    request_is("CONNECT example.org:443 HTTP/1.1", "example.org:443");
    request_is("VERSION-CONTROL /a HTTP/1.1", "/a");
    request_is("get /a HTTP/1.1", "/a");
    request_is("GET /a", "/a");
    request_is("GET / HTTP/1.1", "/");
    request_is("GET /a b  c HTTP/1.1", "/a b  c");
    request_is("GET /HTTP/1.1 HTTP/1.1", "/HTTP/1.1");
}

static void other_lines_have_no_target(void **state)
{
    (void)state;
    static const char *const requests[] = {"-",
                                           "",
                                           "GET",
                                           "GET ",
                                           " /a HTTP/1.1",
                                           "\\x16\\x03\\x01 / HTTP/1.1",
                                           "a b",
                                           "GET  HTTP/1.1",
                                           "GET /a b",
                                           "OPTIONS * HTTP/1.1",
                                           "GET HTTP/1.1",
                                           "\\n"};
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        request_is(requests[i], NULL);
    static const char *const lines[] = {
        "", "]", "] \"", "h - - [d] \"GET /a", "GET /", "\"GET /\"", "[d] \"GET /a\\\" 200"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        target_is(lines[i], NULL);
}

static void escapes_are_decoded_to_what_the_client_sent(void **state)
{
    (void)state;
    request_is("GET /a\\\"b\\\\ HTTP/1.1", "/a\"b\\");
    request_is("GET /a\\\"b", "/a\"b");
    request_is("GET /\\xc3\\xA9\\x22 HTTP/1.1", "/\xc3\xa9\"");
    request_is("GET /\\t\\n\\v HTTP/1.1", "/\t\n\v");
    request_is("GET /\\x4\\xg1\\q HTTP/1.1", "/\\x4\\xg1\\q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_usual_log_format_is_read),
        cmocka_unit_test(every_kind_of_target_is_found),
        cmocka_unit_test(other_lines_have_no_target),
        cmocka_unit_test(escapes_are_decoded_to_what_the_client_sent),
    };
    return cmocka_run_group_tests_name("unit.logline", tests, NULL, NULL);
}
