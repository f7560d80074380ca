/* cmd_plan.c - which kind, how much memory, how many lost pages: a table of choices. */
#include "command.h"
#include "fail.h"
#include "number.h"
#include <math.h>

#define BAR_WIDTH 44

struct plan_options {
    struct common common;
};

static const struct opt options[] = {
    OPT_GROUP(struct plan_options, common, common_sizing),
    OPT_GROUP(struct plan_options, common, common_json),
    OPT_GROUP(struct plan_options, common, common_quiet),
    OPT_END,
};

struct row {
    uint32_t kind;
    bool possible;
    deja_plan plan;
    char why_not[sizeof(((deja_error *)0)->text)];
};
#define ROWS_MAX 16

static const char *speed_class(const deja_plan *p, char *buf, size_t cap)
{
    switch (p->kind) {
    case DEJA_BLOCKED:
        snprintf(buf, cap, p->filters > 1 ? "%u cache lines" : "1 cache line", p->filters);
        break;
    case DEJA_CLASSIC:
        snprintf(buf, cap, "%u cache lines", p->hashes * p->filters);
        break;
    case DEJA_EXACT:
        snprintf(buf, cap, "1-2 cache lines");
        break;
    default:
        snprintf(buf, cap, "1 line a part");
        break;
    }
    return buf;
}

static void make_row(struct row *r, uint32_t kind, const struct common *c, uint64_t capacity,
                     double p)
{
    const deja_plan empty = DEJA_PLAN_INIT;
    deja_options opt = common_filter_options(c);
    deja_error err = {0};
    opt.kind = kind;
    opt.capacity = capacity;
    opt.fp_rate = p;
    *r = (struct row){.kind = kind, .plan = empty};
    r->possible = deja_plan_make(&opt, &r->plan, &err) == DEJA_OK;
    if (!r->possible)
        snprintf(r->why_not, sizeof r->why_not, "%s", err.text);
}

/* Every kind that the library has, or the one that was asked for. */
static size_t make_rows(const struct common *c, struct row rows[ROWS_MAX])
{
    size_t n = 0;
    for (uint32_t kind = 1; kind < OPT_CHOICES && n < ROWS_MAX; kind++)
        if (deja_kind_name(kind) && (!c->kind || c->kind == kind))
            make_row(&rows[n++], kind, c, c->capacity, c->fp_rate);
    return n;
}

/* The least memory among those that promise the rate; one cache line wins a near tie, since
 * memory is cheap and misses are not. */
static const struct row *choose(const struct row *rows, size_t n)
{
    const struct row *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        if (!r->possible || r->kind == DEJA_SCALABLE)
            continue;
        const double cost = (double)r->plan.bytes * (r->kind == DEJA_CLASSIC ? 2 : 1);
        const double best_cost =
            best ? (double)best->plan.bytes * (best->kind == DEJA_CLASSIC ? 2 : 1) : 0;
        if (!best || cost < best_cost)
            best = r;
    }
    return best;
}

/* --- Text ----------------------------------------------------------------- */

static int print_table(const struct call *call, const struct row *rows, size_t n, deja_error *err)
{
    struct table t;
    char speed[32];
    static const char *const heads[] = {"kind",   "memory",       "bits/key",      "k",
                                        "p at n", "lost/million", "a lookup reads"};
    table_init(&t, "lrrrrrl");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(&t, "%s", heads[i]);
    for (size_t i = 0; i < n; i++) {
        const deja_plan *p = &rows[i].plan;
        if (!rows[i].possible)
            continue;
        table_cell(&t, "%s%s", deja_kind_name(p->kind),
                   p->kind == DEJA_SCALABLE ? " (first part)" : "");
        table_cell(&t, "%s", num_bytes(p->bytes).s);
        table_cell(&t, "%s", num_fixed(p->bits_per_key, 2).s);
        table_cell(&t, "%u%s", p->hashes, p->filters > 1 ? " each" : "");
        table_cell(&t, "%s", num_rate(p->fp_rate).s);
        table_cell(&t, "%s", num_estimate(p->lost / (double)p->capacity * 1e6).s);
        table_cell(&t, "%s", speed_class(p, speed, sizeof speed));
    }
    int rc = table_print(&t, call->out, 2, err);
    for (size_t i = 0; i < n; i++)
        if (!rows[i].possible)
            out_printf(call->out, "  %s: not possible, %s\n", deja_kind_name(rows[i].kind),
                       rows[i].why_not);
    return rc;
}

/* Bits a key against the rate, which is the whole trade-off, one bar a kind. */
static void print_bars(const struct call *call, const struct common *c, uint64_t capacity)
{
    static const uint32_t kinds[] = {DEJA_CLASSIC, DEJA_BLOCKED, DEJA_EXACT};
    const double widest = 85; /* bits: what exact takes, and a little */
    struct common free = *c;
    free.memory = 0;
    free.multiplier = 0;
    free.hashes = 0;
    free.filters = 0;
    free.hash = 0;
    out_text(call->out, "\nBits a key for other rates\n");
    for (int e = 1; e <= 9; e += 2)
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            struct row r;
            if (kinds[i] == DEJA_EXACT && e < 9)
                continue; /* the same for every rate: once is enough */
            make_row(&r, kinds[i], &free, capacity, pow(10, -e));
            if (!r.possible)
                continue;
            out_printf(call->out, "  %-6s %-8s", i == 0 ? num_rate(pow(10, -e)).s : "",
                       deja_kind_name(kinds[i]));
            out_bar(call->out, fmin(r.plan.bits_per_key / widest, 1), BAR_WIDTH);
            out_printf(call->out, " %5.1f\n", r.plan.bits_per_key);
        }
}

