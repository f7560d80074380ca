/* fuzz_cdxj.c - writes lines of the index for any URL and media type.
 *
 * The first line of the input is a URL, which is canonicalized as the crawler does; the rest is a
 * media type.  A line has exactly one line break, at its end; its key has no blanks, no capitals
 * and a slash after the host; its JSON is complete and contains the URL; and parameters in another
 * order have the same key. */
#include "checking.h"
#include "crawler/archive/cdxj.h"
#include "tools/base/ascii.h"
#include <stdint.h>
#include <stdio.h>

/* Decodes the string that starts after the quote at p; NULL if it has no end.  Returns a pointer
 * past it. */
static const char *read_string(const char *p, const char *end, struct buffer *out)
{
    for (; p < end && *p != '"'; p++) {
        char c = *p;
        check((unsigned char)c >= 0x20 && (unsigned char)c < 0x7f);
        if (c == '\\') {
            check(++p < end);
            c = *p;
            if (c == 'u') {
                check(end - p > 4 && p[1] == '0' && p[2] == '0');
                c = (char)(ascii_hex(p[3]) << 4 | ascii_hex(p[4]));
                p += 4;
            } else {
                static const char letters[] = "\"\\bfnrt", bytes[] = "\"\\\b\f\n\r\t";
                const char *letter = strchr(letters, c);
                check(c && letter);
                c = bytes[letter - letters];
            }
        }
        check(buffer_add(out, &c, 1));
    }
    check(p < end);
    return p + 1;
}

static void check_json(const char *p, const char *end, deja_slice url, deja_slice mime)
{
    static const char *const keys[] = {"url",    "mime",   "status",  "digest",
                                       "length", "offset", "filename"};
    size_t key = 0;
    check(p < end && *p == '{');
    do {
        struct buffer name = {0}, value = {0};
        check(*++p == '"' || (*p == ' ' && *++p == '"'));
        p = read_string(p + 1, end, &name);
        check(end - p > 3 && p[0] == ':' && p[1] == ' ' && p[2] == '"');
        p = read_string(p + 3, end, &value);
        while (key < 7 && !ascii_is(buffer_slice(&name), keys[key]))
            key++;
        check(key < 7); /* in order */
        if (key == 0)
            check(ascii_compare(buffer_slice(&value), url) == 0);
        if (key == 1)
            check(ascii_compare(buffer_slice(&value), mime) == 0);
        buffer_fini(&name);
        buffer_fini(&value);
    } while (p < end && *p == ',');
    check(key == 6 && end - p == 2 && p[0] == '}' && p[1] == '\n');
}

static void check_key(deja_slice key)
{
    const char *p = key.data;
    check(key.len > 2 && memmem(p, key.len, ")/", 2));
    for (size_t i = 0; i < key.len; i++)
        check((unsigned char)p[i] > ' ' && !(p[i] >= 'A' && p[i] <= 'Z'));
}

/* The URL with its first parameter at the end. */
static void check_order(deja_slice url, deja_slice key)
{
    const char *p = url.data, *end = p + url.len;
    const char *mark = memchr(p, '?', url.len);
    const char *amp = mark ? memchr(mark, '&', (size_t)(end - mark)) : NULL;
    struct buffer turned = {0}, other = {0};
    if (!amp)
        return;
    check(buffer_add(&turned, p, (size_t)(mark + 1 - p)));
    check(buffer_add(&turned, amp + 1, (size_t)(end - amp - 1)) && buffer_text(&turned, "&"));
    check(buffer_add(&turned, mark + 1, (size_t)(amp - mark - 1)));
    check(cdxj_key(buffer_slice(&turned), &other) == DEJA_OK);
    check(ascii_compare(buffer_slice(&other), key) == 0);
    buffer_fini(&turned);
    buffer_fini(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    const deja_slice raw = {data, end ? (size_t)(end - data) : size};
    const deja_slice mime = {data + raw.len, size - raw.len};
    char room[1 << 16];
    deja_slice url;
    if (DEJA_URL_ROOM(raw.len) > sizeof room ||
        deja_url_canon(deja_url_profile(DEJA_URL_SAFE), raw, room, sizeof room, &url, NULL) < 0 ||
        (!ascii_begins(url, "http:") && !ascii_begins(url, "https:")))
        return 0;
    struct buffer line = {0}, key = {0};
    const struct cdxj_entry e = {.url = url,
                                 .when = 1767323045 + (time_t)size,
                                 .status = 200,
                                 .mime = mime,
                                 .digest = "sha1:X",
                                 .place = {(uint32_t)size, UINT64_MAX, size}};
    check(cdxj_key(url, &key) == DEJA_OK && cdxj_line(&e, &line) == DEJA_OK);
    check_key(buffer_slice(&key));
    check(line.len > key.len + 16 && memcmp(line.data, key.data, key.len) == 0);
    check(memchr(line.data, '\n', line.len) == line.data + line.len - 1);
    check(line.data[key.len] == ' ' && line.data[key.len + 15] == ' ');
    check_json(line.data + key.len + 16, line.data + line.len, url, mime);
    check_order(url, buffer_slice(&key));
    buffer_fini(&line);
    buffer_fini(&key);
    return 0;
}
