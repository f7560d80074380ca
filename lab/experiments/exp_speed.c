/* exp_speed.c - timing: tables 5.14, 5.15 and A.1 to A.6.
 *
 * Times of 2010 (Java) and of 2021 (Python) cannot be reproduced.  Their shape can: time against
 * k, against M, against F, and compared with a hash table.
 *
 * A unit is one k and F with all six sizes.  Nine tenths of its keys are hashed once and inserted
 * into all filters.  Then each filter alone is timed with the last tenth, in several parts, of
 * which the fastest counts, and queried for as many other keys.  So the filters are as full and as
 * large as the paper's, and the time is spent on hashing and memory access.
 *
 * How time depends on k and F is measured in one more unit, in both ways and in mixed order
 * (lab_shape.c): the grid's units run one after the other, and take whatever speed the machine has
 * at that moment. */
#include "bench/bench_subject.h"
#include "lab/engine/lab_baseline.h"
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_mlbf.h"
#include "lab/experiments/lab_shape.h"
#include "lab/experiments/lab_speed.h"
#include "tools/base/clock.h"

#define SEARCH 100u /* queries of the list, as in the thesis */

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    return unit < SPEED_GRID ? speed_k(unit) * speed_filters(unit) : unit == SPEED_SHAPE ? 60 : 7;
}

/* --- The thesis' filters -------------------------------------------------------------- */

static void run_grid(struct lab_task *t)
{
    const uint32_t k = speed_k(t->unit);
    const struct lab_bloom_spec spec = {
        DEJA_HASH_JENKINS, speed_filters(t->unit), &k, 1, thesis_multiplier, THESIS_SIZES};
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t timed = keys->n / 10, before = keys->n - timed;
    struct lab_bank *bank = lab_bank(t, &spec);
    lab_bank_add(bank, keys->added, before, NULL, NULL);
    for (size_t i = 0; i < THESIS_SIZES && lab_going(t); i++) {
        deja_filter *f = bank->filter[i];
        t->value[i] = lab_fastest(t, lab_add_step, f, keys->added + before, timed, NULL);
        t->value[THESIS_SIZES + i] = lab_fastest(t, lab_ask_step, f, keys->asked, timed, NULL);
    }
}

/* --- Other structures ------------------------------------------------------------------- */

struct list {
    deja_slice *item;
    uint64_t n;
    bool sorted;
};

static double search_list(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct list *l = ctx;
    uint64_t found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += l->sorted ? lab_binary_has(l->item, l->n, keys[i])
                           : lab_linear_has(l->item, l->n, keys[i]);
    return (double)found;
}

static void run_list(struct lab_task *t, bool sorted)
{
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t n = keys->n, asked = sorted ? n / 10 : n < SEARCH ? n : SEARCH;
    struct list l = {lab_alloc(t, n * sizeof *l.item), n, sorted};
    double found = 0;
    if (!l.item)
        return;
    const double begin = clock_cpu_ns();
    for (uint64_t i = 0; i < n; i++)
        l.item[i] = keys->added[i];
    if (sorted)
        lab_sort(l.item, n);
    t->value[SPEED_ADD] = (clock_cpu_ns() - begin) / (double)n;
    t->value[SPEED_QUERY] = lab_fastest(t, search_list, &l, keys->asked, asked, &found);
    if (found > 0)
        lab_failed(t, DEJA_EINVAL, "a list contains a URL that was never added to it");
}

static double ask_layers(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    uint64_t found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += lab_mlbf_has(ctx, keys[i]);
    return (double)found;
}

