/* shared_options.c - the options that many commands share, in tables by subject. */
#include "cli/options/shared_options.h"
#include "tools/base/fail.h"
#include "tools/foreign/foreign.h"
#include <stdio.h>
#include <string.h>

/* How a layered filter hashes its segments. */
static const char *layered_mode(uint32_t mode)
{
    return mode == OPT_LAYERED_SALTED ? "salted" : mode == OPT_LAYERED_PAPER ? "paper" : NULL;
}

static int check_sizing(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    if (c->fixed && deja_kind_can(c->filter.kind, DEJA_CAN_GROW))
        return fail(err, OPT_USAGE, "--fixed and -k scalable cannot be combined: scalable grows");
    return DEJA_OK;
}

const struct opt shared_sizing[] = {
    OPT_HEADING("Size and kind"),
    OPT_MADE(struct shared_options, filter, opt_filter_amounts),
    OPT_FLAG(0, "fixed", struct shared_options, fixed,
             "do not grow past N keys; warn if there are more"),
    OPT_MADE(struct shared_options, filter, opt_filter_rest),
    OPT_CHOICE(0, "layered", "MODE", struct shared_options, layered, layered_mode,
               "layered: salt each layer (the default), or hash as published"),
    OPT_CHECK(check_sizing),
    OPT_END,
};

#define INSECURE_KEY                                                                              \
    OPT_FLAG(0, "insecure-key", struct shared_options, insecure_key,                              \
             "accept a key file that other users can read")

const struct opt shared_key[] = {
    OPT_STRING(0, "key", "FILE", struct shared_options, key_file,
               "read the secret key of the filter from FILE", OPT_USED(3)),
    INSECURE_KEY,
    OPT_END,
};

static int check_secret(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    if (c->key_file && c->filter.seed != 0)
        return fail(err, OPT_USAGE, "--key and --seed cannot be combined");
    return DEJA_OK;
}

const struct opt shared_secret[] = {
    OPT_HEADING("Secret"),
    OPT_STRING(0, "key", "FILE", struct shared_options, key_file,
               "read the secret key from FILE and keep it out of the filter file"),
    INSECURE_KEY,
    OPT_MADE(struct shared_options, filter, opt_filter_seed),
    OPT_CHECK(check_secret),
    OPT_END,
};

const struct opt shared_file_key[] = {
    OPT_HEADING("Secret"),
    OPT_PART(shared_key),
    OPT_END,
};

const struct opt shared_open[] = {
    OPT_PART(shared_key),
    OPT_PART(shared_json),
    OPT_PART(shared_quiet),
    OPT_END,
};

const struct opt shared_change[] = {
    OPT_PART(shared_key),
    OPT_PART(shared_json),
    OPT_PART(shared_verbose),
    OPT_END,
};

const struct opt shared_null[] = {
    OPT_FLAG('z', "null", struct shared_options, null,
             "end records with a zero byte instead of a newline"),
    OPT_END,
};

struct pick_options shared_pick_options(const struct shared_options *c)
{
    struct pick_options o = {.format = c->format,
                             .has_delimiter = c->delimiter.given,
                             .delimiter = c->delimiter.byte,
                             .csv_column = c->csv,
                             .json_key = c->jsonl_text ? c->jsonl_text : c->json_key,
                             .paragraphs = c->paragraphs};
    _Static_assert(PICK_COLUMNS == OPT_INDEXES_MOST, "-f must fit");
    for (size_t i = 0; i < PICK_COLUMNS; i++)
        o.field[i] = c->field.at[i];
    return o;
}

static int check_input(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    const struct pick_options pick = shared_pick_options(c);
    struct pick unused;
    if (pick_init(&unused, &pick, c->null ? '\0' : '\n', err) == DEJA_OK)
        return DEJA_OK;
    if (err)
        err->status = OPT_USAGE;
    return OPT_USAGE;
}

/* Does the key consist of several fields or columns? */
static bool has_several_fields(const struct shared_options *c)
{
    const struct pick_options pick = shared_pick_options(c);
    struct pick p;
    return pick_init(&p, &pick, c->null ? '\0' : '\n', NULL) == DEJA_OK && p.columns > 1;
}

