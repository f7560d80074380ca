/* cmd_plan.c - which kind, how much memory, how many lost pages: a table of choices.
 *
 * All numbers come from deja_plan_make, which allocates nothing: the table from the options as
 * they are, the trade-off from other rates, and the filling of one kind from other numbers of
 * keys in the memory that it was given. */
#include "command.h"
#include "fail.h"
#include "number.h"
#include <math.h>
#include <stdarg.h>

#define WIDTH    88u
#define ROWS_MAX 16

#define DEFAULT_RATE 1e-6 /* as deja.h says */

struct plan_options {
    struct common common;
};

static int check_options(const void *target, deja_error *err)
{
    const struct common *c = &((const struct plan_options *)target)->common;
    if (c->capacity == 0 && c->memory == 0)
        return fail(err, OPT_USAGE,
                    "for how many keys? give -n N, or -m SIZE to see how many fit");
    if (c->capacity != 0 && c->memory != 0 && c->fp_rate > 0)
        return fail(err, OPT_USAGE, "-n, -p and -m: give two, the third follows");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_GROUP(struct plan_options, common, common_sizing),
    OPT_HEADING("General"),
    OPT_GROUP(struct plan_options, common, common_json),
    OPT_CHECK(check_options),
    OPT_END,
};

/* --- The numbers ----------------------------------------------------------- */

struct row {
    uint32_t kind;
    bool possible;
    deja_plan plan;
    deja_error why_not;
};

/* What the options come to, and what is to be told about it. */
struct study {
    const struct common *c;
    struct row row[ROWS_MAX];
    size_t n;
    const struct row *best; /* recommended; NULL: the user has chosen the kind */
    char reason[160];
    char command[256];
};

static struct row make_row(const deja_options *opt)
{
    struct row r = {.kind = opt->kind, .plan = DEJA_PLAN_INIT};
    r.possible = deja_plan_make(opt, &r.plan, &r.why_not) == DEJA_OK;
    return r;
}

/* Every kind that the library has, or the one that was asked for. */
static void make_rows(struct study *s)
{
    deja_options opt = common_filter_options(s->c);
    for (uint32_t kind = 1; kind < OPT_CHOICES && s->n < ROWS_MAX; kind++) {
        if (deja_kind_name(kind) == NULL || (s->c->kind != 0 && s->c->kind != kind))
            continue;
        opt.kind = kind;
        s->row[s->n++] = make_row(&opt);
    }
}

static const struct row *find_row(const struct study *s, uint32_t kind)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].kind == kind && s->row[i].possible)
            return &s->row[i];
    }
    return NULL;
}

static const struct row *first_possible(const struct study *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].possible)
            return &s->row[i];
    }
    return NULL;
}

static double per_million(const deja_plan *p)
{
    return p->lost / (double)p->capacity * 1e6;
}

struct words {
    char s[32];
};

/* Cache lines, which is what a lookup in a large filter waits for. */
static struct words lookup_reads(const deja_plan *p)
{
    struct words w;
    unsigned lines = p->kind == DEJA_PAIRED    ? 2
                     : p->kind == DEJA_CLASSIC ? p->filters * p->hashes
                                               : p->filters;
    if (p->kind == DEJA_EXACT)
        (void)snprintf(w.s, sizeof w.s, "1-2 cache lines");
    else if (p->kind == DEJA_STATIC)
        (void)snprintf(w.s, sizeof w.s, "3 cache lines");
    else if (p->kind == DEJA_SCALABLE)
        (void)snprintf(w.s, sizeof w.s, "1 cache line a part");
    else if (p->kind == DEJA_WINDOW)
        (void)snprintf(w.s, sizeof w.s, "%u lines in a row", (unsigned)p->generations + 1);
    else if (p->kind == DEJA_LAYERED) /* and those of its segments */
        (void)snprintf(w.s, sizeof w.s, "%u+ cache lines", p->hashes);
    else
        (void)snprintf(w.s, sizeof w.s, "%u cache line%s", lines, lines == 1 ? "" : "s");
    return w;
}

/* Bits a key of an otherwise unbound filter of this kind; 0 when there is none. */
static double bits_for_rate(uint32_t kind, uint64_t capacity, double p)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = capacity;
    opt.fp_rate = p;
    struct row r = make_row(&opt);
    return r.possible ? r.plan.bits_per_key : 0;
}

