/* test_optiontable.c - each row of the option table describes a field of deja_options. */
#include "unit.h"

#include "options.h"
#include <stdio.h>
#include <string.h>

static bool is_real(const deja_option *o)
{
    return o->type == DEJA_OPTION_RATE || o->type == DEJA_OPTION_REAL;
}

static bool is_number(const deja_option *o)
{
    return o->type == DEJA_OPTION_COUNT || o->type == DEJA_OPTION_BITS ||
           o->type == DEJA_OPTION_CHAR;
}

static void put(const deja_option *o, deja_options *opt, uint64_t n)
{
    const uint32_t n32 = (uint32_t)n;
    void *at = (char *)opt + o->offset;
    if (o->width == sizeof n32)
        memcpy(at, &n32, sizeof n32);
    else
        memcpy(at, &n, sizeof n);
}

/* Options of the row's first kind, all else unset. */
static deja_options of_kind(const deja_option *o)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    for (opt.kind = DEJA_BLOCKED; !deja_option_accepted(o, opt.kind);)
        opt.kind = opt.kind == DEJA_EXACT ? DEJA_CLASSIC : opt.kind + 1;
    opt.capacity = 100;
    return opt;
}

static void every_row_is_found_by_its_name(void **state)
{
    size_t n = 0;
    for (const deja_option *o; (o = deja_option_at(n)); n++) {
        assert_ptr_equal(deja_option_find(o->name), o);
        assert_non_null(o->help);
        assert_true(o->value || o->type == DEJA_OPTION_FLAG);
        assert_true(o->offset + o->width <= sizeof(deja_options));
        assert_true(!o->choice == (o->type != DEJA_OPTION_CHOICE));
    }
    assert_int_equal(n, 29);
    assert_null(deja_option_at(n + 1));
    assert_null(deja_option_find("capacit"));
    assert_null(deja_option_find("capacity "));
    assert_null(deja_option_find(""));
}

/* Every byte of the struct belongs to a row, except size and the allocator. */
static void every_field_has_a_row(void **state)
{
    char covered[sizeof(deja_options)] = {0};
    memset(covered, 1, offsetof(deja_options, kind));
    memset(covered + offsetof(deja_options, alloc), 1, sizeof(deja_allocator *));
    for (size_t i = 0; deja_option_at(i); i++)
        memset(covered + deja_option_at(i)->offset, 1, deja_option_at(i)->width);
    assert_null(memchr(covered, 0, sizeof covered));
}

static void the_error_for_a_value_out_of_range_names_the_option(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    for (size_t i = 0; deja_option_at(i); i++) {
        const deja_option *o = deja_option_at(i);
        const uint64_t widest = o->width == 4 ? UINT32_MAX : UINT64_MAX;
        deja_options opt = of_kind(o);
        deja_error err = {0, ""};
        char begin[60];
        if (is_real(o)) {
            const double negative = -1;
            memcpy((char *)&opt + o->offset, &negative, sizeof negative);
        } else if (is_number(o) && o->most < widest) {
            put(o, &opt, o->most + 1);
        } else {
            continue;
        }
        assert_int_equal(deja_plan_make(&opt, &plan, &err), DEJA_EINVAL);
        snprintf(begin, sizeof begin, "options.%s is ", o->name);
        assert_memory_equal(err.text, begin, strlen(begin));
    }
}

static void an_option_of_one_kind_is_refused_by_the_others(void **state)
{
    deja_plan plan = DEJA_PLAN_INIT;
    size_t refused = 0;
    for (size_t i = 0; deja_option_at(i); i++)
        for (uint32_t kind = DEJA_CLASSIC; kind <= DEJA_EXACT; kind++) {
            const deja_option *o = deja_option_at(i);
            deja_options opt = DEJA_OPTIONS_INIT;
            deja_error err = {0, ""};
            char begin[60];
            if (deja_option_accepted(o, kind) || o->choice) /* these have checks of their own */
                continue;
            put(o, &opt, o->type == DEJA_OPTION_FLAG ? o->flag : o->least);
            opt.kind = kind;
            opt.capacity = 100;
            assert_int_equal(deja_plan_make(&opt, &plan, &err), DEJA_EINVAL);
            snprintf(begin, sizeof begin, "options.%s goes with kind ", o->name);
            assert_memory_equal(err.text, begin, strlen(begin));
            refused++;
        }
    assert_int_equal(refused, 12 * 8 + 7);
}

