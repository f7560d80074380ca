/* test_uts46.c - hosts in other scripts as browsers read them, and as deja 0.1 did; Punycode. */
#include "unit.h"

#include "core/url/host.h"
#include "core/url/idna.h"
#include "core/url/punycode.h"
#include "glance.h"
#include "rng.h"
#include <stdio.h>
#include <string.h>

#define NONE "(none)"

struct row {
    const char *host, *form, *before; /* before: the form in deja 0.1; NULL if it was the same */
};

static const char *form_of(const char *host, uint32_t version, char room[2000])
{
    struct dj_text text = dj_text_in(room, 1999);
    const int rc = dj_host_write(&text, (deja_slice){host, strlen(host)}, version);
    room[text.len] = '\0';
    return rc == DEJA_OK && !text.short_of_room ? room : NONE;
}

static void assert_rows(const struct row *row, size_t n)
{
    char room[2000];
    if (!dj_idna_here())
        skip();
    for (size_t i = 0; i < n; i++) {
        const char *before = row[i].before ? row[i].before : row[i].form;
        assert_string_equal(form_of(row[i].host, DJ_URL_UTS46, room), row[i].form);
        assert_string_equal(form_of(row[i].host, DJ_URL_IDNA2008, room), before);
    }
}
#define ROWS(rows) assert_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void letters_are_mapped_and_encoded(void **state)
{
    static const struct row rows[] = {
        {"b\u00fccher.example", "xn--bcher-kva.example", NULL},
        {"B\u00dcCHER.example", "xn--bcher-kva.example", NULL},
        {"bu\u0308cher.example", "xn--bcher-kva.example", NULL}, /* composed */
        {"\uff22\u00fc\uff43her.de", "xn--bcher-kva.de", NULL},  /* full width */
        {"fa\u00df.de", "xn--fa-hia.de", NULL},                  /* sharp s is kept */
        {"FA\u1e9e.de", "xn--fa-hia.de", "fass.de"},             /* a capital one too */
        {"\u03b2\u03cc\u03bb\u03bf\u03c2.com", "xn--nxasmm1c.com", NULL},
        {"a\u00adb\u00fc.example", "xn--ab-yka.example", NULL}, /* a soft hyphen is ignored */
        {"\u00fc\u3002example", "xn--tda.example", NULL},       /* an ideographic full stop */
        {"\u00fc..x.", "xn--tda..x.", NULL},
        {"\u1f71.example", "xn--hxa.example", NULL},
        {"\u4f8b\u3048.\u30c6\u30b9\u30c8", "xn--r8jz45g.xn--zckzah", NULL},
    };
    ROWS(rows);
}

static void symbols_are_allowed_in_hosts(void **state)
{
    static const struct row rows[] = {
        {"\u2603.net", "xn--n3h.net", NONE},
        {"\U0001f4a9.la", "xn--ls8h.la", NONE},
        {"\u2260.example", "xn--1ch.example", NULL},
        {"\u2474.example", "(1).example", NULL}, /* 1 in parentheses */
        {"i\u2665\u00fc.ws", "xn--i-eha448z.ws", NONE},
    };
    ROWS(rows);
}

static void hyphens_may_be_anywhere(void **state)
{
    static const struct row rows[] = {
        {"ab--\u00fc.example", "xn--ab---3ra.example", NONE},
        {"-\u00fc.example", "xn----eha.example", NONE},
        {"\u00fc-.example", "xn----dha.example", NONE},
        {"-x.\u00df", "-x.xn--zca", NONE},
        {"ab--c.\u00df", "ab--c.xn--zca", NONE},
        {"\u00fc\uff0dx.de", "xn---x-wka.de", NULL},
    };
    ROWS(rows);
}

static void labels_may_be_long(void **state)
{
#define TEN "0123456789"
    static const struct row rows[] = {
        {"x" TEN TEN TEN TEN TEN TEN "1x.\u00df", "x" TEN TEN TEN TEN TEN TEN "1x.xn--zca", NULL},
        {"x" TEN TEN TEN TEN TEN TEN "1234x.\u00df", "x" TEN TEN TEN TEN TEN TEN "1234x.xn--zca",
         NONE},
        {"x" TEN TEN TEN TEN TEN TEN "1\u2020", "xn--x" TEN TEN TEN TEN TEN TEN "1-uo03b", NONE},
    };
    ROWS(rows);
    /* Long hosts are refused, which limits the time. */
    char host[1200], room[2000];
    for (size_t i = 0; i < 1026; i += 2)
        memcpy(host + i, "\u00fc", 2);
    host[1026] = '\0';
    assert_string_equal(form_of(host, DJ_URL_UTS46, room), NONE);
    host[1024] = '\0';
    assert_string_not_equal(form_of(host, DJ_URL_UTS46, room), NONE);
    /* So are hosts with a long form: U+FDFA becomes 18 letters. */
    for (size_t i = 0; i < 150; i += 3)
        memcpy(host + i, "\ufdfa", 3);
    host[150] = '\0';
    assert_string_equal(form_of(host, DJ_URL_UTS46, room), NONE);
}

