/* fuzz_httphead.c - headers and content codings of any bytes.
 *
 * The first line of the input is a content coding; a response follows.  Fields lie within the
 * head; the archived head archives to itself, ends at the same place, and claims no transfer
 * coding; decoding respects its limit, and content that was compressed here is restored. */
#include "checking.h"
#include "crawler/http/httphead.h"
#include <stdint.h>
#include <zlib.h>

#define MAX 5000

static void check_fields(deja_slice head)
{
    static const char *const names[] = {"content-type", "location", "etag", "x"};
    const char *begin = head.data;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const deja_slice value = httphead_field(head, names[i]);
        const char *p = value.data;
        check(!p || (p >= begin && p + value.len <= begin + head.len));
        check(!p || !value.len || !memchr(p, '\n', value.len));
    }
}

static void check_archived(deja_slice head, deja_slice body)
{
    struct buffer once = {0}, twice = {0};
    check(httphead_archive(head, &once) == DEJA_OK);
    check(once.len >= 2 && memcmp(once.data + once.len - 2, "\r\n", 2) == 0);
    check(!httphead_field(buffer_slice(&once), "transfer-encoding").data);
    check(httphead_archive(buffer_slice(&once), &twice) == DEJA_OK);
    if (head.len > 0)
        check(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    const size_t end = once.len;
    check(buffer_add(&once, body.data, body.len));
    check(httphead_end(buffer_slice(&once)) == end);
    buffer_fini(&once);
    buffer_fini(&twice);
}

static void check_decoded(deja_slice coding, deja_slice raw)
{
    struct buffer room = {0};
    deja_slice body;
    const int rc = httphead_decode(coding, raw, MAX, &room, &body);
    check(rc == DEJA_OK || rc == DEJA_EFORMAT);
    check(body.data == raw.data || body.len <= MAX);
    (void)httphead_is_html(coding, body);
    (void)httphead_is_xml(coding, body);
    buffer_fini(&room);
}

/* window: of zlib; 15 + 16 gzip, 15 zlib, -15 neither. */
static void check_round(const char *coding, int window, deja_slice body)
{
    struct buffer packed = {0}, room = {0};
    union {
        const void *data;
        Bytef *in;
    } from = {.data = body.data};
    z_stream z = {.next_in = from.in, .avail_in = (uInt)body.len};
    deja_slice got;
    check(deflateInit2(&z, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    const size_t cap = deflateBound(&z, (uLong)body.len) + 64;
    check(buffer_reserve(&packed, cap));
    z.next_out = (Bytef *)packed.data;
    z.avail_out = (uInt)cap;
    check(deflate(&z, Z_FINISH) == Z_STREAM_END);
    packed.len = cap - z.avail_out;
    check(deflateEnd(&z) == Z_OK);
    const deja_slice name = {coding, strlen(coding)};
    check(httphead_decode(name, buffer_slice(&packed), MAX, &room, &got) == DEJA_OK);
    check(got.len == (body.len < MAX ? body.len : MAX));
    check(got.len == 0 || memcmp(got.data, body.data, got.len) == 0);
    buffer_fini(&packed);
    buffer_fini(&room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    if (!line || size > (1 << 16))
        return 0;
    const deja_slice coding = {data, (size_t)(line - data)};
    const deja_slice all = {line + 1, size - coding.len - 1};
    const size_t end = httphead_end(all);
    check(end <= all.len);
    const deja_slice head = {line + 1, end}, body = {line + 1 + end, all.len - end};
    check_fields(head);
    check_archived(head, body);
    check_decoded(coding, body);
    check_decoded((deja_slice){"gzip", 4}, body);
    check_decoded((deja_slice){"deflate", 7}, body);
    check_round("gzip", 15 + 16, body);
    check_round("deflate", 15, body);
    return 0;
}
