/* test_segments.c - keys as rows of numbers: where a key is cut, and which part each number
 * hashes. */
#include "unit.h"

#include "kinds/segments.h"
#include "rng.h"
#include "urls.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct dj_hasher hasher;

static int make_hasher(void **state)
{
    (void)state;
    uint8_t key[DEJA_KEY_LEN];
    dj_key_from_seed(1, key);
    const struct dj_hashing what = {
        .hash = DEJA_HASH_XXH3, .rules = DJ_RULES_NEWEST, .visit = 1, .words = 1, .pieces = true};
    dj_hasher_init(&hasher, &what, key, NULL);
    return 0;
}

static uint64_t hash_of(const char *text)
{
    uint64_t h;
    const deja_slice s = bytes_of(text);
    dj_hasher_hash(&hasher, &s, 1, &h);
    return h;
}

static const struct dj_cut urls = {.slots = 4, .query_apart = true};
static const struct dj_cut paper = {.slots = 4};
static const struct dj_cut words = {
    .slots = DJ_MAX_SLOTS, .words = true, .delimiter = ' ', .share = 4, .most = 8};

/* The expected row: segments separated by bars, the number of layers (0: one per segment), and the
 * whole last segment if it differs. */
struct expected {
    const char *key, *segments, *whole;
    uint32_t layers;
};

static void row_is(const struct dj_cut *c, const uint64_t *row, const struct expected *e)
{
    char text[256], *at = text;
    size_t n = 0;
    snprintf(text, sizeof text, "%s", e->segments);
    for (char *next; at; at = next) {
        next = strchr(at, '|');
        if (next)
            *next++ = '\0';
        n++;
        if (row[n] != hash_of(at))
            fail_msg("'%s': segment %zu is not '%s'", e->key, n, at);
    }
    assert_int_equal(row[0] & UINT32_MAX, n);
    assert_int_equal(row[0] >> 32, e->layers ? e->layers : n);
    for (size_t i = n + 1; i <= c->slots; i++)
        assert_int_equal(row[i], 0);
    if (c->query_apart)
        assert_int_equal(row[c->slots + 1], e->whole ? hash_of(e->whole) : 0);
}

static void rows_are(const struct dj_cut *c, const struct expected *e, size_t n)
{
    uint64_t row[DJ_MAX_ROW];
    for (size_t i = 0; i < n; i++) {
        const deja_slice key = bytes_of(e[i].key);
        dj_segments_hash(c, &hasher, &key, 1, row);
        row_is(c, row, &e[i]);
    }
}

static void urls_are_cut_at_slashes_and_layers_ignore_the_query(void **state)
{
    (void)state;
    static const struct expected rows[] = {
        {"http://h/a/b", "http://h|/a|/b", NULL, 0},
        {"http://h/a?x=/1", "http://h|/a", "/a?x=/1", 0},
        {"http://h/a#x", "http://h|/a", "/a#x", 0},
        {"http://h?x", "http://h", "http://h?x", 0},
        {"http://h/", "http://h|/", NULL, 0},
        {"http://h/?x", "http://h|/", "/?x", 0},
        {"http://h/a/b/c/d/e", "http://h|/a|/b|/c/d/e", NULL, 0}, /* the rest joins the last
                                                                   * segment */
        {"http://h/a/b/c/d?x", "http://h|/a|/b|/c/d", "/c/d?x", 0},
        {"h/b/a", "h|/b|/a", NULL, 0},
        {"", "", NULL, 0}, /* one empty segment */
        {"?", "", "?", 0},
    };
    rows_are(&urls, rows, LEN(rows));
}

static void in_mode_paper_the_query_stays_with_its_segment(void **state)
{
    (void)state;
    static const struct expected rows[] = {
        {"http://h/a?x", "http://h|/a?x", NULL, 0},
        {"http://h/a/b/c/d?x", "http://h|/a|/b|/c/d?x", NULL, 0},
    };
    assert_int_equal(dj_segments_row(&paper), 5);
    assert_int_equal(dj_segments_row(&urls), 6);
    rows_are(&paper, rows, LEN(rows));
}

