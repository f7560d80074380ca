/* idna2003.c - converts names to ASCII with libidn2, as close to IDNA 2003 as possible.
 *
 * libidn2 implements IDNA 2008 with Unicode's TR46, whose transitional mapping is designed to
 * agree with IDNA 2003 for names in use.  This file adds two things.  TR46 accepts no ASCII except
 * letters, digits, hyphen and underscore, and no hyphens at the ends; a label with other
 * characters is mapped in pieces and encoded here (RFC 3492).  And it adds IDNA 2003's rule for
 * right-to-left scripts, which libidn2 omits. docs/url.md lists the remaining differences. */
#include "core/url/idna2003.h"

#ifndef DEJA_HAVE_IDN2

int dj_idna2003_write(struct dj_text *out, deja_slice name)
{
    (void)out;
    (void)name;
    return DEJA_ENOTSUP;
}

#else

#include "core/url/codepoint.h"
#include "core/url/lowercase.h"
#include "core/url/punycode.h"
#include <idn2.h>

#define LABEL_MAX_BYTES 1023 /* longer input cannot become a label of 63 bytes */
#define LABEL_MAX       63

struct run {
    const char *at;
    size_t len;
};

/* RFC 3454 table D.1: letters of right-to-left scripts. */
static bool is_right_to_left(uint32_t c)
{
    static const uint16_t range[][2] = {
        {0x5be, 0x5be},   {0x5c0, 0x5c0},   {0x5c3, 0x5c3},   {0x5d0, 0x5ea},   {0x5f0, 0x5f4},
        {0x61b, 0x61b},   {0x61f, 0x61f},   {0x621, 0x63a},   {0x640, 0x64a},   {0x66d, 0x66f},
        {0x671, 0x6d5},   {0x6dd, 0x6dd},   {0x6e5, 0x6e6},   {0x6fa, 0x6fe},   {0x700, 0x70d},
        {0x710, 0x710},   {0x712, 0x72c},   {0x780, 0x7a5},   {0x7b1, 0x7b1},   {0x200f, 0x200f},
        {0xfb1d, 0xfb1d}, {0xfb1f, 0xfb28}, {0xfb2a, 0xfb36}, {0xfb38, 0xfb3c}, {0xfb3e, 0xfb3e},
        {0xfb40, 0xfb41}, {0xfb43, 0xfb44}, {0xfb46, 0xfbb1}, {0xfbd3, 0xfd3d}, {0xfd50, 0xfd8f},
        {0xfd92, 0xfdc7}, {0xfdf0, 0xfdfc}, {0xfe70, 0xfe74}, {0xfe76, 0xfefc},
    };
    for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
        if (c <= range[i][1])
            return c >= range[i][0];
    return false;
}

/* RFC 3454 section 6: a label with right-to-left letters starts and ends with them and has no
 * left-to-right ones.  Of the left-to-right scripts, this function knows only the usual ones:
 * Latin, Greek and Cyrillic. */
static bool runs_one_way(struct run label)
{
    bool any = false, other = false, first = false, last = false;
    uint32_t c = 0;
    for (size_t i = 0; i < label.len;) {
        const bool is_first = i == 0;
        i += dj_codepoint_read(label.at + i, label.len - i, &c);
        last = is_right_to_left(c);
        if (is_first)
            first = last;
        any |= last;
        other |= (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= 0xc0 && c < 0x2b9) ||
                 (c >= 0x370 && c < 0x530);
    }
    return !any || (first && last && !other);
}

/* Returns the label's ASCII form by libidn2; free it with idn2_free.  NULL: the label has none, or
 * *rc reports another error. */
static uint8_t *look_up(struct run label, int *rc)
{
    char text[LABEL_MAX_BYTES + 1];
    uint8_t *ascii = NULL;
    if (label.len > LABEL_MAX_BYTES || memchr(label.at, 0, label.len))
        return NULL;
    memcpy(text, label.at, label.len);
    text[label.len] = 0;
    const int flags = IDN2_NFC_INPUT | IDN2_TRANSITIONAL;
    const int got = idn2_lookup_u8((const uint8_t *)text, &ascii, flags);
    if (got == IDN2_MALLOC)
        *rc = DEJA_ENOMEM;
    return got == IDN2_OK ? ascii : NULL;
}

struct label {
    uint32_t c[LABEL_MAX + 1];
    size_t n; /* LABEL_MAX + 1: too many */
};

static void append(struct label *l, uint32_t c)
{
    if (l->n <= LABEL_MAX)
        l->c[l->n++] = c;
}

