/* urlgen.c - URLs of a fictional web.
 *
 * URLs are unique by construction.  The number, scrambled by a bijection, is written into one
 * place of the URL, and the rest of the URL determines where that is and how to read it back:
 *
 *    host    a name of four or more syllables; the names of shared sites have two or three
 *    query   the value of a first parameter called id, p, v, ...; other parameters do not hold it
 *    path    otherwise, at the end of the last segment, before .html and the like:
 *              32 or 40 hex digits, a UUID   the first 14 hex digits (of the UUID: without its 4)
 *              only digits                   decimal
 *              a letter, a digit, and more   base 62; the length determines the number of bits
 *              words                         the syllables of the last two, or of the only one
 *
 * Words split into syllables in only one way; urlgen_words.c explains why.  Numbers below 2^32
 * become 32 bits, larger ones 40, 48 or 56: the length of the form determines which.
 *
 * The list is shaped like the web.  Everything else is drawn from dice that the number seeds: how
 * many segments, which site, which words.  A few sites have a third of all URLs; a long tail has
 * one each.  The site of a given rank looks the same in every URL and for every seed: name,
 * scheme, separators, file extensions.  The weights were set by comparing lengths and shares with
 * five million URLs of real crawls; docs/examples/README.md lists the figures.
 *
 * Names are made of syllables; any resemblance to an existing name is accidental.  Numeric
 * addresses are from ranges that are not routed on the public network.
 *
 * Only integers are used, so the URLs are the same on every machine. */
#include "gen/urlgen.h"
#include "gen/urlgen_parts.h"

static inline struct code encode(const struct urlgen *g, uint64_t number)
{
    struct code c = {.plain = 0, .syllables = 4};
    while (number >> 8 * c.syllables != 0) {
        c.plain += UINT64_C(1) << 8 * c.syllables; /* above all shorter ones */
        c.syllables++;
    }
    c.value = scramble(number, 8 * c.syllables, g->key[0]);
    c.plain += c.value;
    return c;
}

size_t urlgen_url(const struct urlgen *g, uint64_t number, char url[URLGEN_MAX])
{
    static const struct urlgen_piece schemes[2] = {PIECE("http://"), PIECE("https://")};
    struct dice d = {.state = g->key[1] + number * UINT64_C(0xd1342543de82ef95)};
    const struct code c = encode(g, number);
    const struct recipe *r = urlgen_draw_recipe(g, &d);
    struct site s = {mix_next(&d.state), 0};
    if (r->where != HOST && !chance(&d, 540))
        s = urlgen_draw_site(g, &d);
    char *at = put(url, &schemes[look(&s, LOOK_SCHEME) < 113]);
    at = urlgen_put_host(g, at, r->where == HOST, &s, &c, &d);
    at = urlgen_put_path(g, at, r, &s, &c, number, &d);
    assert(at - url <= URLGEN_MAX - (int)sizeof(struct urlgen_piece));
    return (size_t)(at - url);
}

void urlgen_spread(uint8_t *table, size_t size, const void *first, size_t stride, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t weight;
        memcpy(&weight, (const char *)first + i * stride, sizeof weight);
        assert(at + weight <= size);
        memset(table + at, (int)i, weight);
        at += weight;
    }
    assert(at == size);
    (void)size;
}

void urlgen_init(struct urlgen *g, uint64_t seed)
{
    g->key[0] = mix_next(&seed);
    g->key[1] = mix_next(&seed);
    urlgen_words_init(g);
    urlgen_sites_init(g);
    urlgen_paths_init(g);
}