static void hosts_that_browsers_refuse_are_refused(void **state)
{
    static const struct row rows[] = {
        {"\ufffd.com", NONE, NULL},
        {"\u00fc\u2028.com", NONE, NULL},
        {"\u0301\u00fc.com", NONE, NULL}, /* starts with a combining mark */
        {"\u00fc\u00a0.com", NONE, NULL}, /* maps to a space */
        {"\u2100.com", NONE, NULL},       /* maps to a/c */
        {"\u200d.example", NONE, NULL},   /* a joiner that joins nothing */
        {"a\u200c\u00fc.example", NONE, NULL},
        {"xn--a.\u00df", NONE, NULL},    /* encodes nothing valid */
        {"xn--te\u0161la", NONE, NULL},  /* not ASCII */
        {"xn--zca-.\u00df", NONE, NULL}, /* encodes only ASCII */
        {"xn--a-yoc.\u05d0", NONE, NULL},
        {"\xff.com", NONE, NULL},
        {"\u00fc.1", NONE, NULL},
    };
    ROWS(rows);
}

/* deja 0.1 accepted them unchanged. */
static void labels_that_encode_nothing_valid_are_refused(void **state)
{
    static const struct row rows[] = {
        {"xn--a.example", NONE, "xn--a.example"}, /* a control character */
        {"www.xn--0.pt", NONE, "www.xn--0.pt"},   /* truncated */
        {"xn--", NONE, "xn--"},
        {"XN--abc-", NONE, "xn--abc-"}, /* only ASCII */
        {"xn--abc-.xn--tda", NONE, "xn--abc-.xn--tda"},
        {"xn--u-ccb", NONE, "xn--u-ccb"},               /* composing would change it */
        {"xn--zn7c.com", NONE, "xn--zn7c.com"},         /* U+FFFD */
        {"%58n--1ug.example", NONE, "xn--1ug.example"}, /* a lone joiner */
        {"xn--a-yoc", NONE, "xn--a-yoc"},               /* mixed directions */
        {"xn--tda.xn--tda", "xn--tda.xn--tda", NULL},
        {"xn--xn--a--gua.pt", "xn--xn--a--gua.pt", NULL},
        {"_x.xn--n3h.", "_x.xn--n3h.", NULL},
    };
    ROWS(rows);
}

/* The quick check never accepts these hosts, whatever surrounds them. */
static void urls_with_such_hosts_are_not_plain(void **state)
{
    static const char *const urls[] = {
        "http://xn--a/",
        "http://xn--a/b?c",
        "https://www.example.xn--a/some/path/that/is/rather/long/and/longer/than/64/bytes",
        "http://xn--a:8080/",
        "http://a.xn--abc-.example/",
        "http://xn--a",
        "https://example-1.xn--a/01234567",
    };
    if (!dj_idna_here())
        skip();
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_CRAWL; profile++) {
            const deja_url_rules *rules = deja_url_profile(profile);
            const deja_slice url = {urls[i], strlen(urls[i])};
            deja_slice many[20], form;
            uint8_t plain[20];
            char room[2000];
            for (size_t j = 0; j < 20; j++)
                many[j] = url;
            glance(rules, many, 20, plain);
            assert_int_equal(plain[7], 0);
            assert_int_equal(deja_url_canon(rules, url, room, sizeof room, &form, NULL),
                             DEJA_ENOTURL);
            assert_int_equal(
                deja_url_canon(deja_url_rules_older(rules), url, room, sizeof room, &form, NULL),
                DEJA_OK);
        }
}

static void joiners_are_allowed_where_scripts_need_them(void **state)
{
    static const struct row rows[] = {
        {"\u0dc1\u0dca\u200d\u0dbb\u0dd3", "xn--10cl1a0b660p", NULL},
        {"\u0646\u0627\u0645\u0647\u200c\u0627\u06cc", "xn--mgba3gch31f060k", NULL},
    };
    ROWS(rows);
}

