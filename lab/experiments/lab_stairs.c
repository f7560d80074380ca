/* lab_stairs.c - a line or a staircase; see lab_stairs.h.
 *
 * Least squares with both at once: time per filter = constant of the group + a k + b steps,
 * where steps = 8 ceil(k F / 8) / F.  Both terms are in functions, so a + b is the growth per function over a whole stair, and b / (a + b)
 * the share that comes in steps: 0 for a line, 1 for a staircase.  "Less than half" is tested with
 * b - a, whose error is that of a linear combination; the interval of the share follows from the
 * errors of a and b. */
#include "lab/experiments/lab_stairs.h"
#include "lab/engine/lab_tails.h"
#include <math.h>

static double steps_of(uint32_t group, uint32_t k)
{
    const uint32_t filters = 1 + group % STAIRS_FILTERS;
    const uint32_t full = (k * filters + STAIRS_LANES - 1) / STAIRS_LANES;
    return (double)(STAIRS_LANES * full) / filters;
}

static double mean_k(void)
{
    return (THESIS_K_MIN + THESIS_K_MAX) / 2.0;
}

static double mean_steps(uint32_t group)
{
    double sum = 0;
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        sum += steps_of(group, k);
    return sum / THESIS_K;
}

static double mean_time(const struct lab_stairs_data *d, uint32_t group)
{
    double sum = 0;
    for (uint32_t i = 0; i < THESIS_K; i++)
        sum += d->time[group * THESIS_K + i];
    return sum / THESIS_K;
}

/* Sums of products of the distances from the means of their group: k, steps, time. */
struct sums {
    double kk, ks, ss, kt, st, tt;
};

static struct sums sums_of(const struct lab_stairs_data *d)
{
    struct sums s = {0};
    for (uint32_t g = 0; g < d->groups; g++)
        for (uint32_t i = 0; i < THESIS_K; i++) {
            const double k = THESIS_K_MIN + i - mean_k(),
                         steps = steps_of(g, THESIS_K_MIN + i) - mean_steps(g),
                         time = d->time[g * THESIS_K + i] - mean_time(d, g);
            s.kk += k * k;
            s.ks += k * steps;
            s.ss += steps * steps;
            s.kt += k * time;
            s.st += steps * time;
            s.tt += time * time;
        }
    return s;
}

/* The test of "b < a", shown as the share b / (a + b). */
static struct lab_test test_steps(const struct sums *s, double a, double b, double rest, double df)
{
    const double det = s->kk * s->ss - s->ks * s->ks, noise = df > 0 ? rest / df : NAN;
    const double va = noise * s->ss / det, vb = noise * s->kk / det, cov = -noise * s->ks / det;
    const double all = a + b;
    const double error = sqrt(fmax(0, b * b * va + a * a * vb - 2 * a * b * cov)) / (all * all);
    struct lab_test t =
        lab_test_less((struct lab_estimate){b - a, sqrt(va + vb - 2 * cov), df}, 0);
    t.estimate = b / all;
    t.low = t.estimate - lab_student_beyond(LAB_LEVEL / 2, df) * error;
    t.high = t.estimate + lab_student_beyond(LAB_LEVEL / 2, df) * error;
    t.expected = NAN;
    if (!(all > 0)) { /* time does not grow at all */
        t.outcome = LAB_OPEN;
        t.estimate = t.low = t.high = NAN;
    }
    return t;
}

struct lab_stairs lab_stairs(const struct lab_stairs_data *d)
{
    const struct sums s = sums_of(d);
    const double det = s.kk * s.ss - s.ks * s.ks;
    const double a = (s.kt * s.ss - s.st * s.ks) / det, b = (s.st * s.kk - s.kt * s.ks) / det;
    const double rest = fmax(0, s.tt - a * s.kt - b * s.st);
    return (struct lab_stairs){
        .slope = s.kt / s.kk,
        .rise = STAIRS_LANES * s.st / s.ss,
        .line_share = s.kt * s.kt / s.kk / s.tt,
        .stairs_share = s.st * s.st / s.ss / s.tt,
        .both_share = 1 - rest / s.tt,
        .steps = b / (a + b),
        .line = test_steps(&s, a, b, rest, (double)d->groups * (THESIS_K - 1) - 2)};
}

double lab_stairs_line_at(const struct lab_stairs_data *d, const struct lab_stairs *s,
                          uint32_t group, uint32_t k)
{
    return mean_time(d, group) + s->slope * (k - mean_k());
}

double lab_stairs_steps_at(const struct lab_stairs_data *d, const struct lab_stairs *s,
                           uint32_t group, uint32_t k)
{
    return mean_time(d, group) + s->rise / STAIRS_LANES * (steps_of(group, k) - mean_steps(group));
}
