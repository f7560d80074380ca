/* test_opt.c - options from tables. */
#include "cli/options/shared_options.h"
#include "tools/foreign/foreign.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ARGS 40

struct sample {
    bool loud, bright, dark;
    struct shared_options shared; /* not first: groups must add its offset */
    const char *state;
    const char *log;
    uint64_t skip;
    uint32_t level;
    uint32_t color;
    double rest;
};

static const char *color_name(uint32_t value)
{
    static const char *const names[] = {"red", "green", NULL, "blue"};
    return value < 4 ? names[value] : NULL;
}

static int loud_needs_state(const void *target, deja_error *err)
{
    const struct sample *s = target;
    if (!s->loud || s->state)
        return DEJA_OK;
    err->status = OPT_USAGE;
    (void)snprintf(err->text, sizeof err->text, "--loud needs --state");
    return OPT_USAGE;
}

static const struct opt table[] = {
    OPT_FLAG('l', "loud", struct sample, loud, "be loud"),
    OPT_EITHER("bright", struct sample, bright, dark, "be bright"),
    OPT_EITHER("no-bright", struct sample, dark, bright, "be dark"),
    OPT_STRING(0, "state", "FILE", struct sample, state, "keep it"),
    OPT_STRING('S', "store", "FILE", struct sample, state, "same as --state",
               OPT_OLD("--state FILE")),
    OPT_OPTIONAL("log", "FILE", struct sample, log, "default.log", "write a log"),
    OPT_COUNT('s', "skip", "N", struct sample, skip, 0, UINT64_MAX, "skip N"),
    OPT_COUNT32(0, "level", "N", struct sample, level, 2, 9, "level"),
    OPT_CHOICE('C', "color", "C", struct sample, color, color_name, "color"),
    OPT_REAL(0, "rest", "R", struct sample, rest, "rest"),
    OPT_CHECK(loud_needs_state),
    OPT_GROUP(struct sample, shared, shared_output),
    OPT_GROUP(struct sample, shared, shared_sizing),
    OPT_GROUP(struct sample, shared, shared_input),
    OPT_GROUP(struct sample, shared, shared_url),
    OPT_GROUP(struct sample, shared, shared_secret),
    OPT_GROUP(struct sample, shared, shared_general),
    OPT_END,
};

/* The results of one parse. */
struct parsed {
    char *argv[MAX_ARGS];
    struct sample s;
    struct opt_rest rest;
    deja_error err;
    int rc;
};

