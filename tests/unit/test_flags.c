/* test_flags.c - every call that takes flags refuses an unknown flag before it does anything,
 * because a newer program relies on the flag. */
#include "unit.h"

#include "calls.h"
#include "options.h"
#include "scratch.h"
#include <string.h>
#include <unistd.h>

static deja_filter *f;
static const deja_options blocked = FIELDS(.capacity = 100, .seed = 1);

static int rules_new(unsigned flags, deja_error *err)
{
    deja_url_rules *rules = NULL;
    const int rc = deja_url_rules_new(DEJA_URL_CRAWL, flags, NULL, 0, NULL, 0, &rules, err);
    deja_url_rules_free(rules);
    return rc;
}

static int filter_new(unsigned flags, deja_error *err)
{
    deja_options opt = blocked;
    deja_filter *made = NULL;
    opt.flags = flags;
    const int rc = deja_filter_new(&opt, &made, err);
    deja_filter_free(made);
    return rc;
}

static int filter_open(unsigned flags, deja_error *err)
{
    deja_filter *opened = NULL;
    const int rc = deja_filter_open(scratch_path("there.deja"), flags, NULL, &opened, err);
    deja_filter_free(opened);
    return rc;
}

static int filter_create(unsigned flags, deja_error *err)
{
    deja_filter *made = NULL;
    const int rc = deja_filter_create(scratch_path("new.deja"), flags, &blocked, &made, err);
    deja_filter_free(made);
    return rc;
}

static int filter_copy(unsigned flags, deja_error *err)
{
    deja_filter *made = NULL;
    const int rc = deja_filter_copy(f, scratch_path("new.deja"), flags, &made, err);
    deja_filter_free(made);
    return rc;
}

static int builder_finish(unsigned flags, deja_error *err)
{
    const deja_options opt = FIELDS(.kind = DEJA_STATIC, .seed = 1);
    deja_builder *b = NULL;
    deja_filter *made = NULL;
    assert_int_equal(deja_builder_new(&opt, &b, NULL), DEJA_OK);
    assert_int_equal(deja_builder_add(b, (deja_slice){"key", 3}, NULL), DEJA_OK);
    const int rc = deja_builder_finish(b, NULL, flags, &made, err);
    deja_filter_free(made);
    deja_builder_free(b);
    return rc;
}

static int filter_stats(unsigned flags, deja_error *err)
{
    deja_stats s = DEJA_STATS_INIT;
    return deja_filter_stats(f, flags, &s, err);
}

#define LAYERED (DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS)

static const struct call {
    const char *name;
    int (*call)(unsigned flags, deja_error *err);
    unsigned known;
} calls[] = {
    {"deja_url_rules_new", rules_new, DEJA_URL_NO_LIST},
    {"deja_filter_new", filter_new,
     DEJA_KEY_APART | DEJA_MINIMAL_INCREASE | DEJA_DATES | DEJA_SPREAD | LAYERED},
    {"deja_filter_open", filter_open, DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR},
    {"deja_filter_create", filter_create, DEJA_CREATE_REPLACE | DEJA_CREATE_MODE(0xffff)},
    {"deja_filter_copy", filter_copy, DEJA_CREATE_REPLACE | DEJA_CREATE_MODE(0xffff)},
    {"deja_builder_finish", builder_finish, DEJA_CREATE_REPLACE | DEJA_CREATE_MODE(0xffff)},
    {"deja_filter_stats", filter_stats, DEJA_STATS_BODY},
};

static void unknown_flags_are_refused_by_every_call(void **state)
{
    f = create_file(scratch_path("there.deja"), DEJA_CREATE_REPLACE, &blocked);
    sync_file(f);
    deja_filter_free(f);
    f = new_filter(blocked);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        assert_int_equal(calls[i].call(0, NULL), DEJA_OK);
        for (unsigned bit = 0; bit < 32; bit++) {
            deja_error err = {0, ""};
            const unsigned flag = 1u << bit;
            if (calls[i].known & flag)
                continue;
            if (calls[i].call(flag, &err) != DEJA_EVERSION)
                fail_msg("%s takes flag 0x%x: %s", calls[i].name, flag, err.text);
            assert_int_equal(err.status, DEJA_EVERSION);
            assert_non_null(strstr(err.text, "flags"));
        }
    }
    assert_int_equal(access(scratch_path("new.deja"), F_OK), -1);
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_flags_are_refused_by_every_call),
    };
    return cmocka_run_group_tests_name("unit.flags", tests, scratch_open, scratch_close);
}