/* The rate that was asked for, if only by default; 0 when it follows from the rest. */
static double rate_asked(const struct common *c)
{
    bool follows = c->multiplier > 0 || (c->capacity != 0 && c->memory != 0);
    return c->fp_rate > 0 ? c->fp_rate : follows ? 0 : DEFAULT_RATE;
}

#define RATES 9 /* 1e-1 .. 1e-9 */
static const double rates[RATES] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};

/* Mode, layers and words as they were asked for. */
static deja_options paper_options(const struct study *s, const deja_options *rest)
{
    deja_options opt = common_filter_options(s->c);
    opt.hashes = rest->hashes;
    opt.memory = rest->memory;
    opt.capacity = rest->capacity;
    opt.fp_rate = 0;
    opt.multiplier = 0;
    return opt;
}

/* The same filter with another number of keys in it: exact refuses more than it can hold. */
static struct row with_keys(const struct study *s, const deja_plan *p, uint64_t keys)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = p->kind;
    opt.hash = s->c->hash;
    opt.filters = p->filters;
    opt.hashes = p->hashes;
    opt.memory = p->bytes;
    opt.counter_bits = s->c->counter_bits;
    if (p->deletions) /* in proportion: the memory is split as before */
        opt.deletions =
            (uint64_t)fmax(1, (double)p->deletions * (double)keys / (double)p->capacity);
    opt.capacity = keys;
    if (p->kind == DEJA_LAYERED && s->c->layered != OPT_LAYERED_PAPER)
        opt.kind = DEJA_CLASSIC; /* as its XOR layer, which is what was planned */
    else if (p->kind == DEJA_LAYERED)
        opt = paper_options(s, &opt);
    return make_row(&opt);
}

static const double fillings[] = {0.1, 0.25, 0.5, 0.75, 1, 1.1, 1.25, 1.5, 2};
#define FILLINGS (sizeof fillings / sizeof fillings[0])

/* --- The recommendation ------------------------------------------------------ */

#define SMALL 4096 /* bytes that are not worth a thought */

/* Memory is given: exact if all keys fit; blocked, unless classic loses far fewer pages. */
static const struct row *choose_by_loss(const struct study *s)
{
    const struct row *blocked = find_row(s, DEJA_BLOCKED), *classic = find_row(s, DEJA_CLASSIC);
    const struct row *exact = find_row(s, DEJA_EXACT);
    if (exact != NULL)
        return exact;
    if (blocked != NULL && classic != NULL && blocked->plan.lost > 1 &&
        blocked->plan.lost > 10 * classic->plan.lost)
        return classic;
    return blocked != NULL ? blocked : classic;
}

/* Memory follows, or keys: the fewest bits a key win, but classic's count double, since it
 * reads many cache lines where the others read one. */
static const struct row *choose_by_bits(const struct study *s)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_EXACT, DEJA_CLASSIC};
    const struct row *best = NULL;
    double best_cost = INFINITY;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct row *r = find_row(s, kinds[i]);
        if (r == NULL)
            continue;
        double cost = r->plan.bytes <= SMALL
                          ? 0
                          : r->plan.bits_per_key * (kinds[i] == DEJA_CLASSIC ? 2.0 : 1.0);
        if (cost < best_cost) {
            best = r;
            best_cost = cost;
        }
    }
    return best;
}

static void give_reason(struct study *s, const char *fmt, ...) OUT_PRINTF(2, 3);

static void give_reason(struct study *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(s->reason, sizeof s->reason, fmt, args);
    va_end(args);
}

/* Blocked against classic: more memory for the same rate, or more losses in the same memory. */
static void compare_with_classic(struct study *s, const deja_plan *classic, bool by_loss)
{
    const deja_plan *p = &s->best->plan;
    struct words reads = lookup_reads(p);
    unsigned lines = classic->hashes * classic->filters;
    if (p->bytes <= SMALL)
        give_reason(s, "with so few keys the choice makes no difference");
    else if (by_loss)
        give_reason(s, "%s a lookup, not %u; classic would lose %s in a million", reads.s, lines,
                    num_estimate(per_million(classic)).s);
    else
        give_reason(s, "%s a lookup, not %u, for %.0f%% more memory than classic", reads.s, lines,
                    100.0 * (p->bits_per_key / classic->bits_per_key - 1.0));
}