const char *shared_text_option(const struct shared_options *c)
{
    return c->paragraphs   ? "--paragraphs"
           : c->jsonl_text ? "--jsonl-text"
           : c->ngrams     ? "--ngrams"
                           : NULL;
}

static int check_paragraphs(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    if (c->paragraphs && c->url)
        return fail(err, OPT_USAGE,
                    "--paragraphs and --url cannot be combined: a paragraph is not a URL");
    return DEJA_OK;
}

static const struct opt common_columns[] = {
    OPT_PART(shared_null),
    OPT_FLAG(0, "paragraphs", struct shared_options, paragraphs,
             "read paragraphs, which blank lines separate, instead of lines"),
    OPT_CHECK(check_paragraphs),
    OPT_INDEXES(
        'f', "field", "N", struct shared_options, field,
        "to use the last field, put it first: awk -v OFS='\\t' '{print $NF, $0}' FILE | deja "
        "dedup -f 1 -d '\\t' | cut -f 2-",
        "use the N-th field of the line as the key (1,3: both together)", OPT_USED(1)),
    OPT_CHAR('d', "delimiter", "C", struct shared_options, delimiter,
             "separate fields at C: ';', '\\t', '\\0' (default: blanks; ',' with --csv)"),
    OPT_NAME("csv", "COLUMN", struct shared_options, csv, "a column",
             "read CSV; use COLUMN, a name or a number, as the key (a,b: both together)",
             OPT_USED(1)),
    OPT_END,
};

static const struct opt shared_json_key[] = {
    OPT_NAME(
        "json-key", "NAME", struct shared_options, json_key, "the name of a string",
        "use the string NAME in a JSON object as the key: url, a.b, .a.b, $.a.b (default url; "
        "without --format, jsonl is assumed)",
        OPT_USED(3)),
    OPT_CHECK(check_input),
    OPT_END,
};

static const struct opt shared_case[] = {
    OPT_FLAG('i', "ignore-case", struct shared_options, ignore_case,
             "ignore the case of ASCII letters when comparing keys", OPT_USED(3)),
    OPT_END,
};

const struct opt shared_lines[] = {
    OPT_HEADING("Input"),
    OPT_PART(common_columns),
    OPT_CHOICE(0, "format", "FORMAT", struct shared_options, format, pick_format_name,
               "use the URL or hosts in lines of this format as the key", OPT_USED(1)),
    OPT_PART(shared_json_key),
    OPT_END,
};

const struct opt shared_input[] = {
    OPT_PART(shared_lines),
    OPT_PART(shared_case),
    OPT_END,
};

const struct foreign_format *shared_foreign(uint32_t foreign)
{
    return foreign >= SHARED_FOREIGN ? foreign_format_at(foreign - SHARED_FOREIGN) : NULL;
}

const char *shared_foreign_name(uint32_t foreign)
{
    const struct foreign_format *format = shared_foreign(foreign);
    return format ? format->name : NULL;
}

struct shared_word shared_foreign_word(uint32_t foreign)
{
    struct shared_word w;
    const char *name = shared_foreign_name(foreign);
    (void)snprintf(w.text, sizeof w.text, "--format %s", name ? name : "");
    return w;
}

static const char *format_name(uint32_t format)
{
    return format >= SHARED_FOREIGN ? shared_foreign_name(format) : pick_format_name(format);
}

const struct opt shared_filter_column[] = {
    OPT_NAME("filter-column", "NAME", struct shared_options, filter_column, "a column",
             "use the filter of column NAME of a .parquet file (a.b: a field of a struct)"),
    OPT_END,
};

const struct opt shared_input_foreign[] = {
    OPT_HEADING("Input"),
    OPT_PART(common_columns),
    OPT_CHOICE_OF_TWO(0, "format", "FORMAT", struct shared_options, format, format_name,
                      SHARED_FOREIGN, foreign,
                      "use the URL or hosts in lines of this format as the key; from dcso on: the "
                      "filter is of this format, and a second --format names that of the lines",
                      OPT_USED(1)),
    OPT_PART(shared_json_key),
    OPT_PART(shared_case),
    OPT_END,
};

