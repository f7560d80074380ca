/* urlgen_parts.h - what the files of urlgen share: dice, short texts, the number, sites.
 *
 *     urlgen.c         the structure of a URL, and how its number stays readable
 *     urlgen_words.c   words made of syllables
 *     urlgen_site.c    sites and hosts
 *     urlgen_path.c    everything after the host
 *     urlgen_lines.c   lists with repeats */
#ifndef GEN_URLGEN_PARTS_H
#define GEN_URLGEN_PARTS_H
#include "gen/urlgen.h"
#include "tools/base/mix.h"
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PIECE(s)                                                                                  \
    {                                                                                             \
        s, sizeof(s) - 1                                                                          \
    }

/* --- Dice ---------------------------------------------------------------- */

struct dice {
    uint64_t state;
    uint64_t pool; /* bits drawn but not yet used */
    unsigned left;
};

static inline unsigned roll(struct dice *d, unsigned bits)
{
    if (d->left < bits) {
        d->pool = mix_next(&d->state);
        d->left = 64;
    }
    unsigned value = (unsigned)(d->pool & ((UINT64_C(1) << bits) - 1));
    d->pool >>= bits;
    d->left -= bits;
    return value;
}

/* 0 .. n - 1, for n up to 256. */
static inline unsigned below(struct dice *d, unsigned n)
{
    return roll(d, 16) * n >> 16;
}

static inline bool chance(struct dice *d, unsigned of_65536)
{
    return roll(d, 16) < of_65536;
}

/* --- Texts --------------------------------------------------------------- */

static inline char *put(char *at, const struct urlgen_piece *piece)
{
    memcpy(at, piece, sizeof *piece); /* a constant size needs no loop and no call */
    return at + piece->len;
}

static inline char *put_char(char *at, char c)
{
    *at = c;
    return at + 1;
}

static inline char *put_number(char *at, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    memcpy(at, digits + i, sizeof digits - i);
    return at + (sizeof digits - i);
}

static inline char *put_two_digits(char *at, unsigned n)
{
    at[0] = (char)('0' + n / 10);
    at[1] = (char)('0' + n % 10);
    return at + 2;
}

static inline char *put_hex(char *at, uint64_t x, unsigned digits)
{
    for (unsigned i = 0; i < digits; i++, x <<= 4)
        at[i] = "0123456789abcdef"[x >> 60];
    return at + digits;
}

static inline void capitalize(char *c)
{
    if (*c >= 'a' && *c <= 'z')
        *c = (char)(*c - 'a' + 'A');
}

/* --- Words (urlgen_words.c) ---------------------------------------------- */

/* Endings that can follow a word. */
extern const struct urlgen_piece urlgen_codas[16];

/* n syllables, from the lowest bytes of x. */
static inline char *put_syllables(const struct urlgen *g, char *at, uint64_t x, unsigned n)
{
    for (; n > 0; n--, x >>= 8)
        at = put(at, &g->syllable[x & 0xff]);
    return at;
}

/* A word without meaning that does not hold the number. */
char *urlgen_put_idle_word(const struct urlgen *g, char *at, struct dice *d);
void urlgen_words_init(struct urlgen *g);

/* --- The number ---------------------------------------------------------- */

struct code {
    uint64_t value; /* below 2^(8 * syllables), different for every number of that length */
    uint64_t plain; /* different for every number */
    unsigned syllables;
};

/* A bijection on the numbers of `bits` bits: each step is reversible. */
static inline uint64_t scramble(uint64_t x, unsigned bits, uint64_t key)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    x = (x ^ key) & mask;
    x = x * UINT64_C(0xd6e8feb86659fd93) & mask;
    x ^= x >> bits / 2;
    x = x * UINT64_C(0xa0761d6478bd642f) & mask;
    x ^= x >> bits / 2;
    return x * UINT64_C(0xe7037ed1a0b428db) & mask;
}

/* --- Choices ------------------------------------------------------------- */

struct weighted {
    struct urlgen_piece piece;
    uint16_t weight; /* of 256 */
};

/* Fill table so that each choice occurs as often as its weight; the weights add up to size. */
void urlgen_spread(uint8_t *table, size_t size, const void *first, size_t stride, size_t n);
#define SPREAD(table, list, field)                                                                \
    urlgen_spread(table, sizeof(table), &(list)[0] field, sizeof((list)[0]), COUNT(list))

/* --- Sites (urlgen_site.c) ----------------------------------------------- */

struct site {
    uint64_t look; /* determines how the site's URLs look */
    uint32_t rank; /* 0: not a shared site */
};
enum { /* bit offsets of the bytes of `look` */
    LOOK_SCHEME = 0,
    LOOK_PREFIX = 8,
    LOOK_DOMAIN = 16,
    LOOK_ENDING = 24,
    LOOK_JOINT = 32,
    LOOK_CODA = 40,
    LOOK_SECTIONS = 48,
    LOOK_PORT = 56
};

static inline unsigned look(const struct site *s, int what)
{
    return (unsigned)(s->look >> what) & 0xff;
}

struct site urlgen_draw_site(const struct urlgen *g, struct dice *d);
/* own: the host holds the number. */
char *urlgen_put_host(const struct urlgen *g, char *at, bool own, const struct site *s,
                      const struct code *c, struct dice *d);
void urlgen_sites_init(struct urlgen *g);

/* --- Paths (urlgen_path.c) ----------------------------------------------- */

enum where {
    HOST,
    NUMBER,
    TOKEN,
    WORD,
    SLUG,
    NUMBERED,
    HEX,
    UUID,
    QUERY
};
enum end {
    END_SITE,
    END_NONE,
    END_IMAGE,
    END_FILE
}; /* END_SITE: the site's own ending */

/* The directories before the last segment:
 * s section  w word  y year  m month  d day  x two hex digits  n number */
struct recipe {
    uint16_t weight; /* of 4096 */
    uint8_t where;   /* where the number is */
    uint8_t end;
    uint8_t words;      /* of a slug, in addition to the two that hold the number ... */
    uint8_t more_words; /* ... and up to this many more */
    char dirs[9];
};

const struct recipe *urlgen_draw_recipe(const struct urlgen *g, struct dice *d);
/* Everything after the host. */
char *urlgen_put_path(const struct urlgen *g, char *at, const struct recipe *r,
                      const struct site *s, const struct code *c, uint64_t number, struct dice *d);
void urlgen_paths_init(struct urlgen *g);

#endif