static size_t count_possible(const struct study *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->row[i].possible;
    return n;
}

static void recommend(struct study *s)
{
    const struct row *classic = find_row(s, DEJA_CLASSIC);
    bool by_loss = (s->c->capacity != 0 && s->c->memory != 0) || s->c->multiplier > 0;
    if (s->c->kind != 0)
        return;
    s->best = by_loss ? choose_by_loss(s) : choose_by_bits(s);
    if (s->best == NULL)
        s->best = first_possible(s);
    if (count_possible(s) == 1)
        give_reason(s, "no other kind does what these options ask for");
    else if (s->best->kind == DEJA_BLOCKED && classic != NULL)
        compare_with_classic(s, &classic->plan, by_loss);
    else if (s->best->kind == DEJA_BLOCKED)
        give_reason(s, "%s a lookup", lookup_reads(&s->best->plan).s);
    else if (s->best->kind == DEJA_EXACT && by_loss)
        give_reason(s, "there is room for it, and practically no page is lost");
    else if (s->best->kind == DEJA_EXACT)
        give_reason(s, "the smallest but classic at this rate, and practically no page is lost");
    else
        give_reason(s, "by far the fewest lost pages, for %s a lookup",
                    lookup_reads(&s->best->plan).s);
}

/* --- The next command --------------------------------------------------------- */

static void append(struct study *s, const char *fmt, ...) OUT_PRINTF(2, 3);

static void append(struct study *s, const char *fmt, ...)
{
    size_t len = strlen(s->command);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(s->command + len, sizeof s->command - len, fmt, args);
    va_end(args);
}

/* As a person would type it: 1500000 is 1500k, 2147483648 bytes are 2G. */
static void append_scaled(struct study *s, const char *option, uint64_t value, unsigned step)
{
    static const char units[] = "kMGTP";
    const char *unit = "";
    for (size_t i = 0; value != 0 && value % step == 0 && i < sizeof units - 1; i++) {
        value /= step;
        unit = units + i;
    }
    append(s, " %s %llu%.1s", option, (unsigned long long)value, unit);
}

/* 1e-09 of printf becomes 1e-9. */
static void append_rate(struct study *s, double p)
{
    struct num_text t = num_exact(p);
    char *zero = strstr(t.s, "e-0");
    if (zero != NULL)
        memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
    append(s, " -p %s", t.s);
}

/* Options as they were given, and the kind that was found. */
static void make_command(struct study *s)
{
    const struct common *c = s->c;
    uint32_t kind = s->best != NULL ? s->best->kind : c->kind;
    const bool build = kind == DEJA_STATIC || kind == DEJA_PAIRED; /* dedup cannot use them */
    append(s, build ? "deja build" : "deja dedup");
    if (kind != DEJA_BLOCKED)
        append(s, " -k %s", deja_kind_name(kind));
    if (c->capacity != 0)
        append_scaled(s, "-n", c->capacity, 1000);
    if (c->memory != 0)
        append_scaled(s, "-m", c->memory, 1024);
    if (c->fp_rate > 0)
        append_rate(s, c->fp_rate);
    if (c->hashes != 0)
        append(s, " --hashes %u", c->hashes);
    if (c->filters != 0)
        append(s, " --filters %u", c->filters);
    if (c->multiplier > 0)
        append(s, " --multiplier %s", num_exact(c->multiplier).s);
    if (c->hash != 0)
        append(s, " --hash %s", deja_hash_name(c->hash));
    if (c->fingerprint_bits != 0)
        append(s, " --fingerprint-bits %u", c->fingerprint_bits);
    if (c->counter_bits != 0)
        append(s, " --counter-bits %u", c->counter_bits);
    if (c->minimal_increase)
        append(s, " --minimal-increase");
    if (c->deletions != 0)
        append_scaled(s, "--deletions", c->deletions, 1000);
    if (c->generations != 0)
        append(s, " --generations %u", c->generations);
    if (c->window_seconds != 0)
        append(s, " --window-time %llus", (unsigned long long)c->window_seconds);
    if (c->layers != 0)
        append(s, " --layers %u", c->layers);
    if (c->layered == OPT_LAYERED_PAPER)
        append(s, " --layered paper");
    if (c->words.given)
        append(s, " --words '%c'", c->words.byte);
    append(s, build ? " list.deja urls.txt" : " --state seen.deja urls.txt > new.txt");
}

