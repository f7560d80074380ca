/* test_plain.c - the quick check of URLs: it never accepts one that is not canonical, all kernels
 * agree, and none reads beyond the end. */
#include "unit.h"

#include "glance.h"
#include "urls.h"

#define URL_LONGEST 400 /* bytes */

static const struct dj_plain_kernel *const kernels[] = {
    &dj_plain_portable,
#ifdef DJ_HAVE_AVX2
    &dj_plain_avx2,
#endif
#ifdef DJ_HAVE_NEON
    &dj_plain_neon,
#endif
};
#define N_KERNELS (sizeof kernels / sizeof kernels[0])

static bool runs_here(const struct dj_plain_kernel *k)
{
    return k == &dj_plain_portable || k == dj_plain_best();
}

static dj_url_writer *const writers[] = {
    [DEJA_URL_SAFE] = dj_url_safe,
    [DEJA_URL_CRAWL] = dj_url_safe,
    [DEJA_URL_GSB] = dj_url_gsb,
    [DEJA_URL_SCRAPY] = dj_url_scrapy,
};

/* Returns the form that the profile's own file writes, regardless of the quick check. */
static int written(uint32_t profile, deja_slice url, struct dj_text *text)
{
    text->len = 0;
    return writers[profile](deja_url_profile(profile), url, text);
}

static enum dj_plain look_of(const struct dj_plain_kernel *k, uint32_t profile, deja_slice url,
                             size_t *len)
{
    *len = url.len;
    return k->look(deja_url_profile(profile), url.data, len);
}

/* Returns the query of a URL, with its question mark. */
static deja_slice query_of(const char *url, size_t len)
{
    const char *mark = memchr(url, '?', len);
    return mark ? (deja_slice){mark, len - (size_t)(mark - url)} : (deja_slice){url + len, 0};
}

/* If the quick check says that only the query must be written, everything else must be
 * canonical. */
static void check_all_but_query(const struct dj_plain_kernel *k, uint32_t profile, deja_slice url,
                                size_t len, struct dj_text *text)
{
    const deja_slice old = query_of(url.data, len);
    const size_t before = len - old.len;
    const int rc = written(profile, url, text);
    const deja_slice new = query_of(text->at, text->len);
    if (rc != DEJA_OK || old.len == 0 || text->len - new.len != before ||
        memcmp(text->at, url.data, before) != 0)
        fail_msg("%s: %s must change more than the query of %.*s", k->name,
                 deja_profile_name(profile), (int)url.len, (const char *)url.data);
}

/* If the quick check says yes, it must be right. */
static void check_look(const struct dj_plain_kernel *k, uint32_t profile, deja_slice url,
                       struct dj_text *text)
{
    size_t len;
    const enum dj_plain look = look_of(k, profile, url, &len);
    if (look == DJ_PLAIN_QUERY)
        check_all_but_query(k, profile, url, len, text);
    if (look == DJ_PLAIN_NO || look == DJ_PLAIN_QUERY)
        return;
    const int rc = written(profile, url, text);
    const size_t slash = look == DJ_PLAIN_NO_PATH;
    if (rc != DEJA_OK || text->len != len + slash || memcmp(text->at, url.data, len) != 0 ||
        (slash && text->at[len] != '/'))
        fail_msg("%s: %s is not plain: %.*s", k->name, deja_profile_name(profile), (int)url.len,
                 (const char *)url.data);
}

/* With the quick check, the form is the one that the profile's own file writes. */
static void check_form(uint32_t profile, deja_slice url, struct dj_text *text)
{
    char out[DEJA_URL_ROOM(URL_LONGEST)];
    deja_slice canon;
    const int want = written(profile, url, text);
    const int rc = deja_url_canon(deja_url_profile(profile), url, out, sizeof out, &canon, NULL);
    assert_int_equal(rc, want);
    if (rc == DEJA_OK && (canon.len != text->len || memcmp(canon.data, text->at, canon.len) != 0))
        fail_msg("%s: %.*s becomes %.*s instead of %.*s", deja_profile_name(profile), (int)url.len,
                 (const char *)url.data, (int)canon.len, (const char *)canon.data, (int)text->len,
                 text->at);
}

