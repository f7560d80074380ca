/* canon.c - the entry point for canonical URLs: names and rules of the profiles, and the function
 * that writes each form. */
#include "core/base/bylength.h"
#include "core/base/status.h"
#include "core/url/params.h"
#include "core/url/plain.h"
#include "core/url/scrapy.h"
#include <stdatomic.h>

static const struct profile {
    const char *name;
    dj_url_writer *write;
    bool mostly_plain;                /* most URLs are already canonical: ask plain.c first */
    dj_url_query_writer *write_query; /* if plain.c finds fault only with the query */
} profiles[] = {
    [DEJA_URL_SAFE] = {"safe", dj_url_safe, true, NULL},
    [DEJA_URL_CRAWL] = {"crawl", dj_url_safe, true, dj_params_sort_query},
    [DEJA_URL_GSB] = {"gsb", dj_url_gsb, true, NULL},
    [DEJA_URL_SCRAPY] = {"scrapy", dj_url_scrapy, true, dj_scrapy_write_query},
    [DEJA_URL_SHAPE] = {"shape", dj_url_shape, false, NULL},
};
#define N_PROFILES (sizeof profiles / sizeof profiles[0])

const char *deja_profile_name(uint32_t profile)
{
    return profile < N_PROFILES ? profiles[profile].name : NULL;
}

uint32_t deja_profile_parse(const char *name)
{
    for (uint32_t i = 1; i < N_PROFILES; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return i;
    return 0;
}

static const struct dj_plain_kernel *kernel(void)
{
    static _Atomic(const struct dj_plain_kernel *) best;
    const struct dj_plain_kernel *k = atomic_load_explicit(&best, memory_order_relaxed);
    if (!k) /* a race is harmless: every thread computes the same value */
        atomic_store_explicit(&best, k = dj_plain_best(), memory_order_relaxed);
    return k;
}

static int add_slash(deja_slice url, char *out, size_t cap, deja_slice *canon)
{
    if (cap <= url.len)
        return DEJA_ESPACE;
    memcpy(out, url.data, url.len);
    out[url.len] = '/';
    *canon = (deja_slice){out, url.len + 1};
    return DEJA_OK;
}

static int rewrite_query(const deja_url_rules *rules, deja_slice url, char *out, size_t cap,
                         deja_slice *canon)
{
    const char *begin = url.data, *end = begin + url.len, *query = memchr(begin, '?', url.len);
    if (cap < DEJA_URL_ROOM(url.len))
        return DEJA_ESPACE;
    struct dj_text text = dj_text_in(out, cap);
    dj_text_bytes(&text, begin, (size_t)(query - begin));
    const deja_slice old = {query + 1, (size_t)(end - query) - 1};
    const int rc = profiles[rules->profile].write_query(rules, old, &text);
    if (rc == DEJA_OK)
        *canon = dj_text_slice(&text);
    return rc;
}

static int canon_of(const deja_url_rules *rules, deja_slice url, char *out, size_t cap,
                    deja_slice *canon)
{
    const struct profile *profile = &profiles[rules->profile];
    deja_slice plain = url;
    *canon = url;
    switch (profile->mostly_plain ? kernel()->look(rules, url.data, &plain.len) : DJ_PLAIN_NO) {
    case DJ_PLAIN_YES:
        *canon = plain;
        return DEJA_OK;
    case DJ_PLAIN_NO_PATH:
        return add_slash(plain, out, cap, canon);
    case DJ_PLAIN_QUERY:
        return rewrite_query(rules, plain, out, cap, canon);
    case DJ_PLAIN_NO:
        break;
    }
    if (cap < DEJA_URL_ROOM(url.len))
        return DEJA_ESPACE;
    struct dj_text text = dj_text_in(out, cap);
    const int rc = profile->write(rules, url, &text);
    if (rc == DEJA_OK)
        *canon = dj_text_slice(&text);
    return rc == DEJA_OK && text.short_of_room ? DEJA_ESPACE : rc;
}

int deja_url_canon(const deja_url_rules *rules, deja_slice url, char *out, size_t cap,
                   deja_slice *canon, deja_error *err)
{
    return dj_url_explain(canon_of(rules, url, out, cap, canon), url, err);
}

size_t deja_url_canon_batch(const deja_url_rules *rules, const deja_slice *url, size_t n,
                            char *out, size_t cap, deja_slice *canon, int8_t *status)
{
    dj_plain_glance *const glance =
        profiles[rules->profile].mostly_plain ? kernel()->glance : NULL;
    uint8_t plain[DJ_LOT] = {0};
    for (size_t i = 0; i < n; i++) {
        if (i % DJ_LOT == 0) {
            const size_t lot = n - i < DJ_LOT ? n - i : DJ_LOT;
            if (glance)
                glance(rules, url + i, lot, plain);
            if (canon != url)
                memcpy(canon + i, url + i, lot * sizeof *url);
            memset(status + i, 0, lot);
        }
        if (plain[i % DJ_LOT])
            continue;
        deja_slice form;
        const int rc = canon_of(rules, canon[i], out, cap, &form);
        if (rc == DEJA_ESPACE)
            return i;
        if (form.data == out) {
            out += form.len;
            cap -= form.len;
        }
        canon[i] = form;
        status[i] = (int8_t)rc;
    }
    return n;
}
