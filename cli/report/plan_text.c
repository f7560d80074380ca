/* plan_text.c - `deja plan` for people: a recommendation, a table of kinds, the trade-off; or with
 * -k, the numbers of that kind and the next command. */
#include "cli/report/plan_report.h"
#include "tools/base/number.h"
#include <math.h>

#define WIDTH 88u

static void print_heading(struct out *o, const struct plan_report *s)
{
    const struct shared_options *c = s->c;
    if (c->filter.capacity != 0)
        out_printf(o, "For %s", num_of(c->filter.capacity, "key").s);
    if (c->filter.memory != 0)
        out_printf(o, "%s %s", c->filter.capacity != 0 ? " in" : "In",
                   num_bytes(c->filter.memory).s);
    if (c->filter.multiplier > 0)
        out_printf(o, ", %s bits for each of the k positions of a key",
                   num_exact(c->filter.multiplier).s);
    else if (plan_rate_asked(c) > 0)
        out_printf(o, " at rate %s%s", num_rate(plan_rate_asked(c)).s,
                   c->filter.fp_rate > 0 ? "" : ", the default");
    out_text(o, "\n");
}

static void add_row(struct table *t, const deja_plan *p, bool with_keys_column)
{
    table_cell(t, "%s%s", deja_kind_name(p->kind),
               deja_kind_can(p->kind, DEJA_CAN_GROW) ? " (first part)" : "");
    if (with_keys_column)
        table_cell(t, "%s", num_count(p->capacity).s);
    table_row(t, num_bytes(p->bytes).s, num_fixed(p->bits_per_key, 2).s, NULL);
    if (p->filters > 1)
        table_cell(t, "%u x %u", p->filters, p->hashes);
    else
        table_cell(t, "%u", p->hashes);
    table_row(t, num_rate(p->fp_rate).s,
              deja_kind_can(p->kind, DEJA_CAN_BUILD) ? "-" : num_estimate(plan_per_million(p)).s,
              plan_reads(p).s, NULL);
}

/* Only this kind misses keys, so a note follows its numbers. */
static void print_forgetting(struct out *o, const deja_plan *p)
{
    out_printf(o, "  paired FORGETS: after %s removals, %s of its other keys are missed\n",
               num_count(p->deletions).s, num_rate(p->fn_rate).s);
}

/* The keys themselves, in the table of kinds: always right, and large. */
static void add_key_table(struct table *t, const struct plan_report *s, bool with_keys_column)
{
    const struct plan_table keys = plan_table_of(s);
    table_cell(t, "the keys, in a table");
    if (with_keys_column)
        table_cell(t, "%s", num_count(keys.capacity).s);
    table_row(t, num_bytes(keys.bytes).s, num_fixed(keys.bits_per_key, 2).s, "-", "0", "0", "-",
              NULL);
}

static int print_table(struct out *o, const struct plan_report *s, deja_error *err)
{
    bool keys = s->c->filter.capacity == 0;
    struct table t;
    table_init(&t, keys ? "lrrrrrrl" : "lrrrrrl");
    table_row(&t, "kind", keys ? "keys (n)" : NULL, NULL);
    table_row(&t, "memory", "bits/key", "k", "p at n", "lost/million", "a lookup reads", NULL);
    for (size_t i = 0; i < s->n; i++)
        if (s->row[i].possible)
            add_row(&t, &s->row[i].plan, keys);
    if (s->key_length > 0)
        add_key_table(&t, s, keys);
    return table_print(&t, o, 2, err);
}

