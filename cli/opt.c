/* opt.c - options from tables: the parser, the near misses, and the options that commands share.
 */
#include "opt.h"
#include "fail.h"
#include "number.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Walking a table ------------------------------------------------------- */

static const struct opt opt_help[] = {
    OPT_HEADING("General"),
    {.type = OPT_TYPE_FLAG, .letter = 'h', .name = "help", .help = "print this help"},
    OPT_END,
};

static void enter(struct opt_walk *w, const struct opt *table, size_t base)
{
    assert(w->depth < OPT_DEPTH);
    w->level[w->depth].at = table;
    w->level[w->depth].base = base;
    w->depth++;
}

void opt_walk_init(struct opt_walk *w, const struct opt *table)
{
    w->depth = 0;
    enter(w, opt_help, 0);
    if (table != NULL)
        enter(w, table, 0);
}

const struct opt *opt_walk_next(struct opt_walk *w, size_t *base)
{
    while (w->depth > 0) {
        const struct opt *o = w->level[w->depth - 1].at;
        *base = w->level[w->depth - 1].base;
        if (o->type == OPT_TYPE_END) {
            w->depth--;
            continue;
        }
        w->level[w->depth - 1].at++;
        if (o->type != OPT_TYPE_GROUP)
            return o;
        enter(w, o->group, *base + o->offset);
    }
    return NULL;
}

/* The option called so, by its letter or (letter 0) by the first len bytes of name. */
static const struct opt *find(const struct opt *table, char letter, const char *name, size_t len,
                              size_t *base)
{
    struct opt_walk w;
    const struct opt *o;
    opt_walk_init(&w, table);
    while ((o = opt_walk_next(&w, base)) != NULL) {
        if (!opt_is_option(o))
            continue;
        if (letter != '\0' ? o->letter == letter
                           : strncmp(o->name, name, len) == 0 && o->name[len] == '\0')
            return o;
    }
    return NULL;
}

bool opt_flag_is_set(const struct opt *table, const void *target, const char *name)
{
    size_t base;
    const struct opt *o = find(table, '\0', name, strlen(name), &base);
    if (o == NULL || o->type != OPT_TYPE_FLAG || target == NULL)
        return false;
    return *(const bool *)((const char *)target + base + o->offset);
}

/* --- Near misses ----------------------------------------------------------- */

