/* lab_curve.c - draw rates while filters fill; see lab_curve.h. */
#include "lab/report/lab_curve.h"
#include <math.h>

#define FADES 100.0 /* a smaller series is not visible next to the largest on a linear axis */

static double last_theory(const struct lab_curve *c)
{
    return lab_bloom_lost_until(&c->bloom, 1);
}

static double hits_at(const struct lab_results *r, const struct lab_curve *c, uint32_t point)
{
    return lab_sum(r, c->unit, c->index + point);
}

/* Curves of different colors show different points, so that their intervals do not cover each
 * other.  Of the points before the first hit, only the last is drawn: its bound holds for all. */
static bool draws(const struct lab_results *r, const struct lab_curve *c, uint32_t point)
{
    if (point + 1 < LAB_CURVE && hits_at(r, c, point) == 0)
        return hits_at(r, c, point + 1) > 0;
    return point % 4 == c->bloom.k % 4 || point == LAB_CURVE - 1;
}

static void draw_one(struct lab_figure *f, const struct lab_results *r, const struct lab_curve *c)
{
    const struct lab_bloom *b = &c->bloom;
    const unsigned color = LAB_COLOR_HASHES(b->k);
    const size_t line = lab_series(f, LAB_DASHES, color, "%s", "");
    const size_t open = lab_series(f, LAB_RINGS, color, "%s", "");
    const size_t dots = lab_series(f, LAB_POINTS, color, "k = %u", b->k);
    lab_point(f, line, 0, 0);
    for (uint32_t j = 0; j < LAB_CURVE; j++) {
        const double at = (j + 1.0) / LAB_CURVE;
        lab_point(f, line, at * b->n, 100 * lab_bloom_lost_until(b, at));
        if (draws(r, c, j))
            lab_point_rate(f, dots, at * b->n, hits_at(r, c, j), b->n * r->runs);
    }
    lab_point(f, open, b->n, c->printed);
}

/* What to notice: where the hits are, and what more functions change. */
static void describe(struct lab_figure *f, const struct lab_results *r,
                     const struct lab_curve *first, const struct lab_curve *last)
{
    const double all = hits_at(r, first, LAB_CURVE - 1),
                 late = all - hits_at(r, first, LAB_CURVE / 2 - 1),
                 few = hits_at(r, last, LAB_CURVE - 1), share = 100 / (lab_n(r) * r->runs);
    const double half = lab_bloom_lost_until(&first->bloom, 0.5);
    if (all < 10) {
        lab_figure_caption(f,
                           "Only %.0f hits with k = %u: more runs or URLs would show the curve.",
                           all, first->bloom.k);
        return;
    }
    lab_figure_caption(
        f,
        "The second half of the URLs causes %.1f %% of the hits with k = %u (theory: %.1f %%). By "
        "the end, k = %u has %s %% and k = %u %s%s %%.",
        100 * late / all, first->bloom.k, 100 * (1 - half / last_theory(first)), first->bloom.k,
        lab_number(all * share).s, last->bloom.k, few > 0 ? "" : "less than ",
        lab_number((few > 0 ? few : lab_poisson_high(0)) * share).s);
}

void lab_curve_draw(struct lab_figure *f, const struct lab_results *r,
                    const struct lab_curve *curve, size_t n)
{
    f->log_y = last_theory(&curve[n - 1]) * FADES < last_theory(&curve[0]);
    for (size_t i = 0; i < n; i++)
        draw_one(f, r, &curve[i]);
    describe(f, r, &curve[0], &curve[n - 1]);
}