/* The multi-layer paper's filters: one array for whole URLs, or one per segment. */
static void run_layers(struct lab_task *t, bool layered)
{
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t n = keys->n, m = (uint64_t)(HALVES_BITS * (double)n);
    struct lab_mlbf f;
    double found = 0;
    const struct lab_mlbf_how how = {layered ? LAB_MLBF_LAYERED : LAB_MLBF_LINE, '/', 0};
    lab_checked(t, lab_mlbf_init(&f, m, HALVES_K, t->seed, &how, t->err));
    const double begin = clock_cpu_ns();
    for (uint64_t i = 0; i < n && t->rc == DEJA_OK; i++)
        if (lab_mlbf_add(&f, keys->added[i]) < 0)
            lab_failed(t, DEJA_ENOMEM, "out of memory for a layer");
    t->value[SPEED_ADD] = (clock_cpu_ns() - begin) / (double)n;
    t->value[SPEED_QUERY] = lab_fastest(t, ask_layers, &f, keys->added, n, &found);
    lab_mlbf_fini(&f);
    if (found != (double)(n / LAB_PARTS * LAB_PARTS))
        lab_failed(t, DEJA_EINVAL, "a multi-layer filter misses a URL that was added to it");
}

struct subject {
    const struct bench_subject *calls;
    void *self;
    uint8_t *answer;
};

static void check_call(struct lab_task *t, int rc)
{
    if (rc < 0)
        lab_failed(t, rc, "%s: %s", speed_label[t->unit - SPEED_GRID], deja_strerror(rc));
}

static double ask_subject(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    bench_call *contains =
        s->calls->contains_batch ? s->calls->contains_batch : s->calls->contains_one;
    check_call(t, contains(s->self, keys, (size_t)n, s->answer));
    return 0;
}

static void run_subject(struct lab_task *t, const struct bench_subject *calls, uint32_t kind)
{
    const struct lab_keys *keys = &t->lab->keys;
    struct subject s = {calls, NULL, lab_alloc(t, keys->n)};
    if (s.answer && !(s.self = calls->open(kind, keys->n, 0.01, t->err)))
        lab_checked(t, DEJA_ENOMEM);
    const double begin = clock_cpu_ns();
    if (t->rc == DEJA_OK)
        check_call(t, (calls->add_batch ? calls->add_batch : calls->add_one)(
                          s.self, keys->added, (size_t)keys->n, s.answer));
    t->value[SPEED_ADD] = (clock_cpu_ns() - begin) / (double)keys->n;
    t->value[SPEED_QUERY] = lab_fastest(t, ask_subject, &s, keys->asked, keys->n, NULL);
    calls->close(s.self);
}

static void run(struct lab_task *t)
{
    static const uint32_t kind[SPEED_OTHERS] = {[SPEED_CLASSIC] = DEJA_CLASSIC,
                                                [SPEED_BLOCKED] = DEJA_BLOCKED,
                                                [SPEED_EXACT] = DEJA_EXACT,
                                                [SPEED_SCALABLE] = DEJA_SCALABLE,
                                                [SPEED_KIND] = DEJA_LAYERED};
    static const struct bench_subject *const calls[SPEED_OTHERS] = {
        [SPEED_TABLE] = &bench_table, [SPEED_KIND] = &bench_layered};
    const uint32_t which = t->unit - SPEED_GRID; /* of the other structures */
    if (t->unit < SPEED_GRID)
        run_grid(t);
    else if (t->unit == SPEED_SHAPE)
        lab_shape_run(t);
    else if (which == SPEED_LINEAR || which == SPEED_BINARY)
        run_list(t, which == SPEED_BINARY);
    else if (which == SPEED_PLAIN5 || which == SPEED_LAYERS5)
        run_layers(t, which == SPEED_LAYERS5);
    else
        run_subject(t, calls[which] ? calls[which] : &bench_filter, kind[which]);
}

const struct lab_experiment exp_speed = {
    .name = "speed",
    .title = "Speed",
    .reproduces = "thesis, tables 5.14, 5.15, A.1-A.6; multi-layer paper",
    .seconds = 38,
    .about =
        (const char *const[]){
            "The time to add and to query a million URLs, in milliseconds. The printed times are "
            "from another machine, another language and another decade: only ratios can be "
            "compared. The lab reports the fastest run, which other programs disturbed least.",
            NULL},
    .timed = true,
    .max_runs = 3,
    .units = SPEED_UNITS,
    .values = SHAPE_VALUES,
    .weight = weight,
    .run = run,
    .report = lab_speed_report,
};