static void check_glance(const struct dj_plain_kernel *k, uint32_t profile, deja_slice url)
{
    /* A group large enough to be sorted by length. */
    enum {
        MANY = 20
    };
    deja_slice urls[MANY];
    uint8_t plain[MANY];
    size_t len;
    for (size_t i = 0; i < MANY; i++)
        urls[i] = url;
    k->glance(deja_url_profile(profile), urls, MANY, plain);
    for (size_t i = 1; i < MANY; i++)
        assert_int_equal(plain[i], plain[0]);
    if (plain[0] && (look_of(k, profile, url, &len) != DJ_PLAIN_YES || len != url.len))
        fail_msg("%s: %s passes the quick check, but is not canonical: %.*s", k->name,
                 deja_profile_name(profile), (int)url.len, (const char *)url.data);
}

/* Copies each URL to memory of exactly its size. */
static void check_url(deja_slice url, struct dj_text *text)
{
    char *exact = malloc(url.len ? url.len : 1);
    assert_non_null(exact);
    if (url.len)
        memcpy(exact, url.data, url.len);
    const deja_slice copy = {exact, url.len};
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_SCRAPY; profile++) {
        check_form(profile, copy, text);
        for (size_t k = 0; k < N_KERNELS; k++)
            if (runs_here(kernels[k])) {
                size_t len, first_len;
                check_look(kernels[k], profile, copy, text);
                if (kernels[k]->glance)
                    check_glance(kernels[k], profile, copy);
                const enum dj_plain look = look_of(kernels[k], profile, copy, &len);
                assert_int_equal(look, look_of(kernels[0], profile, copy, &first_len));
                assert_true(look == DJ_PLAIN_NO || len == first_len);
            }
    }
    free(exact);
}

#define LONG_URL                                                                                  \
    "https://example.com/a/path/that/goes/on/and/on/for/more/than/one/hundred/and/twenty/eight/"  \
    "bytes/in/all/so/that/it/takes/the/long/way.html?with=a&query=too#and-a-fragment"

static const char *const seeds[] = {
    "http://a/",
    "https://example.com",
    "https://www.example.com/",
    "http://example.com/path/to/page.html",
    "https://www.reddit.com/r/programming/comments/abc123/a_title_with_words/",
    "https://example.com/search?q=deja+vu&page=2",
    "https://example.com/?a=1&b=2&c=3",
    "http://example.com/?utm_source=x&a=1",
    "http://example.com/list?b=2&a=1&gclid=3;4&b=1&&c",
    "https://example.com/p%C3%A9ch%20%2F?b=a+b%2b&a=%20/x?#frag ment",
    "http://example.com/a%20b/%E2%82%AC?x=%2F#part",
    "http://1.2.3.4/x",
    "http://host.0x10/x",
    "http://sub-domain.some_where.co.uk./x",
    "http://a..b/x",
    "http://example.com/a/../b/./c",
    "http://example.com//double//slash",
    "http://example.com/x;jsessionid=1?y",
    "http://example.com/.well-known/thing",
    "https://user:pw@example.com:8080/x",
    "http://averyveryveryverylonghostname.withseverallabels.and.a.long.tail.example.com/p",
    LONG_URL,
};
#define N_SEEDS (sizeof seeds / sizeof seeds[0])

static char *room;
enum {
    ROOM = 4 * 1024 + 512
};

static int set_up(void **state)
{
    room = malloc(ROOM);
    return !room;
}

static int tear_down(void **state)
{
    free(room);
    return 0;
}

static void the_quick_check_is_right_for_urls_of_every_sort(void **state)
{
    struct dj_text text = dj_text_in(room, ROOM);
    for (size_t i = 0; i < N_SEEDS; i++)
        for (size_t len = 0; len <= strlen(seeds[i]); len++)
            check_url((deja_slice){seeds[i], len}, &text);
}

static void the_quick_check_is_right_for_mutated_urls(void **state)
{
    enum {
        CHANGED = 40000
    };
    struct dj_text text = dj_text_in(room, ROOM);
    struct rng r = rng_seeded(1);
    char url[URL_LONGEST];
    for (unsigned i = 0; i < CHANGED; i++) {
        const char *seed = seeds[rng_below(&r, N_SEEDS)];
        memcpy(url, seed, strlen(seed));
        const size_t len = mutate_url(&r, url, strlen(seed), URL_LONGEST);
        check_url((deja_slice){url, len}, &text);
    }
}

