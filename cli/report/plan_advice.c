/* plan_advice.c - recommends a kind, with the reason and the next command.
 *
 * If the memory is given, the kind with the fewest losses wins, otherwise the one with the fewest
 * bits per key.  Classic must be far better to win, because its lookups read many cache lines, the
 * others' only one. */
#include "cli/report/plan_report.h"
#include "cli/session/session.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include <math.h>

#define GIVE_REASON(s, ...) (void)snprintf((s)->reason, sizeof(s)->reason, __VA_ARGS__)
#define APPEND(s, ...)      printable_append((s)->command, sizeof(s)->command, __VA_ARGS__)

#define SMALL 4096 /* bytes: below that, the choice does not matter */

/* The memory is given: exact if all keys fit, otherwise blocked unless classic loses far fewer. */
static const struct plan_row *choose_by_loss(const struct plan_report *s)
{
    const struct plan_row *blocked = plan_find(s, DEJA_BLOCKED),
                          *classic = plan_find(s, DEJA_CLASSIC);
    const struct plan_row *exact = plan_find(s, DEJA_EXACT);
    if (exact)
        return exact;
    if (blocked && classic && blocked->plan.lost > 1 &&
        blocked->plan.lost > 10 * classic->plan.lost)
        return classic;
    return blocked ? blocked : classic;
}

/* The memory or the number of keys is computed: the fewest bits per key win.  Classic's count
 * double, because a lookup reads many cache lines instead of one or two. */
static const struct plan_row *choose_by_bits(const struct plan_report *s)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_EXACT, DEJA_CLASSIC};
    const struct plan_row *best = NULL;
    double best_cost = INFINITY;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct plan_row *r = plan_find(s, kinds[i]);
        if (!r)
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

/* Explains the price of blocked: more memory than classic for the same rate, or more losses in the
 * same memory. */
static void compare_with_classic(struct plan_report *s, const deja_plan *classic, bool by_loss)
{
    const deja_plan *p = &s->best->plan;
    struct plan_words reads = plan_reads(p);
    unsigned lines = classic->hashes * classic->filters;
    if (p->bytes <= SMALL)
        GIVE_REASON(s, "with this few keys the choice makes no difference");
    else if (by_loss)
        GIVE_REASON(s, "%s per lookup, not %u; classic would lose %s in a million", reads.s, lines,
                    num_estimate(plan_per_million(classic)).s);
    else
        GIVE_REASON(s, "%s per lookup, not %u, for %.0f%% more memory than classic", reads.s,
                    lines, 100.0 * (p->bits_per_key / classic->bits_per_key - 1.0));
}

static size_t count_possible(const struct plan_report *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->row[i].possible;
    return n;
}

static void recommend(struct plan_report *s)
{
    const struct plan_row *classic = plan_find(s, DEJA_CLASSIC);
    bool by_loss =
        (s->c->filter.capacity != 0 && s->c->filter.memory != 0) || s->c->filter.multiplier > 0;
    if (s->c->filter.kind != 0)
        return;
    s->best = by_loss ? choose_by_loss(s) : choose_by_bits(s);
    if (!s->best)
        s->best = plan_first(s);
    if (count_possible(s) == 1)
        GIVE_REASON(s, "no other kind supports these options");
    else if (s->best->kind == DEJA_BLOCKED && classic) /* the default against its closest rival */
        compare_with_classic(s, &classic->plan, by_loss);
    else if (s->best->kind == DEJA_BLOCKED)
        GIVE_REASON(s, "%s per lookup", plan_reads(&s->best->plan).s);
    else if (deja_kind_can(s->best->kind, DEJA_CAN_FILL) && by_loss)
        GIVE_REASON(s, "it fits, and practically no page is lost");
    else if (deja_kind_can(s->best->kind, DEJA_CAN_FILL))
        GIVE_REASON(s,
                    "the smallest except classic at this rate, and practically no page is lost");
    else
        GIVE_REASON(s, "by far the fewest lost pages, for %s per lookup",
                    plan_reads(&s->best->plan).s);
}

/* --- The next command --------------------------------------------------------- */

static void append_option(struct plan_report *s, const deja_option *row)
{
    const char *field = (const char *)&s->c->filter + row->offset;
    const char *unit = row->unit ? row->unit : "";
    char text[DEJA_OPTION_TEXT];
    const size_t len = deja_option_print(row, &s->c->filter, text);
    APPEND(s, " %s", opt_filter_word(row));
    if (row->type == DEJA_OPTION_RATE || row->type == DEJA_OPTION_REAL)
        APPEND(s, " %s", num_typed(*(const double *)(const void *)field).s);
    else if (strcmp(unit, "keys") == 0 || strcmp(unit, "bytes") == 0)
        APPEND(s, " %s",
               num_scaled(*(const uint64_t *)(const void *)field, unit[0] == 'k' ? 1000 : 1024).s);
    else if (row->type == DEJA_OPTION_CHAR)
        APPEND(s, " '%c'", text[0]);
    else if (len)
        APPEND(s, " %.*s%s", (int)len, text, strcmp(unit, "seconds") == 0 ? "s" : "");
}

/* Composes the command from the given options and the recommended kind. */
static void make_command(struct plan_report *s)
{
    const struct shared_options *c = s->c;
    uint32_t kind = s->best ? s->best->kind : c->filter.kind;
    const bool build = !session_can_dedup(kind);
    APPEND(s, build ? "deja build" : "deja dedup");
    if (kind != DEJA_BLOCKED) /* the default need not be typed */
        APPEND(s, " -k %s", deja_kind_name(kind));
    for (size_t i = 0; deja_option_at(i); i++) {
        const deja_option *row = deja_option_at(i);
        if (deja_option_given(row, &c->filter) && strcmp(row->name, "kind") != 0)
            append_option(s, row);
    }
    if (c->layered == OPT_LAYERED_PAPER)
        APPEND(s, " --layered paper");
    APPEND(s, build ? " list.deja urls.txt" : " --state seen.deja urls.txt > new.txt");
}

void plan_advise(struct plan_report *s)
{
    recommend(s);
    make_command(s);
}