/* An option that says where the key is, or what it is, and that was given; or NULL. */
static const char *other_key(const struct shared_options *c)
{
    return c->field.at[0]  ? "-f"
           : c->csv        ? "--csv"
           : c->format     ? "--format"
           : c->json_key   ? "--json-key"
           : c->null       ? "-z"
           : c->paragraphs ? "--paragraphs"
           : c->url        ? "--url"
                           : NULL;
}

static int check_text(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    struct jsonpick_path path;
    if (c->jsonl_text && other_key(c))
        return fail(err, OPT_USAGE,
                    "--jsonl-text and %s cannot be combined: each line is a JSON object, and the "
                    "paragraphs of its text are compared",
                    other_key(c));
    if (c->jsonl_text && !jsonpick_parse(&path, c->jsonl_text))
        return fail(err, OPT_USAGE,
                    "--jsonl-text '%s' is not the name of a string; write text or a.b, and "
                    ".\"a.b\" for a name with a dot in it",
                    fail_path(c->jsonl_text).text);
    if (c->threshold != 0 && !c->ngrams)
        return fail(err, OPT_USAGE,
                    "--threshold needs --ngrams N: it is a share of the N-grams of a text");
    if (c->threshold > 1)
        return fail(err, OPT_USAGE, "--threshold is a share, above 0 and at most 1");
    if (c->ngrams && (c->url || pick_is_list(c->format)))
        return fail(err, OPT_USAGE, "--ngrams and %s%s cannot be combined: %s has no words",
                    c->url ? "--url" : "--format ", c->url ? "" : pick_format_name(c->format),
                    c->url ? "a URL" : "a host");
    if (c->redis.n && (c->jsonl_text || c->ngrams))
        return fail(err, OPT_USAGE,
                    "%s and --redis cannot be combined: texts are compared in this process; use "
                    "--state FILE without --redis",
                    c->ngrams ? "--ngrams" : "--jsonl-text");
    return DEJA_OK;
}

const struct opt shared_text[] = {
    OPT_HEADING("Texts"),
    OPT_NAME("jsonl-text", "NAME", struct shared_options, jsonl_text, "the name of a string",
             "remove repeated paragraphs from the string NAME of each JSON object"),
    OPT_COUNT32(0, "ngrams", "N", struct shared_options, ngrams, 1, 100,
                "compare texts by their runs of N words"),
    OPT_REAL(0, "threshold", "T", struct shared_options, threshold,
             "remove a text if at least this share of its N-grams was seen (default 0.8)"),
    OPT_CHECK(check_text),
    OPT_END,
};

const char *shared_needs_profile(const struct shared_options *c)
{
    return c->base          ? "--base"
           : c->drop_params ? "--drop-params"
           : c->keep_params ? "--keep-params"
           : c->canonical   ? "--canonical"
                            : NULL;
}

int shared_check_url(const struct shared_options *c, deja_error *err)
{
    if (c->url == 0 && shared_needs_profile(c))
        return fail(err, OPT_USAGE, "%s needs --url", shared_needs_profile(c));
    if (c->strict && !c->url && !c->field.at[0] && !c->csv && !c->json_key && !c->jsonl_text &&
        c->format <= PICK_LINES)
        return fail(err, OPT_USAGE,
                    "--strict needs --url, -f, --csv, --json-key or --format: without them, every "
                    "line has a key");
    if (c->url != DEJA_URL_CRAWL && (c->drop_params || c->keep_params))
        return fail(err, OPT_USAGE, "--%s-params is for profile crawl: %s keeps all parameters",
                    c->drop_params != NULL ? "drop" : "keep", deja_profile_name(c->url));
    if (c->url && has_several_fields(c))
        return fail(err, OPT_USAGE,
                    "a URL is one field: give %s a single %s with --url, or with a filter that "
                    "holds URLs",
                    c->csv ? "--csv" : "-f", c->csv ? "column" : "number");
    if (c->canonical && pick_is_list(c->format))
        return fail(err, OPT_USAGE,
                    "--canonical prints one URL per line, but --format %s can find several",
                    pick_format_name(c->format));
    return DEJA_OK;
}

static int check_rules(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    return c->url ? shared_check_url(c, err) : DEJA_OK;
}

