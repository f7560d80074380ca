/* plan_report.c - sizes and rates of every kind for the given options.  All come from
 * deja_plan_make, which allocates nothing.  The rows use the options unchanged, the trade-off uses
 * different rates, and the filling of one kind uses different numbers of keys in the same
 * memory. */
#include "cli/report/plan_report.h"
#include "tools/base/number.h"
#include <math.h>

#define DEFAULT_RATE 1e-6 /* as deja.h says */

static struct plan_row make_row(const deja_options *opt)
{
    struct plan_row r = {.kind = opt->kind, .plan = DEJA_PLAN_INIT};
    r.possible = deja_plan_make(opt, &r.plan, &r.why_not) == DEJA_OK;
    (void)opt_filter_translate(&r.why_not);
    return r;
}

void plan_begin(struct plan_report *s)
{
    deja_options opt = shared_filter_options(s->c);
    for (uint32_t kind = 0; (kind = deja_kind_next(kind)) && s->n < PLAN_ROWS;) {
        opt.kind = kind;
        if (s->c->filter.kind == 0 || s->c->filter.kind == kind)
            s->row[s->n++] = make_row(&opt);
    }
}

const struct plan_row *plan_find(const struct plan_report *s, uint32_t kind)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].kind == kind && s->row[i].possible)
            return &s->row[i];
    }
    return NULL;
}

const struct plan_row *plan_first(const struct plan_report *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].possible)
            return &s->row[i];
    }
    return NULL;
}

double plan_per_million(const deja_plan *p)
{
    return p->lost / (double)p->capacity * 1e6;
}

struct plan_words plan_reads(const deja_plan *p)
{
    struct plan_words w;
    const unsigned lines = (unsigned)p->lines;
    if (deja_kind_can(p->kind, DEJA_CAN_FILL)) /* reads the next line if the first is full */
        (void)snprintf(w.s, sizeof w.s, "1-2 cache lines");
    else if (deja_kind_can(p->kind, DEJA_CAN_EXPIRE))
        (void)snprintf(w.s, sizeof w.s, "%u adjacent lines", lines);
    else if (deja_kind_can(p->kind, DEJA_CAN_LAYER)) /* plus those of its segments */
        (void)snprintf(w.s, sizeof w.s, "%u+ cache lines", lines);
    else
        (void)snprintf(w.s, sizeof w.s, "%u %sline%s%s", lines,
                       deja_kind_can(p->kind, DEJA_CAN_GROW) ? "" : "cache ", num_plural(lines),
                       deja_kind_can(p->kind, DEJA_CAN_GROW) ? " per part" : "");
    return w;
}

double plan_bits(uint32_t kind, uint64_t capacity, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = capacity;
    opt.fp_rate = p;
    struct plan_row r = make_row(&opt);
    return r.possible ? r.plan.bits_per_key : 0;
}

double plan_rate_asked(const struct shared_options *c)
{
    bool follows = c->filter.multiplier > 0 || (c->filter.capacity != 0 && c->filter.memory != 0);
    return c->filter.fp_rate > 0 ? c->filter.fp_rate : follows ? 0 : DEFAULT_RATE;
}

const double plan_rates[PLAN_RATES] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};

/* --- A table of the keys --------------------------------------------------------- */

/* The rule of the lecture notes on Bloom filters: one is good if m / n is much smaller than the
 * key's bits + log n, which is what a table needs: the key, and a number that tells n of them
 * apart. */
static double table_bits(const struct plan_report *s, double n)
{
    return 8.0 * (double)s->key_length + log2(fmax(n, 1));
}

struct plan_table plan_table_of(const struct plan_report *s)
{
    const uint64_t given = s->c->filter.capacity;
    double n = (double)given;
    if (given ==
        0) { /* n log n has no inverse; the logarithm changes so slowly that this settles */
        n = 1;
        for (int i = 0; i < 8; i++)
            n = floor(8.0 * (double)s->c->filter.memory / table_bits(s, n));
    }
    const double bits = table_bits(s, n);
    return (struct plan_table){given ? given : (uint64_t)n, (uint64_t)ceil(n * bits / 8), bits};
}

double plan_table_ratio(const struct plan_report *s, const deja_plan *p)
{
    return table_bits(s, (double)p->capacity) / p->bits_per_key;
}

/* --- A filter that fills ---------------------------------------------------------- */

/* Mode, layers and words as requested. */
static deja_options paper_options(const struct plan_report *s, const deja_options *rest)
{
    deja_options opt = shared_filter_options(s->c);
    opt.hashes = rest->hashes;
    opt.memory = rest->memory;
    opt.capacity = rest->capacity;
    opt.fp_rate = 0;
    opt.multiplier = 0;
    if (s->c->filter.multiplier >
        0) { /* keep the number of bits: a memory size would be rounded */
        opt.memory = 0;
        opt.multiplier =
            s->c->filter.multiplier * (double)s->c->filter.capacity / (double)rest->capacity;
    }
    return opt;
}

uint64_t plan_xor_bytes(const struct plan_report *s, const deja_plan *p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_CLASSIC;
    opt.capacity = p->capacity;
    opt.fp_rate = plan_rate_asked(s->c);
    opt.hashes = p->hashes;
    return make_row(&opt).plan.bytes;
}

/* The same filter with a different number of keys; exact rejects more than it can hold. */
static struct plan_row with_keys(const struct plan_report *s, const deja_plan *p, uint64_t keys)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = p->kind;
    opt.hash = s->c->filter.hash;
    opt.filters = p->filters;
    opt.hashes = p->hashes;
    opt.cache_lines = p->cache_lines > 1 ? p->cache_lines : 0;
    opt.memory = p->bytes;
    opt.counter_bits = s->c->filter.counter_bits;
    opt.flags = s->c->filter.flags & (DEJA_DATES | DEJA_SPREAD);
    if (p->deletions) /* in proportion, so that the memory is divided the same way */
        opt.deletions =
            (uint64_t)fmax(1, (double)p->deletions * (double)keys / (double)p->capacity);
    opt.capacity = keys;
    if (deja_kind_can(p->kind, DEJA_CAN_LAYER) && s->c->layered != OPT_LAYERED_PAPER) {
        opt.kind = DEJA_CLASSIC; /* the XOR layer decides about whole keys */
        opt.memory = plan_xor_bytes(s, p);
    } else if (deja_kind_can(p->kind, DEJA_CAN_LAYER)) {
        opt = paper_options(s, &opt);
    }
    return make_row(&opt);
}

bool plan_filling(const struct plan_report *s, size_t i, struct plan_filled *f)
{
    static const double shares[PLAN_FILLINGS] = {0.1, 0.25, 0.5, 0.75, 1, 1.1, 1.25, 1.5, 2};
    const deja_plan *p = &plan_first(s)->plan;
    const double keys = shares[i] * (double)p->capacity;
    const struct plan_row r = with_keys(s, p, (uint64_t)(keys + 0.5));
    *f = (struct plan_filled){shares[i], r.plan};
    return keys >= 1 && r.possible;
}
