/* cmd_info.c - what is in a filter file, how full it is, and what that means. */
#include "command.h"
#include "dcso_file.h"
#include "dcso_info.h"
#include "fail.h"
#include "keyfile.h"
#include "number.h"
#include <math.h>

#define ALARM_SIGMA 6.0 /* honest keys go beyond it once in a billion filters */
#define ALARM_KEYS  100 /* fewer do no harm, and make no statistics */
#define BAR_WIDTH   40
#define LABEL       14 /* columns before what a line says */
#define WIDTH       88u
#define LAYERS      16 /* more than there can be */

struct info_options {
    struct common common;
    uint32_t format;
};

/* deja's own files need no name. */
static const char *format_name(uint32_t format)
{
    return format == 1 ? "dcso" : NULL;
}

static const struct opt options[] = {
    OPT_CHOICE(0, "format", "FORMAT", struct info_options, format, format_name,
               "take the files for bloom files of DCSO's, whatever their first bytes say"),
    OPT_STRING(0, "key", "FILE", struct info_options, common.key_file,
               "the secret key of filters that were made with --key"),
    OPT_GROUP(struct info_options, common, common_json),
    OPT_GROUP(struct info_options, common, common_quiet),
    OPT_END,
};

/* The library's account, and what follows from it. */
struct report {
    const char *path;
    deja_stats s;
    deja_layer layer[LAYERS]; /* of a layered filter; the first is the XOR layer */
    double surprise;          /* set bits beyond what the keys explain, in standard deviations */
    bool polluted;
    bool over_capacity;
    double rate_planned; /* at capacity; what was asked for, where the memory allows it */
    double room;         /* keys until then; negative: it has passed */
};

/* --- What follows from the account ------------------------------------------- */

/* A filter of the same body; the caller adds the number of keys or the rate. */
static deja_options same_body(const struct report *r)
{
    const deja_stats *s = &r->s;
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = s->kind;
    opt.hash = s->hash;
    opt.filters = s->filters;
    opt.hashes = s->hashes;
    const uint32_t unit = s->kind == DEJA_EXACT ? 64 : s->counter_bits ? s->counter_bits : 1;
    opt.memory = s->bits * unit / 8;
    opt.counter_bits = s->counter_bits;
    opt.generations = s->generations;
    if (s->kind == DEJA_LAYERED) { /* as its XOR layer */
        opt.kind = DEJA_CLASSIC;
        opt.memory = r->layer[0].bytes;
    }
    return opt;
}

/* Made by -n and -m, or by the multiplier, a filter has another rate at capacity than the one
 * that its file remembers, which is then only the default. */
static double rate_planned(const struct report *r)
{
    const deja_stats *s = &r->s;
    deja_options opt = same_body(r);
    deja_plan plan = DEJA_PLAN_INIT;
    opt.capacity = s->capacity;
    if (s->kind == DEJA_STATIC)
        return s->fp_now;
    if (s->kind == DEJA_SCALABLE || s->kind == DEJA_PAIRED ||
        deja_plan_make(&opt, &plan, NULL) != DEJA_OK)
        return s->fp_rate;
    return s->kind == DEJA_EXACT ? plan.fp_rate : fmax(s->fp_rate, plan.fp_rate);
}

/* Keys that the body takes at rate p; its rate may pass p later than at capacity. */
static double keys_at_rate(const struct report *r, double p)
{
    const deja_stats *s = &r->s;
    deja_options opt = same_body(r);
    deja_plan plan = DEJA_PLAN_INIT;
    opt.fp_rate = p;
    if (s->kind == DEJA_SCALABLE || s->kind == DEJA_EXACT || s->kind == DEJA_STATIC ||
        s->kind == DEJA_PAIRED || deja_plan_make(&opt, &plan, NULL) != DEJA_OK)
        return (double)s->capacity;
    return fmax((double)plan.capacity, (double)s->capacity);
}

/* Keys that were counted by the set bits explain any number of them, and when all are set, any
 * number of keys does.  Where counters went down, keys that had been taken for seen are missing in
 * the count of the others. */
