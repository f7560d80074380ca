/* address.c - parse IP addresses. */
#include "core/url/address.h"
#include "core/base/letters.h"
#include <string.h>

/* One part of an IPv4 address: decimal, octal after 0, hexadecimal after 0x. */
static bool read_part(const char *s, size_t n, uint32_t *value)
{
    int base = 10;
    if (n >= 2 && s[0] == '0') {
        const int skip = s[1] == 'x' ? 2 : 1;
        base = s[1] == 'x' ? 16 : 8;
        s += skip;
        n -= (size_t)skip;
    } else if (n == 0) {
        return false;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        const int digit = dj_hex_value(s[i]);
        if (digit < 0 || digit >= base)
            return false;
        v = v * (unsigned)base + (unsigned)digit;
        if (v > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)v;
    return true;
}

bool dj_address_ipv4(const char *s, size_t n, uint32_t *address)
{
    uint32_t sum = 0, part = 0;
    const char *const end = s + n;
    for (unsigned parts = 1; parts <= 4; parts++) {
        const char *const dot = memchr(s, '.', (size_t)(end - s));
        if (!read_part(s, (size_t)((dot ? dot : end) - s), &part))
            return false;
        if (!dot) {
            if (part > UINT32_MAX >> 8 * (parts - 1))
                return false;
            *address = sum | part;
            return true;
        }
        if (part > 255)
            return false;
        sum |= parts < 4 ? part << (32 - 8 * parts) : 0;
        s = dot + 1;
    }
    return false;
}

bool dj_address_ipv6(const char *s, size_t n, uint16_t word[8])
{
    unsigned words = 0, gap = 9; /* gap: the index of the word after "::" */
    size_t i = 0;
    if (n >= 2 && s[0] == ':' && s[1] == ':') {
        gap = 0;
        i = 2;
    }
    while (i < n) {
        if (words == 8)
            return false;
        const size_t start = i;
        uint32_t value = 0;
        while (i < n && i - start < 4 && dj_hex_value(s[i]) >= 0)
            value = value << 4 | (uint32_t)dj_hex_value(s[i++]);
        if (i < n && s[i] == '.') {
            unsigned dots = 0;
            for (size_t j = start; j < n; j++) {
                dots += s[j] == '.';
                if (s[j] != '.' && (s[j] < '0' || s[j] > '9' || j - start > 14))
                    return false;
                if (s[j] == '0' && (j == start || s[j - 1] == '.') && j + 1 < n && s[j + 1] != '.')
                    return false; /* ambiguous: it might be octal */
            }
            if (dots != 3 || words > 6 || !dj_address_ipv4(s + start, n - start, &value))
                return false;
            word[words++] = (uint16_t)(value >> 16);
            word[words++] = (uint16_t)value;
            break;
        }
        if (i == start)
            return false;
        word[words++] = (uint16_t)value;
        if (i == n)
            break;
        if (s[i++] != ':' || i == n)
            return false;
        if (s[i] == ':') {
            if (gap != 9)
                return false;
            gap = words;
            i++;
        }
    }
    if (gap == 9)
        return words == 8;
    if (words == 8)
        return false;
    memmove(word + gap + 8 - words, word + gap, (words - gap) * sizeof *word);
    memset(word + gap, 0, (8 - words) * sizeof *word);
    return true;
}