/* --- Text --------------------------------------------------------------------- */

static void print_heading(struct out *o, const struct study *s)
{
    const struct common *c = s->c;
    if (c->capacity != 0)
        out_printf(o, "For %s keys", num_count(c->capacity).s);
    if (c->memory != 0)
        out_printf(o, "%s %s", c->capacity != 0 ? " in" : "In", num_bytes(c->memory).s);
    if (c->multiplier > 0)
        out_printf(o, ", %s bits for each of the k positions of a key",
                   num_exact(c->multiplier).s);
    else if (rate_asked(c) > 0)
        out_printf(o, " at rate %s%s", num_rate(rate_asked(c)).s,
                   c->fp_rate > 0 ? "" : ", the default");
    out_text(o, "\n");
}

static void table_row(struct table *t, const deja_plan *p, bool with_keys_column)
{
    table_cell(t, "%s%s", deja_kind_name(p->kind),
               p->kind == DEJA_SCALABLE ? " (first part)" : "");
    if (with_keys_column)
        table_cell(t, "%s", num_count(p->capacity).s);
    table_cell(t, "%s", num_bytes(p->bytes).s);
    table_cell(t, "%s", num_fixed(p->bits_per_key, 2).s);
    if (p->filters > 1)
        table_cell(t, "%u x %u", p->filters, p->hashes);
    else
        table_cell(t, "%u", p->hashes);
    table_cell(t, "%s", num_rate(p->fp_rate).s);
    table_cell(t, "%s", p->kind == DEJA_STATIC ? "-" : num_estimate(per_million(p)).s);
    table_cell(t, "%s", lookup_reads(p).s);
}

/* What no other kind does has to be said beside its numbers. */
static void print_forgetting(struct out *o, const deja_plan *p)
{
    out_printf(o, "  paired FORGETS: with %s removals %s of its other keys are missed\n",
               num_count(p->deletions).s, num_rate(p->fn_rate).s);
}

static int print_table(struct out *o, const struct study *s, deja_error *err)
{
    static const char *const heads[] = {"memory", "bits/key",     "k",
                                        "p at n", "lost/million", "a lookup reads"};
    bool keys = s->c->capacity == 0;
    struct table t;
    table_init(&t, keys ? "lrrrrrrl" : "lrrrrrl");
    table_cell(&t, "kind");
    if (keys)
        table_cell(&t, "keys (n)");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(&t, "%s", heads[i]);
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].possible)
            table_row(&t, &s->row[i].plan, keys);
    }
    int rc = table_print(&t, o, 2, err);
    if (find_row(s, DEJA_STATIC) != NULL)
        out_text(o, "  static is built from all of its keys, and cannot grow or be added to\n");
    if (find_row(s, DEJA_LAYERED) != NULL)
        out_text(o, s->c->layered == OPT_LAYERED_PAPER
                        ? "  layered has a filter of that size for each layer, all counted here\n"
                        : "  layered: the XOR layer; layers add 1 line a segment, some 16 bits "
                          "for each different one\n");
    if (find_row(s, DEJA_PAIRED) != NULL)
        print_forgetting(o, &find_row(s, DEJA_PAIRED)->plan);
    if (find_row(s, DEJA_WINDOW) != NULL)
        out_text(o, "  window remembers the last n keys, or those of some time, and forgets the "
                    "others\n");
    for (size_t i = 0; i < s->n; i++) {
        if (s->row[i].possible)
            continue;
        const char *name = deja_kind_name(s->row[i].kind);
        out_printf(o, "  not %s: ", name);
        out_wrap(o, s->row[i].why_not.text, (unsigned)strlen(name) + 8, 6, WIDTH);
    }
    return rc;
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

