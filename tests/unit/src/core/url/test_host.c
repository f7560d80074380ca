/* test_host.c - every spelling of a host, its canonical form, and impossible hosts. */
#include "unit.h"

#include "core/url/host.h"
#include "core/url/idna.h"
#include "core/url/url.h"
#include <stdio.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NONE   "(none)"

static void host_of(deja_slice host, char *out, size_t cap)
{
    struct dj_text text = dj_text_in(out, cap - 1);
    const int rc = dj_host_write(&text, host, DJ_URL_UTS46);
    assert_false(text.short_of_room);
    out[text.len] = '\0';
    if (rc < 0)
        snprintf(out, cap, "%s", rc == DEJA_ENOTURL ? NONE : deja_strerror(rc));
}

static void assert_hosts(const char *const rows[][2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char got[512];
        host_of((deja_slice){rows[i][0], strlen(rows[i][0])}, got, sizeof got);
        assert_string_equal(got, rows[i][1]);
        if (strcmp(got, NONE) == 0)
            continue;
        host_of((deja_slice){rows[i][1], strlen(rows[i][1])}, got, sizeof got);
        assert_string_equal(got, rows[i][1]);
    }
}

static void domains_are_decoded_and_lowercased(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"example.com", "example.com"},
        {"EXAMPLE.Com", "example.com"},
        {"ex%61mple%2Ecom", "example.com"},
        {"%45xample", "example"},
        {"example.com.", "example.com."}, /* a different name */
        {"a..b", "a..b"},
        {".", "."},
        {".a", ".a"},
        {"a_b-c", "a_b-c"},
        {"-a-", "-a-"},
        {"r3---sn-4g5e.example", "r3---sn-4g5e.example"},
        {"a!$&'()*+,;=~\"`{}b", "a!$&'()*+,;=~\"`{}b"},
        {"1.com", "1.com"},
        {"0x.0xg", "0x.0xg"},
        {"1e3", "1e3"},
    };
    assert_hosts(rows, LEN(rows));
}

static void forbidden_bytes_are_refused(void **state)
{
    (void)state;
    static const char forbidden[] = " #/:<>?@[\\]^|%\x7f\x01\x1f";
    for (const char *c = forbidden; *c; c++) {
        const char raw[] = {'a', *c, 'b'};
        char encoded[8], got[64];
        host_of((deja_slice){raw, 3}, got, sizeof got);
        assert_string_equal(got, NONE);
        snprintf(encoded, sizeof encoded, "a%%%02xb", (unsigned)*c);
        host_of((deja_slice){encoded, 5}, got, sizeof got);
        assert_string_equal(got, NONE);
    }
    static const char *const rows[][2] = {
        {"", NONE},
        {"a%00b", NONE},
        {"a%2541", NONE}, /* after decoding once, a percent sign remains */
        {"%zz", NONE},
        {"%C3%BC%00", NONE},
        {"\xc3\xbc\xff", NONE},
    };
    char got[64];
    host_of((deja_slice){"a\0b", 3}, got, sizeof got);
    assert_string_equal(got, NONE);
    assert_hosts(rows, dj_idna_here() ? LEN(rows) : 4);
}

static void numbers_are_ipv4_addresses(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"127.0.0.1", "127.0.0.1"},
        {"127.0.0.1.", "127.0.0.1"},
        {"127.1", "127.0.0.1"},
        {"127.0.1", "127.0.0.1"},
        {"0x7f.1", "127.0.0.1"},
        {"0X7F.0x0.0.01", "127.0.0.1"},
        {"2130706433", "127.0.0.1"},
        {"017700000001", "127.0.0.1"},
        {"0x7f000001", "127.0.0.1"},
        {"%31%32%37.1", "127.0.0.1"},
        {"0", "0.0.0.0"},
        {"0x", "0.0.0.0"},
        {"00", "0.0.0.0"},
        {"1.2.3", "1.2.0.3"},
        {"1.2.65535", "1.2.255.255"},
        {"1.16777215", "1.255.255.255"},
        {"4294967295", "255.255.255.255"},
        {"010.8.010.8", "8.8.8.8"},
        {"000000000000000000000000000000000000001.2.3.4", "1.2.3.4"},
    };
    assert_hosts(rows, LEN(rows));
}

