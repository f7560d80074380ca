/* cmd_info.c - what is in a filter file, how full it is, and what that means. */
#include "command.h"
#include "fail.h"
#include "keyfile.h"
#include "number.h"
#include <math.h>

#define ALARM_SIGMA 6.0 /* honest keys go beyond it once in half a billion filters */
#define BAR_WIDTH   40

struct info_options {
    struct common common;
};

static const struct opt options[] = {
    OPT_GROUP(struct info_options, common, common_key),
    OPT_GROUP(struct info_options, common, common_json),
    OPT_GROUP(struct info_options, common, common_quiet),
    OPT_END,
};

/* How far the set bits are from what the keys explain, in standard deviations.  Counts that were
 * estimated from the very same bits can tell nothing. */
static double surprise(const deja_stats *s)
{
    if (s->unclean || s->bits_sigma <= 0)
        return 0;
    return ((double)s->bits_set - s->bits_expected) / s->bits_sigma;
}

static const char *kind_words(const deja_stats *s)
{
    switch (s->part_kind) {
    case DEJA_CLASSIC:
        return "k positions over the whole array";
    case DEJA_BLOCKED:
        return "one cache line a key";
    case DEJA_EXACT:
        return "64-bit fingerprints";
    default:
        return "";
    }
}

static void print_kind(struct out *o, const deja_stats *s)
{
    out_printf(o, "  kind        %s", deja_kind_name(s->kind));
    if (s->kind == DEJA_SCALABLE)
        out_printf(o, " of %u %s part%s", s->parts, deja_kind_name(s->part_kind),
                   s->parts == 1 ? "" : "s");
    else if (s->filters > 1)
        out_printf(o, ", %u filters that must agree", s->filters);
    out_printf(o, " (%s)\n", kind_words(s));
    out_printf(o, "  hashing     %s, k = %u, %s\n", deja_hash_name(s->hash), s->hashes,
               !s->keyed      ? "from a seed: repeatable, no protection"
               : s->key_apart ? "secret key kept apart from this file"
                              : "secret key in this file");
    out_printf(o, "  URLs        %s\n",
               s->profile ? "canonical form" : "bytes as given, no profile");
}

static void print_content(struct out *o, const deja_stats *s)
{
    out_printf(o, "  keys        %s%s of %s", s->unclean ? "about " : "", num_count(s->keys).s,
               num_count(s->capacity).s);
    if (s->kind == DEJA_SCALABLE)
        out_text(o, ", then it grows");
    out_printf(o, "; %s offered so far\n", num_count(s->offered).s);
    out_printf(o, "  memory      %s, %s bits a key at capacity\n", num_bytes(s->bytes).s,
               num_fixed(8 * (double)s->bytes / (double)s->capacity, 1).s);
    out_text(o, "  fill        ");
    out_bar(o, s->fill, BAR_WIDTH);
    out_printf(o, " %s of the %s are set\n", num_share(s->fill).s,
               s->part_kind == DEJA_EXACT ? "slots" : "bits");
}

static void print_cost(struct out *o, const deja_stats *s)
{
    out_printf(o, "  rate        %s now, %s asked for: ", num_rate(s->fp_now).s,
               num_rate(s->fp_rate).s);
    if (s->fp_now < 1e-15)
        out_text(o, "practically no new key is taken for seen\n");
    else
        out_printf(o, "one new key in %s is taken for seen\n", num_estimate(1 / s->fp_now).s);
    if (s->lost < 0.05)
        out_text(o, "  lost        probably no key so far\n");
    else
        out_printf(o, "  lost        about %s keys so far were new and taken for seen\n",
                   num_estimate(s->lost).s);
    if (s->kind != DEJA_SCALABLE && s->keys < s->capacity)
        out_printf(o, "  room        for %s more keys until the rate passes %s\n",
                   num_count(s->capacity - s->keys).s, num_rate(s->fp_rate).s);
}

static void print_state(struct out *o, const deja_stats *s)
{
    out_printf(o, "  visit       %llu\n", (unsigned long long)s->visit);
    out_printf(o, "  state       %s syncs; %s\n", num_count(s->syncs).s,
               s->unclean ? "keys were added after the last: being written, or its writer was "
                            "killed; counts are estimates"
                          : "at rest");
}

