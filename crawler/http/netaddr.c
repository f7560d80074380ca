/* netaddr.c - recognizes public Internet addresses.
 *
 * A broad crawl follows untrusted links, and links such as http://169.254.169.254/ or
 * http://printer.local/ must not lead it into the local network.  Checking names does not help:
 * anyone can point a name at 127.0.0.1, and change it between two lookups.  So fetch.c checks the
 * address of each connection it is about to open.
 *
 * Multicast addresses are not public, nor are the blocks that IANA's special-purpose registries do
 * not list as globally reachable.  If an IPv6 block embeds IPv4 addresses, the embedded address
 * decides.
 *
 * Limit: a NAT64 prefix that a local network chose for itself looks public. */
#include "crawler/http/netaddr.h"
#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct block {
    uint8_t prefix[16];
    uint8_t bits;
    uint8_t carries; /* offset of an embedded IPv4 address; 0: none */
};

static const struct block v4_blocks[] = {
    {{0}, 8, 0},             /* this network */
    {{10}, 8, 0},            /* private */
    {{100, 64}, 10, 0},      /* carriers' shared */
    {{127}, 8, 0},           /* loopback */
    {{169, 254}, 16, 0},     /* link-local */
    {{172, 16}, 12, 0},      /* private */
    {{192, 0, 0}, 24, 0},    /* protocols */
    {{192, 0, 2}, 24, 0},    /* documentation */
    {{192, 168}, 16, 0},     /* private */
    {{198, 18}, 15, 0},      /* benchmarks */
    {{198, 51, 100}, 24, 0}, /* documentation */
    {{203, 0, 113}, 24, 0},  /* documentation */
    {{224}, 4, 0},           /* multicast */
    {{240}, 4, 0},           /* reserved, broadcast */
};

static const struct block v6_blocks[] = {
    {{[15] = 1}, 128, 0},                 /* loopback */
    {{[10] = 0xff, [11] = 0xff}, 96, 12}, /* IPv4-mapped */
    {{0}, 96, 12},                        /* unspecified; IPv4-compatible */
    {{0, 0x64, 0xff, 0x9b}, 96, 12},      /* NAT64 */
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, 0}, /* NAT64 of a local network */
    {{1}, 64, 0},                         /* discard */
    {{0x20, 0x01}, 23, 0},                /* protocols, with Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, 0},    /* documentation */
    {{0x20, 0x02}, 16, 2},                /* 6to4 */
    {{0x3f, 0xff}, 20, 0},                /* documentation */
    {{0x5f}, 16, 0},                      /* segment routing */
    {{0xfc}, 7, 0},                       /* unique local */
    {{0xfe, 0x80}, 10, 0},                /* link-local */
    {{0xfe, 0xc0}, 10, 0},                /* site-local */
    {{0xff}, 8, 0},                       /* multicast */
};

static bool is_in(const uint8_t *bytes, const struct block *b)
{
    const size_t whole = b->bits / 8, rest = b->bits % 8;
    const uint8_t mask = (uint8_t)(0xff << (8 - rest));
    return memcmp(bytes, b->prefix, whole) == 0 &&
           (rest == 0 || ((bytes[whole] ^ b->prefix[whole]) & mask) == 0);
}

static const struct block *find(const uint8_t *bytes, const struct block *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_in(bytes, &b[i]))
            return &b[i];
    return NULL;
}

static bool v4_is_public(const uint8_t bytes[4])
{
    return !find(bytes, v4_blocks, sizeof v4_blocks / sizeof v4_blocks[0]);
}

static bool v6_is_public(const uint8_t bytes[16])
{
    const struct block *b = find(bytes, v6_blocks, sizeof v6_blocks / sizeof v6_blocks[0]);
    return !b || (b->carries && v4_is_public(bytes + b->carries));
}

bool netaddr_is_public(const struct sockaddr *a)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    uint8_t bytes[16];
    switch (a->sa_family) {
    case AF_INET:
        memcpy(&v4, a, sizeof v4);
        memcpy(bytes, &v4.sin_addr, 4);
        return v4_is_public(bytes);
    case AF_INET6:
        memcpy(&v6, a, sizeof v6);
        memcpy(bytes, &v6.sin6_addr, 16);
        return v6_is_public(bytes);
    default:
        return false;
    }
}

bool netaddr_text_is_private(const char *text)
{
    char inner[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    const size_t len = strlen(text);
    if (inet_pton(AF_INET, text, bytes) == 1)
        return !v4_is_public(bytes);
    if (text[0] != '[' || len < 3 || text[len - 1] != ']' || len - 2 >= sizeof inner)
        return false;
    memcpy(inner, text + 1, len - 2);
    inner[len - 2] = '\0';
    return inet_pton(AF_INET6, inner, bytes) == 1 && !v6_is_public(bytes);
}
