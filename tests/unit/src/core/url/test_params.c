/* test_params.c - sets of parameter names, and sorting queries. */
#include "unit.h"

#include "core/url/params.h"
#include "rng.h"
#include <stdio.h>
#include <stdlib.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static bool in_list(const char *name)
{
    return dj_params_has(&dj_params_tracking, (deja_slice){name, strlen(name)});
}

/* Writes a query into a room of exactly the needed size. */
static char *ordered(const char *query, const struct dj_params *drop)
{
    const size_t len = strlen(query), cap = 3 * len + 2;
    char *out = malloc(cap + 1);
    assert_non_null(out);
    struct dj_text text = dj_text_in(out, cap);
    const struct deja_url_rules rules = {.profile = DEJA_URL_CRAWL, .drop = drop};
    assert_int_equal(dj_params_write_query(&rules, (deja_slice){query, len}, &text), DEJA_OK);
    assert_false(text.short_of_room);
    out[text.len] = '\0';
    return out;
}

static void assert_ordered(const char *query, const char *want)
{
    char *got = ordered(query, &dj_params_tracking);
    assert_string_equal(got, want);
    if (*got) {
        char *again = ordered(got + 1, &dj_params_tracking);
        assert_string_equal(again, want);
        free(again);
    }
    free(got);
}

/* --- The set ------------------------------------------------------------ */

static void the_list_is_sorted_without_duplicates(void **state)
{
    (void)state;
    const struct dj_names *names = &dj_params_tracking.drop;
    struct dj_name *copy = calloc(names->n, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, names->name, names->n * sizeof *copy);
    assert_int_equal(dj_names_order(copy, names->n), names->n);
    for (size_t i = 0; i < names->n; i++)
        assert_string_equal(copy[i].text, names->name[i].text);
    free(copy);
}

static void names_match_exactly_or_by_prefix(void **state)
{
    (void)state;
    static const char *const in[] = {
        "utm_source", "utm_",       "utm_x",    "gclid",      "fbclid", "PHPSESSID",
        "jsessionid", "JSESSIONID", "zenid",    "yclid",      "_ga",    "_gl",
        "ScCid",      "hsa_cam",    "elqTrack", "elqTrackId", "pk_kwd", "mtm_campaign",
        "igshid",     "igsh",       "ref_src",  "mc_cid",     "mc_eid", "ASPSESSIONIDABCD",
        "wbraid",     "gbraid",     "msclkid",  "_openstat",  "dclid",  "gclsrc",
    };
    static const char *const out[] = {
        "",     "utm",      "UTM_SOURCE", "gclid2", "gcli",   "id",   "sid", "ref",
        "page", "pk_id",    "session_id", "s",      "zenid0", "elq",  "~",   "ga",
        "A",    "phpsessI", "source",     "cid",    "_g",     "_gaa", "igs", "igshx",
    };
    for (size_t i = 0; i < LEN(in); i++)
        if (!in_list(in[i]))
            fail_msg("%s is not in the list", in[i]);
    for (size_t i = 0; i < LEN(out); i++)
        if (in_list(out[i]))
            fail_msg("%s is in the list", out[i]);
}

static void every_name_of_the_list_is_found(void **state)
{
    (void)state;
    const struct dj_names *names = &dj_params_tracking.drop;
    for (size_t i = 0; i < names->n; i++) {
        char longer[64];
        assert_true(in_list(names->name[i].text));
        snprintf(longer, sizeof longer, "%s!", names->name[i].text);
        assert_int_equal(in_list(longer), names->name[i].prefix);
    }
}

static char *read_page(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void the_page_on_urls_lists_every_name(void **state)
{
    (void)state;
    char *page = read_page(DEJA_TEST_SOURCE_DIR "/docs/url/profile-crawl.md");
    const struct dj_names *names = &dj_params_tracking.drop;
    for (size_t i = 0; i < names->n; i++) {
        char row[64];
        snprintf(row, sizeof row, "\n| `%s%s` | ", names->name[i].text,
                 names->name[i].prefix ? "*" : "");
        if (!strstr(page, row))
            fail_msg("docs/url/profile-crawl.md has no row for %s", names->name[i].text);
    }
    free(page);
}

/* Short names of two letters, compared with a linear search. */
static void one_search_finds_the_prefix_that_covers_a_name(void **state)
{
    (void)state;
    struct rng r = rng_seeded(5);
    for (int round = 0; round < 3000; round++) {
        char text[12][5];
        struct dj_name all[12], set[12];
        const size_t n = (size_t)rng_below(&r, 13);
        for (size_t i = 0; i < n; i++) {
            const size_t len = (size_t)rng_below(&r, 5);
            for (size_t j = 0; j < len; j++)
                text[i][j] = "ab"[rng_below(&r, 2)];
            all[i] = (struct dj_name){text[i], len, rng_below(&r, 3) == 0};
        }
        memcpy(set, all, n * sizeof *all);
        const struct dj_names names = {set, dj_names_order(set, n)};
        for (int probe = 0; probe < 40; probe++) {
            char name[6];
            const size_t len = (size_t)rng_below(&r, 6);
            bool covered = false;
            for (size_t j = 0; j < len; j++)
                name[j] = "ab"[rng_below(&r, 2)];
            for (size_t i = 0; i < n; i++)
                covered |= (all[i].prefix ? all[i].len <= len : all[i].len == len) &&
                           memcmp(all[i].text, name, all[i].len) == 0;
            assert_int_equal(dj_names_find(&names, name, len) != NULL, covered);
        }
    }
}

/* --- Queries ------------------------------------------------------------ */

static void pieces_are_sorted_by_name(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"a", "?a"},
        {"b=1&a=2", "?a=2&b=1"},
        {"c&b&a", "?a&b&c"},
        {"b&%61", "?a&b"},           /* by the canonical spelling */
        {"a-b=1&a=2", "?a=2&a-b=1"}, /* the name is a; a-b is a different one after it */
        {"a=2&a=1", "?a=2&a=1"},     /* a list: its order is kept */
        {"b=1&a=2&b=0&a=1", "?a=2&a=1&b=1&b=0"},
        {"a=&a", "?a=&a"},
        {"=2&=1", "?=2&=1"},
        {"z=a=b&y", "?y&z=a=b"},
        {"B&a&A&b", "?A&B&a&b"},
        {"b=%c3%bc&a=' \xff", "?a=%27%20%FF&b=%C3%BC"},
        {"x;b=1;a=2", "?x;b=1;a=2"}, /* semicolons are not separators */
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_ordered(rows[i][0], rows[i][1]);
}

