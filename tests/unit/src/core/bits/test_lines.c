/* test_lines.c - compares every variant of the line search with a loop over bytes.  As slices, the
 * lines contain every byte except the delimiters, in order.
 *
 * Data and ends are heap blocks of exactly the right size, so that the address sanitizer catches
 * any access beyond them. */
#include "core/bits/lines.h"
#include "deja.h"
#include "rng.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static struct rng dice = {7};

static size_t below(size_t n)
{
    return (size_t)(rng_next(&dice) % n);
}

static size_t naive_ends(const char *data, size_t from, size_t len, char mark, size_t *ends,
                         size_t cap)
{
    size_t n = 0;
    for (size_t i = from; i < len && n < cap; i++)
        if (data[i] == mark)
            ends[n++] = i + 1;
    return n;
}

/* Random bytes; about one in `rarity` is the delimiter. */
static char *random_data(size_t len, char mark, size_t rarity)
{
    char *data = malloc(len ? len : 1);
    assert_non_null(data);
    for (size_t i = 0; i < len; i++)
        data[i] = below(rarity) == 0 ? mark : (char)below(256);
    return data;
}

static const struct dj_lines_kernel *variants[2];

static int find_variants(void **state)
{
    (void)state;
    variants[0] = &dj_lines_portable;
    variants[1] = dj_lines_best();
    return 0;
}

static void check(const struct dj_lines_kernel *split, const char *data, size_t from, size_t len,
                  char mark, size_t cap)
{
    size_t *want = malloc((cap + 1) * sizeof *want);
    size_t *got = malloc(cap ? cap * sizeof *got : 1);
    assert_non_null(want);
    assert_non_null(got);
    size_t n = naive_ends(data, from, len, mark, want, cap);
    assert_int_equal(split->ends(data, from, len, mark, got, cap), n);
    assert_memory_equal(got, want, n * sizeof *got);
    free(want);
    free(got);
}

static void every_variant_finds_what_a_loop_finds(void **state)
{
    (void)state;
    static const char marks[] = {'\n', 0, '\xff', '\x80'};
    for (int round = 0; round < 3000; round++) {
        char mark = marks[below(sizeof marks)];
        size_t len = below(round % 10 ? 400 : 5000);
        char *data = random_data(len, mark, 1 + below(100));
        size_t from = below(len + 1);
        for (size_t v = 0; v < 2; v++) {
            check(variants[v], data, from, len, mark, len + 1);
            check(variants[v], data, from, len, mark, below(len + 2));
        }
        free(data);
    }
}

static void every_variant_counts_what_a_loop_counts(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        size_t len = below(700);
        char *data = random_data(len, '\n', 1 + below(70));
        size_t want = 0;
        for (size_t i = 0; i < len; i++)
            want += data[i] == '\n';
        for (size_t v = 0; v < 2; v++)
            assert_int_equal(variants[v]->count(data, len, '\n'), want);
        free(data);
    }
}

static void searching_in_pieces_equals_searching_at_once(void **state)
{
    (void)state;
    const size_t len = 3000;
    char *data = random_data(len, '\n', 20);
    size_t want[3000];
    size_t n = naive_ends(data, 0, len, '\n', want, len);
    for (size_t v = 0; v < 2; v++) {
        for (size_t piece = 1; piece < 300; piece += 1 + piece / 4) {
            size_t got[3000];
            size_t found = 0;
            for (size_t at = 0; at < len; at += piece) {
                size_t until = len - at < piece ? len : at + piece;
                found += variants[v]->ends(data, at, until, '\n', got + found, len - found);
            }
            assert_int_equal(found, n);
            assert_memory_equal(got, want, n * sizeof *got);
        }
    }
    free(data);
}

static void data_of_delimiters_alone_fills_the_ends_exactly(void **state)
{
    (void)state;
    char data[256];
    memset(data, '\n', sizeof data);
    for (size_t v = 0; v < 2; v++)
        for (size_t cap = 0; cap <= sizeof data + 1; cap++)
            check(variants[v], data, 0, sizeof data, '\n', cap);
}

static void empty_data_has_no_ends(void **state)
{
    (void)state;
    size_t end = 99;
    for (size_t v = 0; v < 2; v++) {
        assert_int_equal(variants[v]->ends("x", 0, 0, 'x', &end, 1), 0);
        assert_int_equal(variants[v]->ends("x", 1, 1, 'x', &end, 1), 0);
        assert_int_equal(variants[v]->count("x", 0, 'x'), 0);
    }
    assert_int_equal(end, 99);
}

