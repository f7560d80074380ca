/* uts46.c - non-ASCII hosts as browsers handle them.
 *
 * UTS 46 ToASCII with the options of the WHATWG URL standard: nontransitional, CheckBidi and
 * CheckJoiners; no CheckHyphens, no UseSTD3ASCIIRules, no VerifyDnsLength.  Each code point is
 * mapped, the whole host is normalized (NFC), and each label is checked and encoded.
 *
 * The mapping comes from libidn2, which has no call that only maps.  So each code point is looked
 * up after an ideograph that nothing composes with, by the transitional rules, which check nothing
 * else.  The four characters that these rules map and browsers keep are handled here.  So are the
 * compatibility forms of ASCII, which libidn2 rejects although UseSTD3ASCIIRules is off; their
 * mapping is NFKC.  Normalization and properties come from libunistring, on which libidn2 is
 * built.  Characters newer than the Unicode version of these libraries are rejected. */
#include "core/url/uts46.h"

#if !defined DEJA_HAVE_IDN2

int dj_uts46_to_ascii(struct dj_text *out, size_t start)
{
    (void)out;
    (void)start;
    return DEJA_ENOTSUP;
}

#else

#include "core/url/codepoint.h"
#include "core/url/punycode.h"
#include <idn2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>

#define MAX_UTF8 1024 /* bytes; the time grows with the square of a label's length */
#define MAX      DJ_PUNYCODE_MAX

enum {
    SHARP_S = 0xdf,
    CAPITAL_SHARP_S = 0x1e9e,
    FINAL_SIGMA = 0x3c2,
    ZWNJ = 0x200c,
    ZWJ = 0x200d
};

struct points {
    uint32_t c[MAX];
    size_t n;
};

static bool put(struct points *p, uint32_t c)
{
    if (p->n == MAX)
        return false;
    p->c[p->n++] = c;
    return true;
}

/* --- Mapping ------------------------------------------------------------------- */

static bool is_kept(uint32_t c)
{
    return c < 0x80 || c == SHARP_S || c == FINAL_SIGMA || c == ZWNJ || c == ZWJ;
}

static bool is_dot(uint32_t c)
{
    return c == '.' || c == 0x3002 || c == 0xff0e || c == 0xff61;
}

/* U+4E00 and the code point, in UTF-8. */
static void spell(uint32_t c, char text[8])
{
    size_t n = 3;
    memcpy(text, "\xe4\xb8\x80", n);
    if (c >= 0x10000)
        text[n++] = (char)(0xf0 | c >> 18);
    if (c >= 0x800)
        text[n++] = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12);
    text[n++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
    text[n++] = (char)(0x80 | (c & 0x3f));
    text[n] = '\0';
}

/* Append the lower-case compatibility form of a code point if it has one that is at least partly
 * ASCII: for example the parenthesized 1, or the fullwidth hyphen. */
static int map_to_ascii(struct points *to, uint32_t c)
{
    uint32_t form[32];
    size_t n = sizeof form / sizeof form[0];
    bool ascii = false;
    uint32_t *got = u32_casefold(&c, 1, NULL, UNINORM_NFKC, form, &n);
    if (!got)
        return DEJA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        ascii |= got[i] < 0x80;
    bool ok = ascii;
    for (size_t i = 0; i < n && ok; i++)
        ok = put(to, got[i]);
    if (got != form)
        free(got);
    return ok ? DEJA_OK : DEJA_ENOTURL;
}

/* A direct-mapped cache of code points that map to themselves: a lookup in libidn2 takes a
 * thousand times as long, and the hosts in a list use few distinct letters. */
#define KNOWN    1024
static _Atomic uint32_t known[KNOWN];

static bool is_known(uint32_t c)
{
    return atomic_load_explicit(&known[c % KNOWN], memory_order_relaxed) == c;
}

/* Append the UTS 46 mapping of a code point: itself, others, or nothing; DEJA_ENOTURL:
 * disallowed. */