const struct opt shared_rules[] = {
    OPT_STRING(0, "base", "URL", struct shared_options, base,
               "resolve relative URLs, such as the paths in a server log, against URL"),
    OPT_STRING(
        0, "drop-params", "FILE", struct shared_options, drop_params,
        "also drop the parameters in FILE, one name or prefix (utm_*) per line (profile crawl)"),
    OPT_OPTIONAL(
        "keep-params", "NAME,...", struct shared_options, keep_params, "",
        "keep these parameters; without names, drop none of the built-in list (profile crawl)"),
    OPT_FLAG(0, "strict", struct shared_options, strict,
             "fail at the first line without a key or, with --url, whose key is not a URL"),
    OPT_CHECK(check_rules),
    OPT_END,
};

const struct opt shared_url[] = {
    OPT_HEADING("URLs"),
    OPT_OPTIONAL_CHOICE("url", "PROFILE", struct shared_options, url, deja_profile_name, "safe",
                        "treat keys as URLs: compare their canonical forms (default safe)",
                        OPT_USED(1)),
    OPT_PART(shared_rules),
    OPT_END,
};

const struct opt shared_canonical[] = {
    OPT_FLAG(0, "canonical", struct shared_options, canonical,
             "print canonical forms instead of lines"),
    OPT_END,
};

const struct opt shared_output[] = {
    OPT_STRING('o', "output", "FILE", struct shared_options, output,
               "write the results to FILE instead of standard output", OPT_USED(2)),
    OPT_END,
};

const struct opt shared_force[] = {
    OPT_FLAG(0, "force", struct shared_options, force, "replace OUT.deja if it is a filter file",
             OPT_USED(2)),
    OPT_END,
};

const struct opt shared_mode[] = {
    OPT_MODE(0, "mode", "MODE", struct shared_options, mode,
             "create the filter file with these permissions, in octal (default: 600 if it "
             "contains its secret key, otherwise what the umask allows)"),
    OPT_END,
};

const struct opt shared_memory[] = {
    OPT_SIZE('m', "memory", "SIZE", struct shared_options, filter.memory,
             "use at most SIZE bytes for a sieve (default: a quarter of the machine's memory)"),
    OPT_END,
};

const struct opt shared_threads[] = {
    OPT_COUNT32(
        'j', "threads", "N", struct shared_options, threads, 1, 1024,
        "use up to N threads; more than two do not help (default: 2, or 1 on one processor)"),
    OPT_END,
};

const struct opt shared_json[] = {
    OPT_FLAG(0, "json", struct shared_options, json,
             "print the report as JSON: on standard output, or on standard error if the results "
             "are there",
             OPT_JSON_KEY, OPT_USED(3)),
    OPT_END,
};

const struct opt shared_quiet[] = {
    OPT_FLAG('q', "quiet", struct shared_options, quiet,
             "print only errors: no progress, no summary", OPT_USED(2)),
    OPT_END,
};

static int check_verbose(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    if (c->quiet && c->verbose)
        return fail(err, OPT_USAGE, "--quiet and --verbose cannot be combined");
    return DEJA_OK;
}

#define VERBOSE(letter)                                                                           \
    OPT_FLAG(letter, "verbose", struct shared_options, verbose,                                   \
             "print the full summary: rates, sizes, speed, every line left out")

const struct opt shared_verbose[] = {
    OPT_PART(shared_quiet),
    VERBOSE('v'),
    OPT_CHECK(check_verbose),
    OPT_END,
};

static int check_redis(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    if (!c->redis.n && (c->shards || c->replicas))
        return fail(err, OPT_USAGE, "--shards and --replicas need --redis");
    if (c->redis.n < 2 && (c->spool || c->spool_size))
        return fail(err, OPT_USAGE,
                    "--spool and --spool-size need --redis several times: they are for keys that "
                    "a missing server gets later");
    if (c->redis.n > 1 && c->replicas)
        return fail(err, OPT_USAGE,
                    "--replicas and several --redis cannot be combined: the other servers answer "
                    "for a missing one");
    return DEJA_OK;
}