static double surprise(const deja_stats *s)
{
    const bool fewer = s->removed && s->counter_bits;
    if (s->unclean || fewer || !isfinite(s->distinct) || !(s->bits_sigma > 0))
        return 0;
    return ((double)s->bits_set - s->bits_expected) / s->bits_sigma;
}

static void conclude(struct report *r)
{
    const deja_stats *s = &r->s;
    r->surprise = surprise(s);
    r->polluted = r->surprise > ALARM_SIGMA && s->keys >= ALARM_KEYS;
    const uint64_t taken = s->keys + s->deletions; /* a key that was removed has left its bits */
    r->over_capacity =
        s->kind == DEJA_WINDOW ? s->crowded != 0 : s->kind != DEJA_SCALABLE && taken > s->capacity;
    r->rate_planned = rate_planned(r);
    r->room = s->kind == DEJA_STATIC ? 0 : keys_at_rate(r, r->rate_planned) - (double)taken;
}

static int examine(struct report *r, const uint8_t *key, deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f;
    expect.key = key;
    int rc = deja_filter_open(r->path, 0, &expect, &f, err);
    if (rc < 0)
        return rc;
    r->s = (deja_stats)DEJA_STATS_INIT;
    rc = deja_filter_stats(f, &r->s);
    for (uint32_t i = 0; rc == DEJA_OK && r->s.kind == DEJA_LAYERED && i <= r->s.layers; i++) {
        r->layer[i % LAYERS] = (deja_layer)DEJA_LAYER_INIT;
        rc = deja_filter_layer(f, i, &r->layer[i % LAYERS]);
    }
    deja_filter_free(f);
    if (rc < 0)
        return fail(err, rc, "%s: %s", fail_path(r->path).text, deja_strerror(rc));
    conclude(r);
    return DEJA_OK;
}

/* --- Text ----------------------------------------------------------------------- */

static void label(struct out *o, const char *name)
{
    out_printf(o, "  %-*s", LABEL - 2, name);
}

/* A line that may be long. */
static void print_words(struct out *o, const char *name, const char *words)
{
    label(o, name);
    out_wrap(o, words, LABEL, LABEL, WIDTH);
}