static void print_text(struct out *o, const char *path, const deja_stats *s)
{
    out_printf(o, "%s\n", fail_path(path).text);
    print_kind(o, s);
    print_content(o, s);
    print_cost(o, s);
    print_state(o, s);
}

static void print_json(struct json *j, const char *path, const deja_stats *s)
{
    json_object(j, NULL);
    json_string(j, "file", path);
    json_string(j, "kind", deja_kind_name(s->kind));
    json_string(j, "part_kind", deja_kind_name(s->part_kind));
    json_uint(j, "parts", s->parts);
    json_uint(j, "filters", s->filters);
    json_uint(j, "hashes", s->hashes);
    json_string(j, "hash", deja_hash_name(s->hash));
    json_bool(j, "keyed", s->keyed);
    json_bool(j, "key_apart", s->key_apart);
    json_uint(j, "profile", s->profile);
    json_uint(j, "capacity", s->capacity);
    json_real(j, "fp_rate", s->fp_rate);
    json_uint(j, "offered", s->offered);
    json_uint(j, "keys", s->keys);
    json_real(j, "distinct", s->distinct);
    json_uint(j, "bits", s->bits);
    json_uint(j, "bytes", s->bytes);
    json_uint(j, "bits_set", s->bits_set);
    json_real(j, "fill", s->fill);
    json_real(j, "fp_now", s->fp_now);
    json_real(j, "lost", s->lost);
    json_real(j, "bits_expected", s->bits_expected);
    json_real(j, "bits_sigma", s->bits_sigma);
    json_real(j, "surprise_sigma", surprise(s));
    json_bool(j, "pollution", surprise(s) > ALARM_SIGMA);
    json_uint(j, "visit", s->visit);
    json_uint(j, "syncs", s->syncs);
    json_bool(j, "unclean", s->unclean);
    json_end(j);
}

static void warn(struct console *c, const char *path, const deja_stats *s)
{
    if (surprise(s) > ALARM_SIGMA)
        console_error(
            c,
            "%s looks POLLUTED: %s bits are set where %s keys explain %s, %s standard "
            "deviations fewer. Somebody who knows its key chose keys to fill it; build it "
            "anew with another key",
            fail_path(path).text, num_count(s->bits_set).s, num_count(s->keys).s,
            num_estimate(s->bits_expected).s, num_fixed(surprise(s), 1).s);
    if (s->kind != DEJA_SCALABLE && s->keys > s->capacity)
        console_note(c,
                     "%s was sized for %s keys and holds %s: the rate is above what was asked for",
                     fail_path(path).text, num_count(s->capacity).s, num_count(s->keys).s);
}

static int read_stats(const struct common *c, const char *path, deja_stats *s, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f;
    int rc = c->key_file ? keyfile_read(c->key_file, key, err) : DEJA_OK;
    expect.key = c->key_file ? key : NULL;
    if (rc == DEJA_OK)
        rc = deja_filter_open(path, 0, &expect, &f, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_stats(f, s);
    deja_filter_free(f);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct info_options *o = call->options;
    struct json json;
    int rc = DEJA_OK;
    if (o->common.json) {
        json_begin(&json, call->out);
        json_array(&json, NULL);
    }
    for (size_t i = 0; i < call->n_operands && rc == DEJA_OK; i++) {
        deja_stats s = DEJA_STATS_INIT;
        rc = read_stats(&o->common, call->operands[i], &s, err);
        if (rc < 0)
            break;
        if (o->common.json)
            print_json(&json, call->operands[i], &s);
        else
            print_text(call->out, call->operands[i], &s);
        warn(call->console, call->operands[i], &s);
    }
    if (o->common.json)
        json_end(&json);
    return rc;
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
            "present fill, and how many keys were probably lost so far. --json prints an array "
            "with one object a file.",
            "It also compares the bits that are set with those that the number of keys explains. "
            "Far more bits than that mean that somebody chose keys in order to fill the filter, "
            "which takes knowing its secret key: a warning says so.",
            NULL},
    .examples =
        (const struct command_example[]){{"how full is the state?", "deja info seen.deja"}, {0}},
    .run = run,
};
