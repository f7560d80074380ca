/* test_blocklist.c - lines of dnsmasq, unbound, RPZ and adblock lists. */
#include "tools/input/adblock.h"
#include "tools/input/namelist.h"
#include "unit.h"

#include <string.h>

typedef enum blocklist_line begin_fn(struct blocklist *l, deja_slice line);
typedef bool next_fn(struct blocklist *l, deja_slice *key);

/* The keys of a line, each followed by '|', then a letter for each reason to skip: cosmetic,
 * exception, limited, pattern, other.  "-": nothing; "?": not understood. */
static void line_is(struct blocklist *l, begin_fn *begin, next_fn *next, const char *line,
                    const char *want)
{
    char got[200] = "";
    size_t n = 0;
    deja_slice key;
    memset(l->skipped, 0, sizeof l->skipped);
    const enum blocklist_line is = begin(l, (deja_slice){line, strlen(line)});
    while (is == BLOCKLIST_KEYS && next(l, &key)) {
        memcpy(got + n, key.data, key.len);
        n += key.len;
        got[n++] = '|';
    }
    for (size_t i = 0; i < BLOCKLIST_REASONS; i++)
        for (uint64_t j = 0; j < l->skipped[i]; j++)
            got[n++] = "celpo"[i];
    if (is == BLOCKLIST_NOTHING || is == BLOCKLIST_STRANGE)
        got[n] = is == BLOCKLIST_NOTHING ? '-' : '?';
    assert_string_equal(got, want);
}

static void names_of_dnsmasq_are_read(void **state)
{
    (void)state;
    struct blocklist l = {0};
    static const char *const cases[][2] = {
        {"address=/a.x/0.0.0.0", "a.x|"},
        {"address=/a.x/b.x/", "a.x|b.x|"},
        {" address = /a.x/# # why", "a.x|"},
        {"address=/*.a.x/.b.x/c*.x/::", "a.x|b.x|p"},
        {"address=/#/0.0.0.0", "p"},
        {"local=/a.x./", "a.x|"},
        {"server=/a.x/", "a.x|"},
        {"server=/a.x/#", "e"},
        {"server=/a.x/9.9.9.9", "o"},
        {"server=9.9.9.9", "o"},
        {"address=/localhost/127.0.0.1", "-"},
        {"address=/", "o"},
        {"address=/a.x", "?"},
        {"cache-size=1000", "?"},
        {"# address=/a.x/", "-"},
        {"", "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        line_is(&l, dnsmasq_begin, dnsmasq_next, cases[i][0], cases[i][1]);
}

static void names_of_unbound_are_read(void **state)
{
    (void)state;
    struct blocklist l = {0};
    static const char *const cases[][2] = {
        {"server:", "-"},
        {"local-zone: \"a.x.\" always_nxdomain", "a.x|"},
        {"  local-zone: a.x redirect # why", "a.x|"},
        {"local-zone: \"a.x.\" transparent", "e"},
        {"local-zone: \"a.x.\" strange", "?"},
        {"local-zone: \"a.x.", "?"},
        {"local-data: \"a.x. A 0.0.0.0\"", "a.x|"},
        {"local-data: 'a.x 3600 IN AAAA ::'", "a.x|"},
        {"local-data: 'a.x TXT \"t\"'", "o"},
        {"local-data-ptr: \"1.2.3.4 a.x\"", "o"},
        {"local-zone: \"a.*.x\" deny", "p"},
        {"verbosity: 1", "?"},
        {"# local-zone: a.x deny", "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        line_is(&l, unbound_begin, blocklist_next, cases[i][0], cases[i][1]);
}

static void owner_names_of_a_zone_are_read(void **state)
{
    (void)state;
    struct blocklist l = {0};
    static const char *const cases[][2] = {
        {"a.x. CNAME .", "?"}, /* of which zone? */
        {"$TTL 60", "-"},
        {"rpz.z. 60 IN SOA ns.z. me.z. ( 1 ; serial", "-"},
        {"  60 60", "-"},
        {"  60 60 )", "-"},
        {" NS ns.z.", "-"},
        {"@ NS ns.z.", "-"},
        {"rpz.z. NS ns.z.", "-"},
        {"; a comment", "-"},
        {"a.x CNAME . ; why", "a.x|"},
        {"  A 192.0.2.1", "-"},
        {"*.a.x 60 IN CNAME *.", "a.x|"},
        {"b.x.rpz.z. CNAME rpz-drop.", "b.x|"},
        {"c.x IN CNAME rpz-passthru.", "e"},
        {"c.x CNAME c.x.", "e"},
        {"  CNAME .", "?"},
        {"d.x A 192.0.2.1", "d.x|"},
        {"e.x TXT \"a ; b (\"", "o"},
        {"32.1.2.0.192.rpz-ip CNAME .", "o"},
        {"f.x CNAME rpz-tcp-only.", "o"},
        {"*.g*.x CNAME .", "p"},
        {"* CNAME .", "p"},
        {"$ORIGIN com.rpz.z.", "-"},
        {"evil CNAME .", "?"},
        {"$ORIGIN rpz.z.", "-"},
        {"h.x CNAME walled.example.", "h.x|"},
        {"i.x.other. CNAME .", "?"},
        {"prose", "?"},
        {"$INCLUDE more", "?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        line_is(&l, rpz_begin, blocklist_next, cases[i][0], cases[i][1]);
}

static void rules_of_ad_blockers_are_read(void **state)
{
    (void)state;
    struct blocklist l = {0};
    static const char *const cases[][2] = {
        {"[Adblock Plus 2.0]", "-"},
        {"! comment", "-"},
        {"# comment", "-"},
        {"||a.x^", "a.x|"},
        {"||a.x", "a.x|"},
        {"||*.a.x^*", "a.x|"},
        {"a.x", "a.x|"},
        {"0.0.0.0 a.x b.x", "a.x|b.x|"},
        {"||a.x^$third-party,important", "a.x|"},
        {"||a.x^$ALL", "a.x|"},
        {"||a.x^$doc,popup,_", "a.x|"},
        {"||a.x^$~third-party", "l"},
        {"||a.x^$script", "l"},
        {"||a.x^$important,domain=b.x|c.x", "l"},
        {"||a.x^$csp=script-src 'self', x", "o"},
        {"||a.x^$badfilter", "e"},
        {"||a.x^$nonsense", "?"},
        {"||a.x:8080^", "l"},
        {"||a.x/b/c.js", "a.x/b/c.js|"},
        {"||a.x/b^", "a.x/b|"},
        {"||a.x/b*c", "p"},
        {"||ads.", "p"},
        {"||a*.x^", "p"},
        {"|https://a.x/b|", "https://a.x/b|"},
        {"http://a.x/b", "http://a.x/b|"},
        {"|http://", "p"},
        {"/banner/", "p"},
        {"&ad_box_", "p"},
        {"@@||a.x^", "e"},
        {"##.banner", "c"},
        {"a.x#@#.banner", "c"},
        {"a.x$$script[x]", "c"},
        {"!#include more.txt", "o"},
        {"[$app=x]||a.x^", "l"},
        {"||localhost^", "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        line_is(&l, adblock_begin, adblock_next, cases[i][0], cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_dnsmasq_are_read),
        cmocka_unit_test(names_of_unbound_are_read),
        cmocka_unit_test(owner_names_of_a_zone_are_read),
        cmocka_unit_test(rules_of_ad_blockers_are_read),
    };
    return cmocka_run_group_tests_name("unit.blocklist", tests, NULL, NULL);
}