/* Every byte at every position of a path and of a query. */
static void the_quick_check_is_right_for_every_byte(void **state)
{
    struct dj_text text = dj_text_in(room, ROOM);
    const char *const urls[] = {"http://example.com/abcdefgh?ijkl=mnop",
                                "https://example.com/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs"
                                "tuvwxyz?ijkl=mnop"};
    for (size_t u = 0; u < 2; u++)
        for (size_t at = 0; at < strlen(urls[u]); at++)
            for (unsigned c = 0; c < 256; c++) {
                char url[128];
                memcpy(url, urls[u], strlen(urls[u]));
                url[at] = (char)c;
                check_url((deja_slice){url, strlen(urls[u])}, &text);
            }
}

static void the_quick_check_is_right_for_every_triplet(void **state)
{
    static const char *const urls[] = {
        "http://example.com/a%%%02X", "http://example.com/a%%%02x/b",
        "http://example.com/a?b=%%%02X&c=d", "http://example.com/a?b=%%%02x#c"};
    struct dj_text text = dj_text_in(room, ROOM);
    for (size_t u = 0; u < sizeof urls / sizeof urls[0]; u++)
        for (unsigned c = 0; c < 256; c++) {
            char url[64];
            snprintf(url, sizeof url, urls[u], c);
            check_url(bytes_of(url), &text);
        }
}

static void usual_urls_pass_the_quick_check(void **state)
{
    static const char *const usual[] = {
        "http://www.example.com/a",
        "http://www.example.com/articles/2024/some-title_1.html",
        "https://www.example.org/r/programming/comments/abc123/a_title_with_words/",
        "https://www.example.org/a/path/that/goes/on/and/on/for/more/than/one/hundred/bytes.html",
    };
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_SCRAPY; profile++)
        for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
            const deja_slice url = bytes_of(usual[i]);
            uint8_t plain;
            glance(deja_url_profile(profile), &url, 1, &plain);
            assert_true(plain);
        }
}

static void a_canonical_url_is_not_copied(void **state)
{
    const deja_slice url = bytes_of("http://example.com/a?b=c#d");
    deja_slice canon;
    assert_int_equal(deja_url_canon(deja_url_profile(DEJA_URL_SAFE), url, NULL, 0, &canon, NULL),
                     DEJA_OK);
    assert_ptr_equal(canon.data, url.data);
    assert_int_equal(canon.len, url.len - 2);
}

/* URLs with such faults are frequent enough that the short cut matters. */
static void a_fault_in_the_query_alone_is_recognized(void **state)
{
    static const struct {
        uint32_t profile;
        const char *url, *want;
    } faults[] = {
        {DEJA_URL_CRAWL, "http://example.com/a?b=1&a=2#c", "http://example.com/a?a=2&b=1"},
        {DEJA_URL_CRAWL, "http://example.com/a?utm_id=1", "http://example.com/a"},
        {DEJA_URL_CRAWL, "http://example.com/?b&&a;%20", "http://example.com/?a;%20&b"},
        {DEJA_URL_CRAWL, "http://example.com/a?", "http://example.com/a"},
        {DEJA_URL_SCRAPY, "http://example.com/%20?b=1&a", "http://example.com/%20?a=&b=1"},
        {DEJA_URL_SCRAPY, "http://example.com/a?b=/x#c", "http://example.com/a?b=%2Fx"},
        {DEJA_URL_SCRAPY, "http://example.com/a?", "http://example.com/a"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const deja_slice url = bytes_of(faults[i].url);
        deja_slice canon;
        size_t len;
        assert_int_equal(look_of(dj_plain_best(), faults[i].profile, url, &len), DJ_PLAIN_QUERY);
        assert_int_equal(
            deja_url_canon(deja_url_profile(faults[i].profile), url, room, ROOM, &canon, NULL),
            DEJA_OK);
        assert_int_equal(canon.len, strlen(faults[i].want));
        assert_memory_equal(canon.data, faults[i].want, canon.len);
        assert_int_equal(deja_url_canon(deja_url_profile(faults[i].profile), url, room,
                                        DEJA_URL_ROOM(len) - 1, &canon, NULL),
                         DEJA_ESPACE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_quick_check_is_right_for_urls_of_every_sort),
        cmocka_unit_test(the_quick_check_is_right_for_mutated_urls),
        cmocka_unit_test(the_quick_check_is_right_for_every_byte),
        cmocka_unit_test(the_quick_check_is_right_for_every_triplet),
        cmocka_unit_test(usual_urls_pass_the_quick_check),
        cmocka_unit_test(a_canonical_url_is_not_copied),
        cmocka_unit_test(a_fault_in_the_query_alone_is_recognized),
    };
    return cmocka_run_group_tests_name("unit.plain", tests, set_up, tear_down);
}