#define NEAR_LEN 32 /* longer words are not compared */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Letters to insert, delete, replace or swap with a neighbour to get from a to b. */
static size_t distance(const char *a, const char *b)
{
    size_t row[3][NEAR_LEN + 1], n_a = strlen(a), n_b = strlen(b);
    size_t *before = row[0], *last = row[1], *now = row[2];
    if (n_a > NEAR_LEN || n_b > NEAR_LEN)
        return SIZE_MAX;
    for (size_t j = 0; j <= n_b; j++)
        last[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        now[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            bool same = a[i - 1] == b[j - 1];
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[n_b];
}

/* One slip in three letters is a slip; more is another word.  What begins like the candidate
 * counts as one slip: names are not abbreviated here, elsewhere they are. */
void opt_near_offer(struct opt_near *near, const char *candidate)
{
    size_t len = strlen(near->word);
    size_t d = distance(near->word, candidate);
    if (len >= 2 && d > 1 && strncmp(near->word, candidate, len) == 0)
        d = 1;
    if (d > (len + 2) / 3 || (near->best != NULL && d >= near->distance))
        return;
    near->best = candidate;
    near->distance = d;
}

/* --- Values ---------------------------------------------------------------- */

/* The option as the user spelled it, for the beginning of a sentence. */
struct label {
    char text[48];
};

static struct label label(const struct opt *o, bool by_letter)
{
    struct label l;
    if (by_letter)
        (void)snprintf(l.text, sizeof l.text, "-%c/--%s", o->letter, o->name);
    else
        (void)snprintf(l.text, sizeof l.text, "--%s", o->name);
    return l;
}

static int check_range(const struct opt *o, uint64_t n, deja_error *err)
{
    if (n >= o->min && n <= o->max)
        return DEJA_OK;
    if (o->max == UINT64_MAX)
        return fail(err, DEJA_EINVAL,
                    "takes a number from %" PRIu64 " up"
                    ", not %" PRIu64,
                    o->min, n);
    return fail(err, DEJA_EINVAL, "takes a number from %" PRIu64 " to %" PRIu64 ", not %" PRIu64,
                o->min, o->max, n);
}

static int set_count(const struct opt *o, const char *text, void *field, deja_error *err)
{
    uint64_t n;
    int rc = o->type == OPT_TYPE_SIZE       ? num_parse_size(text, &n, err)
             : o->type == OPT_TYPE_DURATION ? num_parse_duration(text, &n, err)
                                            : num_parse_count(text, &n, err);
    if (rc == DEJA_OK)
        rc = check_range(o, n, err);
    if (rc < 0)
        return rc;
    if (o->type == OPT_TYPE_COUNT32)
        *(uint32_t *)field = (uint32_t)n;
    else
        *(uint64_t *)field = n;
    return DEJA_OK;
}

void opt_list_choices(opt_names *names, char *text, size_t cap)
{
    const char *pending = NULL;
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t value = 0; value <= OPT_CHOICES; value++) {
        const char *name = value < OPT_CHOICES ? names(value) : NULL;
        if (name == NULL && value < OPT_CHOICES)
            continue;
        if (pending != NULL && len < cap) {
            const char *between = len == 0 ? "" : name == NULL ? " or " : ", ";
            int n = snprintf(text + len, cap - len, "%s%s", between, pending);
            len += n < 0 ? 0 : (size_t)n;
        }
        pending = name;
    }
}

static void choose(const struct opt *o, uint32_t value, uint32_t *field)
{
    if (o->aside != 0 && value == o->aside)
        *(bool *)((char *)field - o->offset + o->aside_offset) = true;
    else
        *field = value;
}

static int set_choice(const struct opt *o, const char *text, uint32_t *field, deja_error *err)
{
    struct opt_near near = {.word = text};
    char choices[128];
    for (uint32_t value = 0; value < OPT_CHOICES; value++) {
        const char *name = o->names(value);
        if (name == NULL)
            continue;
        if (strcmp(name, text) == 0) {
            choose(o, value, field);
            return DEJA_OK;
        }
        opt_near_offer(&near, name);
    }
    opt_list_choices(o->names, choices, sizeof choices);
    if (near.best != NULL)
        return fail(err, DEJA_EINVAL, "takes %s, not '%.30s'; did you mean %s?", choices, text,
                    near.best);
    return fail(err, DEJA_EINVAL, "takes %s, not '%.30s'", choices, text);
}

static int set_char(const char *text, struct opt_char *field, deja_error *err)
{
    int rc = num_parse_char(text, &field->byte, err);
    field->given = rc == DEJA_OK;
    return rc;
}

static int set_value(const struct opt *o, const char *text, void *field, deja_error *err)
{
    switch (o->type) {
    case OPT_TYPE_STRING:
    case OPT_TYPE_OPTIONAL:
        *(const char **)field = text;
        return DEJA_OK;
    case OPT_TYPE_COUNT:
    case OPT_TYPE_COUNT32:
    case OPT_TYPE_SIZE:
    case OPT_TYPE_DURATION:
        return set_count(o, text, field, err);
    case OPT_TYPE_RATE:
        return num_parse_rate(text, field, err);
    case OPT_TYPE_REAL:
        return num_parse_real(text, field, err);
    case OPT_TYPE_SECONDS:
        return num_parse_seconds(text, field, err);
    case OPT_TYPE_CHOICE:
        return set_choice(o, text, field, err);
    case OPT_TYPE_CHAR:
        return set_char(text, field, err);
    case OPT_TYPE_FLAG:
    case OPT_TYPE_END:
    case OPT_TYPE_HEADING:
    case OPT_TYPE_GROUP:
    case OPT_TYPE_CHECK:
        break;
    }
    assert(false && "an option of this type takes no value");
    return DEJA_EINVAL;
}

/* --- The parser ------------------------------------------------------------ */

struct parser {
    const struct opt *table;
    int argc, at; /* at: the argument after the one in hand */
    char **argv;
    char *target;
    struct opt_rest *rest;
    deja_error *err;
};

/* Option o was met; attached is the value that came with it, or NULL. */
static int take(struct parser *p, const struct opt *o, size_t base, const char *attached,
                bool by_letter)
{
    struct label l = label(o, by_letter);
    if (o->refuse != NULL)
        return fail(p->err, OPT_USAGE, "%s", o->refuse);
    if (o == &opt_help[1]) {
        p->rest->help = true;
        return DEJA_OK;
    }
    void *field = p->target + base + o->offset;
    if (o->type == OPT_TYPE_FLAG) {
        if (attached != NULL)
            return fail(p->err, OPT_USAGE, "%s takes no value", l.text);
        *(bool *)field = true;
        if (o->aside != 0)
            *(bool *)(p->target + base + o->aside_offset) = false;
        return DEJA_OK;
    }
    const char *text = attached;
    if (text == NULL && opt_is_optional(o))
        text = o->fallback;
    else if (text == NULL && p->at < p->argc)
        text = p->argv[p->at++];
    if (text == NULL && by_letter)
        return fail(p->err, OPT_USAGE, "%s needs a value: -%c %s", l.text, o->letter, o->value);
    if (text == NULL)
        return fail(p->err, OPT_USAGE, "%s needs a value: %s=%s", l.text, l.text, o->value);
    deja_error why;
    if (set_value(o, text, field, &why) < 0)
        return fail(p->err, OPT_USAGE, "%s %s", l.text, why.text);
    return DEJA_OK;
}

static int unknown_long(struct parser *p, const char *name, size_t len)
{
    char word[NEAR_LEN + 1];
    struct opt_near near = {.word = word};
    struct opt_walk w;
    const struct opt *o;
    size_t base;
    (void)snprintf(word, sizeof word, "%.*s", (int)(len < NEAR_LEN ? len : NEAR_LEN), name);
    opt_walk_init(&w, p->table);
    while ((o = opt_walk_next(&w, &base)) != NULL) {
        if (opt_is_option(o))
            opt_near_offer(&near, o->name);
    }
    if (near.best != NULL)
        return fail(p->err, OPT_USAGE, "unknown option --%s; did you mean --%s?", word, near.best);
    return fail(p->err, OPT_USAGE, "unknown option --%s", word);
}

static int parse_long(struct parser *p, const char *name)
{
    size_t base, len = strcspn(name, "=");
    const struct opt *o = find(p->table, '\0', name, len, &base);
    if (o == NULL)
        return unknown_long(p, name, len);
    return take(p, o, base, name[len] == '=' ? name + len + 1 : NULL, false);
}

static int unknown_letter(struct parser *p, const char *letters, char letter)
{
    size_t base, len = strcspn(letters, "=");
    if (len > 1 && find(p->table, '\0', letters, len, &base) != NULL)
        return fail(p->err, OPT_USAGE, "unknown option -%.*s; did you mean --%.*s?", (int)len,
                    letters, (int)len, letters);
    return fail(p->err, OPT_USAGE, "unknown option -%c", letter);
}

/* -qzn5: flags, and at most one option with a value, which takes the rest. */
static int parse_letters(struct parser *p, const char *letters)
{
    for (const char *c = letters; *c != '\0' && !p->rest->help; c++) {
        size_t base;
        const struct opt *o = find(p->table, *c, NULL, 0, &base);
        if (o == NULL)
            return unknown_letter(p, letters, *c);
        bool takes = opt_takes_value(o);
        int rc = take(p, o, base, takes && c[1] != '\0' ? c + 1 : NULL, true);
        if (rc < 0 || takes)
            return rc;
    }
    return DEJA_OK;
}

static int run_checks(const struct parser *p)
{
    struct opt_walk w;
    const struct opt *o;
    size_t base;
    opt_walk_init(&w, p->table);
    while ((o = opt_walk_next(&w, &base)) != NULL) {
        int rc = o->type == OPT_TYPE_CHECK ? o->check(p->target + base, p->err) : DEJA_OK;
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

int opt_parse(const struct opt *table, int argc, char **argv, void *target, struct opt_rest *rest,
              deja_error *err)
{
    struct parser p = {table, argc, 0, argv, target, rest, err};
    bool ended = false;
    int rc = DEJA_OK;
    *rest = (struct opt_rest){.operands = (const char *const *)argv};
    while (rc == DEJA_OK && p.at < argc && !rest->help) {
        char *arg = argv[p.at++];
        if (ended || arg[0] != '-' || arg[1] == '\0')
            argv[rest->n++] = arg; /* never ahead of p.at */
        else if (strcmp(arg, "--") == 0)
            ended = true;
        else if (arg[1] == '-')
            rc = parse_long(&p, arg + 2);
        else
            rc = parse_letters(&p, arg + 1);
    }
    if (rc == DEJA_OK && !rest->help)
        rc = run_checks(&p);
    return rc;
}

/* --- What many commands share ---------------------------------------------- */

const struct opt common_capacity[] = {
    OPT_COUNT('n', "capacity", "N", struct common, capacity, 1, UINT64_MAX,
              "size the filter for N different keys (1.5M, 1e9)"),
    OPT_END,
};

const struct opt common_kind[] = {
    OPT_CHOICE('k', "kind", "KIND", struct common, kind, deja_kind_name,
               "which structure answers"),
    OPT_END,
};

/* How a layered filter hashes its segments. */
static const char *layered_mode(uint32_t mode)
{
    return mode == OPT_LAYERED_SALTED ? "salted" : mode == OPT_LAYERED_PAPER ? "paper" : NULL;
}

const struct opt common_sizing[] = {
    OPT_HEADING("Size and kind"),
    OPT_PART(common_capacity),
    OPT_RATE('p', "fp-rate", "P", struct common, fp_rate,
             "false-positive rate when N keys are in it (default 1e-6)"),
    OPT_SIZE('m', "memory", "SIZE", struct common, memory,
             "memory for the filter: 1.5G, 512M, 64KiB (k, M, G are powers of 1024)"),
    OPT_PART(common_kind),
    OPT_COUNT32(0, "hashes", "K", struct common, hashes, 1, 1024,
                "hash functions of each filter (default: the best number)"),
    OPT_COUNT32(0, "filters", "F", struct common, filters, 1, 1024,
                "F filters with different salts that must all agree (default 1)"),
    OPT_CHOICE(0, "hash", "HASH", struct common, hash, deja_hash_name,
               "how a key becomes numbers"),
    OPT_REAL(0, "multiplier", "M", struct common, multiplier,
             "bits from the rule N * K * M instead of -p or -m"),
    OPT_COUNT32(0, "fingerprint-bits", "W", struct common, fingerprint_bits, 8, 32,
                "static: 8, 16 or 32, for the rate 2^-W instead of -p"),
    OPT_COUNT32(0, "counter-bits", "B", struct common, counter_bits, 4, 32,
                "spectral: counters of 4, 8, 16 or 32 bits (default 4)"),
    OPT_FLAG(0, "minimal-increase", struct common, minimal_increase,
             "spectral: better counts, but nothing can be removed"),
    OPT_COUNT(0, "deletions", "N", struct common, deletions, 1, UINT64_MAX,
              "paired: lines that will be removed (default: as many as -n)"),
    OPT_COUNT32(0, "generations", "G", struct common, generations, 1, 7,
                "window: forget in G steps; more take less memory and longer (default 1)"),
    OPT_DURATION(0, "window-time", "TIME", struct common, window_seconds, UINT64_C(1) << 40,
                 "window: remember for TIME, 30s, 15m, 6h or 7d, instead of the last N keys"),
    OPT_COUNT32(0, "layers", "L", struct common, layers, 1, 10,
                "layered: at most L, the last one for all that is deeper (default 8)"),
    OPT_CHOICE(0, "layered", "MODE", struct common, layered, layered_mode,
               "layered: a salt for each layer (the default), or as published"),
    OPT_CHAR(0, "words", "BYTE", struct common, words,
             "layered: keys are words with BYTE between them, not URLs"),
    OPT_END,
};

const struct opt common_key[] = {
    OPT_STRING(0, "key", "FILE", struct common, key_file,
               "take the secret key from FILE and keep it out of the filter file"),
    OPT_END,
};

const struct opt common_seed[] = {
    OPT_COUNT(0, "seed", "S", struct common, seed, 1, UINT64_MAX,
              "make the run repeatable: numbers from S instead of random ones"),
    OPT_END,
};

static int check_secret(const void *target, deja_error *err)
{
    const struct common *c = target;
    if (c->key_file != NULL && c->seed != 0)
        return fail(err, OPT_USAGE, "--key and --seed exclude each other");
    return DEJA_OK;
}

const struct opt common_secret[] = {
    OPT_HEADING("Secret"),
    OPT_PART(common_key),
    OPT_PART(common_seed),
    OPT_CHECK(check_secret),
    OPT_END,
};

const struct opt common_null[] = {
    OPT_FLAG('z', "null", struct common, null, "records end with a zero byte, not a newline"),
    OPT_END,
};

struct pick_options common_pick_options(const struct common *c)
{
    return (struct pick_options){.format = c->format,
                                 .field = c->field,
                                 .has_delimiter = c->delimiter.given,
                                 .delimiter = c->delimiter.byte,
                                 .csv_column = c->csv,
                                 .json_key = c->json_key};
}

static int check_input(const void *target, deja_error *err)
{
    const struct common *c = target;
    const struct pick_options pick = common_pick_options(c);
    struct pick unused;
    if (pick_init(&unused, &pick, c->null ? '\0' : '\n', err) == DEJA_OK)
        return DEJA_OK;
    if (err)
        err->status = OPT_USAGE;
    return OPT_USAGE;
}

static const struct opt common_columns[] = {
    OPT_PART(common_null),
    OPT_COUNT32('f', "field", "N", struct common, field, 1, UINT32_MAX,
                "the key is the N-th field of the line, not all of it"),
    OPT_CHAR('d', "delimiter", "C", struct common, delimiter,
             "what separates fields: ';', '\\t', '\\0' (default: blanks, for --csv ',')"),
    OPT_STRING(0, "csv", "COLUMN", struct common, csv,
               "the input is CSV with quotes; the key is COLUMN, a name or a number"),
    OPT_END,
};

static const struct opt common_json_key[] = {
    OPT_STRING(0, "json-key", "NAME", struct common, json_key,
               "the key is the string NAME of a JSON object; a.b is b in the object a (default "
               "url; alone it means --format jsonl)"),
    OPT_CHECK(check_input),
    OPT_END,
};

const struct opt common_input[] = {
    OPT_HEADING("Input"),
    OPT_PART(common_columns),
    OPT_CHOICE(0, "format", "FORMAT", struct common, format, pick_format_name,
               "the key is the URL in a line of this format, or the hosts"),
    OPT_PART(common_json_key),
    OPT_END,
};

#define FORMAT_DCSO 32 /* beside the numbers of pick_format */

static const char *format_name(uint32_t format)
{
    return format == FORMAT_DCSO ? "dcso" : pick_format_name(format);
}

const struct opt common_input_dcso[] = {
    OPT_HEADING("Input"),
    OPT_PART(common_columns),
    OPT_CHOICE_OR_FLAG(0, "format", "FORMAT", struct common, format, format_name, FORMAT_DCSO,
                       dcso,
                       "the key is the URL in a line of this format, or the hosts; dcso: the "
                       "filter is a bloom file of DCSO's, and another --format may be given"),
    OPT_PART(common_json_key),
    OPT_END,
};

/* The option that makes no sense without a profile, or NULL. */
static const char *needs_profile(const struct common *c)
{
    return c->base          ? "--base"
           : c->drop_params ? "--drop-params"
           : c->keep_params ? "--keep-params"
           : c->strict      ? "--strict"
           : c->canonical   ? "--canonical"
                            : NULL;
}

static int check_rules(const void *target, deja_error *err)
{
    const struct common *c = target;
    if (c->url == 0 && needs_profile(c) != NULL)
        return fail(err, OPT_USAGE, "%s needs --url beside it", needs_profile(c));
    if (c->url != DEJA_URL_CRAWL && (c->drop_params != NULL || c->keep_params != NULL))
        return fail(err, OPT_USAGE, "--%s-params is for profile crawl: %s keeps all parameters",
                    c->drop_params != NULL ? "drop" : "keep", deja_profile_name(c->url));
    if (c->canonical && c->format == PICK_HOSTS)
        return fail(err, OPT_USAGE,
                    "--canonical prints one URL for a line, and --format hosts may find several");
    return DEJA_OK;
}

const struct opt common_rules[] = {
    OPT_STRING(0, "base", "URL", struct common, base,
               "what is no absolute URL, such as the paths in a server's log, is a link in the "
               "page URL"),
    OPT_STRING(0, "drop-params", "FILE", struct common, drop_params,
               "for crawl: drop these parameters, too; FILE has a name a line, or the beginning "
               "of one: utm_*"),
    OPT_OPTIONAL("keep-params", "NAME,...", struct common, keep_params, "",
                 "for crawl: keep these parameters; without names, keep all of the built-in list"),
    OPT_FLAG(0, "strict", struct common, strict,
             "what is no URL is an error; otherwise it passes as it is and is counted"),
    OPT_CHECK(check_rules),
    OPT_END,
};

const struct opt common_url[] = {
    OPT_HEADING("URLs"),
    OPT_OPTIONAL_CHOICE("url", "PROFILE", struct common, url, deja_profile_name, "safe",
                        "keys are URLs: compare their canonical forms (default safe)"),
    OPT_PART(common_rules),
    OPT_END,
};

const struct opt common_canonical[] = {
    OPT_FLAG(0, "canonical", struct common, canonical,
             "print the canonical forms instead of the lines"),
    OPT_END,
};

const struct opt common_output[] = {
    OPT_STRING('o', "output", "FILE", struct common, output,
               "write the results to FILE, not to standard output"),
    OPT_END,
};

const struct opt common_threads[] = {
    OPT_COUNT32('j', "threads", "N", struct common, threads, 1, 1024,
                "use up to N threads; more than two do not help (default: 2, on one processor 1)"),
    OPT_END,
};

const struct opt common_json[] = {
    OPT_FLAG(0, "json", struct common, json, "report as JSON"),
    OPT_END,
};

const struct opt common_quiet[] = {
    OPT_FLAG('q', "quiet", struct common, quiet, "no progress and no summary, only errors"),
    OPT_END,
};

static int check_redis(const void *target, deja_error *err)
{
    const struct common *c = target;
    if (c->redis == NULL && (c->shards || c->replicas))
        return fail(err, OPT_USAGE, "--shards and --replicas go with --redis");
    return DEJA_OK;
}

const struct opt common_redis[] = {
    OPT_HEADING("Servers"),
    OPT_STRING(0, "redis", "URL", struct common, redis,
               "keep the filter on a server or cluster: redis://HOST:PORT"),
    OPT_COUNT32(0, "shards", "N", struct common, shards, 1, 16384,
                "spread a new one over N filters (default 16)"),
    OPT_COUNT32(0, "replicas", "N", struct common, replicas, 1, 100,
                "wait until N replicas have what was added"),
    OPT_CHECK(check_redis),
    OPT_END,
};

const struct opt common_general[] = {
    OPT_HEADING("General"),
    OPT_PART(common_threads),
    OPT_PART(common_json),
    OPT_PART(common_quiet),
    OPT_END,
};

deja_options common_filter_options(const struct common *c)
{
    deja_options o = DEJA_OPTIONS_INIT;
    o.kind = c->kind;
    o.hashes = c->hashes;
    o.capacity = c->capacity;
    o.fp_rate = c->fp_rate;
    o.seed = c->seed;
    o.memory = c->memory;
    o.multiplier = c->multiplier;
    o.filters = c->filters;
    o.hash = c->hash;
    o.fingerprint_bits = c->fingerprint_bits;
    o.counter_bits = c->counter_bits;
    o.deletions = c->deletions;
    o.generations = c->generations;
    o.window_seconds = c->window_seconds;
    o.flags = c->minimal_increase ? DEJA_MINIMAL_INCREASE : 0;
    o.layers = c->layers;
    o.flags |= c->layered == OPT_LAYERED_PAPER ? DEJA_LAYERED_PAPER : 0;
    o.flags |= c->words.given ? DEJA_LAYERED_WORDS : 0;
    o.delimiter = c->words.given ? (unsigned char)c->words.byte : 0;
    return o;
}