static const char *kind_words(const deja_stats *s)
{
    if (s->kind == DEJA_PAIRED)
        return "entries and deletions: it FORGETS, see below";
    switch (s->part_kind) {
    case DEJA_CLASSIC:
        return "k positions over the whole array";
    case DEJA_BLOCKED:
        return "one cache line a key";
    case DEJA_SPECTRAL:
        return "counters, one cache line a key";
    case DEJA_EXACT:
        return "64-bit fingerprints";
    case DEJA_WINDOW:
        return "generations that expire, cache lines in a row";
    case DEJA_STATIC:
        return "binary fuse: it never changes";
    default:
        return "see docs/kinds.md";
    }
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_layered(struct out *o, const deja_stats *s)
{
    const bool words = s->layered_flags & DEJA_LAYERED_WORDS;
    out_printf(o, ", mode %s, %u of at most %u layers for %s",
               s->layered_flags & DEJA_LAYERED_PAPER ? "paper" : "salted", s->layers,
               s->layers_most, words ? "words" : "segments of URLs");
}

static void print_kind(struct out *o, const deja_stats *s)
{
    label(o, "kind");
    out_text(o, deja_kind_name(s->kind));
    if (s->kind == DEJA_LAYERED)
        print_layered(o, s);
    else if (s->kind == DEJA_SCALABLE)
        out_printf(o, " of %u %s part%s", s->parts, deja_kind_name(s->part_kind),
                   plural(s->parts));
    else if (s->filters > 1)
        out_printf(o, ", %u filters that must agree", s->filters);
    if (s->kind == DEJA_LAYERED)
        out_text(o, "\n");
    else
        out_printf(o, " (%s)\n", kind_words(s));
    label(o, "hashing");
    out_printf(o, "%s, k = %u, %s\n", deja_hash_name(s->hash), s->hashes,
               !s->keyed      ? "from a seed: repeatable, no protection"
               : s->key_apart ? "secret key kept apart from this file"
                              : "secret key in this file");
    label(o, "URLs");
    if (s->profile == 0)
        out_text(o, "bytes as given, no profile\n");
    else if (deja_profile_name(s->profile) == NULL)
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

static void print_capacity(struct out *o, const struct report *r)
{
    const deja_stats *s = &r->s;
    label(o, "capacity");
    out_printf(o, "%s keys, ", num_count(s->capacity).s);
    if (s->kind == DEJA_SCALABLE)
        out_printf(o, "then it grows; the rate stays below %s\n", num_rate(s->fp_rate).s);
    else if (s->kind == DEJA_WINDOW)
        out_printf(o, "then it forgets the oldest; the rate stays at %s\n",
                   num_rate(r->rate_planned).s);
    else
        out_printf(o, "with a rate of %s%s then\n",
                   r->rate_planned == s->fp_rate ? "at most " : "", num_rate(r->rate_planned).s);
}

static void print_static(struct out *o, const deja_stats *s)
{
    label(o, "memory");
    out_text(o, num_bytes(s->bytes).s);
    if (s->keys > 0)
        out_printf(o, ", %s bits a key", num_fixed(8 * (double)s->bytes / (double)s->keys, 2).s);
    out_text(o, "\n");
    label(o, "keys");
    out_printf(o, "%s different ones of %s offered\n", num_count(s->keys).s,
               num_count(s->offered).s);
    print_share(o, "fill", s->fill, "slots are in use; it takes no more keys");
}

static void print_counters(struct out *o, const deja_stats *s)
{
    label(o, "counters");
    out_printf(o, "%u bits%s; the largest is %s, %s saturated\n", s->counter_bits,
               s->minimal_increase ? ", minimal increase" : "", num_count(s->largest).s,
               s->saturated ? num_count(s->saturated).s : "none");
    label(o, "removed");
    if (s->minimal_increase)
        out_text(o, "nothing, as minimal increase rules it out\n");
    else
        out_printf(o, "%s keys; %s refused\n", num_count(s->removed).s,
                   s->refused ? num_count(s->refused).s : "none");
}

/* "one new key in 784 million" */
static void print_one_in(struct out *o, const char *what, double n)
{
    const char *unit = n >= 1e9 ? " billion" : n >= 1e6 ? " million" : "";
    double scaled = n >= 1e9 ? n / 1e9 : n >= 1e6 ? n / 1e6 : n;
    out_printf(o, "one %s in %s%s", what, num_estimate(scaled).s, unit);
}

/* The one kind that misses keys says so, and how many. */
static void print_forgotten(struct out *o, const deja_stats *s)
{
    label(o, "deletions");
    out_printf(o, "%s keys of %s planned; %s refused, as not there\n", num_count(s->deletions).s,
               num_count(s->deletions_capacity).s, s->refused ? num_count(s->refused).s : "none");
    label(o, "FORGETS");
    if (s->deletions == 0) {
        out_text(o, "no key until the first is removed\n");
        return;
    }
    out_printf(o, "%s now: ", num_rate(s->fn_now).s);
    if (s->fn_now > 0.9)
        out_text(o, "nearly every key");
    else
        print_one_in(o, "key", 1 / fmax(s->fn_now, 1e-12));
    out_text(o, " that was added and not removed is missed\n");
    label(o, "hidden");
    out_printf(o, "%s add%s without effect: the deletions claim the key\n",
               s->hidden ? num_count(s->hidden).s : "no", plural(s->hidden));
}

/* The newest first: how many keys, and when it began. */
static void print_window(struct out *o, const deja_stats *s)
{
    label(o, "window");
    if (s->window_seconds)
        out_printf(o, "the last %s", num_duration((double)s->window_seconds).s);
    else
        out_printf(o, "the last %s keys", num_count(s->capacity).s);
    out_printf(o, "; %s are in it now, %s turn%s so far\n", num_count(s->window_keys).s,
               num_count(s->turns).s, plural(s->turns));
    for (uint32_t i = 0; i <= s->generations && i <= s->turns; i++) {
        label(o, i == 0 ? "generations" : "");
        out_printf(o, "%s keys", num_count(s->generation_keys[i]).s);
        if (s->generation_age[i])
            out_printf(o, " since %s ago", num_duration((double)s->generation_age[i]).s);
        out_text(o, i == 0 ? ", filling\n" : "\n");
    }
}

static void print_content(struct out *o, const struct report *r)
{
    const deja_stats *s = &r->s;
    bool exact = s->part_kind == DEJA_EXACT;
    if (s->kind == DEJA_STATIC) {
        print_static(o, s);
        return;
    }
    label(o, "memory");
    out_printf(o, "%s, %s bits a key at capacity", num_bytes(s->bytes).s,
               num_fixed(8 * (double)s->bytes / (double)s->capacity, 1).s);
    if (s->folds > 0)
        out_printf(o, "; folded %s", s->folds == 1 ? "once" : num_count(s->folds).s);
    out_text(o, s->folds > 1 ? " times\n" : "\n");
    print_capacity(o, r);
    label(o, "keys");
    if (s->unclean)
        out_printf(o, "about %s\n", num_count(s->keys).s);
    else if (s->unions > 0 && !exact)
        out_printf(o, "about %s by the set bits, in %s united filters that were offered %s\n",
                   num_count(s->keys).s, num_count(s->unions + 1).s, num_count(s->offered).s);
    else if (s->kind == DEJA_PAIRED)
        out_printf(o, "%s new of %s offered, less those removed; the set bits tell of about %s\n",
                   num_count(s->keys).s, num_count(s->offered).s, num_estimate(s->distinct).s);
    else if (exact || !isfinite(s->distinct))
        out_printf(o, "%s new of %s offered\n", num_count(s->keys).s, num_count(s->offered).s);
    else
        out_printf(o, "%s new of %s offered; the %s tell of about %s\n", num_count(s->keys).s,
                   num_count(s->offered).s, s->counter_bits ? "counters" : "set bits",
                   num_estimate(s->distinct).s);
    if (s->kind == DEJA_WINDOW)
        print_window(o, s);
    else
        print_share(o, "used", (double)(s->keys + s->deletions) / (double)s->capacity,
                    "capacity is used");
    print_share(o, "fill", s->fill,
                exact             ? "slots are in use"
                : s->counter_bits ? "counters are in use"
                                  : "bits are set");
    if (s->counter_bits)
        print_counters(o, s);
    if (s->kind == DEJA_PAIRED)
        print_forgotten(o, s);
}

static void print_rate(struct out *o, const struct report *r)
{
    const deja_stats *s = &r->s;
    label(o, "rate");
    out_text(o, num_rate(s->fp_now).s);
    out_text(o, " now: ");
    if (s->fp_now < 1e-12)
        out_text(o, s->keys > 0 ? "practically no new key" : "it is empty, and no key");
    else if (s->fp_now > 0.9)
        out_text(o, "nearly every new key");
    else
        print_one_in(o, "new key", 1 / s->fp_now);
    out_text(o, " is taken for seen\n");
}

static void print_cost(struct out *o, const struct report *r)
{
    const deja_stats *s = &r->s;
    if (s->kind == DEJA_STATIC)
        return; /* its keys were given, not judged */
    label(o, "lost");
    if (s->lost < 0.05)
        out_text(o, "probably no key so far\n");
    else
        out_printf(o, "%s %s keys so far, new but taken for seen\n",
                   isfinite(s->distinct) ? "about" : "more than", num_estimate(s->lost).s);
    if (s->kind == DEJA_WINDOW)
        return; /* there always is */
    label(o, "room");
    if (s->kind == DEJA_SCALABLE)
        out_printf(o, "for about %s more keys until it grows\n", num_estimate(fmax(r->room, 0)).s);
    else if (s->kind == DEJA_EXACT) /* full: see docs/kinds.md */
        out_printf(o, "for %s more keys as planned; it is full at %s keys\n",
                   r->room >= 1 ? num_estimate(r->room).s : "no",
                   num_count(s->bits - s->bits / 16).s);
    else if (r->room >= 1 && s->fp_now < r->rate_planned)
        out_printf(o, "for about %s more keys until the rate passes %s\n", num_estimate(r->room).s,
                   num_rate(r->rate_planned).s);
    else
        out_printf(o, "none: the rate has passed %s\n", num_rate(r->rate_planned).s);
}

static int print_layers(struct out *o, const struct report *r, deja_error *err)
{
    struct table t;
    if (r->s.kind != DEJA_LAYERED)
        return DEJA_OK;
    table_init(&t, "lrrrrr");
    static const char *const heads[] = {"layer", "segments", "room for",
                                        "parts", "memory",   "rate"};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(&t, "%s", heads[i]);
    for (uint32_t i = 0; i <= r->s.layers; i++) {
        const deja_layer *l = &r->layer[(i + 1) % (r->s.layers + 1)]; /* the XOR layer last */
        if (i < r->s.layers)
            table_cell(&t, "%u", i + 1);
        else
            table_cell(&t, "XOR");
        table_cell(&t, "%s", num_count(l->segments).s);
        table_cell(&t, "%s", num_count(l->capacity).s);
        table_cell(&t, "%u", l->parts);
        table_cell(&t, "%s", num_bytes(l->bytes).s);
        table_cell(&t, "%s", num_rate(l->fp_now).s);
    }
    label(o, "familiar");
    out_printf(o, "%s of the keys had only segments that were known before\n",
               r->s.keys ? num_share((double)r->s.familiar / (double)r->s.keys).s : "none");
    return table_print(&t, o, 2, err);
}

static void print_state(struct out *o, const deja_stats *s)
{
    char words[200];
    label(o, "visit");
    out_printf(o, "%llu", (unsigned long long)s->visit);
    if (s->visits_before > 0) {
        out_printf(o, "; the last one saw about %s keys and lost %s\n",
                   num_count(s->last_distinct).s,
                   s->last_lost < 0.05 ? "probably none" : num_estimate(s->last_lost).s);
        label(o, "missed");
        out_printf(o, "%s: chance of a page to be missed by every visit so far",
                   s->missed < 1e-12 ? "below 1e-12" : num_rate(s->missed).s);
    }
    out_text(o, "\n");
    (void)snprintf(words, sizeof words, "%s sync%s; %s", num_count(s->syncs).s, plural(s->syncs),
                   s->unclean ? "keys were added after the last: it is being written, or its "
                                "writer was killed. It works; counts are estimates until the next "
                                "sync"
                              : "at rest");
    print_words(o, "state", words);
}

static int print_text(struct out *o, const struct report *r, bool further, deja_error *err)
{
    if (further)
        out_text(o, "\n");
    out_printf(o, "%s\n", fail_path(r->path).text);
    print_kind(o, &r->s);
    print_content(o, r);
    print_rate(o, r);
    print_cost(o, r);
    print_state(o, &r->s);
    return print_layers(o, r, err);
}

static void warn(struct console *c, const struct report *r)
{
    const deja_stats *s = &r->s;
    if (r->polluted)
        console_error(
            c,
            "%s looks POLLUTED: %s bits are set where %s keys explain %s, %s standard "
            "deviations fewer. Somebody who knows its key chose keys to fill it; build it "
            "anew with another key",
            fail_path(r->path).text, num_count(s->bits_set).s, num_count(s->keys).s,
            num_estimate(s->bits_expected).s, num_fixed(r->surprise, 1).s);
    if (s->deletions > s->deletions_capacity)
        console_error(
            c,
            "%s was sized for %s removals and holds %s: it FORGETS %s of its keys; build "
            "it anew from what is left",
            fail_path(r->path).text, num_count(s->deletions_capacity).s, num_count(s->deletions).s,
            num_rate(s->fn_now).s);
    if (r->over_capacity && s->kind == DEJA_WINDOW)
        console_error(c,
                      "%s was sized for %s keys in its time, and more came: the rate is %s; build "
                      "it anew with a larger -n",
                      fail_path(r->path).text, num_count(s->capacity).s, num_rate(s->fp_now).s);
    else if (r->over_capacity)
        console_error(c, "%s was sized for %s keys and holds %s: build it anew with a larger -n",
                      fail_path(r->path).text, num_count(s->capacity).s,
                      num_count(s->keys + s->deletions).s);
}

/* --- JSON ------------------------------------------------------------------------- */

static void json_what(struct json *j, const deja_stats *s)
{
    json_string(j, "kind", deja_kind_name(s->kind));
    json_string(j, "part_kind", deja_kind_name(s->part_kind));
    json_uint(j, "parts", s->parts);
    json_uint(j, "filters", s->filters);
    json_uint(j, "hashes", s->hashes);
    json_string(j, "hash", deja_hash_name(s->hash));
    json_bool(j, "keyed", s->keyed);
    json_bool(j, "key_apart", s->key_apart);
    json_string(j, "profile", deja_profile_name(s->profile)); /* NULL: null */
    char rules[20];
    (void)snprintf(rules, sizeof rules, "%016llx", (unsigned long long)s->url_rules);
    json_string(j, "url_rules", s->profile != 0 ? rules : NULL);
    json_uint(j, "capacity", s->capacity);
    json_real(j, "fp_rate", s->fp_rate);
    json_uint(j, "bits", s->bits);
    json_uint(j, "bytes", s->bytes);
}

static void json_removals(struct json *j, const deja_stats *s)
{
    if (s->counter_bits != 0) {
        json_uint(j, "counter_bits", s->counter_bits);
        json_bool(j, "minimal_increase", s->minimal_increase);
        json_uint(j, "largest", s->largest);
        json_uint(j, "saturated", s->saturated);
    }
    if (s->kind == DEJA_PAIRED) {
        json_uint(j, "deletions", s->deletions);
        json_uint(j, "deletions_capacity", s->deletions_capacity);
        json_uint(j, "hidden", s->hidden);
        json_real(j, "fn_now", s->fn_now);
    }
    if (s->counter_bits != 0 || s->kind == DEJA_PAIRED) {
        json_uint(j, "removed", s->removed);
        json_uint(j, "refused", s->refused);
    }
}

static void json_window(struct json *j, const deja_stats *s)
{
    json_uint(j, "generations", s->generations);
    json_uint(j, "window_seconds", s->window_seconds);
    json_uint(j, "turns", s->turns);
    json_uint(j, "window_keys", s->window_keys);
    json_uint(j, "crowded", s->crowded);
    json_array(j, "generation_keys");
    for (uint32_t i = 0; i <= s->generations; i++)
        json_uint(j, NULL, s->generation_keys[i]);
    json_end(j);
    json_array(j, "generation_age");
    for (uint32_t i = 0; i <= s->generations; i++)
        json_uint(j, NULL, s->generation_age[i]);
    json_end(j);
}

static void json_layers(struct json *j, const struct report *r)
{
    const deja_stats *s = &r->s;
    const char delimiter[2] = {(char)s->delimiter, '\0'};
    json_string(j, "mode", s->layered_flags & DEJA_LAYERED_PAPER ? "paper" : "salted");
    json_bool(j, "words", s->layered_flags & DEJA_LAYERED_WORDS);
    json_bytes(j, "delimiter", delimiter, s->delimiter != 0);
    json_uint(j, "layers_most", s->layers_most);
    json_uint(j, "familiar", s->familiar);
    json_array(j, "layers");
    for (uint32_t i = 0; i <= s->layers; i++) {
        const deja_layer *l = &r->layer[i];
        json_object(j, NULL);
        json_uint(j, "layer", i); /* 0: the XOR layer */
        json_uint(j, "segments", l->segments);
        json_uint(j, "capacity", l->capacity);
        json_uint(j, "parts", l->parts);
        json_uint(j, "hashes", l->hashes);
        json_uint(j, "bytes", l->bytes);
        json_real(j, "fp_now", l->fp_now);
        json_end(j);
    }
    json_end(j);
}

static void json_content(struct json *j, const struct report *r)
{
    const deja_stats *s = &r->s;
    json_uint(j, "offered", s->offered);
    json_uint(j, "keys", s->keys);
    json_real(j, "distinct", s->distinct);
    json_uint(j, "bits_set", s->bits_set);
    json_real(j, "fill", s->fill);
    json_real(j, "fp_now", s->fp_now);
    json_real(j, "fp_planned", r->rate_planned);
    json_real(j, "lost", s->lost);
    json_real(j, "room", fmax(r->room, 0));
    json_bool(j, "over_capacity", r->over_capacity);
    json_real(j, "bits_expected", s->bits_expected);
    json_real(j, "bits_sigma", s->bits_sigma);
    json_real(j, "surprise_sigma", r->surprise);
    json_bool(j, "pollution", r->polluted);
    json_uint(j, "visit", s->visit);
    json_uint(j, "visits_before", s->visits_before);
    json_uint(j, "last_distinct", s->last_distinct);
    json_real(j, "last_lost", s->last_lost);
    json_real(j, "missed", s->missed);
    json_uint(j, "unions", s->unions);
    json_uint(j, "folds", s->folds);
    json_uint(j, "syncs", s->syncs);
    json_bool(j, "unclean", s->unclean);
    json_removals(j, s);
    if (s->kind == DEJA_WINDOW)
        json_window(j, s);
    if (s->kind == DEJA_LAYERED)
        json_layers(j, r);
}

static void print_json(struct json *j, const struct report *r, const deja_error *failed)
{
    json_object(j, NULL);
    json_bytes(j, "file", r->path, strlen(r->path));
    if (failed != NULL) {
        json_string(j, "error", failed->text);
    } else {
        json_what(j, &r->s);
        json_content(j, r);
    }
    json_end(j);
}

/* --- The command -------------------------------------------------------------------- */

/* A file that cannot be examined is told, and the others still are. */
static int inform(struct call *call, const char *path, const uint8_t *key, struct json *json)
{
    struct report r = {.path = path};
    deja_error err = {0};
    int rc = examine(&r, key, &err);
    if (json != NULL)
        print_json(json, &r, rc < 0 ? &err : NULL);
    else if (rc == DEJA_OK)
        rc = print_text(call->out, &r, path != call->operands[0], &err);
    if (rc < 0) {
        console_error(call->console, "%s", err.text);
        return COMMAND_FAILED;
    }
    (void)out_flush(call->out, NULL); /* warnings come after it; main tells of a failure */
    warn(call->console, &r);
    return COMMAND_DONE;
}

static int run(struct call *call, deja_error *err)
{
    const struct info_options *o = call->options;
    const char *key_file = o->common.key_file;
    uint8_t key[DEJA_KEY_LEN];
    struct json json;
    int status = COMMAND_DONE;
    int rc = key_file != NULL ? keyfile_read(key_file, key, err) : DEJA_OK;
    if (rc < 0)
        return rc;
    if (key_file != NULL && keyfile_is_exposed(key_file))
        console_note(call->console, "others can read %s; chmod 600 keeps it secret",
                     fail_path(key_file).text);
    if (o->common.json) {
        json_begin(&json, call->out);
        json_array(&json, NULL);
    }
    for (size_t i = 0; i < call->n_operands; i++) {
        const char *path = call->operands[i];
        struct json *to = o->common.json ? &json : NULL;
        int told = o->format != 0 || dcso_file_is(path)
                       ? dcso_inform(call, path, i > 0, to)
                       : inform(call, path, key_file != NULL ? key : NULL, to);
        status = told > status ? told : status;
    }
    if (o->common.json)
        json_end(&json);
    explicit_bzero(key, sizeof key);
    return status;
}

const struct command cmd_info = {
    .name = "info",
    .summary = "tell what is in filter files, how full they are, and what it costs",
    .operands = "F.deja...",
    .min_operands = 1,
    .max_operands = COMMAND_ANY,
    .options = options,
    .options_size = sizeof(struct info_options),
    .description =
        (const char *const[]){
            "Prints the kind, size, fill and history of each file, the false-positive rate at the "
            "present fill, how many keys were probably lost so far, and how many more fit. After "
            "`deja rotate` it tells what the last visit saw and the chance that a page was missed "
            "by every visit so far; of a union, the keys are an estimate. --json prints an array "
            "with one object a file.",
            "It warns when there are more keys in a filter than it was sized for. It also "
            "compares the bits that are set with those that the number of keys explains. Far more "
            "bits than that mean that somebody chose keys in order to fill the filter, which "
            "takes knowing its secret key: a warning says so.",
            "Of a bloom file of DCSO's it tells what such a file knows: see --format dcso in "
            "deja-build(1).",
            "A paired filter is the one kind that forgets keys: FORGETS tells the share of those "
            "that were added and not removed, and are missed all the same.",
            NULL,
        },
    .examples =
        (const struct command_example[]){
            {"how full is the state?", "deja info seen.deja"},
            {"the present rate of all filters, for a script",
             "deja info --json *.deja | grep -E '\"(file|fp_now)\"'"},
            {NULL, NULL},
        },
    .run = run,
};