/* The rule of the lecture notes, for the recommended kind or the chosen one. */
static void print_key_table(struct out *o, const struct plan_report *s)
{
    const deja_plan *p = s->best ? &s->best->plan : &plan_first(s)->plan;
    const double ratio = plan_table_ratio(s, p);
    char text[320];
    (void)snprintf(
        text, sizeof text,
        "a table of the keys takes their %s and log2 n = %s more: %s times as much as %s; %s",
        num_of(8 * s->key_length, "bit").s, num_fixed(log2((double)p->capacity), 1).s,
        ratio >= 100 ? num_count((uint64_t)(ratio + 0.5)).s
                     : num_fixed(ratio, ratio < 10 ? 2 : 1).s,
        deja_kind_name(p->kind),
        ratio >= PLAN_MUCH ? "a filter is worth its errors"
        : ratio > 1        ? "a filter saves memory, but not ten times; consider a table"
                           : "a table is smaller, and never errs");
    out_text(o, "  ");
    out_wrap(o, text, 2, 2, WIDTH);
}

/* Prints notes on what the rows do not show. */
static void print_notes(struct out *o, const struct plan_report *s)
{
    out_printf(o,
               "  lost/million counts keys; a crawl misses about %.0f pages for each "
               "(deja lab replay)\n",
               PLAN_PAGES_PER_LOSS);
    if (s->key_length > 0)
        print_key_table(o, s);
    if (plan_find(s, DEJA_STATIC))
        out_text(o,
                 "  static is built from all of its keys at once; keys cannot be added later\n");
    const struct plan_row *layered = plan_find(s, DEJA_LAYERED);
    if (layered && s->c->layered == OPT_LAYERED_PAPER)
        out_text(
            o,
            "  layered has a filter of the same size for each layer; memory is for all of them\n");
    else if (layered)
        out_printf(
            o,
            "  layered: at most, with n distinct segments in each layer; the XOR layer takes %s\n",
            num_bytes(plan_xor_bytes(s, &layered->plan)).s);
    if (plan_find(s, DEJA_PAIRED))
        print_forgetting(o, &plan_find(s, DEJA_PAIRED)->plan);
    if (plan_find(s, DEJA_WINDOW))
        out_text(o,
                 "  window remembers the last n keys, or those of a time span, and forgets older "
                 "ones\n");
}

static void print_impossible(struct out *o, const struct plan_report *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].possible)
            continue;
        const char *name = deja_kind_name(s->row[i].kind);
        out_printf(o, "  not %s: ", name);
        out_wrap(o, s->row[i].why_not.text, (unsigned)strlen(name) + 8, 6, WIDTH);
    }
}

static void print_bar(struct out *o, double bits, double widest)
{
    if (bits > 0) {
        out_bar(o, bits / widest, 26);
        out_printf(o, " %5s", num_fixed(bits, 1).s);
    } else {
        out_printf(o, "%-28s %5s", "", "-");
    }
}

/* Prints the bits per key for each rate. */
static void print_tradeoff(struct out *o, const struct plan_report *s)
{
    static const uint32_t kinds[2] = {DEJA_CLASSIC, DEJA_BLOCKED};
    const uint64_t n = plan_first(s)->plan.capacity;
    double bits[PLAN_RATES][2], exact = plan_bits(DEJA_EXACT, n, plan_rates[0]), widest = exact;
    for (int i = 0; i < PLAN_RATES; i++) {
        for (int k = 0; k < 2; k++) {
            bits[i][k] = plan_bits(kinds[k], n, plan_rates[i]);
            widest = fmax(widest, bits[i][k]);
        }
    }
    out_printf(o, "\nBits per key for a rate of at most p\n  %-7s%-37s%s\n", "p", "classic",
               "blocked");
    const double asked = plan_rate_asked(s->c);
    for (int i = 0; i < PLAN_RATES; i++) {
        bool here = fabs(log10(asked) - log10(plan_rates[i])) < 0.01;
        out_printf(o, "%c 1e-%d   ", here ? '>' : ' ', i + 1);
        print_bar(o, bits[i][0], widest);
        out_text(o, "   ");
        print_bar(o, bits[i][1], widest);
        out_text(o, "\n");
    }
    out_text(o, "  exact  ");
    print_bar(o, exact, widest);
    out_text(o, "   at any rate\n");
}

