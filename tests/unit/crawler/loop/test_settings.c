/* test_settings.c - the options that a queue remembers, and when they may change.
 * crawler.remembered tests the same from the command line. */
#include "crawler/loop/settings.h"
#include "scratch.h"
#include "unit.h"

static const struct crawl_options nothing = {.max_depth = CRAWL_UNSET,
                                             .max_redirects = CRAWL_UNSET,
                                             .retries = CRAWL_UNSET,
                                             .delay = CRAWL_UNSET_TIME,
                                             .max_crawl_delay = CRAWL_UNSET_TIME,
                                             .retry_wait = CRAWL_UNSET_TIME,
                                             .timeout = CRAWL_UNSET_TIME,
                                             .sync_every = CRAWL_UNSET_TIME,
                                             .host_share = CRAWL_UNSET};

static struct crawl_options some_options(void)
{
    struct crawl_options o = nothing;
    o.scope = SCOPE_REGEX;
    o.match = "^http://[^/]*/d\"'\n";
    o.exclude = "x";
    o.embeds.on = o.nofollow.on = o.sitemaps.on = o.no_archive.on = o.allow_private.on = true;
    o.contact = "mailto:me@h.invalid";
    o.max_depth = o.max_redirects = o.retries = 0; /* zero is a value like any other */
    o.delay = o.max_crawl_delay = 0;
    o.retry_wait = 0.25;
    o.timeout = 1e-3;
    o.sync_every = 3600;
    o.max_host_pages = UINT64_MAX;
    o.max_similar = 3;
    o.max_page = UINT64_C(1) << 40;
    o.max_url = 16;
    o.max_file = 5;
    o.connections = 6;
    o.order = ORDER_OPIC;
    o.prefer = "^https:\na:b:-7";
    o.host_share = 0;
    o.per_host = 7;
    o.cache.kind = DEJA_CLASSIC;
    o.cache.seed = UINT64_MAX - 1;
    o.cache.capacity = 12345678901234;
    o.cache.fp_rate = 1e-9;
    o.cache.hashes = 9;
    o.cache.flags = DEJA_MINIMAL_INCREASE;
    return o;
}

static void begin(struct crawler *c, const struct crawl_options *o)
{
    deja_error err = {0};
    *c = (struct crawler){.given = o, .settled = *o};
    c->settled.cache.url = deja_url_profile(DEJA_URL_SAFE);
    c->o = &c->settled;
    if (frontier_open(scratch_folder, &c->queue, &err) != DEJA_OK)
        fail_msg("%s", err.text);
}

/* Commits if `keep`; always closes. */
static void end(struct crawler *c, bool keep)
{
    deja_error err;
    if (keep)
        assert_int_equal(frontier_commit(c->queue, &err), DEJA_OK);
    frontier_close(c->queue);
    settings_fini(c);
}

static void begin_visit(struct crawler *c)
{
    deja_error err;
    assert_int_equal(frontier_set(c->queue, "visit", 1, &err), DEJA_OK);
}

static void settle(const struct crawl_options *o)
{
    struct crawler c;
    deja_error err = {0};
    begin(&c, o);
    if (settings_settle(&c, &err) != DEJA_OK)
        fail_msg("%s", err.text);
    begin_visit(&c);
    end(&c, true);
}

static void is_refused(const struct crawl_options *o, const char *words)
{
    struct crawler c;
    deja_error err = {0};
    begin(&c, o);
    assert_int_equal(settings_settle(&c, &err), DEJA_EMISMATCH);
    if (!strstr(err.text, words))
        fail_msg("'%s' instead of '%s'", err.text, words);
    end(&c, false);
}