static const char *printed(const char *name, const deja_options *opt)
{
    static char text[DEJA_OPTION_TEXT + 1];
    const deja_option *o = deja_option_find(name);
    text[deja_option_print(o, opt, text)] = '\0';
    return text;
}

static void values_are_printed_as_commands_accept_them(void **state)
{
    const char secret[DEJA_KEY_LEN + 1] = "0123456789abcdef0123456789ABCDEF";
    deja_options none = DEJA_OPTIONS_INIT, opt = none;
    for (size_t i = 0; deja_option_at(i); i++) {
        assert_false(deja_option_given(deja_option_at(i), &none));
        assert_string_equal(printed(deja_option_at(i)->name, &none), "");
    }
    opt.capacity = UINT64_MAX;
    opt.fp_rate = 0.1;
    opt.kind = DEJA_WINDOW;
    opt.hash = 99;
    opt.hashes = 7;
    opt.flags = DEJA_LAYERED_WORDS;
    opt.delimiter = 0xe9;
    opt.key = secret;
    opt.url = deja_url_profile(DEJA_URL_CRAWL);
    assert_string_equal(printed("capacity", &opt), "18446744073709551615");
    assert_string_equal(printed("fp_rate", &opt), "0.10000000000000001");
    assert_string_equal(printed("kind", &opt), "window");
    assert_string_equal(printed("hash", &opt), "");
    assert_string_equal(printed("hashes", &opt), "7");
    assert_string_equal(printed("delimiter", &opt), "\xe9");
    assert_string_equal(printed("key", &opt), secret);
    assert_string_equal(printed("url", &opt), "crawl");
    assert_string_equal(printed("layered_words", &opt), "");
    assert_true(deja_option_given(deja_option_find("layered_words"), &opt));
    assert_false(deja_option_given(deja_option_find("layered_paper"), &opt));
}

static const char *shout(const deja_option *o)
{
    return o->keyword ? o->keyword : "?";
}

static void names_in_messages_become_those_of_the_tool(void **state)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", ""},
        {"options.capacity", "CAPACITY"},
        {"options.fp_rate is 2: it must lie between 0 and 1",
         "ERROR is 2: it must lie between 0 and 1"},
        {"give one (options.capacity), or options.memory.", "give one (CAPACITY), or MEMORY."},
        {"options.capacity_ and options.capacit", "options.capacity_ and options.capacit"},
        {"options. options.size is 3", "options. options.size is 3"},
        {"/tmp/options.kind: no such file", "/tmp/options.kind: no such file"},
        {"options.format", "?"},
    };
    char out[80];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        deja_option_translate(rows[i].text, shout, out, sizeof out);
        assert_string_equal(out, rows[i].said);
    }
    deja_option_translate("options.capacity is 0", shout, out, 4);
    assert_string_equal(out, "CAP");
    deja_option_translate("options.capacity is 0", shout, out, 12);
    assert_string_equal(out, "CAPACITY is");
    deja_option_translate("options.capacity is 0", shout, out, 1);
    assert_string_equal(out, "");
    deja_option_translate("options.capacity is 0", shout, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_by_its_name),
        cmocka_unit_test(every_field_has_a_row),
        cmocka_unit_test(the_error_for_a_value_out_of_range_names_the_option),
        cmocka_unit_test(an_option_of_one_kind_is_refused_by_the_others),
        cmocka_unit_test(values_are_printed_as_commands_accept_them),
        cmocka_unit_test(names_in_messages_become_those_of_the_tool),
    };
    return cmocka_run_group_tests_name("optiontable", tests, NULL, NULL);
}
