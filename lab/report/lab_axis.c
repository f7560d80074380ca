/* lab_axis.c - linear and logarithmic axes; see lab_axis.h. */
#include "lab/report/lab_axis.h"
#include <math.h>
#include <stdio.h>

#define PARTS   6.0 /* steps of a linear axis, about */
#define DECADES 8.0 /* numbers on a logarithmic axis, at most */
#define TINY    1e-9

struct lab_axis lab_axis(bool log, double from, double size)
{
    return (struct lab_axis){log, INFINITY, -INFINITY, from, size};
}

static double units_of(const struct lab_axis *a, double value)
{
    return a->log ? log10(value) : value;
}

double lab_axis_at(const struct lab_axis *a, double value)
{
    return a->from + (units_of(a, value) - a->low) / (a->high - a->low) * a->size;
}

void lab_axis_stretch(struct lab_axis *a, double value)
{
    if (!isfinite(value) || (a->log && !(value > 0)))
        return;
    a->low = fmin(a->low, units_of(a, value));
    a->high = fmax(a->high, units_of(a, value));
}

/* --- Range ------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, for about PARTS steps. */
static double step_of(const struct lab_axis *a)
{
    const double rough = (a->high - a->low) / PARTS, power = pow(10, floor(log10(rough)));
    const double digits = rough / power;
    return power * (digits > 5 + TINY ? 10 : digits > 2 + TINY ? 5 : digits > 1 + TINY ? 2 : 1);
}

/* The next 1, 2 or 5 times a power of ten, as a logarithm. */
static double round_log(double at, bool up)
{
    const double part[] = {0, log10(2), log10(5), 1}, decade = floor(at + TINY);
    size_t i = 0;
    while (i < 3 && part[i] < at - decade - TINY)
        i++; /* the first at or above */
    if (!up && i > 0 && part[i] > at - decade + TINY)
        i--;
    return decade + part[i];
}

static void settle_log(struct lab_axis *a)
{
    const bool wide = a->high - a->low > 3; /* whole decades are enough */
    a->low = wide ? floor(a->low + TINY) : round_log(a->low, false);
    a->high = wide ? ceil(a->high - TINY) : round_log(a->high, true);
    if (a->high - a->low < 0.5) {
        a->low = floor(a->low + TINY);
        a->high = fmax(ceil(a->high - TINY), a->low + 1);
    }
}

static void settle_linear(struct lab_axis *a)
{
    if (a->low > 0 && a->low < 0.5 * a->high)
        a->low = 0; /* an axis that starts at 0 does not exaggerate */
    if (!(a->high > a->low))
        a->high = a->low + fmax(1, fabs(a->low));
    const double step = step_of(a);
    a->low = floor(a->low / step + TINY) * step;
    a->high = ceil(a->high / step - TINY) * step;
}

void lab_axis_settle(struct lab_axis *a)
{
    if (!(a->high >= a->low)) { /* nothing to show */
        a->low = 0;
        a->high = 1;
    }
    if (a->log)
        settle_log(a);
    else
        settle_linear(a);
}

/* --- Ticks -------------------------------------------------------------------- */

/* 250k, 0.5, 5e-4. */
static struct lab_text number_of(double value)
{
    struct lab_text t;
    const double size = fabs(value);
    if (size >= 1e6 && size < 1e15)
        (void)snprintf(t.s, sizeof t.s, "%gM", value / 1e6);
    else if (size >= 1e4 && size < 1e6)
        (void)snprintf(t.s, sizeof t.s, "%gk", value / 1e3);
    else if (size > 0 && size < 1e-3) {
        const double power = floor(log10(size) + TINY);
        (void)snprintf(t.s, sizeof t.s, "%.3ge%.0f", value / pow(10, power), power);
    } else
        (void)snprintf(t.s, sizeof t.s, "%.6g", value);
    return t;
}

static struct lab_tick tick_of(double value, bool major)
{
    struct lab_tick t = {value, major, {""}};
    if (major)
        t.text = number_of(value);
    return t;
}

/* Numbers at powers of ten; also at 2 and 5 if there are few. */
static size_t log_ticks(const struct lab_axis *a, struct lab_tick *tick)
{
    const double range = a->high - a->low, every = ceil(range / DECADES);
    size_t n = 0;
    for (double d = floor(a->low + TINY); d <= a->high + TINY; d += 1)
        for (int digit = 1; digit <= (every > 1 ? 1 : 9) && n < LAB_TICKS; digit++) {
            const double at = d + log10(digit);
            const bool major =
                digit == 1 ? fmod(d, every) == 0 : range < 2.5 && (digit == 2 || digit == 5);
            if (at >= a->low - TINY && at <= a->high + TINY)
                tick[n++] = tick_of(digit * pow(10, d), major);
        }
    return n;
}

static size_t linear_ticks(const struct lab_axis *a, struct lab_tick *tick)
{
    const double step = step_of(a);
    size_t n = 0;
    for (double i = 0; n < LAB_TICKS && a->low + i * step <= a->high + step * TINY; i++) {
        const double value = a->low + i * step;
        tick[n++] = tick_of(fabs(value) < step * TINY ? 0 : value, true);
    }
    return n;
}

size_t lab_axis_ticks(const struct lab_axis *a, struct lab_tick *tick)
{
    return a->log ? log_ticks(a, tick) : linear_ticks(a, tick);
}