static void an_absent_option_has_its_default(void **state)
{
    struct crawler c;
    deja_error err;
    begin(&c, &nothing);
    assert_int_equal(settings_settle(&c, &err), DEJA_OK);
    assert_int_equal(c.o->scope, SCOPE_HOST);
    assert_int_equal(c.o->max_depth, 50);
    assert_int_equal(c.o->max_page, 16 << 20);
    assert_int_equal(c.o->connections, 32);
    assert_true(c.o->delay == 1 && c.o->timeout == 60 && c.o->max_crawl_delay == 60);
    assert_int_equal(c.o->order, ORDER_BREADTH);
    assert_int_equal(c.o->host_share, 0);
    assert_null(c.o->match);
    assert_null(c.o->prefer);
    assert_false(c.o->embeds.on);
    assert_non_null(strstr(c.agent, "no contact given"));
    end(&c, false);
}

static void same_text(const char *a, const char *b)
{
    assert_non_null(a);
    assert_string_equal(a, b);
}

static void all_options_are_remembered_exactly(void **state)
{
    const struct crawl_options o = some_options();
    struct crawler c;
    deja_error err;
    settle(&o);
    begin(&c, &nothing);
    assert_int_equal(settings_settle(&c, &err), DEJA_OK);
    same_text(c.o->match, o.match);
    same_text(c.o->exclude, o.exclude);
    same_text(c.o->contact, o.contact);
    same_text(c.o->prefer, o.prefer);
    assert_true(buffer_add(&c.as_before, "", 1));
    assert_non_null(strstr(c.as_before.data, " --order opic --prefer ^https: --prefer a:b:-7 "));
    assert_null(c.o->user_agent);
    assert_non_null(strstr(c.agent, "(+mailto:me@h.invalid)"));
#define SAME(field) assert_true(c.o->field == o.field)
    SAME(scope), SAME(embeds.on), SAME(nofollow.on), SAME(sitemaps.on), SAME(no_archive.on);
    SAME(order), SAME(host_share), SAME(max_depth), SAME(max_redirects), SAME(retries),
        SAME(connections), SAME(per_host);
    SAME(allow_private.on), SAME(max_crawl_delay), SAME(delay), SAME(retry_wait), SAME(timeout),
        SAME(sync_every);
    SAME(max_host_pages), SAME(max_similar), SAME(max_page), SAME(max_url), SAME(max_file);
    SAME(cache.kind), SAME(cache.seed), SAME(cache.capacity), SAME(cache.fp_rate);
    SAME(cache.hashes), SAME(cache.flags), SAME(cache.memory);
    end(&c, false);
    settle(&o); /* the same options do not contradict */
}

static void options_of_the_visit_cannot_change_during_it(void **state)
{
    const struct crawl_options first = some_options();
    settle(&first);
    struct crawl_options o = nothing;
    o.scope = SCOPE_ANY;
    is_refused(&o, "--scope any: this visit started with regex");
    o = nothing;
    o.cache.capacity = 5;
    is_refused(&o, "options.capacity 5: this visit started with 12345678901234");
    o = nothing;
    o.cache.memory = 4096;
    is_refused(&o, "options.memory 4096: this visit started without it");
    o.next_visit = true; /* the next visit may have it; it replaces the capacity */
    settle(&o);
    o.next_visit = false;
    o.cache.capacity = first.cache.capacity;
    is_refused(&o, "options.capacity 12345678901234: this visit started without it");
}

/* Giving a default value again is not a contradiction.  A flag can be turned off for the next
 * visit. */
static void flags_can_be_turned_off(void **state)
{
    static const struct crawl_flag off = {.off = true};
    struct crawl_options o = nothing;
    struct crawler c;
    deja_error err;
    o.embeds.on = o.no_archive.on = true;
    o.sitemaps = off;
    settle(&o);
    o = nothing;
    o.embeds = off;
    is_refused(&o, "--no-embeds: this visit started with --embeds; the next");
    o = nothing;
    o.no_archive = off;
    is_refused(&o, "--archive: this visit started with --no-archive; the next");
    o = nothing;
    o.sitemaps.on = true;
    is_refused(&o, "--sitemaps: this visit started without it");
    o.sitemaps = o.embeds = off;
    o.next_visit = true;
    settle(&o);
    begin(&c, &nothing);
    assert_int_equal(settings_settle(&c, &err), DEJA_OK);
    assert_false(c.o->embeds.on || c.o->sitemaps.on);
    assert_true(c.o->no_archive.on);
    assert_true(buffer_add(&c.as_before, "", 1));
    assert_string_equal(c.as_before.data, " --no-archive");
    end(&c, false);
}

