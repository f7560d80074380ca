/* urlgen_lines.c - the URL for each line of a list with repeats; see urlgen.h. */
#include "gen/urlgen_parts.h"

void urlgen_lines_init(struct urlgen_lines *l, const struct urlgen *g, uint64_t lines,
                       uint64_t repeats, uint64_t first)
{
    *l = (struct urlgen_lines){lines, repeats, first, 0, g->key[0] ^ g->key[1]};
}

/* How far back a repeat reaches: every octave of distances is equally likely. */
static uint64_t draw_distance(struct urlgen_lines *l)
{
    unsigned octaves = 0;
    while (octaves < 53 && l->fresh >> octaves != 0)
        octaves++;
    uint64_t octave = UINT64_C(1) << mix_next(&l->dice) % octaves;
    uint64_t distance = octave + mix_next(&l->dice) % octave;
    return distance <= l->fresh ? distance : 1 + distance % l->fresh;
}

uint64_t urlgen_lines_next(struct urlgen_lines *l)
{
    /* Every placement of the repeats among the remaining lines is equally likely. */
    bool repeat = l->fresh > 0 && l->repeats > 0 && mix_next(&l->dice) % l->lines < l->repeats;
    l->lines--;
    if (!repeat)
        return l->first + l->fresh++;
    l->repeats--;
    return l->first + l->fresh - draw_distance(l);
}
