/* test_netaddr.c - public addresses: the first and last of each block, and their neighbors. */
#include "crawler/http/netaddr.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static bool is_public(const char *text)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    char spelled[80];
    const bool four = !strchr(text, ':');
    assert_int_equal(four ? inet_pton(AF_INET, text, &v4.sin_addr)
                          : inet_pton(AF_INET6, text, &v6.sin6_addr),
                     1);
    const bool is = netaddr_is_public(four ? (const void *)&v4 : (const void *)&v6);
    snprintf(spelled, sizeof spelled, four ? "%s" : "[%s]", text);
    assert_int_equal(netaddr_text_is_private(spelled), !is);
    return is;
}

static void private_blocks_are_private(void **state)
{
    static const char *const private[] = {"0.0.0.0",
                                          "0.255.255.255",
                                          "10.0.0.0",
                                          "10.255.255.255",
                                          "100.64.0.0",
                                          "100.127.255.255",
                                          "127.0.0.1",
                                          "127.255.255.255",
                                          "169.254.0.0",
                                          "169.254.169.254",
                                          "172.16.0.0",
                                          "172.31.255.255",
                                          "192.0.0.0",
                                          "192.0.0.255",
                                          "192.0.2.1",
                                          "192.168.0.0",
                                          "192.168.255.255",
                                          "198.18.0.0",
                                          "198.19.255.255",
                                          "198.51.100.7",
                                          "203.0.113.7",
                                          "224.0.0.1",
                                          "239.255.255.255",
                                          "240.0.0.0",
                                          "255.255.255.255",
                                          "::",
                                          "::1",
                                          "::ffff:127.0.0.1",
                                          "::ffff:10.1.2.3",
                                          "::127.0.0.1",
                                          "64:ff9b::127.0.0.1",
                                          "64:ff9b::192.168.1.1",
                                          "64:ff9b:1::1",
                                          "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
                                          "100::",
                                          "100::ffff:ffff:ffff:ffff",
                                          "2001::1",
                                          "2001:1ff:ffff::",
                                          "2001:db8::1",
                                          "2002:7f00:1::",
                                          "2002:a01:203::1",
                                          "3fff::1",
                                          "3fff:fff:ffff::",
                                          "5f00::1",
                                          "fc00::",
                                          "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                                          "fe80::1",
                                          "febf:ffff::",
                                          "fec0::",
                                          "feff:ffff::",
                                          "ff00::",
                                          "ff02::1"};
    for (size_t i = 0; i < sizeof private / sizeof private[0]; i++)
        if (is_public(private[i]))
            fail_msg("%s is private", private[i]);
}

static void their_neighbors_are_public(void **state)
{
    static const char *const public[] = {"1.0.0.0",          "9.255.255.255",
                                         "11.0.0.0",         "100.63.255.255",
                                         "100.128.0.0",      "126.255.255.255",
                                         "128.0.0.0",        "169.253.255.255",
                                         "169.255.0.0",      "172.15.255.255",
                                         "172.32.0.0",       "191.255.255.255",
                                         "192.0.1.0",        "192.0.3.0",
                                         "192.167.255.255",  "192.169.0.0",
                                         "198.17.255.255",   "198.20.0.0",
                                         "198.51.99.255",    "198.51.101.0",
                                         "203.0.112.255",    "203.0.114.0",
                                         "223.255.255.255",  "::ffff:8.8.8.8",
                                         "64:ff9b::8.8.8.8", "64:ff9a::1",
                                         "64:ff9b:2::1",     "101::",
                                         "2001:200::",       "2001:4860:4860::8888",
                                         "2001:db7:ffff::",  "2001:db9::",
                                         "2002:808:808::1",  "2003::1",
                                         "2606:4700::1111",  "3ffe::1",
                                         "3fff:1000::",      "5eff::1",
                                         "5f01::",           "fbff::1",
                                         "fe00::",           "fe7f::1"};
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
        if (!is_public(public[i]))
            fail_msg("%s is public", public[i]);
}

static void other_families_are_not_public(void **state)
{
    const struct sockaddr local = {.sa_family = AF_UNIX};
    assert_false(netaddr_is_public(&local));
}

/* Only literal addresses: a name is resolved first. */
static void names_are_not_addresses(void **state)
{
    static const char *const names[] = {"",     "localhost", "[",      "[]",
                                        "[::1", "[::1]x",    "10.0.0", "10.0.0.1.example",
                                        "::1",  "[10.0.0.1]"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(netaddr_text_is_private(names[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_blocks_are_private),
        cmocka_unit_test(their_neighbors_are_public),
        cmocka_unit_test(other_families_are_not_public),
        cmocka_unit_test(names_are_not_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
