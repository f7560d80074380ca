/* test_urlgen.c - generated URLs: distinct, the same on every machine, and shaped like those of
 * real crawls. */
#include "gen/urlgen.h"
#include "model.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t fnv(uint64_t h, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)s[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Hash of URLs first .. first + n - 1, each followed by a newline. */
static uint64_t hash_of_list(uint64_t seed, uint64_t first, uint64_t n)
{
    struct urlgen g;
    char url[URLGEN_MAX + 1];
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    urlgen_init(&g, seed);
    for (uint64_t i = 0; i < n; i++) {
        size_t len = urlgen_url(&g, first + i, url);
        url[len] = '\n';
        h = fnv(h, url, len + 1);
    }
    return h;
}

/* --- Reproducible ------------------------------------------------------------ */

/* Changing these values changes every published list. */
static void lists_are_pinned(void **state)
{
    assert_int_equal(hash_of_list(1, 0, 1000), UINT64_C(0x8ec2744388c789b4));
    assert_int_equal(hash_of_list(5, 0, 1000), UINT64_C(0x7791cd59bb13d5d4));
    assert_int_equal(hash_of_list(UINT64_MAX, 0, 1000), UINT64_C(0x698a87360faddef7));
    assert_int_equal(hash_of_list(1, (UINT64_C(1) << 32) - 500, 1000),
                     UINT64_C(0x837a9816371a113c));
    assert_int_equal(hash_of_list(1, URLGEN_COUNT - 1000, 1000), UINT64_C(0x77f2800395638ed6));
}

static void a_url_depends_only_on_seed_and_number(void **state)
{
    struct urlgen g, other;
    char a[URLGEN_MAX], b[URLGEN_MAX];
    urlgen_init(&g, 3);
    urlgen_init(&other, 4);
    (void)urlgen_url(&other, 17, b);
    size_t len = urlgen_url(&g, 99, a);
    (void)urlgen_url(&g, URLGEN_COUNT - 1, b);
    assert_int_equal(urlgen_url(&g, 99, b), len);
    assert_memory_equal(a, b, len);
}

/* --- Distinct ----------------------------------------------------------------- */

static void add_range(struct model *set, const struct urlgen *g, uint64_t first, uint64_t n)
{
    char url[URLGEN_MAX];
    for (uint64_t i = 0; i < n; i++) {
        size_t len = urlgen_url(g, first + i, url);
        if (!model_add(set, (deja_slice){url, len}))
            fail_msg("number %llu is there already: %.*s", (unsigned long long)(first + i),
                     (int)len, url);
    }
}

static void a_million_urls_are_distinct(void **state)
{
    struct model set = {0};
    struct urlgen g;
    urlgen_init(&g, 1);
    add_range(&set, &g, 0, 1000000);
    assert_int_equal(set.n, 1000000);
    model_free(&set);
}

/* Around the numbers at which codes get longer, at the end, and at the start. */
static void urls_are_distinct_for_numbers_of_every_length(void **state)
{
    static const uint64_t borders[] = {UINT64_C(1) << 8, UINT64_C(1) << 24, UINT64_C(1) << 32,
                                       UINT64_C(1) << 40, UINT64_C(1) << 48};
    struct model set = {0};
    struct urlgen g;
    urlgen_init(&g, 2);
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++)
        add_range(&set, &g, borders[i] < 30000 ? 0 : borders[i] - 30000, 60000);
    add_range(&set, &g, URLGEN_COUNT - 60000, 60000);
    model_free(&set);
}

static void other_seeds_give_other_urls(void **state)
{
    struct model set = {0};
    struct urlgen g;
    char url[URLGEN_MAX];
    unsigned common = 0;
    urlgen_init(&g, 1);
    add_range(&set, &g, 0, 20000);
    urlgen_init(&g, 2);
    for (uint64_t i = 0; i < 20000; i++) {
        size_t len = urlgen_url(&g, i, url);
        common += model_has(&set, (deja_slice){url, len});
    }
    assert_in_range(common, 0, 2);
    model_free(&set);
}

/* --- Shaped like those of real crawls --------------------------------------------- */

