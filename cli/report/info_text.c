/* info_text.c - prints `deja info` as text, with a line for each property. */
#include "cli/report/info_report.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>

#define BAR_WIDTH 40
#define LABEL     14 /* columns before the text of a line */
#define WIDTH     88u

static void label(struct out *o, const char *name)
{
    out_printf(o, "  %-*s", LABEL - 2, name);
}

#define LINE(o, name, ...) (label(o, name), out_printf(o, __VA_ARGS__))

/* Prints a line, wrapped if it is long. */
static void print_words(struct out *o, const char *name, const char *words)
{
    label(o, name);
    out_wrap(o, words, LABEL, LABEL, WIDTH);
}

static void print_layered(struct out *o, const deja_stats *s)
{
    const bool words = s->flags & DEJA_LAYERED_WORDS;
    out_printf(o, ", mode %s, %u of at most %u layers for %s",
               s->flags & DEJA_LAYERED_PAPER ? "paper" : "salted", s->layers, s->layers_most,
               words ? "words" : "segments of URLs");
}

static void print_parts(struct out *o, const deja_stats *s)
{
    out_printf(o, " of %u %s part%s", s->parts, deja_kind_name(s->part_kind),
               num_plural(s->parts));
    if (s->merged_parts)
        out_printf(o, ", %u from merged filters", s->merged_parts);
}

static void print_kind(struct out *o, const deja_stats *s)
{
    const char *help =
        s->flags & DEJA_DATES
            ? "53-bit fingerprints and dates in a table"
            : deja_kind_help(deja_kind_can(s->kind, DEJA_CAN_GROW) ? s->part_kind : s->kind);
    label(o, "kind");
    out_text(o, deja_kind_name(s->kind));
    if (deja_kind_can(s->kind, DEJA_CAN_LAYER))
        print_layered(o, s);
    else if (deja_kind_can(s->kind, DEJA_CAN_GROW))
        print_parts(o, s);
    else if (s->machine)
        out_printf(o, ", filter %llu of %u", (unsigned long long)s->machine, s->filters);
    else if (s->filters > 1)
        out_printf(o, ", %u filters that must agree", s->filters);
    if (deja_kind_can(s->kind, DEJA_CAN_LAYER))
        out_text(o, "\n");
    else if (s->cache_lines > 1 && !s->deletions_capacity)
        out_printf(o, " (%llu cache lines per key)\n", (unsigned long long)s->cache_lines);
    else
        out_printf(o, " (%.*s%s)\n", (int)strcspn(help, ":"), help,
                   s->deletions_capacity ? ": it FORGETS, see below" : "");
    LINE(o, "hashing", "%s, k = %u, %s", deja_hash_name(s->hash), s->hashes,
         !s->keyed                   ? "from a seed: reproducible, no protection"
         : s->flags & DEJA_KEY_APART ? "secret key stored separately"
                                     : "secret key in this file");
    if (s->other_keys)
        out_printf(o, ", and %u of merged filters", s->other_keys);
    out_text(o, "\n");
    label(o, "URLs");
    if (s->profile == 0)
        out_text(o, "bytes as given, no profile\n");
    else if (!deja_profile_name(s->profile))
        out_printf(o, "in the canonical form of profile number %u, unknown here\n", s->profile);
    else
        out_printf(o, "in the canonical form of profile %s\n", deja_profile_name(s->profile));
}

static void print_share(struct out *o, const char *name, double share, const char *of_what)
{
    label(o, name);
    out_bar(o, share, BAR_WIDTH);
    out_printf(o, " %s of the %s\n", num_share(share).s, of_what);
}

