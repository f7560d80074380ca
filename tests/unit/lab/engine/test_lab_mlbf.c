/* test_lab_mlbf.c - the paper's multi-layer filter, including its known weaknesses. */
#include "lab/engine/lab_mlbf.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

static deja_slice text(const char *s)
{
    return (deja_slice){s, strlen(s)};
}

static struct lab_mlbf a_filter_by(enum lab_mlbf_rule rule, char delimiter, uint32_t robin)
{
    const struct lab_mlbf_how how = {rule, delimiter, robin};
    struct lab_mlbf f;
    deja_error err;
    assert_int_equal(lab_mlbf_init(&f, 100003, 4, 7, &how, &err), DEJA_OK);
    return f;
}

static struct lab_mlbf a_filter(char delimiter, uint32_t robin)
{
    return a_filter_by(LAB_MLBF_LAYERED, delimiter, robin);
}

static void add(struct lab_mlbf *f, const char *key)
{
    assert_int_equal(lab_mlbf_add(f, text(key)), DEJA_OK);
}

static void added_keys_are_found(void **state)
{
    struct lab_mlbf f = a_filter('/', 0);
    char url[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(url, sizeof url, "http://host%d.example/a/%d", i % 9, i);
        add(&f, url);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(url, sizeof url, "http://host%d.example/a/%d", i % 9, i);
        assert_true(lab_mlbf_has(&f, text(url)));
    }
    assert_false(lab_mlbf_has(&f, text("http://host1.example/b/1")));
    assert_int_equal(f.layers, 3);
    lab_mlbf_fini(&f);
}

static void the_scheme_is_cut_off(void **state)
{
    struct lab_mlbf f = a_filter('/', 0);
    add(&f, "http://a.example/x");
    assert_true(lab_mlbf_has(&f, text("https://a.example/x")));
    assert_true(lab_mlbf_has(&f, text("a.example/x")));
    lab_mlbf_fini(&f);
}

/* The reason for the XOR array: segments of different URLs do not combine into a new one. */
static void recombined_segments_are_not_found(void **state)
{
    struct lab_mlbf f = a_filter('/', 0);
    add(&f, "http://a.example/one");
    add(&f, "http://b.example/two");
    assert_false(lab_mlbf_has(&f, text("http://a.example/two")));
    lab_mlbf_fini(&f);
}

/* Algorithms 1 and 2 as printed: one array for all segments, so that they combine, in any order
 * and number, into URLs that were never added. */
static void in_one_array_segments_recombine(void **state)
{
    struct lab_mlbf f = a_filter_by(LAB_MLBF_ONE, '/', 0);
    add(&f, "http://a.example/one/more");
    add(&f, "http://b.example/two");
    assert_int_equal(lab_mlbf_arrays(&f), 1);
    assert_true(lab_mlbf_has(&f, text("http://a.example/two")));
    assert_true(lab_mlbf_has(&f, text("https://more/b.example/one/one")));
    assert_true(lab_mlbf_has(&f, text("two")));
    assert_false(lab_mlbf_has(&f, text("http://a.example/three")));
    lab_mlbf_fini(&f);
}

/* The published program hashes a line whole, with its scheme. */
static void whole_lines_do_not_recombine(void **state)
{
    struct lab_mlbf f = a_filter_by(LAB_MLBF_LINE, '/', 0);
    add(&f, "http://a.example/one");
    add(&f, "http://b.example/two");
    assert_int_equal(lab_mlbf_arrays(&f), 1);
    assert_true(lab_mlbf_has(&f, text("http://a.example/one")));
    assert_false(lab_mlbf_has(&f, text("http://a.example/two")));
    assert_false(lab_mlbf_has(&f, text("https://a.example/one")));
    assert_false(lab_mlbf_has(&f, text("a.example/one")));
    lab_mlbf_fini(&f);
}

/* Equal segments cancel out in the XOR: x/p/p matches any x/q/q. */
static void equal_segments_cancel_out(void **state)
{
    struct lab_mlbf f = a_filter('/', 0);
    add(&f, "http://a.example/p/p");
    add(&f, "http://b.example/q/r");
    add(&f, "http://b.example/r/q");
    assert_true(lab_mlbf_has(&f, text("http://a.example/q/q")));
    lab_mlbf_fini(&f);
}

