/* fuzz_escapes.c - decoding reverses the escapes of other programs.
 *
 * The first byte selects the writer of the line, the second how much it escapes, and the rest is
 * the key.  The line is JSON with the key as one of its strings, as json.dumps and similar
 * functions write it, or an entry in the log of Apache or nginx with the key as the request's
 * target.  Picking and decoding must return the key unchanged. */
#include "checking.h"
#include "tools/input/jsonpick.h"
#include "tools/input/logline.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char data[65536];
    size_t len;
};

static void put(struct text *t, const char *s, size_t len)
{
    check(t->len + len <= sizeof t->data);
    memcpy(t->data + t->len, s, len);
    t->len += len;
}

static void put_text(struct text *t, const char *s)
{
    put(t, s, strlen(s));
}

/* --- JSON ------------------------------------------------------------------- */

/* The code point at s, if it is valid UTF-8; returns its length, or 0. */
static size_t code_point(const uint8_t *s, size_t len, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : 4;
    if (n == 4 && s[0] >> 3 != 30)
        return 0;
    if (n > len)
        return 0;
    *c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        *c = *c << 6 | (s[i] & 0x3f);
    }
    return *c >= least[n] && *c < 0x110000 && (*c < 0xd800 || *c > 0xdfff) ? n : 0;
}

static void put_unit(struct text *t, uint32_t unit, bool upper)
{
    char escape[8];
    snprintf(escape, sizeof escape, upper ? "\\u%04X" : "\\u%04x", unit);
    put_text(t, escape);
}

/* `much`: bit 0 everything as \u, bit 1 the slash, bit 2 non-ASCII, bit 3 capitals. */
static void put_json_string(struct text *t, const uint8_t *s, size_t len, unsigned much)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    put_text(t, "\"");
    while (len) {
        uint32_t c = 0;
        const size_t n = code_point(s, len, &c);
        const char *letter = n == 1 && c ? strchr(plain, (int)c) : NULL;
        const bool must = n == 1 && (c < 0x20 || letter);
        if (n && ((much & 1) || (must && !letter) || (n > 1 && much & 4))) {
            if (c >= 0x10000) {
                put_unit(t, 0xd800 + ((c - 0x10000) >> 10), much & 8);
                put_unit(t, 0xdc00 + ((c - 0x10000) & 0x3ff), much & 8);
            } else {
                put_unit(t, c, much & 8);
            }
        } else if (letter) {
            put(t, (char[]){'\\', letters[letter - plain]}, 2);
        } else if (n == 1 && c == '/' && much & 2) {
            put_text(t, "\\/");
        } else {
            put(t, (const char *)s, n ? n : 1);
        }
        s += n ? n : 1;
        len -= n ? n : 1;
    }
    put_text(t, "\"");
}

static void check_json(struct text *t, const uint8_t *key, size_t len, unsigned much)
{
    static const char *const before[] = {"", "\"a\":1, ", "\"n\" : [1,{\"x\":\"}]\"}], ",
                                         "\"v\":{\"u\":\"no\"},\"u2\":null,\t"};
    const bool deep = much & 16;
    deja_slice value;
    put_text(t, " {");
    put_text(t, before[much >> 5 & 3]);
    put_text(t, deep ? "\"d\":{\"k\":{}, \"u\" :" : "\"u\": ");
    put_json_string(t, key, len, much);
    put_text(t, deep ? "}, \"u\":\"no\"}" : ", \"u\":\"no\"}");
    struct jsonpick_path path;
    check(jsonpick_parse(&path, deep ? "d.u" : "u"));
    check(jsonpick_find((deja_slice){t->data, t->len}, &path, &value));
    if (jsonpick_is_raw(value)) {
        char *out = malloc(value.len);
        check(out);
        value = (deja_slice){out, jsonpick_decode(value, out)};
        check(value.len == len && memcmp(out, key, len) == 0);
        free(out);
    } else {
        check(value.len == len && (len == 0 || memcmp(value.data, key, len) == 0));
    }
}

/* --- Logs ------------------------------------------------------------------- */

static void put_log_string(struct text *t, const uint8_t *s, size_t len, bool nginx)
{
    static const char plain[] = "\"\\\b\n\r\t\v", letters[] = "\"\\bnrtv";
    for (size_t i = 0; i < len; i++) {
        const char *letter = s[i] ? strchr(plain, s[i]) : NULL;
        char escape[8];
        if (letter && !nginx) {
            put(t, (char[]){'\\', letters[letter - plain]}, 2);
        } else if (letter || s[i] < 0x20 || s[i] >= 0x7f) {
            snprintf(escape, sizeof escape, nginx ? "\\x%02X" : "\\x%02x", s[i]);
            put_text(t, escape);
        } else {
            put(t, (const char *)s + i, 1);
        }
    }
}

static void check_log(struct text *t, const uint8_t *key, size_t len, unsigned much)
{
    deja_slice target;
    put_text(t, much & 2 ? "www.example.org:443 " : "");
    put_text(t, "203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] \"GET ");
    put_log_string(t, key, len, much & 1);
    put_text(t, " HTTP/1.1\" 200 2326 \"http://referer/ HTTP/1.0\" \"agent\"");
    const bool found = logline_target((deja_slice){t->data, t->len}, &target);
    check(found == (len > 1 || (len == 1 && key[0] != '*')));
    if (!found)
        return;
    char *out = malloc(target.len);
    check(out);
    const bool raw = logline_is_raw(target);
    const size_t n = raw ? logline_decode(target, out) : target.len;
    check(n == len && memcmp(raw ? out : target.data, key, len) == 0);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct text t;
    if (size < 2 || size > 4096)
        return 0;
    t.len = 0;
    if (data[0] % 2)
        check_json(&t, data + 2, size - 2, data[1]);
    else
        check_log(&t, data + 2, size - 2, data[1]);
    return 0;
}