static void print_capacity(struct out *o, const struct info_report *r)
{
    const deja_stats *s = &r->s;
    LINE(o, "capacity", "%s, ", num_of(s->capacity, "key").s);
    if (deja_kind_can(s->kind, DEJA_CAN_GROW))
        out_printf(o, "then it grows; %s below %s\n",
                   r->over_capacity
                       ? "parts of a union are past their capacity, so the rate is not"
                       : "the rate stays",
                   num_rate(s->fp_rate + s->merged_rate).s);
    else if (deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        out_printf(o, "then it forgets the oldest; the rate stays at %s\n",
                   num_rate(r->rate_planned).s);
    else
        out_printf(o, "at a rate of %s%s%s\n", r->rate_planned == s->fp_rate ? "at most " : "",
                   num_rate(r->rate_planned).s,
                   r->over_capacity ? "; it is PAST its capacity" : "");
}

static void print_static(struct out *o, const deja_stats *s)
{
    label(o, "memory");
    out_text(o, num_bytes(s->bytes).s);
    if (s->keys > 0)
        out_printf(o, ", %s bits per key", num_fixed(8 * (double)s->bytes / (double)s->keys, 2).s);
    out_text(o, "\n");
    LINE(o, "keys", "%s different of %s offered\n", num_count(s->keys).s, num_count(s->offered).s);
    print_share(o, "fill", s->fill, "slots are in use; keys cannot be added");
    if (s->exceptions)
        LINE(o, "exceptions", "%s of an allow list, which would be false positives\n",
             num_of(s->exceptions, "key").s);
}

static void print_counters(struct out *o, const deja_stats *s)
{
    LINE(o, "counters", "%u bits%s%s; the largest is %s, %s saturated\n", s->counter_bits,
         s->flags & DEJA_SPREAD ? ", spread" : "",
         s->flags & DEJA_MINIMAL_INCREASE ? ", minimal increase" : "", num_count(s->largest).s,
         s->saturated ? num_count(s->saturated).s : "none");
    label(o, "removed");
    if (s->flags & DEJA_MINIMAL_INCREASE)
        out_text(o, "none: with minimal increase, keys cannot be removed\n");
    else
        out_printf(o, "%s; %s refused\n", num_of(s->removed, "key").s,
                   s->refused ? num_count(s->refused).s : "none");
}

/* "one new key in 784 million" */
static void print_one_in(struct out *o, const char *what, double n)
{
    const char *unit = n >= 1e9 ? " billion" : n >= 1e6 ? " million" : "";
    double scaled = n >= 1e9 ? n / 1e9 : n >= 1e6 ? n / 1e6 : n;
    out_printf(o, "one %s in %s%s", what, num_estimate(scaled).s, unit);
}

/* Only this kind misses keys that were added, so report how many. */
static void print_forgotten(struct out *o, const deja_stats *s)
{
    LINE(o, "deletions", "%s of %s planned; %s refused as absent\n", num_of(s->deletions, "key").s,
         num_count(s->deletions_capacity).s, s->refused ? num_count(s->refused).s : "none");
    label(o, "FORGETS");
    if (s->deletions == 0) {
        out_text(o, "no key until one is removed\n");
        return;
    }
    out_printf(o, "%s now: ", num_rate(s->fn_now).s);
    if (s->fn_now > 0.9)
        out_text(o, "nearly every key");
    else
        print_one_in(o, "key", 1 / fmax(s->fn_now, 1e-12));
    out_text(o, " that was added and not removed is missed\n");
    LINE(o, "hidden", "%s add%s without effect, because the key is among the deletions\n",
         s->hidden ? num_count(s->hidden).s : "no", num_plural(s->hidden));
}

static void print_dates(struct out *o, const deja_stats *s)
{
    label(o, "last seen");
    if (s->oldest_day)
        out_printf(o, "from %s to %s (UTC)\n", num_day(s->oldest_day).s, num_day(s->newest_day).s);
    else
        out_text(o, "no key yet\n");
}

/* Generations, newest first: the number of keys and the age. */
static void print_window(struct out *o, const deja_stats *s)
{
    label(o, "window");
    if (s->window_seconds)
        out_printf(o, "the last %s", num_duration((double)s->window_seconds).s);
    else
        out_printf(o, "the last %s", num_of(s->capacity, "key").s);
    out_printf(o, "; %s are in it now, %s turn%s so far\n", num_count(s->window_keys).s,
               num_count(s->turns).s, num_plural(s->turns));
    for (uint32_t i = 0; i <= s->generations && i <= s->turns; i++) {
        label(o, i == 0 ? "generations" : "");
        out_printf(o, "%s", num_of(s->generation_keys[i], "key").s);
        if (s->generation_age[i])
            out_printf(o, " since %s ago", num_duration((double)s->generation_age[i]).s);
        out_text(o, i == 0 ? ", filling\n" : "\n");
    }
}

static void print_memory(struct out *o, const deja_stats *s)
{
    LINE(o, "memory", "%s, %s bits per key at capacity", num_bytes(s->bytes).s,
         num_fixed(8 * (double)s->bytes / (double)s->capacity, 1).s);
    if (s->folds > 0)
        out_printf(o, "; folded %s", s->folds == 1 ? "once" : num_count(s->folds).s);
    out_text(o, s->folds > 1 ? " times\n" : "\n");
}

static void print_keys(struct out *o, const deja_stats *s)
{
    const bool exact = deja_kind_can(s->part_kind, DEJA_CAN_FILL);
    label(o, "keys");
    if (s->unclean)
        out_printf(o, "about %s\n", num_count(s->keys).s);
    else if (s->other_keys)
        out_printf(o, "at most %s in %s merged filters that were offered %s\n",
                   num_count(s->keys).s, num_count(s->unions + 1).s, num_count(s->offered).s);
    else if (s->unions > 0 && !exact)
        out_printf(o, "about %s by the set bits, in %s merged filters that were offered %s\n",
                   num_count(s->keys).s, num_count(s->unions + 1).s, num_count(s->offered).s);
    else if (s->deletions_capacity)
        out_printf(o, "%s new of %s offered, minus those removed; about %s by the set bits\n",
                   num_count(s->keys).s, num_count(s->offered).s, num_estimate(s->distinct).s);
    else if (exact || !isfinite(s->distinct))
        out_printf(o, "%s new of %s offered\n", num_count(s->keys).s, num_count(s->offered).s);
    else
        out_printf(o, "%s new of %s offered; about %s by the %s\n", num_count(s->keys).s,
                   num_count(s->offered).s, num_estimate(s->distinct).s,
                   s->counter_bits ? "counters" : "set bits");
}

static void print_content(struct out *o, const struct info_report *r)
{
    const deja_stats *s = &r->s;
    if (deja_kind_can(s->kind, DEJA_CAN_BUILD)) {
        print_static(o, s);
        return;
    }
    print_memory(o, s);
    print_capacity(o, r);
    print_keys(o, s);
    if (deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        print_window(o, s);
    else
        print_share(o, "used", (double)(s->keys + s->deletions) / (double)s->capacity,
                    "capacity is used");
    print_share(o, "fill", s->fill,
                deja_kind_can(s->part_kind, DEJA_CAN_FILL) ? "slots are in use"
                : s->counter_bits                          ? "counters are in use"
                                                           : "bits are set");
    if (s->counter_bits)
        print_counters(o, s);
    if (s->flags & DEJA_DATES)
        print_dates(o, s);
    if (s->deletions_capacity)
        print_forgotten(o, s);
}

static void print_rate(struct out *o, const deja_stats *s)
{
    label(o, "rate");
    out_text(o, num_rate(s->fp_now).s);
    out_text(o, " now: ");
    if (s->fp_now < 1e-12)
        out_text(o, s->keys > 0 ? "practically no new key" : "it is empty, so no key");
    else if (s->fp_now > 0.9)
        out_text(o, "nearly every new key");
    else
        print_one_in(o, "new key", 1 / s->fp_now);
    out_text(o, " is mistaken for seen\n");
}

static void print_cost(struct out *o, const struct info_report *r)
{
    const deja_stats *s = &r->s;
    if (deja_kind_can(s->kind, DEJA_CAN_BUILD))
        return; /* all of its keys were added at once, so none was lost */
    label(o, "lost");
    if (s->lost < 0.05)
        out_text(o, "probably no key so far\n");
    else
        out_printf(o, "%s %s keys so far, new but mistaken for seen\n",
                   isfinite(s->distinct) ? "about" : "more than", num_estimate(s->lost).s);
    if (deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        return; /* there is always room */
    const uint64_t room = (uint64_t)fmin(fmax(r->room, 0), 0x1p63);
    label(o, "room");
    if (deja_kind_can(s->kind, DEJA_CAN_GROW))
        out_printf(o, "for about %s until it grows\n", num_of(room, "more key").s);
    else if (deja_kind_can(s->kind, DEJA_CAN_FILL)) /* full: see docs/kinds.md */
        out_printf(o, "for %s as planned; it is full at %s\n",
                   room ? num_of(room, "more key").s : "no more keys",
                   num_of(s->bits - s->bits / 16, "key").s);
    else if (room && s->fp_now < r->rate_planned)
        out_printf(o, "for about %s until the rate passes %s\n", num_of(room, "more key").s,
                   num_rate(r->rate_planned).s);
    else
        out_printf(o, "none: the rate has passed %s\n", num_rate(r->rate_planned).s);
}

static int print_layers(struct out *o, const struct info_report *r, deja_error *err)
{
    struct table t;
    if (!deja_kind_can(r->s.kind, DEJA_CAN_LAYER))
        return DEJA_OK;
    table_init(&t, "lrrrrr");
    table_row(&t, "layer", "segments", "room for", "parts", "memory", "rate", NULL);
    for (uint32_t i = 0; i <= r->s.layers; i++) {
        const deja_layer *l = &r->layer[(i + 1) % (r->s.layers + 1)]; /* the XOR layer last */
        table_row(&t, i < r->s.layers ? num_count(i + 1).s : "XOR", num_count(l->segments).s,
                  num_count(l->capacity).s, num_count(l->parts).s, num_bytes(l->bytes).s,
                  num_rate(l->fp_now).s, NULL);
    }
    LINE(o, "familiar", "%s of the keys had only known segments\n",
         r->s.keys ? num_share((double)r->s.familiar / (double)r->s.keys).s : "none");
    return table_print(&t, o, 2, err);
}

static void print_state(struct out *o, const deja_stats *s)
{
    char words[200];
    LINE(o, "visit", "%llu", (unsigned long long)s->visit);
    if (s->visits_before > 0) {
        out_printf(o, "; the last one saw about %s and lost %s\n",
                   num_of(s->last_distinct, "key").s,
                   s->last_lost < 0.05 ? "probably none" : num_estimate(s->last_lost).s);
        LINE(o, "missed", "%s: the chance that every visit so far missed a given page",
             s->missed < 1e-12 ? "below 1e-12" : num_rate(s->missed).s);
    }
    out_text(o, "\n");
    (void)snprintf(words, sizeof words, "%s sync%s; %s", num_count(s->syncs).s,
                   num_plural(s->syncs),
                   s->unclean ? "keys were added after the last: it is being written, or its "
                                "writer was killed. It works; counts are estimates until the next "
                                "sync"
                              : "at rest");
    print_words(o, "state", words);
}

int info_report_text(const struct info_report *r, struct out *o, bool further, deja_error *err)
{
    if (further)
        out_text(o, "\n");
    out_printf(o, "%s\n", fail_path(r->path).text);
    print_kind(o, &r->s);
    print_content(o, r);
    print_rate(o, &r->s);
    print_cost(o, r);
    print_state(o, &r->s);
    return print_layers(o, r, err);
}

void info_report_warn(const struct info_report *r, struct console *c)
{
    const deja_stats *s = &r->s;
    if (s->clock_behind)
        console_error(
            c,
            "%s: the newest generation starts in %s: the clock was set back, or the file "
            "was altered. The next add restarts the window from now",
            fail_path(r->path).text, num_duration((double)s->clock_behind).s);
    if (r->polluted)
        console_error(
            c,
            "%s looks POLLUTED: %s bits are set, but %s explain only %s, %s standard deviations "
            "fewer. Someone who knows its secret key chose keys to fill it; rebuild it with "
            "another secret key",
            fail_path(r->path).text, num_count(s->bits_set).s, num_of(s->keys, "key").s,
            num_estimate(s->bits_expected).s, num_fixed(r->surprise, 1).s);
    if (s->deletions > s->deletions_capacity)
        console_error(
            c,
            "%s was sized for %s removals and holds %s: it FORGETS %s of its keys; rebuild it "
            "from the remaining keys",
            fail_path(r->path).text, num_count(s->deletions_capacity).s, num_count(s->deletions).s,
            num_rate(s->fn_now).s);
    if (r->over_capacity && deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        console_error(
            c,
            "%s was sized for %s per window, and more arrived: the rate is %s; rebuild it with "
            "a larger -n",
            fail_path(r->path).text, num_of(s->capacity, "key").s, num_rate(s->fp_now).s);
    else if (r->over_capacity && deja_kind_can(s->kind, DEJA_CAN_GROW))
        console_error(
            c,
            "%s was merged from filters that were too full: the rate is %s; rebuild it from the "
            "keys, or merge filters with a larger -n",
            fail_path(r->path).text, num_rate(s->fp_now).s);
    else if (r->over_capacity)
        console_error(c, "%s was sized for %s and holds %s; rebuild it with a larger -n",
                      fail_path(r->path).text, num_of(s->capacity, "key").s,
                      num_count(s->keys + s->deletions).s);
}