static void hosts_that_end_in_a_number_are_ipv4_or_none(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"256.1.1.1", NONE},
        {"1.2.3.256", NONE},
        {"1.2.65536", NONE},
        {"1.16777216", NONE},
        {"4294967296", NONE},
        {"0x100000000", NONE},
        {"99999999999999999999999999", NONE},
        {"1.2.3.4.5", NONE},
        {"a.1", NONE},
        {"www.140.99.28.36", NONE},
        {"1..2", NONE},
        {".1", NONE},
        {"09", NONE},
        {"1.08", NONE},
        {"a.0x1f", NONE},
        {"1.0x.", "1.0.0.0"},
        {"127.0.0.1..", "127.0.0.1.."}, /* the last label is empty, not a number */
    };
    assert_hosts(rows, LEN(rows));
}

static void ipv6_addresses_get_their_short_form(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"[::1]", "[::1]"},
        {"[::]", "[::]"},
        {"[0:0:0:0:0:0:0:0]", "[::]"},
        {"[1::]", "[1::]"},
        {"[2001:DB8:0:0:0:0:0:1]", "[2001:db8::1]"},
        {"[2001:0db8::0001]", "[2001:db8::1]"},
        {"[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"},
        {"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"}, /* a single zero is not shortened */
        {"[::2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]"},
        {"[1:0:0:4:0:0:0:8]", "[1:0:0:4::8]"},   /* the longest run */
        {"[1:0:0:4:0:0:7:8]", "[1::4:0:0:7:8]"}, /* the first of two runs */
        {"[::ffff:1.2.3.4]", "[::ffff:102:304]"},
        {"[1:2:3:4:5:6:255.0.0.1]", "[1:2:3:4:5:6:ff00:1]"},
        {"[::0.0.0.0]", "[::]"},
        {"[", NONE},
        {"[]", NONE},
        {"[:]", NONE},
        {"[:1]", NONE},
        {"[1:]", NONE},
        {"[:::1]", NONE},
        {"[1::2::3]", NONE},
        {"[1:2:3:4:5:6:7]", NONE},
        {"[1:2:3:4:5:6:7:8:9]", NONE},
        {"[1:2:3:4::5:6:7:8]", NONE},
        {"[12345::]", NONE},
        {"[g::]", NONE},
        {"[::1.2.3]", NONE},
        {"[::1.2.3.4.5]", NONE},
        {"[::1.2.3.256]", NONE},
        {"[::1.02.3.4]", NONE},
        {"[::.1.2.3]", NONE},
        {"[1:2:3:4:5:6:7:1.2.3.4]", NONE},
        {"[::1:2:3:4:5:6:1.2.3.4]", NONE},
        {"[::1%25eth0]", NONE},
        {"[::1]x", NONE},
        {"[::1", NONE},
        {"x[::1]", NONE},
    };
    assert_hosts(rows, LEN(rows));
}

static void hosts_in_other_scripts_become_ascii(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"b\xc3\xbc"
         "cher.example",
         "xn--bcher-kva.example"},
        {"B\xc3\x9c"
         "CHER.Example",
         "xn--bcher-kva.example"},
        {"b%C3%BCcher.example", "xn--bcher-kva.example"},
        {"bu\xcc\x88"
         "cher.example",
         "xn--bcher-kva.example"},                    /* u with two dots */
        {"fa\xc3\x9f.example", "xn--fa-hia.example"}, /* nontransitional processing: not fass */
        {"\xef\xbc\xa1.example", "a.example"},        /* full width */
        {"a\xe3\x80\x82"
         "b",
         "a.b"}, /* an ideographic full stop */
        {"\xe2\x84\x92\xe2\x84\xaf", "le"},
        {"\xc3\xbc.example.", "xn--tda.example."},
        {"\xc3\xbc..example", "xn--tda..example"},
        {"\xd7\x90\xd7\x91.example", "xn--4dbc.example"},
        {"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.1", "127.0.0.1"}, /* digits in full width */
        {"\xef\xbc\xbb::1]", NONE},
        {"\xc2\xad", NONE},             /* a soft hyphen is ignored */
        {"\xe2\x84\x80.example", NONE}, /* a/c as one character */
        {"\xef\xbc\x85"
         "41",
         NONE}, /* a percent sign in full width */
        {"\xd7\x90"
         "a.example",
         NONE}, /* right to left and left to right */
        {"\xc3\xbc.1", NONE},
        {"\xe2\x98\x83.example", "xn--n3h.example"}, /* a snowman */
        {"\xff", NONE},
        {"\xc3", NONE},
    };
    if (!dj_idna_here())
        skip();
    assert_hosts(rows, LEN(rows));
}