/* args is split at single spaces; '_' stands for a space inside an argument. */
static struct parsed *parse(const char *args)
{
    static struct parsed p;
    static char copy[512];
    int argc = 0;
    memset(&p, 0, sizeof p);
    assert_true(strlen(args) < sizeof copy);
    (void)snprintf(copy, sizeof copy, "%s", args);
    char *rest = copy;
    for (char *at = strsep(&rest, " "); at; at = strsep(&rest, " ")) {
        if (*at == '\0')
            continue;
        assert_true(argc < MAX_ARGS);
        p.argv[argc++] = at;
        for (char *c = at; *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
    }
    p.rc = opt_parse(table, argc, p.argv, &p.s, &p.rest, &p.err);
    return &p;
}

static struct parsed *accepted(const char *args)
{
    struct parsed *p = parse(args);
    if (p->rc != DEJA_OK)
        fail_msg("'%s' was refused: %s", args, p->err.text);
    return p;
}

static void refused(const char *args, const char *text)
{
    struct parsed *p = parse(args);
    assert_int_equal(p->rc, OPT_USAGE);
    assert_int_equal(p->err.status, OPT_USAGE);
    assert_string_equal(p->err.text, text);
}

/* Refused; the message names the option and contains what it accepts. */
static void refused_saying(const char *args, const char *option, const char *takes)
{
    struct parsed *p = parse(args);
    if (p->rc != OPT_USAGE)
        fail_msg("'%s' was accepted", args);
    if (strncmp(p->err.text, option, strlen(option)) != 0 || !strstr(p->err.text, takes))
        fail_msg("'%s': unexpected message: %s", args, p->err.text);
}

static void every_spelling_of_a_value_is_accepted(void **state)
{
    (void)state;
    assert_true(accepted("--capacity 5")->s.shared.filter.capacity == 5);
    assert_true(accepted("--capacity=5")->s.shared.filter.capacity == 5);
    assert_true(accepted("-n 5")->s.shared.filter.capacity == 5);
    assert_true(accepted("-n5")->s.shared.filter.capacity == 5);
    assert_true(accepted("-qn5")->s.shared.filter.capacity == 5);
    assert_true(accepted("-qn 5")->s.shared.quiet);
    assert_string_equal(accepted("--output=")->s.shared.output, "");
    assert_string_equal(accepted("-o -")->s.shared.output, "-");
    assert_string_equal(accepted("--state --loud")->s.state, "--loud");
    assert_string_equal(accepted("--output=a=b")->s.shared.output, "a=b");
}

static void flags_can_be_bundled(void **state)
{
    (void)state;
    struct parsed *p = accepted("-qzl --state x");
    assert_true(p->s.shared.quiet && p->s.shared.null && p->s.loud);
}

static void every_type_reaches_its_field(void **state)
{
    (void)state;
    struct parsed *p = accepted("-p 1e-3 -m 1.5G --hashes 7 --multiplier 1.44 -s 1e19 --level 9 "
                                "-C blue --rest .5 --csv 1 -d \\0 -j 3 --json");
    assert_true(p->s.shared.filter.fp_rate == 1e-3);
    assert_true(p->s.shared.filter.memory == UINT64_C(1610612736));
    assert_int_equal(p->s.shared.filter.hashes, 7);
    assert_true(p->s.shared.filter.multiplier == 1.44);
    assert_true(p->s.skip == UINT64_C(10000000000000000000));
    assert_int_equal(p->s.level, 9);
    assert_int_equal(p->s.color, 3);
    assert_true(p->s.rest == 0.5);
    assert_string_equal(p->s.shared.csv, "1");
    assert_true(p->s.shared.delimiter.given);
    assert_int_equal(p->s.shared.delimiter.byte, '\0');
    assert_int_equal(p->s.shared.threads, 3);
    assert_true(p->s.shared.json);
}

static void a_list_of_numbers_reaches_its_field(void **state)
{
    (void)state;
    const struct opt_indexes *f = &accepted("-f 3,1,12")->s.shared.field;
    assert_true(f->at[0] == 3 && f->at[1] == 1 && f->at[2] == 12 && f->at[3] == 0);
    f = &accepted("-f 3,1 -f 2")->s.shared.field; /* the last one wins */
    assert_true(f->at[0] == 2 && f->at[1] == 0);
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"-f 1,0", "takes a number from 1"},
        {"-f 1,", "number"},
        {"-f ,1", "number"},
        {"-f 1,,2", "number"},
        {"-f 1,-2", "counts from 1"},
        {"-f 1-3", "number"},
        {"-f 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "at most 16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused_saying(rows[i].line, "-f/--field", rows[i].says);
}

static void names_from_the_library_are_choices(void **state)
{
    (void)state;
    assert_int_equal(accepted("--kind blocked")->s.shared.filter.kind, DEJA_BLOCKED);
    assert_int_equal(accepted("-kclassic")->s.shared.filter.kind, DEJA_CLASSIC);
    assert_int_equal(accepted("--hash=siphash")->s.shared.filter.hash, DEJA_HASH_SIPHASH);
}

static void an_absent_option_leaves_its_field_alone(void **state)
{
    (void)state;
    static const struct sample zero;
    assert_memory_equal(&accepted("file -- -n")->s, &zero, sizeof zero);
}

static void the_last_of_equal_options_wins(void **state)
{
    (void)state;
    assert_true(accepted("-n 5 --capacity 6 -n7")->s.shared.filter.capacity == 7);
}

static void the_last_of_two_flags_wins(void **state)
{
    static const struct {
        const char *args;
        bool bright, dark;
    } cases[] = {
        {"-q", false, false},
        {"--bright", true, false},
        {"--no-bright", false, true},
        {"--bright --no-bright", false, true},
        {"--no-bright --bright", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct parsed *p = accepted(cases[i].args);
        assert_int_equal(p->s.bright, cases[i].bright);
        assert_int_equal(p->s.dark, cases[i].dark);
    }
    refused("--no-bright=1", "--no-bright takes no value");
}

static void optional_values_need_the_equals_sign(void **state)
{
    (void)state;
    assert_string_equal(accepted("--log=x")->s.log, "x");
    assert_string_equal(accepted("--log=")->s.log, "");
    struct parsed *p = accepted("--log x");
    assert_string_equal(p->s.log, "default.log");
    assert_int_equal(p->rest.n, 1);
    assert_string_equal(p->rest.operands[0], "x");
}

static void operands_keep_their_order_among_options(void **state)
{
    (void)state;
    struct parsed *p = accepted("a -n 5 b - --quiet c -- -z -- d");
    static const char *const want[] = {"a", "b", "-", "c", "-z", "--", "d"};
    assert_int_equal(p->rest.n, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(p->rest.operands[i], want[i]);
    assert_true(p->s.shared.filter.capacity == 5);
    assert_true(p->s.shared.quiet);
    assert_false(p->s.shared.null);
}

static void no_arguments_are_fine(void **state)
{
    (void)state;
    struct parsed *p = accepted("");
    assert_int_equal(p->rest.n, 0);
    assert_false(p->rest.help);
}

static void help_ends_the_parsing(void **state)
{
    (void)state;
    assert_true(accepted("--help")->rest.help);
    assert_true(accepted("-h")->rest.help);
    assert_true(accepted("-qh -x --nonsense")->rest.help);
    assert_true(accepted("--loud --help")->rest.help); /* no check either */
    assert_false(accepted("-- --help")->rest.help);
}

static void the_short_help_is_told_apart(void **state)
{
    (void)state;
    assert_true(accepted("-h")->rest.brief);
    assert_true(accepted("-qh")->rest.brief);
    assert_false(accepted("--help")->rest.brief);
}

static void an_old_spelling_works_with_a_note(void **state)
{
    (void)state;
    struct parsed *p = accepted("--store x");
    assert_string_equal(p->s.state, "x");
    assert_int_equal(p->rest.n_notes, 1);
    assert_string_equal(p->rest.note[0], "--store is an old spelling; write --state FILE");
    p = accepted("-Sx");
    assert_string_equal(p->s.state, "x");
    assert_string_equal(p->rest.note[0], "-S is an old spelling; write --state FILE");
    p = accepted("-Sa -Sb -Sc -Sd -Se"); /* more notes than there is room for */
    assert_string_equal(p->s.state, "e");
    assert_int_equal(p->rest.n_notes, OPT_NOTES);
    assert_int_equal(accepted("--state x")->rest.n_notes, 0);
    refused("--stor x", "unknown option --stor"); /* never suggested */
}

static void a_value_of_json_is_meant_for_json_key(void **state)
{
    (void)state;
    refused("--json=url", "--json takes no value; did you mean --json-key=url?");
    struct parsed *p = accepted("--json url");
    assert_true(p->s.shared.json);
    assert_int_equal(p->rest.n, 1);
    assert_string_equal(p->rest.value, "url");
    assert_string_equal(p->rest.flag, "json-key");
    assert_null(accepted("--json -q")->rest.value);
    assert_null(accepted("url --json")->rest.value);
}

static void the_error_for_an_unknown_option_suggests_a_known_one(void **state)
{
    (void)state;
    refused("--capcity 5", "unknown option --capcity; did you mean --capacity?");
    refused("--capactiy=5", "unknown option --capactiy; did you mean --capacity?");
    refused("--fprate", "unknown option --fprate; did you mean --fp-rate?");
    refused("--mem=5", "unknown option --mem; did you mean --memory?");
    refused("--hlep", "unknown option --hlep; did you mean --help?");
    refused("--xyzzy", "unknown option --xyzzy");
    refused("-capacity 5", "unknown option -capacity; did you mean --capacity?");
    refused("-x", "unknown option -x");
    refused("-qxz", "unknown option -x");
    refused("--=5", "unknown option --");
    assert_int_equal(
        parse("--an-option-with-a-name-that-is-much-longer-than-any-option-of-ours")->rc,
        OPT_USAGE);
}

static void missing_and_superfluous_values_are_errors(void **state)
{
    (void)state;
    refused("-n", "-n/--capacity needs a value: -n N");
    refused("--capacity", "--capacity needs a value: --capacity=N");
    refused("-qn", "-n/--capacity needs a value: -n N");
    refused("--quiet=yes", "--quiet takes no value");
    refused("--quiet=", "--quiet takes no value");
}

static void every_error_names_the_option_and_what_it_accepts(void **state)
{
    (void)state;
    refused_saying("-n 1_k", "-n/--capacity takes a whole number such as", "not '1 k'");
    refused_saying("-n -1", "-n/--capacity takes a whole number such as", "not '-1'");
    refused_saying("--capacity=1e20", "--capacity takes at most 18446744073709551615", "'1e20'");
    refused_saying("-n 0", "-n/--capacity takes a number from 1 to 9007199254740992", "not 0");
    refused_saying("--seed 0", "--seed takes a number from 1 up", "not 0");
    refused_saying("--level 1", "--level takes a number from 2 to 9", "not 1");
    refused_saying("--level 10", "--level takes a number from 2 to 9", "not 10");
    refused_saying("--level 4294967298", "--level takes a number from 2 to 9", "not 4294967298");
    refused_saying("-f 4294967296", "-f/--field takes a number from 1 to 4294967295", "not");
    refused_saying("-m 1.5X", "-m/--memory takes a size in bytes such as", "'1.5X'");
    refused_saying("-m 0", "-m/--memory takes a number from 1 to 1125899906842624", "not 0");
    refused_saying("-p 1", "-p/--fp-rate takes a rate between 0 and 1", "not '1'");
    refused_saying("--fp-rate=abc", "--fp-rate takes a rate between 0 and 1", "not 'abc'");
    refused_saying("--multiplier 0", "--multiplier takes a number above 0", "not '0'");
    refused_saying("-d ab", "-d/--delimiter takes one byte", "not 'ab'");
    refused_saying("-k blokced", "-k/--kind takes classic, blocked", "did you mean blocked?");
    refused_saying("--color pink", "--color takes red, green or blue, not 'pink'", "pink");
    refused_saying("--color gren", "--color takes red, green or blue", "did you mean green?");
    refused_saying("--color=", "--color takes red, green or blue, not ''", "''");
}

static void refused_values_leave_the_field_alone(void **state)
{
    (void)state;
    struct parsed *p = parse("--level 5 --level 10");
    assert_int_equal(p->rc, OPT_USAGE);
    assert_int_equal(p->s.level, 5);
}

static void an_option_value_that_names_a_file_is_noticed(void **state)
{
    (void)state;
    const char *file = __FILE__; /* with a dot in it */
    deja_error err = {0};
    struct sample s = {0};
    char name[] = "opt-name-XXXXXX"; /* without one */
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(opt_check_names(table, &s, true, &err), DEJA_OK);
    s.shared.csv = name;
    assert_int_equal(opt_check_names(table, &s, false, &err), DEJA_OK); /* may be a column */
    assert_int_equal(opt_check_names(table, &s, true, &err), OPT_USAGE);
    s.shared.csv = "no such file";
    assert_int_equal(opt_check_names(table, &s, true, &err), DEJA_OK);
    s.shared.json_key = "/"; /* a folder is not an input */
    assert_int_equal(opt_check_names(table, &s, true, &err), DEJA_OK);
    unlink(name);
    if (access(file, R_OK) == 0) {
        s.shared.json_key = file;
        assert_int_equal(opt_check_names(table, &s, false, &err), OPT_USAGE);
        assert_non_null(strstr(err.text, "--json-key takes the name of a string"));
    }
}

/* Without --url, a filter may have the profile, so these options are checked later. */
static void misses_profile(const char *line, const char *text)
{
    deja_error err;
    assert_int_equal(shared_check_url(&parse(line)->s.shared, &err), OPT_USAGE);
    assert_string_equal(err.text, text);
}

static void url_profiles_are_chosen_by_name(void **state)
{
    (void)state;
    assert_int_equal(parse("")->s.shared.url, 0);
    assert_int_equal(parse("--url")->s.shared.url, DEJA_URL_SAFE);
    assert_int_equal(parse("--url gsb")->s.shared.url, DEJA_URL_GSB);
    assert_int_equal(parse("--url gsb")->rest.n, 0);
    assert_int_equal(parse("--url gbs")->s.shared.url, DEJA_URL_SAFE); /* an operand */
    assert_int_equal(parse("--url gbs")->rest.n, 1);
    assert_int_equal(parse("--url -- gsb")->s.shared.url, DEJA_URL_SAFE);
    assert_int_equal(parse("--url=gsb")->s.shared.url, DEJA_URL_GSB);
    refused("--url=gbs",
            "--url takes safe, crawl, gsb, scrapy or shape, not 'gbs'; did you mean gsb?");
    misses_profile("--base http://a/", "--base needs --url");
    misses_profile("--strict", "--strict needs --url, -f, --csv, --json-key or --format: "
                               "without them, every line has a key");
    assert_true(parse("--strict -f 2")->s.shared.strict);
    refused("--url --drop-params f",
            "--drop-params is for profile crawl: safe keeps all parameters");
    refused("--url=gsb --keep-params",
            "--keep-params is for profile crawl: gsb keeps all parameters");
    assert_string_equal(parse("--url=crawl --keep-params")->s.shared.keep_params, "");
    assert_string_equal(parse("--url=crawl --keep-params=a,b")->s.shared.keep_params, "a,b");
}

static void options_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    refused("--csv url -f 2", "--csv and -f/--field cannot be combined");
    refused("-d ,", "-d/--delimiter needs -f/--field or --csv");
    refused("--format log -d ,", "-d/--delimiter needs -f/--field or --csv");
    refused("--format log --csv url", "--csv and --format cannot be combined");
    refused("--format lines --csv url", "--csv and --format cannot be combined");
    refused("--json-key a --csv url", "--csv and --json-key cannot be combined");
    refused("--json-key a -f 2", "-f/--field and --json-key cannot be combined");
    refused("-f 7 --format squid", "-f/--field and --format squid cannot be combined: the format "
                                   "says where the key is");
    refused("--json-key a --format hosts", "--json-key needs --format jsonl or cdxj, not hosts");
    refused("--json-key=", "--json-key needs a name");
    assert_int_equal(parse("-f 2 --format lines")->rc, DEJA_OK);
    assert_int_equal(parse("--json-key a --format cdxj")->rc, DEJA_OK);
    refused("--key k --seed 1", "--key and --seed cannot be combined");
    refused("--loud", "--loud needs --state");
    assert_int_equal(parse("-d ; --csv url")->rc, DEJA_OK);
}

static void a_flag_can_be_looked_up_by_name(void **state)
{
    (void)state;
    assert_true(opt_flag_is_set(table, &accepted("-q")->s, "quiet"));
    assert_false(opt_flag_is_set(table, &accepted("")->s, "quiet"));
    assert_false(opt_flag_is_set(table, &accepted("-n 5")->s, "capacity"));
    assert_false(opt_flag_is_set(NULL, NULL, "quiet"));
}

static void a_table_may_be_empty(void **state)
{
    (void)state;
    char one[] = "a", *argv[] = {one};
    struct opt_rest rest;
    assert_int_equal(opt_parse(NULL, 1, argv, NULL, &rest, NULL), DEJA_OK);
    assert_int_equal(rest.n, 1);
}

/* A help page lists every name and letter once and explains each. */
static void names_and_letters_are_unique(void **state)
{
    (void)state;
    struct opt_walk a, b;
    const struct opt *x, *y;
    size_t base, n = 0;
    for (opt_walk_init(&a, table); (x = opt_walk_next(&a, &base));) {
        if (!opt_is_option(x))
            continue;
        n++;
        assert_non_null(x->help);
        assert_true((x->value != NULL) == (x->type != OPT_TYPE_FLAG));
        for (opt_walk_init(&b, table); (y = opt_walk_next(&b, &base)) != x;) {
            assert_non_null(y);
            if (!opt_is_option(y))
                continue;
            assert_string_not_equal(x->name, y->name);
            assert_true(x->letter == '\0' || x->letter != y->letter);
        }
    }
    assert_int_equal(n, 54);
}

static void common_options_become_filter_options(void **state)
{
    (void)state;
    deja_options o = shared_filter_options(&accepted("-n 5 -p .1 -k classic --seed 9")->s.shared);
    assert_int_equal(o.size, sizeof o);
    assert_true(o.capacity == 5 && o.fp_rate == 0.1 && o.kind == DEJA_CLASSIC && o.seed == 9);
    assert_null(o.key);
}

static const char *guess(const char *word)
{
    struct opt_near near = {.word = word};
    opt_near_offer(&near, "dedup");
    opt_near_offer(&near, "build");
    opt_near_offer(&near, "bench");
    return near.best;
}

static void similar_names_are_found(void **state)
{
    (void)state;
    assert_string_equal(guess("dedp"), "dedup");
    assert_string_equal(guess("deudp"), "dedup");
    assert_string_equal(guess("biuld"), "build");
    assert_string_equal(guess("ben"), "bench");
    assert_null(guess("crawl"));
    assert_null(guess(""));
    assert_null(guess("x"));
}

/* --format names both the filter's format and that of the lines; one does not replace the other. */
static void a_format_of_the_filter_combines_with_one_of_lines(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        uint32_t format;
        const char *filter;
    } rows[] = {{"dcso", "squid", PICK_SQUID, "dcso"},
                {"squid", "guava", PICK_SQUID, "guava"},
                {"dcso", "guava", 0, "guava"},
                {"log", "squid", PICK_SQUID, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[] = "--format", first[16], second[16];
        (void)snprintf(first, sizeof first, "%s", rows[i].first);
        (void)snprintf(second, sizeof second, "%s", rows[i].second);
        char *argv[] = {name, first, name, second};
        struct shared_options c = {0};
        struct opt_rest rest;
        deja_error err;
        assert_int_equal(opt_parse(shared_input_foreign, 4, argv, &c, &rest, &err), DEJA_OK);
        assert_int_equal(c.format, rows[i].format);
        const struct foreign_format *filter = shared_foreign(c.foreign);
        assert_ptr_equal(filter, rows[i].filter ? foreign_format_named(rows[i].filter) : NULL);
        if (filter) /* in other commands, dcso is not a format */
            assert_int_equal(opt_parse(shared_input, 4, argv, &c, &rest, &err), OPT_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_value_is_accepted),
        cmocka_unit_test(flags_can_be_bundled),
        cmocka_unit_test(every_type_reaches_its_field),
        cmocka_unit_test(a_list_of_numbers_reaches_its_field),
        cmocka_unit_test(names_from_the_library_are_choices),
        cmocka_unit_test(an_absent_option_leaves_its_field_alone),
        cmocka_unit_test(the_last_of_equal_options_wins),
        cmocka_unit_test(the_last_of_two_flags_wins),
        cmocka_unit_test(optional_values_need_the_equals_sign),
        cmocka_unit_test(operands_keep_their_order_among_options),
        cmocka_unit_test(no_arguments_are_fine),
        cmocka_unit_test(help_ends_the_parsing),
        cmocka_unit_test(the_short_help_is_told_apart),
        cmocka_unit_test(an_old_spelling_works_with_a_note),
        cmocka_unit_test(a_value_of_json_is_meant_for_json_key),
        cmocka_unit_test(the_error_for_an_unknown_option_suggests_a_known_one),
        cmocka_unit_test(missing_and_superfluous_values_are_errors),
        cmocka_unit_test(every_error_names_the_option_and_what_it_accepts),
        cmocka_unit_test(refused_values_leave_the_field_alone),
        cmocka_unit_test(an_option_value_that_names_a_file_is_noticed),
        cmocka_unit_test(url_profiles_are_chosen_by_name),
        cmocka_unit_test(options_that_exclude_each_other_are_refused),
        cmocka_unit_test(a_flag_can_be_looked_up_by_name),
        cmocka_unit_test(a_table_may_be_empty),
        cmocka_unit_test(names_and_letters_are_unique),
        cmocka_unit_test(common_options_become_filter_options),
        cmocka_unit_test(similar_names_are_found),
        cmocka_unit_test(a_format_of_the_filter_combines_with_one_of_lines),
    };
    return cmocka_run_group_tests_name("unit.opt", tests, NULL, NULL);
}
