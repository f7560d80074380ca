/* scaling.c - how far a filter can grow on this server: VALIDATESCALETO, MAXSCALEDCAPACITY.
 *
 * Part i of a series is for c g^i keys at the rate p (1 - r) r^i, with the growth g and the
 * tightening r.  If r is less than 1/2, the rate is p r 0.3 0.7^(i-1) from the second part on
 * (docs/kinds.md).  Each part is planned, which allocates nothing, until all parts together exceed
 * filter-max-bytes or the library's limit of parts. */
#include "scaling.h"

#define MAX_PARTS 32 /* the library's limit */

/* The size of a part in bytes; 0: it is not possible. */
static uint64_t part_bytes(const deja_options *opt, uint64_t capacity, double rate)
{
    deja_options part = DEJA_OPTIONS_INIT;
    deja_plan plan = DEJA_PLAN_INIT;
    part.kind = opt->part_kind ? opt->part_kind : DEJA_BLOCKED;
    part.capacity = capacity;
    part.fp_rate = rate;
    part.flags = opt->flags & DEJA_DATES;
    return deja_plan_make(&part, &plan, NULL) == DEJA_OK ? plan.bytes : 0;
}

/* The rate of part i > 0, from the rate of the part before it. */
static double next_rate(const deja_options *opt, int i, double rate)
{
    if (opt->tightening >= 0.5)
        return rate * opt->tightening;
    return i == 1 ? opt->fp_rate * opt->tightening * 0.3 : rate * 0.7;
}

uint64_t scaling_most(const deja_options *opt)
{
    const uint64_t most = (uint64_t)settings.filter_max_bytes;
    uint64_t capacity = opt->capacity, sum = 0, bytes = 0;
    double rate = opt->fp_rate * (1 - opt->tightening);
    for (int i = 0; i < MAX_PARTS; i++) {
        const uint64_t more = part_bytes(opt, capacity, rate);
        if (!more || more > most - bytes)
            break;
        bytes += more;
        sum += capacity;
        capacity *= opt->growth; /* at most 2^60: less than 2^50 keys fit, times 2^10 */
        rate = next_rate(opt, i + 1, rate);
    }
    return sum;
}

uint64_t scaling_most_of(const deja_stats *o)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    uint64_t units = 1, step = 1; /* in capacities of the first part */
    for (uint32_t i = 1; i < o->parts; i++)
        units += step *= o->growth;
    opt.part_kind = o->part_kind;
    opt.capacity = units ? o->capacity / units : 0; /* untrusted numbers may wrap around to 0 */
    opt.fp_rate = o->fp_rate;
    opt.growth = o->growth;
    opt.tightening = o->tightening;
    opt.flags = o->flags;
    return scaling_most(&opt);
}
