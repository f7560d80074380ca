/* opt_near.c - near misses: which word was probably meant.
 *
 * The distance is that of Damerau, in its simple form (optimal string alignment): letters that are
 * missing, too many, wrong, or swapped with their neighbour, each place counted once. */
#include "cli/options/opt.h"
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Letters to insert, delete, replace or swap with a neighbour to get from a to b. */
static size_t distance(const char *a, const char *b)
{
    size_t row[3][OPT_NEAR_LEN + 1], n_a = strlen(a), n_b = strlen(b);
    size_t *before = row[0], *last = row[1], *now = row[2];
    if (n_a > OPT_NEAR_LEN || n_b > OPT_NEAR_LEN)
        return SIZE_MAX;
    for (size_t j = 0; j <= n_b; j++)
        last[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        now[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            bool same = a[i - 1] == b[j - 1];
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[n_b];
}

/* One slip in three letters is a slip; more is another word.  What begins like the candidate
 * counts as one slip: names are not abbreviated here, elsewhere they are. */
void opt_near_offer(struct opt_near *near, const char *candidate)
{
    size_t len = strlen(near->word);
    size_t d = distance(near->word, candidate);
    if (len >= 2 && d > 1 && strncmp(near->word, candidate, len) == 0)
        d = 1;
    if (d > (len + 2) / 3 || (near->best && d >= near->distance))
        return;
    near->best = candidate;
    near->distance = d;
}
