/* glance.h - the quick check for canonical URLs, as deja_url_canon_batch runs it. */
#ifndef TEST_GLANCE_H
#define TEST_GLANCE_H
#include "core/url/plain.h"

static inline void glance(const deja_url_rules *rules, const deja_slice *url, size_t n,
                          uint8_t *plain)
{
    const struct dj_plain_kernel *k = dj_plain_best();
    if (k->glance)
        k->glance(rules, url, n, plain);
    for (size_t i = 0; !k->glance && i < n; i++) {
        size_t len = url[i].len;
        plain[i] = k->look(rules, url[i].data, &len) == DJ_PLAIN_YES && len == url[i].len;
    }
}

#endif