static void politeness_options_can_change_at_any_time(void **state)
{
    struct crawl_options o = some_options();
    struct crawler c;
    deja_error err;
    settle(&o);
    o = nothing;
    o.delay = 30;
    o.allow_private.off = true;
    o.user_agent = "else/1";
    settle(&o);
    begin(&c, &nothing);
    assert_int_equal(settings_settle(&c, &err), DEJA_OK);
    assert_true(c.o->delay == 30 && !c.o->allow_private.on);
    assert_string_equal(c.agent, "else/1");
    assert_null(c.o->contact);
    end(&c, false);
}

static void another_canonical_form_is_refused(void **state)
{
    struct crawler c;
    deja_error err;
    settle(&nothing);
    begin(&c, &nothing);
    c.settled.cache.url = deja_url_profile(DEJA_URL_CRAWL);
    assert_int_equal(settings_settle(&c, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "uses profile safe"));
    end(&c, false);
}

static void store(const char *name, deja_slice text)
{
    struct crawler c;
    deja_error err;
    begin(&c, &nothing);
    assert_int_equal(frontier_set_blob(c.queue, name, text, &err), DEJA_OK);
    end(&c, true);
}

/* A stored value that no run can have written is refused by name.  Giving the option replaces it,
 * even an option that is fixed for the visit. */
static void damaged_options_are_named_and_can_be_replaced(void **state)
{
    static const struct {
        const char *name, *text;
    } damaged[] = {{"scope", "0"},          {"scope", "6"},
                   {"scope", "x"},          {"scope", "1 "},
                   {"scope", "-1"},         {"embeds", "2"},
                   {"embeds", "on"},        {"max-url", "15"},
                   {"max-url", "1e99"},     {"delay", "-1"},
                   {"delay", "nan"},        {"delay", "inf"},
                   {"delay", "1s"},         {"timeout", "1e99"},
                   {"per-host", "0"},       {"connections", "4097"},
                   {"kind", "99"},          {"order", "0"},
                   {"order", "5"},          {"host-share", "-1"},
                   {"retries", "+1"},       {"max-page", "18446744073709551616"},
                   {"fp-rate", "2"},        {"capacity", " 1"},
                   {"hashes", "4294967296"}};
    struct crawler c;
    deja_error err;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        char words[80];
        settle(&nothing);
        store(damaged[i].name, (deja_slice){damaged[i].text, strlen(damaged[i].text)});
        begin(&c, &nothing);
        c.settled.dir = scratch_folder;
        if (settings_settle(&c, &err) != DEJA_EFORMAT)
            fail_msg("%s %s", damaged[i].name, damaged[i].text);
        snprintf(words, sizeof words, "queue.db: its setting '%s' is damaged; give ",
                 damaged[i].name);
        assert_non_null(strstr(err.text, words));
        end(&c, false);
        store(damaged[i].name, (deja_slice){NULL, 0});
    }
    store("scope", (deja_slice){"9", 1});
    store("user-agent", (deja_slice){"a\0b", 3});
    struct crawl_options o = nothing;
    o.scope = SCOPE_ANY;
    o.user_agent = "one/1";
    settle(&o);
    begin(&c, &nothing);
    assert_int_equal(settings_settle(&c, &err), DEJA_OK);
    assert_int_equal(c.o->scope, SCOPE_ANY);
    assert_string_equal(c.agent, "one/1");
    end(&c, false);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)
    const struct CMUnitTest tests[] = {
        TEST(an_absent_option_has_its_default),
        TEST(all_options_are_remembered_exactly),
        TEST(options_of_the_visit_cannot_change_during_it),
        TEST(politeness_options_can_change_at_any_time),
        TEST(another_canonical_form_is_refused),
        TEST(flags_can_be_turned_off),
        TEST(damaged_options_are_named_and_can_be_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