/* How many keys an exact filter holds: a cache line has eight slots, or six with dates. */
static uint64_t keys_when_full(const struct plan_report *s, const deja_plan *p)
{
    const uint64_t slots = p->bits / 512 * (s->c->filter.flags & DEJA_DATES ? 6 : 8);
    return slots - slots / 16;
}

/* The rate and the losses with fewer and with more keys than planned. */
static int print_filling(struct out *o, const struct plan_report *s, deja_error *err)
{
    const deja_plan *p = &plan_first(s)->plan;
    struct plan_filled f;
    struct table t;
    table_init(&t, "rrrr");
    table_row(&t, "keys in it", "of n", "rate then", "lost so far", NULL);
    for (size_t i = 0; i < PLAN_FILLINGS; i++) {
        if (!plan_filling(s, i, &f))
            continue;
        table_cell(&t, "%s", num_count(f.plan.capacity).s);
        table_cell(&t, "%.0f%%", f.share * 100);
        table_row(&t, num_rate(f.plan.fp_rate).s, num_estimate(f.plan.lost).s, NULL);
    }
    out_text(o, "\nAs it fills\n");
    int rc = table_print(&t, o, 2, err);
    if (deja_kind_can(p->kind, DEJA_CAN_FILL)) /* see docs/kinds.md */
        out_printf(o, "  It is full at 15/16 of its slots, %s, and then rejects new keys.\n",
                   num_of(keys_when_full(s, p), "key").s);
    return rc;
}

static void print_window(struct out *o, const deja_plan *p)
{
    const uint64_t share = (p->capacity + p->generations - 1) / p->generations;
    out_printf(o, "\nA generation holds %s. %u full %s kept while the next one fills:\n",
               num_of(share, "key").s, (unsigned)p->generations,
               p->generations == 1 ? "one is" : "ones are");
    out_printf(o, "a key among the last %s is found, a key older than the last %s is forgotten.\n",
               num_count(p->capacity).s, num_count(share * (p->generations + 1)).s);
}

static void print_advice(struct out *o, const struct plan_report *s)
{
    char text[sizeof s->reason + 32];
    (void)snprintf(text, sizeof text, "Use %s: %s.", deja_kind_name(s->best->kind), s->reason);
    out_wrap(o, text, 0, 0, WIDTH);
    out_printf(o, "  %s\n", s->command);
    /* A filter that grows has blocked parts by default. */
    if (s->best->kind == DEJA_BLOCKED && s->c->filter.memory == 0 && s->c->filter.hashes == 0 &&
        s->c->filter.filters == 0)
        out_text(o, "Not sure about n? Omit -n: the filter is sized from the files, and "
                    "grows.\n");
    out_text(o, "\n");
}

int plan_text(const struct plan_report *s, struct out *o, deja_error *err)
{
    if (s->best)
        print_advice(o, s);
    print_heading(o, s);
    int rc = print_table(o, s, err);
    print_notes(o, s);
    print_impossible(o, s);
    if (rc < 0)
        return rc;
    if (s->c->filter.kind == 0 && !(s->c->filter.flags & DEJA_DATES))
        print_tradeoff(o, s);
    else if (deja_kind_can(s->c->filter.kind, DEJA_CAN_GROW))
        out_text(o,
                 "\nWhen the first part is full, another one, twice as large and with a smaller "
                 "rate,\nis added, and so on; all parts together stay below p.\n");
    else if (deja_kind_can(s->c->filter.kind, DEJA_CAN_EXPIRE))
        print_window(o, &plan_first(s)->plan);
    else if (!deja_kind_can(s->c->filter.kind, DEJA_CAN_BUILD))
        rc = print_filling(o, s, err);
    if (!s->best)
        out_printf(o, "\nNext\n  %s\n", s->command);
    return rc;
}