/* Bits a key against the rate, which is the whole trade-off. */
static void print_tradeoff(struct out *o, const struct study *s)
{
    static const uint32_t kinds[2] = {DEJA_CLASSIC, DEJA_BLOCKED};
    const uint64_t n = first_possible(s)->plan.capacity;
    double bits[RATES][2], exact = bits_for_rate(DEJA_EXACT, n, rates[0]), widest = exact;
    for (int i = 0; i < RATES; i++) {
        for (int k = 0; k < 2; k++) {
            bits[i][k] = bits_for_rate(kinds[k], n, rates[i]);
            widest = fmax(widest, bits[i][k]);
        }
    }
    out_printf(o, "\nBits a key for a rate of at most p\n  %-7s%-37s%s\n", "p", "classic",
               "blocked");
    const double asked = rate_asked(s->c);
    for (int i = 0; i < RATES; i++) {
        bool here = fabs(log10(asked) - log10(rates[i])) < 0.01;
        out_printf(o, "%c 1e-%d   ", here ? '>' : ' ', i + 1);
        print_bar(o, bits[i][0], widest);
        out_text(o, "   ");
        print_bar(o, bits[i][1], widest);
        out_text(o, "\n");
    }
    out_text(o, "  exact  ");
    print_bar(o, exact, widest);
    out_text(o, "   whatever the rate\n");
}

/* What becomes of the filter with fewer and with more keys than it was planned for. */
static int print_filling(struct out *o, const struct study *s, const deja_plan *p, deja_error *err)
{
    struct table t;
    table_init(&t, "rrrr");
    table_cell(&t, "keys in it");
    table_cell(&t, "of n");
    table_cell(&t, "rate then");
    table_cell(&t, "lost so far");
    for (size_t i = 0; i < FILLINGS; i++) {
        double keys = fillings[i] * (double)p->capacity;
        struct row r = with_keys(s, p, (uint64_t)(keys + 0.5));
        if (keys < 1 || !r.possible)
            continue;
        table_cell(&t, "%s", num_count(r.plan.capacity).s);
        table_cell(&t, "%.0f%%", fillings[i] * 100);
        table_cell(&t, "%s", num_rate(r.plan.fp_rate).s);
        table_cell(&t, "%s", num_estimate(r.plan.lost).s);
    }
    out_text(o, "\nAs it fills\n");
    int rc = table_print(&t, o, 2, err);
    if (p->kind == DEJA_EXACT) /* see docs/kinds.md */
        out_printf(o, "  It is full at 15/16 of its slots, %s keys, and then refuses new ones.\n",
                   num_count(p->bits / 64 - p->bits / 64 / 16).s);
    return rc;
}

static void print_window(struct out *o, const deja_plan *p)
{
    const uint64_t share = (p->capacity + p->generations - 1) / p->generations;
    out_printf(
        o, "\nA generation takes %s keys. %u full %s remembered while the next one fills:\n",
        num_count(share).s, (unsigned)p->generations, p->generations == 1 ? "one is" : "ones are");
    out_printf(o, "what came among the last %s is found, what is older than %s is forgotten.\n",
               num_count(p->capacity).s, num_count(share * (p->generations + 1)).s);
}

static void print_advice(struct out *o, const struct study *s)
{
    if (s->best != NULL) {
        char text[sizeof s->reason + 32];
        (void)snprintf(text, sizeof text, "Take %s: %s.", deja_kind_name(s->best->kind),
                       s->reason);
        out_text(o, "\n");
        out_wrap(o, text, 0, 0, WIDTH);
    }
    out_printf(o, "%s  %s\n", s->best != NULL ? "" : "\nNext\n", s->command);
    if (s->best != NULL && s->best->kind == DEJA_BLOCKED && s->c->memory == 0 &&
        s->c->hashes == 0 && s->c->filters == 0)
        out_text(o, "Not sure about n? Leave -n away: the filter is sized from the files, and "
                    "grows.\n");
}

static int print_text(struct out *o, const struct study *s, deja_error *err)
{
    print_heading(o, s);
    int rc = print_table(o, s, err);
    if (rc < 0)
        return rc;
    if (s->c->kind == 0)
        print_tradeoff(o, s);
    else if (s->c->kind == DEJA_SCALABLE)
        out_text(o, "\nWhen the first part is full, another, twice as large and with a "
                    "smaller rate,\nis added, and so on; all parts together stay below p.\n");
    else if (s->c->kind == DEJA_WINDOW)
        print_window(o, &first_possible(s)->plan);
    else if (s->c->kind != DEJA_STATIC)
        rc = print_filling(o, s, &first_possible(s)->plan, err);
    print_advice(o, s);
    return rc;
}

/* --- JSON ----------------------------------------------------------------------- */