static void a_deeper_url_than_any_added_is_not_found(void **state)
{
    struct lab_mlbf f = a_filter('/', 0);
    assert_false(lab_mlbf_has(&f, text("http://a.example/x")));
    add(&f, "http://a.example/x");
    assert_false(lab_mlbf_has(&f, text("http://a.example/x/y")));
    lab_mlbf_fini(&f);
}

static void words_go_to_the_layers_in_turn(void **state)
{
    struct lab_mlbf f = a_filter(' ', 2);
    add(&f, "the quick brown fox jumps");
    assert_int_equal(f.layers, 2);
    assert_true(lab_mlbf_has(&f, text("the quick brown fox jumps")));
    /* Words in the same layer may swap places; the XOR does not see it. */
    assert_true(lab_mlbf_has(&f, text("brown quick the fox jumps")));
    assert_false(lab_mlbf_has(&f, text("the quick brown fox")));
    lab_mlbf_fini(&f);
}

/* Lines come from a user's file: 1000 words must not allocate 1000 arrays. */
static void the_number_of_layers_is_limited(void **state)
{
    char title[4000] = "", url[4000] = "http://a.example";
    for (int i = 0; i < 1000; i++) {
        snprintf(title + strlen(title), 16, "%sw%d", i > 0 ? " " : "", i % 100);
        if (i < 300)
            snprintf(url + strlen(url), 16, "/s%d", i);
    }
    struct lab_mlbf f = a_filter(' ', 250);
    add(&f, title);
    assert_int_equal(f.layers, LAB_MLBF_LAYERS);
    assert_true(lab_mlbf_has(&f, text(title)));
    lab_mlbf_fini(&f);
    f = a_filter('/', 0);
    add(&f, url);
    assert_int_equal(f.layers, LAB_MLBF_LAYERS);
    assert_true(lab_mlbf_has(&f, text(url)));
    lab_mlbf_fini(&f);
}

/* Short segments that differ in one bit have different positions: of 2000 pairs, none has all
 * four in common (m^4 / 24 possible sets). */
static void similar_segments_have_different_positions(void **state)
{
    for (int i = 0; i < 2000; i++) {
        char even[16], odd[16];
        snprintf(even, sizeof even, "p%d", 2 * i);
        snprintf(odd, sizeof odd, "p%d", 2 * i + 1);
        struct lab_mlbf f = a_filter_by(LAB_MLBF_ONE, '/', 0);
        add(&f, even);
        assert_false(lab_mlbf_has(&f, text(odd)));
        lab_mlbf_fini(&f);
    }
}

static void a_filter_without_bits_is_refused(void **state)
{
    const struct lab_mlbf_how how = {LAB_MLBF_LAYERED, ' ', 2};
    struct lab_mlbf f;
    deja_error err;
    assert_int_equal(lab_mlbf_init(&f, 0, 4, 7, &how, &err), DEJA_EINVAL);
    lab_mlbf_fini(&f);
}

static void words_are_counted(void **state)
{
    assert_int_equal(lab_mlbf_words(text("a b c"), ' '), 3);
    assert_int_equal(lab_mlbf_words(text("abc"), ' '), 1);
    assert_int_equal(lab_mlbf_words(text("a "), ' '), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_keys_are_found),
        cmocka_unit_test(the_scheme_is_cut_off),
        cmocka_unit_test(recombined_segments_are_not_found),
        cmocka_unit_test(in_one_array_segments_recombine),
        cmocka_unit_test(whole_lines_do_not_recombine),
        cmocka_unit_test(equal_segments_cancel_out),
        cmocka_unit_test(a_deeper_url_than_any_added_is_not_found),
        cmocka_unit_test(words_go_to_the_layers_in_turn),
        cmocka_unit_test(the_number_of_layers_is_limited),
        cmocka_unit_test(similar_segments_have_different_positions),
        cmocka_unit_test(a_filter_without_bits_is_refused),
        cmocka_unit_test(words_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
