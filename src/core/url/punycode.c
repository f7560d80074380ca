/* punycode.c - non-ASCII labels in ASCII; see punycode.h.
 *
 * Names are as in RFC 3492.  A code point is below 2^21 and there are at most 2^10 of them, so
 * delta stays below 2^32 in the encoder.  The decoder reads untrusted input and checks for
 * overflow. */
#include "core/url/punycode.h"
#include "core/base/os.h"

enum {
    BASE = 36,
    T_MIN = 1,
    T_MAX = 26,
    SKEW = 38,
    DAMP = 700,
    FIRST_BIAS = 72,
    FIRST_N = 0x80
};

static uint32_t adapt(uint32_t delta, size_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / (uint32_t)points;
    for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias)
{
    return k <= bias + T_MIN ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
}

static void put_number(struct dj_text *out, uint32_t q, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        const uint32_t t = threshold(k, bias);
        const uint32_t digit = q < t ? q : t + (q - t) % (BASE - t);
        dj_text_byte(out, (char)(digit < 26 ? 'a' + digit : '0' + digit - 26));
        if (q < t)
            return;
        q = (q - t) / (BASE - t);
    }
}

static uint32_t least_from(const uint32_t *c, size_t len, uint32_t n)
{
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < len; i++)
        if (c[i] >= n && c[i] < least)
            least = c[i];
    return least;
}

void dj_punycode_write(struct dj_text *out, const uint32_t *c, size_t len)
{
    uint32_t n = FIRST_N, delta = 0, bias = FIRST_BIAS;
    size_t done = 0;
    for (size_t i = 0; i < len; i++)
        if (c[i] < FIRST_N) {
            dj_text_byte(out, (char)c[i]);
            done++;
        }
    const size_t basic = done;
    if (basic)
        dj_text_byte(out, '-');
    for (; done < len; delta++, n++) {
        const uint32_t next = least_from(c, len, n);
        delta += (next - n) * (uint32_t)(done + 1);
        n = next;
        for (size_t i = 0; i < len; i++) {
            delta += c[i] < n;
            if (c[i] != n)
                continue;
            put_number(out, delta, bias);
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
}

/* --- Reading ------------------------------------------------------------------ */

static uint32_t digit_of(char c)
{
    return c >= 'a' && c <= 'z'   ? (uint32_t)(c - 'a')
           : c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 26
                                  : BASE;
}

/* Add the number at *at to *i; false if it is missing or too large. */
static bool read_number(const char **at, const char *end, uint32_t bias, uint64_t *i)
{
    uint64_t weight = 1;
    for (uint32_t k = BASE; *at < end; k += BASE) {
        const uint32_t digit = digit_of(*(*at)++), t = threshold(k, bias);
        if (digit == BASE || weight > UINT32_MAX)
            return false;
        *i += digit * weight;
        if (*i > UINT32_MAX)
            return false;
        if (digit < t)
            return true;
        weight *= BASE - t;
    }
    return false;
}

size_t dj_punycode_read(deja_slice ascii, uint32_t *c, size_t cap)
{
    const char *at = ascii.data, *end = at + ascii.len;
    const char *basic_end = ascii.len ? dj_os_find_last(at, '-', ascii.len) : NULL;
    uint32_t bias = FIRST_BIAS;
    uint64_t n = FIRST_N, i = 0;
    size_t len = 0;
    bool first = true;
    if (basic_end) {
        for (; at < basic_end; at++) {
            if (len == cap)
                return SIZE_MAX;
            c[len++] = (unsigned char)*at;
        }
        at++;
    }
    while (at < end) {
        const uint64_t before = i;
        if (len == cap || !read_number(&at, end, bias, &i))
            return SIZE_MAX;
        bias = adapt((uint32_t)(i - before), len + 1, first);
        first = false;
        n += i / (len + 1);
        i %= len + 1;
        if (n > 0x10ffff || (n >= 0xd800 && n < 0xe000))
            return SIZE_MAX;
        memmove(c + i + 1, c + i, (len - (size_t)i) * sizeof *c);
        c[i++] = (uint32_t)n;
        len++;
    }
    return len;
}
