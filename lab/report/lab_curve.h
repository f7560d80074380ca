/* lab_curve.h - the number of false positives as a function of the number of URLs inserted. */
#ifndef LAB_REPORT_LAB_CURVE_H
#define LAB_REPORT_LAB_CURVE_H
#include "lab/report/lab_report.h"

#define LAB_CURVE 40u /* points: the last one is for all n URLs */

/* Count the answers for keys first .. first + n - 1 of `all` at their points; lab_curve_sum makes
 * the counts cumulative. */
static inline void lab_curve_count(double *point, uint64_t all, uint64_t first,
                                   const uint8_t *seen, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (seen[i])
            point[(first + i) * LAB_CURVE / all] += 1;
}

static inline void lab_curve_sum(double *point)
{
    for (size_t i = 1; i < LAB_CURVE; i++)
        point[i] += point[i - 1];
}

/* Draw a measured curve as points with intervals and its theory as dashes, in percent of all n
 * URLs; point j is value index + j of the unit.  Curves of different colors show different points,
 * so that their intervals and arrows do not cover each other. */
static inline void lab_curve_draw(struct lab_figure *f, const struct lab_results *r, uint32_t unit,
                                  uint32_t index, const struct lab_bloom *b, unsigned color)
{
    const size_t line = lab_series(f, LAB_DASHES, color, "%s", "");
    const size_t dots = lab_series(f, LAB_POINTS, color, "k = %u", b->k);
    lab_point(f, line, 0, 0);
    for (uint32_t j = 0; j < LAB_CURVE; j++) {
        const double at = (j + 1.0) / LAB_CURVE;
        lab_point(f, line, at * b->n, 100 * lab_bloom_lost_until(b, at));
        if (j % 4 == color % 4 || j == LAB_CURVE - 1)
            lab_point_rate(f, dots, at * b->n, lab_sum(r, unit, index + j), b->n * r->runs);
    }
}

/* Add the value that the paper prints for all n URLs, if any, as an open mark. */
static inline void lab_curve_printed(struct lab_figure *f, double n, double printed,
                                     unsigned color)
{
    lab_point(f, lab_series(f, LAB_RINGS, color, "%s", ""), n, printed);
}

#endif
