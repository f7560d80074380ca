/* urlgen.h - URLs of a fictional web, for tests: URL number i of seed s, for any i.
 *
 * A URL is a pure function of seed and number: any part of the list can be generated anywhere, on
 * any machine, and two numbers never give the same URL. */
#ifndef GEN_URLGEN_H
#define GEN_URLGEN_H
#include <stddef.h>
#include <stdint.h>

#define URLGEN_COUNT (UINT64_C(1) << 53) /* numbers are below this */
#define URLGEN_MAX   2048                /* room for a URL and for stores past its end */

struct urlgen_piece { /* a short text, copied at full size and then cut to length */
    char text[15];
    uint8_t len;
};

struct urlgen {
    uint64_t key[2];                    /* for scrambling the numbers, and for the dice */
    struct urlgen_piece syllable[256];  /* this and the other tables are the same for every seed */
    uint8_t recipe[4096], octave[4096]; /* choices, each repeated according to its weight */
    uint8_t domain[256], prefix[256], ending[256], joint[256];
};

void urlgen_init(struct urlgen *g, uint64_t seed);
/* Write URL number `number`, below URLGEN_COUNT; returns its length.  Adds no NUL. */
size_t urlgen_url(const struct urlgen *g, uint64_t number, char url[URLGEN_MAX]);

/* Selects the URL for each line of a list with repeats of earlier lines, as a crawler meets them:
 * a recent link is likely to be seen again, and some return after a long time.  Exactly `repeats`
 * of the lines are repeats (never the first). */
struct urlgen_lines {
    uint64_t lines, repeats; /* remaining */
    uint64_t first, fresh;   /* number of the first URL; how many URLs have been used */
    uint64_t dice;
};
void urlgen_lines_init(struct urlgen_lines *l, const struct urlgen *g, uint64_t lines,
                       uint64_t repeats, uint64_t first);
uint64_t urlgen_lines_next(struct urlgen_lines *l); /* call it at most `lines` times */

#endif