static int map(struct points *to, uint32_t c)
{
    char text[8];
    uint8_t *ascii = NULL;
    uint32_t mapped[64];
    if (is_kept(c) || is_known(c))
        return put(to, c) ? DEJA_OK : DEJA_ENOTURL;
    if (is_dot(c) || c == CAPITAL_SHARP_S)
        return put(to, is_dot(c) ? '.' : SHARP_S) ? DEJA_OK : DEJA_ENOTURL;
    spell(c, text);
    const int rc =
        idn2_lookup_u8((const uint8_t *)text, &ascii, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    if (rc == IDN2_MALLOC)
        return DEJA_ENOMEM;
    if (rc == IDN2_DISALLOWED || rc == IDN2_UNASSIGNED)
        return DEJA_ENOTURL;
    if (rc != IDN2_OK)
        return map_to_ascii(to, c);
    const size_t len =
        strlen((const char *)ascii); /* xn-- and the encoded ideograph with the mapping */
    const size_t n =
        len < 4 ? SIZE_MAX : dj_punycode_read((deja_slice){ascii + 4, len - 4}, mapped, 64);
    idn2_free(ascii);
    if (n == SIZE_MAX || n == 0 || mapped[0] != 0x4e00)
        return DEJA_ENOTURL;
    if (n == 2 && mapped[1] == c)
        atomic_store_explicit(&known[c % KNOWN], c, memory_order_relaxed);
    for (size_t i = 1; i < n; i++)
        if (!put(to, mapped[i]))
            return DEJA_ENOTURL;
    return DEJA_OK;
}

/* DEJA_OK if the code point is allowed unmapped. */
static int check_allowed(uint32_t c)
{
    struct points same;
    same.n = 0;
    if (is_kept(c))
        return is_dot(c) ? DEJA_ENOTURL : DEJA_OK;
    const int rc = map(&same, c);
    return rc == DEJA_OK && (same.n != 1 || same.c[0] != c) ? DEJA_ENOTURL : rc;
}

static int map_all(struct points *to, const char *s, size_t len)
{
    uint32_t c = 0;
    for (size_t i = 0, step; i < len; i += step) {
        step = dj_codepoint_read(s + i, len - i, &c);
        const int rc = step ? map(to, c) : DEJA_ENOTURL;
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

static int normalize(struct points *p)
{
    struct points form;
    size_t n = MAX;
    uint32_t *got = u32_normalize(UNINORM_NFC, p->c, p->n, form.c, &n);
    if (!got)
        return DEJA_ENOMEM;
    const bool fits = got == form.c;
    if (fits)
        memcpy(p->c, form.c, n * sizeof *p->c);
    else
        free(got);
    p->n = fits ? n : 0;
    return fits ? DEJA_OK : DEJA_ENOTURL;
}

/* --- Labels -------------------------------------------------------------------- */

/* RFC 5892, appendix A.1: whether there is a joining letter on that side of a zero width
 * non-joiner, with only transparent characters between them. */
static bool joins(const uint32_t *c, size_t n, size_t at, bool after)
{
    while (after ? ++at < n : at-- > 0) {
        const int type = uc_joining_type(c[at]);
        if (type != UC_JOINING_TYPE_T)
            return type == UC_JOINING_TYPE_D ||
                   type == (after ? UC_JOINING_TYPE_R : UC_JOINING_TYPE_L);
    }
    return false;
}

static bool joiners_are_fine(const uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool joiner = c[i] == ZWNJ || c[i] == ZWJ;
        if (!joiner || (i > 0 && uc_combining_class(c[i - 1]) == UC_CCC_VR))
            continue;
        if (c[i] == ZWJ || !joins(c, n, i, false) || !joins(c, n, i, true))
            return false;
    }
    return true;
}

static bool is_one_of(int category, const char *list)
{
    for (; *list; list++)
        if (category == *list)
            return true;
    return false;
}

/* The directions that RFC 5893 distinguishes, as one letter each. */
static char direction(uint32_t c)
{
    switch (uc_bidi_category(c)) {
    case UC_BIDI_L:
        return 'L';
    case UC_BIDI_R:
        return 'R';
    case UC_BIDI_AL:
        return 'A';
    case UC_BIDI_AN:
        return 'a';
    case UC_BIDI_EN:
        return 'e';
    case UC_BIDI_NSM:
        return 'n';
    case UC_BIDI_ES:
    case UC_BIDI_CS:
    case UC_BIDI_ET:
    case UC_BIDI_ON:
    case UC_BIDI_BN:
        return 'o';
    default:
        return 'x';
    }
}

/* RFC 5893, section 2: the six rules for a label of a name with right-to-left letters. */
static bool direction_is_fine(const uint32_t *c, size_t n)
{
    if (n == 0)
        return true;
    const char first = direction(c[0]);
    const bool left = first == 'L', right = first == 'R' || first == 'A';
    bool arabic = false, european = false;
    size_t last = n;
    for (size_t i = 0; i < n; i++) {
        const char d = direction(c[i]);
        if (!is_one_of(d, left ? "Leon" : "RAaeon"))
            return false;
        arabic |= d == 'a';
        european |= d == 'e';
        last = d == 'n' ? last : i;
    }
    const char end = last < n ? direction(c[last]) : 'x';
    return (left && is_one_of(end, "Le")) ||
           (right && is_one_of(end, "RAea") && !(arabic && european));
}

static bool runs_right_to_left(const uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_one_of(direction(c[i]), "RAa"))
            return true;
    return false;
}

static bool is_ascii(const uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c[i] >= 0x80)
            return false;
    return true;
}

