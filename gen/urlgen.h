/* urlgen.h - URLs of a web that does not exist, for trials: URL number i of seed s, for any i.
 *
 * A URL is a pure function of seed and number, without memory of the others: any part of the
 * list can be made anywhere, on any machine, and two numbers never give the same URL. */
#ifndef GEN_URLGEN_H
#define GEN_URLGEN_H
#include <stddef.h>
#include <stdint.h>

#define URLGEN_COUNT (UINT64_C(1) << 53) /* numbers are below */
#define URLGEN_MAX   2048                /* room for a URL and for the stores behind it */

struct urlgen_piece { /* a short text, stored whole and then cut to length */
    char text[15];
    uint8_t len;
};

struct urlgen {
    uint64_t key[2];                    /* of the numbers' scrambling, and of the dice */
    struct urlgen_piece syllable[256];  /* these tables are the same for every seed */
    uint8_t recipe[4096], octave[4096]; /* choices, as often as their weights say */
    uint8_t domain[256], prefix[256], ending[256], joint[256];
};

void urlgen_init(struct urlgen *g, uint64_t seed);
/* URL number `number`, below URLGEN_COUNT; returns its length.  No zero byte behind it. */
size_t urlgen_url(const struct urlgen *g, uint64_t number, char url[URLGEN_MAX]);

/* Which URL stands on each line of a list in which some lines are repeats of earlier ones, as a
 * crawler meets them: a link seen lately is likely to be seen again, and some return after long.
 * Exactly `repeats` of the lines are repeats (the first is none). */
struct urlgen_lines {
    uint64_t lines, repeats; /* still to come */
    uint64_t first, fresh;   /* number of the first URL; how many have been used */
    uint64_t dice;
};
void urlgen_lines_init(struct urlgen_lines *l, const struct urlgen *g, uint64_t lines,
                       uint64_t repeats, uint64_t first);
uint64_t urlgen_lines_next(struct urlgen_lines *l); /* call it `lines` times, not more */

#endif
