/* fuzz_url.c - any bytes as a URL, in every profile.
 *
 * The first byte says where the input is cut into a base and a link; everything after it is a URL
 * as well.  A canonical form is its own canonical form and not too long; the layers of a URL add
 * up to that URL; a resolved link is absolute, and resolving it again does not change it. */
#include "checking.h"
#include "glance.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool same(deja_slice a, deja_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* A block of exactly this size, so that one byte more is detected. */
static char *room(size_t len)
{
    char *p = malloc(len ? len : 1);
    check(p);
    return p;
}

static void check_layers(deja_slice url)
{
    deja_slice layer[9];
    for (size_t cap = 0; cap < 9; cap += 2) {
        const size_t n = deja_url_split(url, layer, cap);
        const char *at = url.data;
        check(n <= cap && (cap == 0 || (n > 0) == (url.len > 0)));
        for (size_t i = 0; i < n; at += layer[i++].len)
            check(layer[i].data == at);
        check(n == 0 || at == (const char *)url.data + url.len);
    }
}

static void check_canon(uint32_t profile, deja_slice url)
{
    const deja_url_rules *rules = deja_url_profile(profile);
    const size_t cap = DEJA_URL_ROOM(url.len);
    char *out = room(cap);
    deja_slice canon, again;
    if (deja_url_canon(rules, url, out, cap, &canon, NULL) == DEJA_OK) {
        const size_t again_cap = DEJA_URL_ROOM(canon.len);
        char *again_out = room(again_cap);
        check(canon.len <= 3 * url.len + 256);
        /* w3lib's form need not be stable; ours must be. */
        const int rc = deja_url_canon(rules, canon, again_out, again_cap, &again, NULL);
        check(profile == DEJA_URL_SCRAPY || (rc == DEJA_OK && same(canon, again)));
        check_layers(canon);
        free(again_out);
    } else {
        check(same(canon, url));
    }
    free(out);
}

/* If the quick check calls a URL canonical, so does the file that writes the form. */
static void check_plain(uint32_t profile, deja_slice url)
{
    static dj_url_writer *const writer[] = {NULL, dj_url_safe, dj_url_safe, dj_url_gsb,
                                            dj_url_scrapy};
    const deja_url_rules *rules = deja_url_profile(profile);
    deja_slice canon;
    uint8_t plain;
    glance(rules, &url, 1, &plain);
    const int quick = deja_url_canon(rules, url, NULL, 0, &canon, NULL);
    check(!plain || (quick == DEJA_OK && same(canon, url)));
    if (quick != DEJA_OK)
        return;
    const size_t cap = DEJA_URL_ROOM(url.len);
    char *out = room(cap);
    struct dj_text text = dj_text_in(out, cap);
    check(writer[profile](rules, url, &text) == DEJA_OK && same(canon, dj_text_slice(&text)));
    free(out);
}

static void check_resolve(deja_slice base, deja_slice link)
{
    const size_t cap = DEJA_URL_ROOM(base.len + link.len);
    char *out = room(cap);
    deja_slice url, again;
    if (deja_url_resolve(base, link, out, cap, &url, NULL) == DEJA_OK) {
        const deja_slice nowhere = {NULL, 0};
        const size_t again_cap = DEJA_URL_ROOM(url.len);
        char *again_out = room(again_cap);
        check(deja_url_resolve(nowhere, url, again_out, again_cap, &again, NULL) == DEJA_OK);
        check(same(url, again));
        free(again_out);
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t len = size - 1, cut = data[0] < len ? data[0] : len;
    char *copy = room(len); /* so that reading past its end is detected */
    memcpy(copy, data + 1, len);
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_SHAPE; profile++) {
        check_canon(profile, (deja_slice){copy, len});
        if (profile != DEJA_URL_SHAPE)
            check_plain(profile, (deja_slice){copy, len});
    }
    check_layers((deja_slice){copy, len});
    check_resolve((deja_slice){copy, cut}, (deja_slice){copy + cut, len - cut});
    free(copy);
    return 0;
}