/* RFC 5893 for every label of a name that has right-to-left letters. */
static void directions_do_not_mix(void **state)
{
    static const struct row rows[] = {
        {"\u05d0\u05d1.example", "xn--4dbc.example", NULL},
        {"\u064a.", "xn--mhb.", NULL},
        {"\u064aa", NONE, NULL},
        {"0\u00e0.\u05d0", NONE, "xn--0-sfa.xn--4db"},
        {"\u00e0\u05d0", NONE, NULL},
        {"\u05d00\u0660", NONE, "xn--0-zhc74b"}, /* European and Arabic digits */
        {"\u05d0\u0308", "xn--ssa73l", NULL},
    };
    ROWS(rows);
}

/* --- Punycode --------------------------------------------------------------------- */

static void the_samples_of_rfc_3492_hold(void **state)
{
    static const struct {
        uint32_t c[20];
        const char *ascii;
    } rows[] = {
        {{0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d, 0x8bf4, 0x4e2d, 0x6587},
         "ihqwcrb4cv8a8dqg056pqjye"},
        {{0x33, 0x5e74, 0x42, 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f}, "3B-ww4c5e180e575a65lsy2b"},
        {{0x2d, 0x3e, 0x20, 0x24, 0x31, 0x2e, 0x30, 0x30, 0x20, 0x3c, 0x2d}, "-> $1.00 <--"},
        {{0xfc}, "tda"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char room[64];
        uint32_t back[32];
        size_t n = 0;
        while (rows[i].c[n])
            n++;
        struct dj_text out = dj_text_in(room, sizeof room);
        dj_punycode_write(&out, rows[i].c, n);
        assert_int_equal(out.len, strlen(rows[i].ascii));
        assert_memory_equal(room, rows[i].ascii, out.len);
        assert_int_equal(dj_punycode_read(dj_text_slice(&out), back, 32), n);
        assert_memory_equal(back, rows[i].c, n * sizeof *back);
        assert_int_equal(dj_punycode_read(dj_text_slice(&out), back, n - 1), SIZE_MAX);
    }
}

static void invalid_punycode_is_refused(void **state)
{
    static const char *const wrong[] = {"=", "tda-!", "99999999999", "zzzzzzzzzzzzzzzzz", "\xc3"};
    uint32_t c[64];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(dj_punycode_read((deja_slice){wrong[i], strlen(wrong[i])}, c, 64),
                         SIZE_MAX);
    assert_int_equal(dj_punycode_read((deja_slice){"", 0}, c, 64), 0);
}

static void any_label_decodes_to_itself(void **state)
{
    struct rng r = rng_seeded(5);
    for (int turn = 0; turn < 3000; turn++) {
        uint32_t c[80], back[80];
        char room[1000];
        struct dj_text out = dj_text_in(room, sizeof room);
        const size_t n = 1 + (size_t)rng_below(&r, 79);
        const uint64_t top = rng_below(&r, 2) ? 0x110000 : 0x100 + rng_below(&r, 0x3000);
        for (size_t i = 0; i < n; i++) {
            c[i] = (uint32_t)rng_below(&r, top);
            if (c[i] >= 0xd800 && c[i] < 0xe000)
                c[i] = 'x';
        }
        dj_punycode_write(&out, c, n);
        assert_false(out.short_of_room);
        assert_int_equal(dj_punycode_read(dj_text_slice(&out), back, 80), n);
        assert_memory_equal(back, c, n * sizeof *c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_mapped_and_encoded),
        cmocka_unit_test(symbols_are_allowed_in_hosts),
        cmocka_unit_test(hyphens_may_be_anywhere),
        cmocka_unit_test(labels_may_be_long),
        cmocka_unit_test(hosts_that_browsers_refuse_are_refused),
        cmocka_unit_test(labels_that_encode_nothing_valid_are_refused),
        cmocka_unit_test(urls_with_such_hosts_are_not_plain),
        cmocka_unit_test(joiners_are_allowed_where_scripts_need_them),
        cmocka_unit_test(directions_do_not_mix),
        cmocka_unit_test(the_samples_of_rfc_3492_hold),
        cmocka_unit_test(invalid_punycode_is_refused),
        cmocka_unit_test(any_label_decodes_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