const struct opt shared_redis[] = {
    OPT_HEADING("Servers"),
    OPT_STRINGS(0, "redis", "URL", struct shared_options, redis,
                "keep the filter on a server or cluster: redis://HOST:PORT, or HOST:PORT; given F "
                "times: one filter on each of F servers"),
    OPT_COUNT32(0, "shards", "N", struct shared_options, shards, 1, 16384,
                "spread a new cache over N filters (default 16)"),
    OPT_COUNT32(0, "replicas", "N", struct shared_options, replicas, 1, 100,
                "wait until N replicas have the added keys"),
    OPT_STRING(0, "spool", "DIR", struct shared_options, spool,
               "keep the keys for a missing server in DIR (default ~/.local/state/deja)"),
    OPT_SIZE(0, "spool-size", "SIZE", struct shared_options, spool_size,
             "stop when the keys for a missing server take more than SIZE (default 64M)"),
    OPT_CHECK(check_redis),
    OPT_END,
};

const struct opt shared_general[] = {
    OPT_HEADING("General"),
    OPT_PART(shared_threads),
    OPT_PART(shared_json),
    OPT_PART(shared_verbose),
    OPT_END,
};

const struct opt shared_general_no_v[] = {
    OPT_HEADING("General"),
    OPT_PART(shared_threads),
    OPT_PART(shared_json),
    OPT_PART(shared_quiet),
    VERBOSE(0),
    OPT_CHECK(check_verbose),
    OPT_END,
};

unsigned shared_create_flags(const struct shared_options *c)
{
    return (c->force ? DEJA_CREATE_REPLACE : 0) | DEJA_CREATE_MODE(c->mode);
}

/* The capacity of the first part. */
static uint64_t first_capacity(const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    uint64_t units = 1, step = 1;
    if (deja_filter_stats(f, 0, &o, NULL) < 0)
        return 0;
    for (uint32_t i = 1; deja_kind_can(o.kind, DEJA_CAN_GROW) && i < o.parts; i++)
        units += step *= o.growth;
    return units ? o.capacity / units : 0;
}

/* Whether these options result in bodies of that size. */
static bool same_bodies(const struct shared_options *c, const deja_stats *s)
{
    deja_options opt = shared_filter_options(c);
    deja_plan plan = DEJA_PLAN_INIT;
    opt.kind = s->kind;
    opt.capacity = opt.capacity ? opt.capacity : s->capacity;
    return deja_plan_make(&opt, &plan, NULL) == DEJA_OK && plan.bytes == s->bytes;
}

/* Whether the filter was made with that value; false if the row cannot be compared. */
static bool is_same(const deja_option *row, const struct shared_options *c, const deja_filter *f,
                    const deja_stats *s)
{
    const deja_options *o = &c->filter;
    const char *name = row->name;
    if (row->compared) /* open rejects a different value */
        return true;
    if (strcmp(name, "capacity") == 0)
        return o->capacity == first_capacity(f);
    if (strcmp(name, "fp_rate") == 0)
        return !(o->fp_rate > s->fp_rate) && !(o->fp_rate < s->fp_rate);
    if (strcmp(name, "memory") == 0 || strcmp(name, "multiplier") == 0)
        return same_bodies(c, s);
    return (strcmp(name, "hashes") == 0 && o->hashes == s->hashes) ||
           (strcmp(name, "filters") == 0 && o->filters == s->filters) ||
           (strcmp(name, "deletions") == 0 && o->deletions == s->deletions_capacity);
}

struct shared_ignored shared_ignored(const struct shared_options *c, const deja_filter *f,
                                     const deja_stats *s)
{
    struct shared_ignored list = {""};
    struct shared_options rest = *c;
    for (size_t i = 0; deja_option_at(i); i++)
        if (is_same(deja_option_at(i), c, f, s))
            opt_filter_clear(deja_option_at(i), &rest.filter);
    rest.layered = 0;
    if (!deja_kind_can(s->kind, DEJA_CAN_GROW))
        rest.fixed = false;
    opt_list_given(shared_sizing, &rest, list.text, sizeof list.text);
    return list;
}

deja_options shared_filter_options(const struct shared_options *c)
{
    deja_options o = c->filter;
    o.size = sizeof o;
    o.flags |= c->layered == OPT_LAYERED_PAPER ? DEJA_LAYERED_PAPER : 0;
    o.flags |= o.delimiter ? DEJA_LAYERED_WORDS : 0;
    return o;
}
