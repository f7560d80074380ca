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

/* A curve: point j is value index + j of the unit. */
struct lab_curve {
    uint32_t unit, index;
    struct lab_bloom bloom;
    double printed; /* in percent, for all n URLs; NAN: not printed */
};

/* Draw curves, one for each k, in percent of all n URLs: measured points with intervals, theory,
 * printed values.  If the last of them is a hundred times smaller than the first, the axis is
 * logarithmic: on a linear one it would vanish.  Replaces the caption. */
void lab_curve_draw(struct lab_figure *f, const struct lab_results *r,
                    const struct lab_curve *curve, size_t n);

#endif