#define TRIALS    200000
#define LONGEST   600
#define MAX_DEPTH 9

struct shape {
    uint32_t of_length[LONGEST];
    uint32_t of_depth[MAX_DEPTH];
    uint32_t https, port, address, query, fragment, slash, upper, percent, foreign, www;
    double mean;
    struct model hosts;
};

static bool has_upper(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] >= 'A' && s[i] <= 'Z')
            return true;
    }
    return false;
}

static void count_host(struct shape *s, const char *host, size_t len)
{
    const char *colon = memchr(host, ':', len);
    if (colon) {
        s->port++;
        len = (size_t)(colon - host);
    }
    s->address += strspn(host, "0123456789.") >= len;
    s->www += len > 4 && memcmp(host, "www.", 4) == 0;
    (void)model_add(&s->hosts, (deja_slice){host, len});
}

static void count_path(struct shape *s, const char *path, size_t len)
{
    unsigned depth = 0;
    for (size_t i = 0; i + 1 < len; i++)
        depth += path[i] == '/' && path[i + 1] != '/';
    assert_in_range(depth, 0, MAX_DEPTH - 1);
    s->of_depth[depth]++;
    s->slash += depth > 0 && path[len - 1] == '/';
    s->upper += has_upper(path, len);
}

/* url is terminated by a zero byte. */
static void count_url(struct shape *s, const char *url, size_t len)
{
    bool https = strncmp(url, "https://", 8) == 0;
    assert_true(https || strncmp(url, "http://", 7) == 0);
    const char *host = url + (https ? 8 : 7);
    size_t host_len = strcspn(host, "/?#");
    const char *path = host + host_len, *mark = path + strcspn(path, "?#");
    assert_in_range(len, 12, LONGEST - 1);
    s->of_length[len]++;
    s->mean += (double)len / TRIALS;
    s->https += https;
    s->query += *mark == '?';
    s->fragment += strchr(mark, '#') != NULL;
    s->percent += strchr(url, '%') != NULL;
    count_host(s, host, host_len);
    count_path(s, path, (size_t)(mark - path));
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)url[i] >= 0x80) {
            s->foreign++;
            break;
        }
    }
}

/* The given quantile of the lengths. */
static unsigned quantile(const struct shape *s, double share)
{
    double sum = 0;
    unsigned len = 0;
    while (len < LONGEST && sum < share * TRIALS)
        sum += s->of_length[len++];
    return len - 1;
}

/* In percent, within `off`. */
static void share_is(const char *what, uint32_t count, double percent, double off)
{
    double have = 100.0 * count / TRIALS;
    if (have < percent - off || have > percent + off)
        fail_msg("%s: %.2f%% instead of %.2f%% +- %.2f", what, have, percent, off);
}

static void lengths_are_right(const struct shape *s)
{
    assert_true(s->mean > 61 && s->mean < 65);
    assert_in_range(quantile(s, 0.50), 50, 58);
    assert_in_range(quantile(s, 0.05), 22, 28);
    assert_in_range(quantile(s, 0.95), 116, 127);
    assert_in_range(quantile(s, 0.99), 150, 172);
}

static void shares_are_right(const struct shape *s)
{
    static const double depths[MAX_DEPTH] = {10.8, 29.2, 18.7, 13.7, 7.6, 17.4, 1.6, 0.7, 0.3};
    for (int i = 0; i < MAX_DEPTH; i++)
        share_is("depth", s->of_depth[i], depths[i], 0.5);
    share_is("https", s->https, 44, 2);
    share_is("www.", s->www, 43, 3);
    share_is("port", s->port, 0.5, 0.15);
    share_is("address", s->address, 0.7, 0.15);
    share_is("query", s->query, 8, 0.8);
    share_is("fragment", s->fragment, 0.8, 0.15);
    share_is("trailing slash", s->slash, 28, 3);
    share_is("upper case", s->upper, 28, 4);
    share_is("percent-encoding", s->percent, 1.0, 0.3);
    share_is("beyond ASCII", s->foreign, 0.08, 0.05);
}

