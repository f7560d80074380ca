/* test_httphead.c - fields of a response, its archived form, content codings. */
#include "crawler/http/httphead.h"
#include "unit.h"

#include <zlib.h>

#define SLICE(text) ((deja_slice){text, sizeof text - 1})

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type:  text/HTML; charset=x \r\n"
                           "LOCATION:/a\r\nlocation: /b\r\nbroken\r\n\r\n";

static void field_is(const char *name, const char *want)
{
    const deja_slice got = httphead_field(SLICE(head), name);
    assert_int_equal(got.data != NULL, want != NULL);
    if (want) {
        assert_int_equal(got.len, strlen(want));
        assert_memory_equal(got.data, want, got.len);
    }
}

static void the_first_field_of_a_name_counts(void **state)
{
    field_is("content-type", "text/HTML; charset=x");
    field_is("location", "/a");
    field_is("broken", NULL);
    field_is("http/1.1 200 ok", NULL);
    assert_null(httphead_field(SLICE(""), "a").data);
}

static void html_and_xml_are_recognized_by_type_or_content(void **state)
{
    assert_true(httphead_is_html(SLICE("text/html"), SLICE("")));
    assert_true(httphead_is_html(SLICE("Application/XHTML+xml ; x"), SLICE("")));
    assert_false(httphead_is_html(SLICE("image/png"), SLICE("<html>")));
    assert_true(httphead_is_html(SLICE(""), SLICE("\xef\xbb\xbf \n<!DOCTYPE HTML>")));
    assert_false(httphead_is_html(SLICE(""), SLICE("GIF89a")));
    assert_true(httphead_is_xml(SLICE("text/xml"), SLICE("")));
    assert_true(httphead_is_xml(SLICE("text/plain"), SLICE("<?xml?>")));
    assert_false(httphead_is_xml(SLICE("text/html"), SLICE("<html>")));
}

static void archived(const char *in, const char *want)
{
    struct buffer out = {0};
    assert_int_equal(httphead_archive((deja_slice){in, strlen(in)}, &out), DEJA_OK);
    assert_true(buffer_add(&out, "", 1));
    assert_string_equal(out.data, want);
    buffer_fini(&out);
}

static void the_archived_form_is_http_1(void **state)
{
    archived("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n",
             "HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\nA: b\r\n\r\n");
    archived("HTTP/2 404 \r\na: b\r\n\r\n", "HTTP/1.1 404 \r\na: b\r\n\r\n");
    archived("HTTP/1.0 200 Fine thing\nA: b", "HTTP/1.0 200 Fine thing\r\nA: b\r\n\r\n");
    archived("", "\r\n");
}

static void the_body_begins_after_an_empty_line(void **state)
{
    assert_int_equal(httphead_end(SLICE("A\r\nB\r\n\r\nbody")), 8);
    assert_int_equal(httphead_end(SLICE("A\r\n\r\n")), 5);
    assert_int_equal(httphead_end(SLICE("A\r\nB")), 4);
}

static size_t packed(int window, const char *text, uint8_t *out, size_t cap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    char copy[100];
    z.avail_in = (uInt)strlen(text);
    memcpy(copy, text, z.avail_in);
    z.next_in = (Bytef *)copy;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return cap - z.avail_out;
}

static void content_codings_are_decoded(void **state)
{
    static const char text[] = "some text that is long enough, long enough";
    static const struct {
        int window;
        const char *coding;
    } all[] = {{31, "gzip"}, {31, "X-GZIP"}, {15, "deflate"}, {-15, "deflate"}};
    struct buffer room = {0};
    uint8_t raw[200];
    deja_slice body;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const deja_slice coding = {all[i].coding, strlen(all[i].coding)};
        const size_t len = packed(all[i].window, text, raw, sizeof raw);
        assert_int_equal(httphead_decode(coding, (deja_slice){raw, len}, 1000, &room, &body),
                         DEJA_OK);
        assert_int_equal(body.len, sizeof text - 1);
        assert_memory_equal(body.data, text, body.len);
        /* Truncated: whatever was decoded, and an error. */
        assert_int_equal(httphead_decode(coding, (deja_slice){raw, len - 9}, 1000, &room, &body),
                         DEJA_EFORMAT);
        /* A decompression bomb stops at the limit. */
        assert_int_equal(httphead_decode(coding, (deja_slice){raw, len}, 10, &room, &body),
                         DEJA_OK);
        assert_int_equal(body.len, 10);
    }
    assert_int_equal(httphead_decode(SLICE("br"), SLICE("xx"), 10, &room, &body), DEJA_EFORMAT);
    assert_int_equal(body.len, 0);
    assert_int_equal(httphead_decode(SLICE("identity"), SLICE("xx"), 10, &room, &body), DEJA_OK);
    assert_int_equal(body.len, 2);
    assert_int_equal(httphead_decode(SLICE(""), SLICE(""), 10, &room, &body), DEJA_OK);
    buffer_fini(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_field_of_a_name_counts),
        cmocka_unit_test(html_and_xml_are_recognized_by_type_or_content),
        cmocka_unit_test(the_archived_form_is_http_1),
        cmocka_unit_test(the_body_begins_after_an_empty_line),
        cmocka_unit_test(content_codings_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