static void the_number_of_words_decides_the_layers(void **state)
{
    (void)state;
    static const struct expected rows[] = {
        {"a", "a", NULL, 1},
        {"a b c d", "a|b|c|d", NULL, 1},
        {"a b c d e", "a|b|c|d|e", NULL, 2},
        {"a  b", "a||b", NULL,
         1}, /* an empty word counts, so different keys have different rows */
        {" a ", "|a|", NULL, 1},
        {"", "", NULL, 1},
        {"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
         "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16 17 18", NULL, 4},
    };
    rows_are(&words, rows, LEN(rows));
    struct dj_cut fixed = words;
    fixed.layers = fixed.most = 3;
    static const struct expected three = {"a b", "a|b", NULL, 3};
    rows_are(&fixed, &three, 1);
    struct dj_cut few = words; /* one layer per word, at most eight */
    few.share = 1;
    static const struct expected many = {"a b c d e f g h i j", "a|b|c|d|e|f|g|h|i|j", NULL, 8};
    rows_are(&few, &many, 1);
}

static void a_prefix_row_starts_every_row_below_it(void **state)
{
    (void)state;
    static const struct expected rows[] = {
        {"http://h", "http://h", NULL, 0},
        {"http://h/", "http://h", NULL, 0},
        {"http://h/a", "http://h|/a", NULL, 0},
        {"http://h/a/", "http://h|/a", NULL, 0},
        {"http://h/a//", "http://h|/a|/", NULL, 0},
        {"http://h/a?x/y", "http://h|/a", NULL, 0},
        {"http://h/a/?x", "http://h|/a", NULL, 0},
        {"http://h/a/b/c", "http://h|/a|/b", NULL, 0}, /* the rest belongs to the last slot */
        {"http://h/a/b/c/d", "http://h|/a|/b", NULL, 0},
        {"/", "", NULL, 0},
        {"", "", NULL, 0},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        uint64_t row[DJ_MAX_ROW];
        const deja_slice key = bytes_of(rows[i].key);
        dj_segments_prefix(&urls, &hasher, &key, 1, row);
        row_is(&urls, row, &rows[i]);
    }
}

/* More pieces than one hashing batch, of all lengths, with bytes that affect the cut. */
static void a_batch_makes_the_rows_of_single_keys(void **state)
{
    (void)state;
    enum {
        KEYS = 700
    };
    static char text[KEYS][96];
    static deja_slice key[KEYS];
    static uint64_t rows[KEYS * DJ_MAX_ROW];
    const struct dj_cut cuts[] = {urls, paper, words, {.slots = 10, .query_apart = true}};
    struct rng r = rng_seeded(5);
    for (size_t i = 0; i < KEYS; i++) {
        const int len = snprintf(text[i], sizeof text[i],
                                 "http://host%zu.example/a/b c/d e/f?g=%zu", i % 7, i);
        key[i] = (deja_slice){text[i], mutate_url(&r, text[i], (size_t)len, sizeof text[i])};
    }
    for (size_t c = 0; c < LEN(cuts); c++) {
        const size_t len = dj_segments_row(&cuts[c]);
        dj_segments_hash(&cuts[c], &hasher, key, KEYS, rows);
        for (size_t i = 0; i < KEYS; i++) {
            uint64_t one[DJ_MAX_ROW];
            dj_segments_hash(&cuts[c], &hasher, &key[i], 1, one);
            assert_memory_equal(one, rows + i * len, len * sizeof *one);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_cut_at_slashes_and_layers_ignore_the_query),
        cmocka_unit_test(in_mode_paper_the_query_stays_with_its_segment),
        cmocka_unit_test(the_number_of_words_decides_the_layers),
        cmocka_unit_test(a_prefix_row_starts_every_row_below_it),
        cmocka_unit_test(a_batch_makes_the_rows_of_single_keys),
    };
    return cmocka_run_group_tests_name("unit.segments", tests, make_hasher, NULL);
}