/* A label after xn--, decoded: it must equal its own mapping and normalization. */
static int decode(const uint32_t *c, size_t n, struct points *label)
{
    char ascii[MAX];
    if (!is_ascii(c, n))
        return DEJA_ENOTURL;
    for (size_t i = 0; i < n; i++)
        ascii[i] = (char)c[i];
    label->n = dj_punycode_read((deja_slice){ascii, n}, label->c, MAX);
    if (label->n == SIZE_MAX || is_ascii(label->c, label->n))
        return DEJA_ENOTURL;
    for (size_t i = 0; i < label->n; i++) {
        const int rc = check_allowed(label->c[i]);
        if (rc < 0)
            return rc;
    }
    struct points form = *label;
    const int rc = normalize(&form);
    const bool same = form.n == label->n && memcmp(form.c, label->c, form.n * sizeof *form.c) == 0;
    return rc == DEJA_OK && !same ? DEJA_ENOTURL : rc;
}

struct host {
    bool right_to_left; /* at least one label */
    bool fine;          /* all labels obey the rules for such names */
};

static int write_label(struct dj_text *out, const uint32_t *c, size_t n, struct host *host)
{
    static const uint32_t prefix[] = {'x', 'n', '-', '-'};
    struct points decoded;
    if (n >= 4 && memcmp(c, prefix, sizeof prefix) == 0) {
        const int rc = decode(c + 4, n - 4, &decoded);
        if (rc < 0)
            return rc;
        c = decoded.c;
        n = decoded.n;
    }
    host->right_to_left |= runs_right_to_left(c, n);
    host->fine &= direction_is_fine(c, n);
    if (is_ascii(c, n)) {
        for (size_t i = 0; i < n; i++)
            dj_text_byte(out, (char)c[i]);
        return DEJA_OK;
    }
    if (uc_is_general_category(c[0], UC_CATEGORY_M) || !joiners_are_fine(c, n))
        return DEJA_ENOTURL;
    dj_text_bytes(out, "xn--", 4);
    dj_punycode_write(out, c, n);
    return DEJA_OK;
}

int dj_uts46_to_ascii(struct dj_text *out, size_t start)
{
    const size_t len = out->len - start, room = out->cap;
    struct host host = {false, true};
    struct points p;
    p.n = 0;
    if (len > MAX_UTF8)
        return DEJA_ENOTURL;
    int rc = map_all(&p, out->at + start, len);
    if (rc == DEJA_OK)
        rc = normalize(&p);
    out->len = start;
    if (room > start + 3 * len + 128) /* no form is longer; see url.h */
        out->cap = start + 3 * len + 128;
    for (size_t from = 0, end; rc == DEJA_OK && from <= p.n; from = end + 1) {
        for (end = from; end < p.n && p.c[end] != '.'; end++)
            ;
        if (from > 0)
            dj_text_byte(out, '.');
        rc = write_label(out, p.c + from, end - from, &host);
    }
    const bool too_long = out->short_of_room && out->cap < room;
    out->cap = room;
    if (rc == DEJA_OK && too_long) {
        out->short_of_room = false;
        rc = DEJA_ENOTURL;
    }
    return rc == DEJA_OK && host.right_to_left && !host.fine ? DEJA_ENOTURL : rc;
}

#endif