static void print_advice(const struct call *call, const struct common *c, const struct row *best)
{
    const deja_plan *p = &best->plan;
    const char *why =
        p->kind == DEJA_BLOCKED ? "one cache line a lookup, for little more memory than the least"
        : p->kind == DEJA_EXACT ? "at this rate fingerprints are smaller than bits"
                                : "the least memory; each lookup reads several cache lines";
    out_printf(call->out, "\nTake %s: %s, %s lost pages in a million; %s.\n",
               deja_kind_name(p->kind), num_bytes(p->bytes).s,
               num_estimate(p->lost / (double)p->capacity * 1e6).s, why);
    out_printf(call->out, "  deja dedup -k %s -n %llu", deja_kind_name(p->kind),
               (unsigned long long)p->capacity);
    if (c->memory)
        out_printf(call->out, " -m %llu", (unsigned long long)c->memory);
    else if (c->fp_rate > 0)
        out_printf(call->out, " -p %s", num_exact(c->fp_rate).s);
    out_text(call->out, " FILE\n");
    out_text(call->out,
             "Not sure about n? Leave -n away: the filter is sized from the files, or grows.\n");
}

static int print_text(const struct call *call, const struct common *c, const struct row *rows,
                      size_t n, deja_error *err)
{
    const struct row *best = choose(rows, n);
    const struct row *any = best ? best : rows;
    if (!any->possible)
        return fail(err, DEJA_EINVAL, "%s", any->why_not);
    out_printf(call->out, "For %s keys", num_count(any->plan.capacity).s);
    if (c->memory)
        out_printf(call->out, " in %s", num_bytes(c->memory).s);
    out_text(call->out, "\n");
    int rc = print_table(call, rows, n, err);
    if (rc < 0 || c->kind)
        return rc;
    print_bars(call, c, any->plan.capacity);
    if (best)
        print_advice(call, c, best);
    return DEJA_OK;
}

/* --- JSON ----------------------------------------------------------------- */

static void print_json(const struct call *call, const struct row *rows, size_t n)
{
    struct json j;
    char speed[32];
    const struct row *best = choose(rows, n);
    json_begin(&j, call->out);
    json_object(&j, NULL);
    json_string(&j, "recommended", best ? deja_kind_name(best->kind) : NULL);
    json_array(&j, "kinds");
    for (size_t i = 0; i < n; i++) {
        const deja_plan *p = &rows[i].plan;
        json_object(&j, NULL);
        json_string(&j, "kind", deja_kind_name(rows[i].kind));
        json_bool(&j, "possible", rows[i].possible);
        if (rows[i].possible) {
            json_uint(&j, "capacity", p->capacity);
            json_real(&j, "fp_rate", p->fp_rate);
            json_uint(&j, "bytes", p->bytes);
            json_uint(&j, "bits", p->bits);
            json_real(&j, "bits_per_key", p->bits_per_key);
            json_uint(&j, "hashes", p->hashes);
            json_uint(&j, "filters", p->filters);
            json_real(&j, "lost", p->lost);
            json_real(&j, "lost_per_million", p->lost / (double)p->capacity * 1e6);
            json_string(&j, "reads", speed_class(p, speed, sizeof speed));
        } else {
            json_string(&j, "why_not", rows[i].why_not);
        }
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

static int run(struct call *call, deja_error *err)
{
    const struct plan_options *o = call->options;
    const struct common *c = &o->common;
    struct row rows[ROWS_MAX];
    if (!c->capacity && !c->memory)
        return fail(err, OPT_USAGE,
                    "for how many keys? give -n N, or -m SIZE to see how many fit");
    if (c->capacity && c->memory && c->fp_rate > 0)
        return fail(err, OPT_USAGE, "-n, -p and -m: give two, the third follows");
    const size_t n = make_rows(c, rows);
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= rows[i].possible;
    if (!any)
        return fail(err, DEJA_EINVAL, "%s", rows[0].why_not);
    if (!c->json)
        return print_text(call, c, rows, n, err);
    print_json(call, rows, n);
    return DEJA_OK;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "show which kind takes how much memory and loses how many pages",
    .operands = "",
    .options = options,
    .options_size = sizeof(struct plan_options),
    .description =
        (const char *const[]){
            "Computes, for every kind, what a filter would take, without making one. Give two of "
            "-n (keys), -p (false-positive rate, 1e-6 by default) and -m (memory); the third "
            "follows. Lost pages are the new keys taken for seen while the filter fills up to n: "
            "fewer than n times p, since it is empty at first.",
            NULL},
    .examples = (const struct command_example[]){{"a billion URLs", "deja plan -n 1e9"},
                                                 {"what 2 GiB buy", "deja plan -n 1e9 -m 2G"},
                                                 {"how many keys fit at one in a thousand",
                                                  "deja plan -m 64M -p 1e-3"},
                                                 {0}},
    .run = run,
};