static void dropped_and_empty_pieces_leave_no_trace(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"utm_source=a", ""},
        {"utm_source=a&id=1&utm_medium=b", "?id=1"},
        {"gclid", ""},
        {"id=1&gclid", "?id=1"},
        {"utm%5Fsource=a&id=1", "?id=1"},
        {"&&a&&b&&", "?a&b"},
        {"&", ""},
        {"b&utm_id=1&a", "?a&b"},
        {"UTM_SOURCE=a", "?UTM_SOURCE=a"},
        {"q=utm_source", "?q=utm_source"},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        assert_ordered(rows[i][0], rows[i][1]);
    char *kept = ordered("utm_source=a&&id", NULL);
    assert_string_equal(kept, "?id&utm_source=a");
    free(kept);
}

/* Beyond 256 pieces the memory comes from the heap; the result is the same. */
static void any_number_of_pieces_is_sorted(void **state)
{
    (void)state;
    static const size_t counts[] = {2, 3, 255, 256, 257, 1000, 5000};
    for (size_t c = 0; c < LEN(counts); c++) {
        const size_t n = counts[c];
        char *query = malloc(n * 16);
        size_t len = 0;
        assert_non_null(query);
        for (size_t i = n; i-- > 0;)
            len += (size_t)snprintf(query + len, 16, i ? "%05zu=%zu&" : "%05zu=%zu", i / 2, i);
        char *got = ordered(query, NULL);
        const char *piece = got;
        assert_int_equal(strlen(got), strlen(query) + 1);
        for (size_t i = 0; i < n; i++) { /* of two with the same name, the larger came first */
            const size_t name = i / 2, value = (i ^ 1) < n ? i ^ 1 : i;
            unsigned long name_got = 0, value_got = 0;
            assert_int_equal(sscanf(piece + 1, "%lu=%lu", &name_got, &value_got), 2);
            assert_int_equal(name_got, name);
            assert_int_equal(value_got, value);
            piece += 1 + strcspn(piece + 1, "&");
        }
        free(got);
        free(query);
    }
}

/* --- Paths -------------------------------------------------------------- */

static void session_ids_in_segments_are_removed(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"page;jsessionid=1A2B", "page"},
        {"page;JSESSIONID=1A2B", "page"},
        {"page;v=1;jsessionid=1A2B;w=2", "page;v=1;w=2"},
        {";jsessionid=", ""},
        {"a;jsessionid=1;jsessionid=2;jsessionid=3", "a"},
        {"a;jsessionid", "a;jsessionid"},
        {"a;jsessionids=1", "a;jsessionids=1"},
        {"a;sid=1;;", "a;sid=1;;"},
        {"jsessionid=1", "jsessionid=1"},
        {"", ""},
        {";", ";"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        char segment[64];
        const size_t len = strlen(rows[i][0]);
        memcpy(segment, rows[i][0], len);
        segment[dj_params_trim(&dj_params_tracking, segment, len)] = '\0';
        assert_string_equal(segment, rows[i][1]);
    }
    static const struct dj_params none = {{NULL, 0}, {NULL, 0}};
    char kept[] = "a;jsessionid=1";
    assert_int_equal(dj_params_trim(&none, kept, 14), 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_sorted_without_duplicates),
        cmocka_unit_test(names_match_exactly_or_by_prefix),
        cmocka_unit_test(every_name_of_the_list_is_found),
        cmocka_unit_test(the_page_on_urls_lists_every_name),
        cmocka_unit_test(one_search_finds_the_prefix_that_covers_a_name),
        cmocka_unit_test(pieces_are_sorted_by_name),
        cmocka_unit_test(dropped_and_empty_pieces_leave_no_trace),
        cmocka_unit_test(any_number_of_pieces_is_sorted),
        cmocka_unit_test(session_ids_in_segments_are_removed),
    };
    return cmocka_run_group_tests_name("unit.params", tests, NULL, NULL);
}