/* --- Slices ------------------------------------------------------------------- */

#define S(literal) ((deja_slice){literal, sizeof(literal) - 1})

static void assert_slice(deja_slice got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.data, want, got.len);
}

static void lines_exclude_their_delimiter(void **state)
{
    (void)state;
    deja_slice text = S("one\ntwo\n"), line[4];
    assert_int_equal(deja_lines_split(&text, '\n', line, 4), 2);
    assert_slice(line[0], "one");
    assert_slice(line[1], "two");
    assert_int_equal(text.len, 0);
    assert_int_equal(deja_lines_split(&text, '\n', line, 4), 0);
}

static void the_last_line_needs_no_delimiter(void **state)
{
    (void)state;
    deja_slice text = S("one\ntwo"), line[4];
    assert_int_equal(deja_lines_split(&text, '\n', line, 4), 2);
    assert_slice(line[1], "two");
    assert_int_equal(text.len, 0);
}

static void empty_lines_are_lines(void **state)
{
    (void)state;
    deja_slice text = S("\n\na\n\n"), line[8];
    assert_int_equal(deja_lines_split(&text, '\n', line, 8), 4);
    assert_slice(line[0], "");
    assert_slice(line[2], "a");
    assert_slice(line[3], "");
}

static void any_byte_can_be_the_delimiter(void **state)
{
    (void)state;
    deja_slice text = S("a\nb\0c\xff"), line[4];
    assert_int_equal(deja_lines_split(&text, 0, line, 4), 2);
    assert_slice(line[0], "a\nb");
    text = S("a\xff"
             "b\0c");
    assert_int_equal(deja_lines_split(&text, (char)0xff, line, 4), 2);
    assert_int_equal(line[1].len, 3);
}

static void an_empty_text_has_no_lines(void **state)
{
    (void)state;
    deja_slice text = {NULL, 0}, line[1];
    assert_int_equal(deja_lines_split(&text, '\n', line, 1), 0);
    assert_int_equal(text.len, 0);
}

static void a_full_array_stops_the_search(void **state)
{
    (void)state;
    deja_slice text = S("one\ntwo\nthree"), line[2];
    assert_int_equal(deja_lines_split(&text, '\n', line, 0), 0);
    assert_slice(text, "one\ntwo\nthree");
    assert_int_equal(deja_lines_split(&text, '\n', line, 2), 2);
    assert_slice(text, "three");
    assert_int_equal(deja_lines_split(&text, '\n', line, 2), 1);
    assert_slice(line[0], "three");
}

/* The lines, joined with delimiters, are the text again, for every size of array.  The text fills
 * its heap block exactly, for the sanitizers. */
static void joined_lines_are_the_text(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        const size_t len = below(trial % 10 ? 200 : 5000);
        char *const text = malloc(len ? len : 1);
        char *const again = malloc(len + 1);
        assert_non_null(text);
        assert_non_null(again);
        for (size_t i = 0; i < len; i++)
            text[i] = "\nab\n\0c"[below(6)];
        deja_slice rest = {text, len}, line[600];
        const size_t cap = 1 + below(trial % 3 ? 7 : 600);
        size_t n, at = 0;
        while ((n = deja_lines_split(&rest, '\n', line, cap))) {
            assert_true(n <= cap);
            for (size_t i = 0; i < n; i++) {
                if (line[i].len)
                    memcpy(again + at, line[i].data, line[i].len);
                at += line[i].len;
                again[at++] = '\n';
            }
        }
        const bool open = len && text[len - 1] != '\n';
        assert_int_equal(at, len + open);
        assert_memory_equal(again, text, len);
        free(text);
        free(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_finds_what_a_loop_finds),
        cmocka_unit_test(every_variant_counts_what_a_loop_counts),
        cmocka_unit_test(searching_in_pieces_equals_searching_at_once),
        cmocka_unit_test(data_of_delimiters_alone_fills_the_ends_exactly),
        cmocka_unit_test(empty_data_has_no_ends),
        cmocka_unit_test(lines_exclude_their_delimiter),
        cmocka_unit_test(the_last_line_needs_no_delimiter),
        cmocka_unit_test(empty_lines_are_lines),
        cmocka_unit_test(any_byte_can_be_the_delimiter),
        cmocka_unit_test(an_empty_text_has_no_lines),
        cmocka_unit_test(a_full_array_stops_the_search),
        cmocka_unit_test(joined_lines_are_the_text),
    };
    return cmocka_run_group_tests_name("unit.lines", tests, find_variants, NULL);
}
