/* test_hostlist.c - the hosts in a line of a block list. */
#include "tools/input/hostlist.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* The hosts of a line, each followed by '|'; "-": nothing; "?": not understood. */
static void hosts_are(const char *text, const char *want)
{
    const size_t len = strlen(text);
    char *line = malloc(len ? len : 1);
    char *got = calloc(2, len + 2);
    assert_true(line && got);
    memcpy(line, text, len);
    struct blocklist h = {0};
    deja_slice host;
    const enum blocklist_line is = hostlist_begin(&h, (deja_slice){line, len});
    size_t n = 0;
    while (is == BLOCKLIST_KEYS && hostlist_next(&h, &host)) {
        memcpy(got + n, host.data, host.len);
        n += host.len;
        got[n++] = '|';
    }
    if (is != BLOCKLIST_KEYS)
        got[0] = is == BLOCKLIST_NOTHING ? '-' : '?';
    assert_string_equal(got, want);
    free(line);
    free(got);
}

static void lines_of_hosts_files_are_read(void **state)
{
    (void)state;
    hosts_are("0.0.0.0 a.example", "a.example|");
    hosts_are("127.0.0.1\ta.example b.example  c.example", "a.example|b.example|c.example|");
    hosts_are(":: a.example", "a.example|");
    hosts_are("fe80::1%lo0 a.example", "a.example|");
    hosts_are("  10.0.0.7 nas # the disk", "nas|");
    hosts_are("0.0.0.0 a.example#b", "?");
    hosts_are("0.0.0.0 1.2.3.4", "1.2.3.4|");
    hosts_are("0.0.0.0 # nothing", "-");
}

static void a_line_may_be_a_host(void **state)
{
    (void)state;
    hosts_are("a.example", "a.example|");
    hosts_are("A_b-c.Example. ", "A_b-c.Example.|");
    hosts_are("a.example # why", "a.example|");
    hosts_are("*.a.example", "a.example|");
    hosts_are(".a.example", "a.example|");
    hosts_are("192.0.2.1", "192.0.2.1|");
    hosts_are("2001:db8::1", "2001:db8::1|");
    hosts_are("b\xc3\xbc"
              "cher.example",
              "b\xc3\xbc"
              "cher.example|");
}

static void rules_of_ad_blockers_are_read(void **state)
{
    (void)state;
    hosts_are("||a.example^", "a.example|");
    hosts_are("||a.example^$important", "a.example|");
    hosts_are("||a.example^$all # really", "a.example|");
    static const char *const more[] = {"||a.example^$third-party",
                                       "||a.example/x^",
                                       "||a.example",
                                       "@@||a.example^",
                                       "||^",
                                       "||",
                                       "a.example##.banner",
                                       "|http://a.example|",
                                       "/ads/*",
                                       "||a.example^ x"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        hosts_are(more[i], "?");
}

static void comments_and_local_names_are_ignored(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        " \t",
                                        "# a.example",
                                        "#a.example",
                                        "! a.example",
                                        "[Adblock Plus 2.0]",
                                        "127.0.0.1 localhost localhost.localdomain",
                                        "::1 ip6-localhost IP6-Loopback",
                                        "255.255.255.255 broadcasthost",
                                        "0.0.0.0 0.0.0.0",
                                        "0.0.0.0",
                                        "localhost"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        hosts_are(lines[i], "-");
    hosts_are("127.0.0.1 localhost a.example", "a.example|");
}

static void other_lines_are_not_understood(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "http://a.example/", "a.example b.example",       "some prose.", "...", "a.example,1", "*",
        "0.0.0.0 http://a/", "address=/a.example/0.0.0.0"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        hosts_are(lines[i], "?");
    hosts_are("0.0.0.0 http://a/ b.example", "b.example|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_hosts_files_are_read),
        cmocka_unit_test(a_line_may_be_a_host),
        cmocka_unit_test(rules_of_ad_blockers_are_read),
        cmocka_unit_test(comments_and_local_names_are_ignored),
        cmocka_unit_test(other_lines_are_not_understood),
    };
    return cmocka_run_group_tests_name("unit.hostlist", tests, NULL, NULL);
}