static void json_row(struct json *j, const struct row *r)
{
    const deja_plan *p = &r->plan;
    json_object(j, NULL);
    json_string(j, "kind", deja_kind_name(r->kind));
    json_bool(j, "possible", r->possible);
    if (r->possible) {
        json_uint(j, "capacity", p->capacity);
        json_real(j, "fp_rate", p->fp_rate);
        json_uint(j, "bytes", p->bytes);
        json_uint(j, "bits", p->bits);
        json_real(j, "bits_per_key", p->bits_per_key);
        json_uint(j, "hashes", p->hashes);
        json_uint(j, "filters", p->filters);
        json_string(j, "hash", deja_hash_name(p->hash));
        json_real(j, "lost", p->lost);
        json_real(j, "lost_per_million", per_million(p));
        json_string(j, "reads", lookup_reads(p).s);
        if (p->deletions != 0) {
            json_uint(j, "deletions", p->deletions);
            json_real(j, "fn_rate", p->fn_rate);
        }
    } else {
        json_string(j, "why_not", r->why_not.text);
    }
    json_end(j);
}

static void json_tradeoff(struct json *j, const struct study *s)
{
    const uint64_t n = first_possible(s)->plan.capacity;
    json_array(j, "tradeoff");
    for (int i = 0; i < RATES; i++) {
        json_object(j, NULL);
        json_real(j, "fp_rate", rates[i]);
        json_object(j, "bits_per_key");
        for (size_t k = 0; k < s->n; k++) {
            double bits = bits_for_rate(s->row[k].kind, n, rates[i]);
            json_real(j, deja_kind_name(s->row[k].kind), bits > 0 ? bits : NAN);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void json_filling(struct json *j, const struct study *s, const deja_plan *p)
{
    json_array(j, "filling");
    for (size_t i = 0; i < FILLINGS; i++) {
        double keys = fillings[i] * (double)p->capacity;
        struct row r = with_keys(s, p, (uint64_t)(keys + 0.5));
        if (keys < 1 || !r.possible)
            continue;
        json_object(j, NULL);
        json_uint(j, "keys", r.plan.capacity);
        json_real(j, "fp_rate", r.plan.fp_rate);
        json_real(j, "lost", r.plan.lost);
        json_end(j);
    }
    json_end(j);
}

static void print_json(struct out *o, const struct study *s)
{
    struct json j;
    json_begin(&j, o);
    json_object(&j, NULL);
    json_array(&j, "kinds");
    for (size_t i = 0; i < s->n; i++)
        json_row(&j, &s->row[i]);
    json_end(&j);
    json_tradeoff(&j, s);
    if (s->c->kind != 0 && s->c->kind != DEJA_STATIC && s->c->kind != DEJA_WINDOW)
        json_filling(&j, s, &first_possible(s)->plan);
    json_string(&j, "recommended", s->best != NULL ? deja_kind_name(s->best->kind) : NULL);
    json_string(&j, "reason", s->best != NULL ? s->reason : NULL);
    json_string(&j, "command", s->command);
    json_end(&j);
}

static int run(struct call *call, deja_error *err)
{
    const struct plan_options *o = call->options;
    struct study s = {.c = &o->common};
    make_rows(&s);
    if (first_possible(&s) == NULL) {
        *err = s.row[0].why_not;
        return err->status;
    }
    recommend(&s);
    make_command(&s);
    if (!o->common.json)
        return print_text(call->out, &s, err);
    print_json(call->out, &s);
    return COMMAND_DONE;
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
            "follows. Below the table stand the bits a key that other rates would take, a "
            "recommendation, and the command to type next. With -k, only that kind, and what "
            "becomes of it with fewer and more keys than planned.",
            "Lost pages are the new keys taken for seen while the filter fills up to n: fewer "
            "than n times p, since it is empty at first; a static filter has none, since its keys "
            "are "
            "given at once, and none can be added later. A lookup in a filter that is larger than "
            "the processor's cache takes about as long as it waits for cache lines.",
            NULL,
        },
    .examples =
        (const struct command_example[]){
            {"a billion URLs", "deja plan -n 1e9"},
            {"what 2 GiB buy for a billion URLs", "deja plan -n 1e9 -m 2G"},
            {"how many keys fit at one in a thousand", "deja plan -m 64M -p 1e-3"},
            {"one kind: what if there are twice as many?", "deja plan -k blocked -n 1e9"},
            {NULL, NULL},
        },
    .run = run,
};
