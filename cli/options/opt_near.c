/* opt_near.c - suggests the word that was probably meant.
 *
 * The distance is the simple form of Damerau's, optimal string alignment: the number of letters
 * that are missing, extra, wrong or swapped with the next one.  No letter is edited twice. */
#include "cli/options/opt.h"
#include <stdio.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

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

/* Words that differ by more than one error per three letters are different words.  A prefix of the
 * candidate counts as one error: deja does not accept abbreviated names, but many programs do. */
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

struct opt_hint opt_near_hint(const struct opt_near *near, const char *front)
{
    struct opt_hint hint = {""};
    if (near->best)
        (void)snprintf(hint.text, sizeof hint.text, "; did you mean %s%s?", front, near->best);
    return hint;
}