/* Append the IDNA mapping of a run of non-ASCII characters. */
static bool append_mapped(struct label *l, struct run run, int *rc)
{
    uint8_t *const ascii = look_up(run, rc);
    char *text = NULL;
    uint32_t c = 0;
    if (!ascii)
        return false;
    if (ascii[0] == 0) { /* the whole run is ignored, for example a soft hyphen */
        idn2_free(ascii);
        return true;
    }
    const int got = idn2_to_unicode_8z8z((const char *)ascii, &text, 0);
    if (got == IDN2_MALLOC)
        *rc = DEJA_ENOMEM;
    const size_t len = got == IDN2_OK ? strlen(text) : 0;
    for (size_t i = 0, step; i < len; i += step) {
        step = dj_codepoint_read(text + i, len - i, &c);
        if (step == 0) /* unreachable: libidn2 returns valid UTF-8 */
            break;
        append(l, c);
    }
    idn2_free(ascii);
    if (got == IDN2_OK)
        idn2_free(text);
    return len > 0;
}

/* Encode with the ACE prefix, in up to LABEL_MAX bytes; false if it does not fit. */
static bool punycode(const struct label *l, char to[LABEL_MAX], size_t *len)
{
    struct dj_text out = dj_text_in(to, LABEL_MAX);
    dj_text_bytes(&out, "xn--", 4);
    dj_punycode_write(&out, l->c, l->n);
    *len = out.len;
    return !out.short_of_room;
}

/* For labels with ASCII characters that libidn2 rejects and IDNA 2003 accepts: user info and port
 * are part of the name here, as are hyphens at the ends and escapes.  ASCII becomes lower case,
 * and each run of other characters is mapped separately. */
static bool write_mapped_label(struct dj_text *out, struct run label, int *rc)
{
    struct label l = {.n = 0};
    char ascii[LABEL_MAX];
    size_t len = 0;
    bool all_ascii = true;
    for (size_t i = 0, end; i < label.len && l.n <= LABEL_MAX; i = end) {
        for (end = i; end < label.len && (unsigned char)label.at[end] >= 0x80; end++)
            ;
        if (end == i)
            append(&l, dj_lowercase((unsigned char)label.at[end++]));
        else if (!append_mapped(&l, (struct run){label.at + i, end - i}, rc))
            return false;
    }
    for (size_t i = 0; i < l.n; i++)
        all_ascii = all_ascii && l.c[i] < 0x80;
    if (all_ascii) {
        for (size_t i = 0; i < l.n; i++)
            dj_text_byte(out, (char)l.c[i]);
        return l.n > 0 && l.n <= LABEL_MAX;
    }
    const bool has_prefix =
        l.n >= 4 && l.c[0] == 'x' && l.c[1] == 'n' && l.c[2] == '-' && l.c[3] == '-';
    if (has_prefix || l.n > LABEL_MAX || !punycode(&l, ascii, &len))
        return false;
    dj_text_bytes(out, ascii, len);
    return true;
}

/* Returns false if the label has no ASCII form, or *rc reports another error. */
static bool write_label(struct dj_text *out, struct run label, int *rc)
{
    if (label.len > LABEL_MAX_BYTES || !runs_one_way(label))
        return false;
    uint8_t *const ascii = look_up(label, rc);
    if (!ascii)
        return *rc == DEJA_OK && write_mapped_label(out, label, rc);
    const size_t len = strlen((const char *)ascii);
    const bool is_label = len > 0 && len <= LABEL_MAX && !memchr(ascii, '.', len);
    if (is_label)
        dj_text_bytes(out, ascii, len);
    idn2_free(ascii);
    return is_label;
}

/* The length of the full stop at s, in any script, or 0. */
static size_t dot_len(const char *s, size_t n)
{
    uint32_t c = 0;
    const size_t len = dj_codepoint_read(s, n, &c);
    return c == '.' || c == 0x3002 || c == 0xff0e || c == 0xff61 ? len : 0;
}

int dj_idna2003_write(struct dj_text *out, deja_slice name)
{
    const char *const s = name.data;
    int rc = DEJA_OK;
    for (size_t from = 0, end, dot = 0; from < name.len; from = end + dot) {
        dot = 0;
        for (end = from; end < name.len && (dot = dot_len(s + end, name.len - end)) == 0; end++)
            ;
        const struct run label = {s + from, end - from};
        if (!dj_codepoint_all_ascii(label.at, label.len)) {
            if (!write_label(out, label, &rc))
                return rc < 0 ? rc : DEJA_ENOTURL;
        } else if (label.len > 0 && label.len <= LABEL_MAX) {
            dj_text_bytes(out, label.at, label.len);
        } else {
            return DEJA_ENOTURL;
        }
        if (dot)
            dj_text_byte(out, '.');
    }
    return DEJA_OK;
}

#endif
