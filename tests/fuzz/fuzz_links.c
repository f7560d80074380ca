/* fuzz_links.c - links in any bytes: every one is a URL, and the same bytes give the same links.
 *
 * The first byte selects options; the rest is the page, which is also read as a sitemap. */
#include "checking.h"
#include "crawler/http/links.h"
#include "crawler/http/sitemap.h"
#include "tools/base/buffer.h"
#include <stdint.h>

struct sum {
    size_t n;
    uint64_t hash;
};

static int add(void *ctx, deja_slice url)
{
    struct sum *s = ctx;
    const unsigned char *p = url.data;
    check(url.len > 0 && memchr(p, ':', url.len)); /* absolute */
    s->n++;
    for (size_t i = 0; i < url.len; i++)
        s->hash = (s->hash ^ p[i]) * UINT64_C(0x100000001b3);
    return DEJA_OK;
}

static int any(void *ctx, deja_slice url)
{
    *(size_t *)ctx += url.len;
    return DEJA_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const deja_slice at = {"http://h/d/p?q", 14};
    if (size == 0)
        return 0;
    const struct links_options o = {.embeds = data[0] & 1,
                                    .nofollow = data[0] & 2,
                                    .max_len = data[0] & 4 ? 40 : 2000,
                                    .max_memory = data[0] & 8 ? 300000 : 0,
                                    .max_cpu = -1};
    const deja_slice html = {data + 1, size - 1};
    struct sum first = {0}, second = {0};
    struct links_count n, again;
    const int rc = links_extract(html, at, &o, add, &first, &n);
    check(rc == DEJA_OK || rc == DEJA_EFULL);
    check(rc == DEJA_EFULL || n.found == first.n);
    check(links_extract(html, at, &o, add, &second, &again) == rc);
    check(first.n == second.n && first.hash == second.hash);
    size_t bytes = 0;
    check(sitemap_extract(html, any, &bytes) == DEJA_OK && bytes <= 2 * size);
    return 0;
}