static void urls_are_shaped_like_real_ones(void **state)
{
    struct shape *s = calloc(1, sizeof *s);
    struct urlgen g;
    char url[URLGEN_MAX + 1];
    assert_non_null(s);
    urlgen_init(&g, 7);
    for (uint64_t i = 0; i < TRIALS; i++) {
        size_t len = urlgen_url(&g, i, url);
        url[len] = '\0';
        assert_int_equal(strlen(url), len);
        count_url(s, url, len);
    }
    lengths_are_right(s);
    shares_are_right(s);
    share_is("distinct hosts", (uint32_t)s->hosts.n, 27.5, 2); /* 19% of five million */
    model_free(&s->hosts);
    free(s);
}

/* One line each, without control characters.  Bytes beyond ASCII must look like UTF-8; only lead
 * bytes are checked here. */
static void urls_are_clean_lines(void **state)
{
    struct urlgen g;
    char url[URLGEN_MAX];
    urlgen_init(&g, 11);
    for (uint64_t i = 0; i < 100000; i++) {
        size_t len = urlgen_url(&g, i * 90000000019u % URLGEN_COUNT, url);
        for (size_t at = 0; at < len; at++) {
            unsigned char c = (unsigned char)url[at];
            assert_false(c <= 0x20 || c == 0x7f || strchr("\"<>\\^`{|}", c) != NULL);
            assert_false(c >= 0xc0 && (at + 1 == len || ((unsigned char)url[at + 1] >> 6) != 2));
        }
    }
}

/* --- Lines, some of them repeated ------------------------------------------------------ */

static void the_share_of_repeats_is_as_requested(void **state)
{
    static const uint64_t cases[][3] = {{1, 0, 0},         {2, 1, 0},     {10, 9, 0},
                                        {20000, 6000, 0},  {20000, 0, 5}, {20000, 19999, 0},
                                        {50000, 25000, 77}};
    struct urlgen g;
    urlgen_init(&g, 1);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        uint64_t lines = cases[c][0], repeats = cases[c][1], first = cases[c][2], fresh = 0;
        struct urlgen_lines l;
        urlgen_lines_init(&l, &g, lines, repeats, first);
        for (uint64_t i = 0; i < lines; i++) {
            uint64_t number = urlgen_lines_next(&l);
            assert_in_range(number, first, first + fresh); /* a new URL or an earlier one */
            fresh += number == first + fresh;
        }
        assert_int_equal(fresh, lines - repeats);
        assert_int_equal(l.fresh, fresh);
    }
}

static void repeats_come_from_recent_and_old_lines(void **state)
{
    struct urlgen g;
    struct urlgen_lines l;
    uint64_t near = 0, far = 0, fresh = 0;
    urlgen_init(&g, 1);
    urlgen_lines_init(&l, &g, 200000, 100000, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t number = urlgen_lines_next(&l);
        if (number == fresh) {
            fresh++;
            continue;
        }
        near += fresh - number < 100;
        far += fresh - number > 10000;
    }
    assert_in_range(near, 30000, 60000);
    assert_in_range(far, 5000, 40000);
}

static void lines_with_huge_numbers_are_cheap_and_in_range(void **state)
{
    struct urlgen g;
    struct urlgen_lines l;
    urlgen_init(&g, 1);
    urlgen_lines_init(&l, &g, URLGEN_COUNT - 10, URLGEN_COUNT / 2, 10);
    for (int i = 0; i < 1000; i++)
        assert_true(urlgen_lines_next(&l) < URLGEN_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_pinned),
        cmocka_unit_test(a_url_depends_only_on_seed_and_number),
        cmocka_unit_test(a_million_urls_are_distinct),
        cmocka_unit_test(urls_are_distinct_for_numbers_of_every_length),
        cmocka_unit_test(other_seeds_give_other_urls),
        cmocka_unit_test(urls_are_shaped_like_real_ones),
        cmocka_unit_test(urls_are_clean_lines),
        cmocka_unit_test(the_share_of_repeats_is_as_requested),
        cmocka_unit_test(repeats_come_from_recent_and_old_lines),
        cmocka_unit_test(lines_with_huge_numbers_are_cheap_and_in_range),
    };
    return cmocka_run_group_tests_name("urlgen", tests, NULL, NULL);
}