static void ascii_labels_stay(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"xn--bcher-kva.example", "xn--bcher-kva.example"},
        {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
        {"xn--n3h.example", "xn--n3h.example"},
        {"www.%58n--n3h.example.", "www.xn--n3h.example."},
        {"xn-.a-xn--.axn--.example", "xn-.a-xn--.axn--.example"},
    };
    assert_hosts(rows, LEN(rows));
}

static void without_libidn2_other_scripts_are_not_supported(void **state)
{
    (void)state;
    char got[64];
    if (dj_idna_here())
        skip();
    host_of((deja_slice){"\xc3\xbc", 2}, got, sizeof got);
    assert_string_equal(got, deja_strerror(DEJA_ENOTSUP));
}

static void long_hosts_in_other_scripts_are_refused(void **state)
{
    (void)state;
    char host[4000], got[4100];
    if (!dj_idna_here())
        skip();
    for (size_t i = 0; i < sizeof host; i += 2)
        memcpy(host + i, "\xc3\xbc", 2);
    static const size_t too_long[] = {1026, 4000};
    for (size_t i = 0; i < LEN(too_long); i++) {
        host_of((deja_slice){host, too_long[i]}, got, sizeof got);
        assert_string_equal(got, NONE);
    }
    memset(host, 'a', sizeof host); /* ASCII has no length limit */
    host_of((deja_slice){host, sizeof host}, got, sizeof got);
    assert_int_equal(strlen(got), sizeof host);
}

static void hosts_of_other_schemes_keep_their_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *host, *encoded, *normal;
    } rows[] = {
        {"Host", "Host", "host"},
        {"", "", ""},
        {"h%c3%bC%41", "h%c3%bC%41", "h%C3%BCa"},
        {"\xc3\xbc", "%C3%BC", "%C3%BC"},
        {"1.2", "1.2", "1.2"},
        {"a%", "a%", "a%"},
        {"%Z%4%31", "%Z%4%31", "%z%4%31"},
        {"[1:0:0:0:0:0:0:B]", "[1::b]", "[1::b]"},
        {"a b", NULL, NULL},
        {"a|b", NULL, NULL},
        {"a\\b", NULL, NULL},
        {"a]", NULL, NULL},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        for (int normal = 0; normal < 2; normal++) {
            char room[64];
            struct dj_text text = dj_text_in(room, sizeof room - 1);
            const char *want = normal ? rows[i].normal : rows[i].encoded;
            const int rc =
                dj_host_write_opaque(&text, (deja_slice){rows[i].host, strlen(rows[i].host)},
                                     normal ? dj_percent_normal : dj_percent_encode);
            room[text.len] = '\0';
            assert_int_equal(rc, want ? DEJA_OK : DEJA_ENOTURL);
            if (want)
                assert_string_equal(room, want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_are_decoded_and_lowercased),
        cmocka_unit_test(forbidden_bytes_are_refused),
        cmocka_unit_test(numbers_are_ipv4_addresses),
        cmocka_unit_test(hosts_that_end_in_a_number_are_ipv4_or_none),
        cmocka_unit_test(ipv6_addresses_get_their_short_form),
        cmocka_unit_test(hosts_in_other_scripts_become_ascii),
        cmocka_unit_test(ascii_labels_stay),
        cmocka_unit_test(without_libidn2_other_scripts_are_not_supported),
        cmocka_unit_test(long_hosts_in_other_scripts_are_refused),
        cmocka_unit_test(hosts_of_other_schemes_keep_their_bytes),
    };
    return cmocka_run_group_tests_name("unit.host", tests, NULL, NULL);
}
