/* optiontable.c - every option of a filter, in one table.
 *
 * The command line, DEJA.RESERVE, the Python package, the crawler and the server clients read it,
 * so a new option needs only a field in deja_options and a row here.  Library messages call an
 * option `options.NAME`; deja_option_translate substitutes a tool's own word.
 *
 * A build with DJ_EXTRA_OPTIONS adds the rows of that file; tests use it to find a new option in
 * every tool. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filter/options.h"
#include "kinds/kind.h"
#include <stdio.h>

#define FIELD(f)                                                                                  \
    .name = #f, .offset = offsetof(deja_options, f), .width = sizeof(((deja_options *)0)->f)
#define FLAG(f, bit)                                                                              \
    .name = (f), .type = DEJA_OPTION_FLAG, .flag = (bit), .compared = 1,                          \
    .offset = offsetof(deja_options, flags), .width = sizeof(uint32_t)
#define RANGE(lo, hi) .least = (lo), .most = (hi)

/* clang-format off */
static const deja_option rows[] = {
    {FIELD(capacity), .type = DEJA_OPTION_COUNT, .renewable = 1, RANGE(1, DJ_MAX_CAPACITY),
     .unit = "keys", .keyword = "CAPACITY", .value = "N",
     .help = "start with room for N different keys"},
    {FIELD(fp_rate), .type = DEJA_OPTION_RATE, .renewable = 1, .standard = DJ_DEFAULT_RATE,
     .keyword = "ERROR", .value = "P", .help = "keep the false-positive rate at or below P"},
    {FIELD(memory), .type = DEJA_OPTION_COUNT, .renewable = 1, RANGE(1, DJ_MAX_BITS / 8),
     .unit = "bytes", .keyword = "MEMORY", .value = "SIZE",
     .help = "use this much memory for the filter"},
    {FIELD(kind), .type = DEJA_OPTION_CHOICE, .choice = deja_kind_name, .compared = 1,
     .keyword = "KIND", .value = "KIND", .help = "choose the kind of filter"},
    {FIELD(hashes), .type = DEJA_OPTION_COUNT, .renewable = 1, RANGE(1, DJ_MAX_HASHES),
     .keyword = "HASHES", .value = "K",
     .help = "set K bits per key in each filter (default: the best number)"},
    {FIELD(filters), .type = DEJA_OPTION_COUNT, RANGE(1, DJ_MAX_FILTERS), .standard = 1,
     .keyword = "FILTERS", .value = "F",
     .help = "use F filters with different salts that must all agree"},
    {FIELD(machine), .type = DEJA_OPTION_COUNT, RANGE(1, DJ_MAX_FILTERS), .compared = 1,
     .keyword = "MACHINE", .value = "I",
     .help = "hold only filter I of options.filters; the others are on other machines"},
    {FIELD(hash), .type = DEJA_OPTION_CHOICE, .choice = deja_hash_name, .compared = 1,
     .keyword = "HASH", .value = "HASH", .help = "choose the hash function"},
    {FIELD(multiplier), .type = DEJA_OPTION_REAL, .renewable = 1, RANGE(0, DJ_MAX_MULTIPLIER),
     .keyword = "MULTIPLIER", .value = "M",
     .help = "size it by the rule N * K * M bits instead of options.fp_rate or options.memory"},
    {FIELD(cache_lines), .type = DEJA_OPTION_COUNT, .renewable = 1, RANGE(1, DJ_KEY_LINES),
     .keyword = "CACHELINES", .value = "L",
     .help = "spread a key over L cache lines (default: 2 or 3 where that saves memory)"},
    {FIELD(part_kind), .type = DEJA_OPTION_CHOICE, .choice = deja_kind_name,
     .keyword = "PARTS", .value = "KIND", .help = "choose the kind of the parts"},
    {FIELD(growth), .type = DEJA_OPTION_COUNT, .renewable = 1, RANGE(1, DJ_MAX_GROWTH),
     .standard = DJ_DEFAULT_GROWTH, .keyword = "GROWTH", .value = "N",
     .help = "make each part of a filter that grows N times as large as the one before"},
    {FIELD(tightening), .type = DEJA_OPTION_RATE, .renewable = 1, .standard = DJ_TIGHTENING,
     .keyword = "TIGHTENING", .value = "R",
     .help = "give each part of a filter that grows R times the rate of the one before"},
    {FIELD(fingerprint_bits), .type = DEJA_OPTION_BITS, RANGE(8, 32), .unit = "bits",
     .value = "W", .help = "use fingerprints of 8, 16 or 32 bits: the rate is 2^-W"},
    {FIELD(counter_bits), .type = DEJA_OPTION_BITS, RANGE(4, 32), .unit = "bits", .compared = 1,
     .standard = DJ_DEFAULT_COUNTER_BITS, .keyword = "COUNTERBITS", .value = "B",
     .help = "use counters of 4, 8, 16 or 32 bits"},
    {FLAG("minimal_increase", DEJA_MINIMAL_INCREASE), .keyword = "MINIMALINCREASE",
     .help = "count more accurately, but without removal"},
    {FLAG("spread", DEJA_SPREAD), .keyword = "SPREAD",
     .help = "spread the counters of a key over the whole filter: less memory, more time"},
    {FLAG("dates", DEJA_DATES), .keyword = "DATES",
     .help = "store the days on which each key was first and last seen"},
    {FIELD(deletions), .type = DEJA_OPTION_COUNT, .renewable = 1, RANGE(1, DJ_MAX_CAPACITY),
     .unit = "keys", .keyword = "DELETIONS", .value = "N",
     .help = "expect N removals (default: as many as options.capacity)"},
    {FIELD(generations), .type = DEJA_OPTION_COUNT, .renewable = 1, .compared = 1,
     RANGE(1, DJ_MAX_GENERATIONS), .standard = DJ_DEFAULT_GENERATIONS,
     .keyword = "GENERATIONS", .value = "G",
     .help = "forget in G steps; more steps take less memory and more time"},
    {FIELD(window_seconds), .type = DEJA_OPTION_COUNT, .renewable = 1, .compared = 1,
     RANGE(1, DJ_MAX_SECONDS), .unit = "seconds", .keyword = "SECONDS", .value = "TIME",
     .help = "remember for TIME instead of the last N keys"},
    {FIELD(layers), .type = DEJA_OPTION_COUNT, RANGE(1, DJ_MAX_LAYERS), .compared = 1,
     .standard = DJ_DEFAULT_LAYERS, .keyword = "LAYERS", .value = "L",
     .help = "use at most L layers; the last one gets the rest of a URL"},
    {FLAG("layered_paper", DEJA_LAYERED_PAPER), .keyword = "PAPER",
     .help = "use the same hash functions in every layer, as published"},
    {FLAG("layered_words", DEJA_LAYERED_WORDS), .keyword = "WORDS",
     .help = "split keys into words at options.delimiter, not as URLs"},
    {FIELD(delimiter), .type = DEJA_OPTION_CHAR, RANGE(1, 255), .compared = 1, .standard = ' ',
     .keyword = "DELIMITER", .value = "BYTE",
     .help = "split keys into words at BYTE, not as URLs"},
    {FIELD(seed), .type = DEJA_OPTION_COUNT, RANGE(1, UINT64_MAX), .compared = 1,
     .keyword = "SEED", .value = "S",
     .help = "make the run repeatable: derive the key from S instead of random bytes"},
    {FIELD(key), .type = DEJA_OPTION_SECRET, .compared = 1,
     .keyword = "KEY", .value = "SECRET", .help = "use this secret key of 32 bytes"},
    {FIELD(url), .type = DEJA_OPTION_RULES, .compared = 1,
     .keyword = "URL", .value = "PROFILE",
     .help = "record that keys are URLs in the form of PROFILE"},
    {FIELD(format), .type = DEJA_OPTION_COUNT, RANGE(1, UINT64_MAX), .compared = 1,
     .value = "N", .help = "write files in format N (default: the newest)"},
#ifdef DJ_EXTRA_OPTIONS
#include DJ_EXTRA_OPTIONS
#endif
};
/* clang-format on */

const deja_option *deja_option_at(size_t i)
{
    return i < DJ_ARRAY_LEN(rows) ? &rows[i] : NULL;
}

static const deja_option *find(const char *name, size_t len)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++)
        if (strncmp(rows[i].name, name, len) == 0 && !rows[i].name[len])
            return &rows[i];
    return NULL;
}

const deja_option *deja_option_find(const char *name)
{
    return find(name, strlen(name));
}

/* Whether a kind lists the option.  Kinds list the options and flags that only some kinds accept;
 * every kind accepts an option that none lists. */
static bool is_named(const deja_option *o, const struct dj_kind *kind)
{
    return o->flag ? kind->flags & o->flag : dj_kind_takes(kind, o->name);
}

bool deja_option_accepted(const deja_option *o, uint32_t kind)
{
    const struct dj_kind *k = dj_kind_of(kind);
    if (k && is_named(o, k))
        return true;
    for (uint32_t other = deja_kind_next(0); other; other = deja_kind_next(other))
        if (is_named(o, dj_kind_of(other)))
            return false;
    return true;
}

/* --- Values ------------------------------------------------------------------ */

static uint64_t whole(const deja_option *o, const deja_options *opt)
{
    const char *at = (const char *)opt + o->offset;
    uint32_t n32;
    uint64_t n64;
    memcpy(&n32, at, sizeof n32);
    if (o->width == sizeof n32)
        return o->type == DEJA_OPTION_FLAG ? n32 & o->flag : n32;
    memcpy(&n64, at, sizeof n64);
    return n64;
}

static double real(const deja_option *o, const deja_options *opt)
{
    double x;
    memcpy(&x, (const char *)opt + o->offset, sizeof x);
    return x;
}

static bool is_real(const deja_option *o)
{
    return o->type == DEJA_OPTION_RATE || o->type == DEJA_OPTION_REAL;
}

bool deja_option_given(const deja_option *o, const deja_options *opt)
{
    static const char zero[sizeof(uint64_t)];
    if (o->type == DEJA_OPTION_FLAG)
        return whole(o, opt) != 0;
    return is_real(o) ? real(o, opt) != 0 /* also false for -0.0 */
                      : memcmp((const char *)opt + o->offset, zero, o->width) != 0;
}

bool dj_option_differs(const deja_option *o, const deja_options *want, const deja_options *have)
{
    if (o->type == DEJA_OPTION_FLAG)
        return whole(o, want) && !whole(o, have);
    return deja_option_given(o, want) &&
           memcmp((const char *)want + o->offset, (const char *)have + o->offset, o->width) != 0;
}

size_t deja_option_print(const deja_option *o, const deja_options *opt,
                         char text[DEJA_OPTION_TEXT])
{
    const char *name = NULL;
    int len = 0;
    if (!deja_option_given(o, opt))
        return 0;
    switch (o->type) {
    case DEJA_OPTION_COUNT:
    case DEJA_OPTION_BITS:
        len = snprintf(text, DEJA_OPTION_TEXT, "%llu", (ull)whole(o, opt));
        break;
    case DEJA_OPTION_RATE:
    case DEJA_OPTION_REAL:
        len = snprintf(text, DEJA_OPTION_TEXT, "%.17g", real(o, opt));
        break;
    case DEJA_OPTION_CHOICE:
        name = o->choice((uint32_t)whole(o, opt));
        break;
    case DEJA_OPTION_RULES:
        name = deja_profile_name(deja_url_rules_profile(opt->url));
        break;
    case DEJA_OPTION_CHAR:
        text[0] = (char)whole(o, opt);
        return 1;
    case DEJA_OPTION_SECRET:
        memcpy(text, opt->key, DEJA_KEY_LEN);
        return DEJA_KEY_LEN;
    }
    if (name)
        len = snprintf(text, DEJA_OPTION_TEXT, "%s", name);
    return len > 0 ? (size_t)len : 0;
}

/* --- Checks ------------------------------------------------------------------- */

/* A series accepts the flags of its parts. */
static int check_kind(const deja_option *o, uint32_t kind, uint32_t part_kind, deja_error *err)
{
    uint32_t other = deja_kind_next(0);
    if (deja_option_accepted(o, o->flag ? part_kind : kind) || deja_option_accepted(o, kind))
        return DEJA_OK;
    while (!deja_option_accepted(o, other))
        other = deja_kind_next(other);
    return dj_fail(err, DEJA_EINVAL, "options.%s goes with kind %s, not %s", o->name,
                   deja_kind_name(other), deja_kind_name(kind));
}

/* "4, 8, 16 or 32", "from 2 to 9" or "at most 2^53" */
static void say_range(const deja_option *o, char *text, size_t cap)
{
    size_t len = 0;
    if (o->type == DEJA_OPTION_BITS)
        for (uint64_t n = o->least; n <= o->most && len < cap; n *= 2)
            len += (size_t)snprintf(text + len, cap - len, "%s%llu",
                                    n == o->least     ? ""
                                    : n * 2 > o->most ? " or "
                                                      : ", ",
                                    (ull)n);
    else if (o->least > 1)
        snprintf(text, cap, "from %llu to %llu", (ull)o->least, (ull)o->most);
    else if (o->most > UINT32_MAX)
        snprintf(text, cap, "at most 2^%d", __builtin_ctzll(o->most));
    else
        snprintf(text, cap, "at most %llu", (ull)o->most);
}

static int check_whole(const deja_option *o, uint64_t n, deja_error *err)
{
    char range[64];
    const bool power = !(n & (n - 1));
    if (n >= o->least && n <= o->most && (power || o->type != DEJA_OPTION_BITS))
        return DEJA_OK;
    say_range(o, range, sizeof range);
    return dj_fail(err, DEJA_EINVAL, "options.%s is %llu: it must be %s", o->name, (ull)n, range);
}

static int check_real(const deja_option *o, double x, deja_error *err)
{
    const bool rate = o->type == DEJA_OPTION_RATE;
    if (x > 0 && x < (rate ? 1 : (double)o->most))
        return DEJA_OK;
    return dj_fail(err, DEJA_EINVAL, "options.%s is %g: it must %s", o->name, x,
                   rate ? "lie between 0 and 1" : "be positive");
}

int dj_option_check(const deja_options *opt, uint32_t kind, uint32_t part_kind, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows) && rc == DEJA_OK; i++) {
        const deja_option *o = &rows[i];
        if (!deja_option_given(o, opt) || o->choice) /* options.c checks choices */
            continue;
        rc = check_kind(o, kind, part_kind, err);
        if (rc == DEJA_OK && is_real(o))
            rc = check_real(o, real(o, opt), err);
        else if (rc == DEJA_OK && o->most)
            rc = check_whole(o, whole(o, opt), err);
    }
    return rc;
}

uint32_t dj_option_flags(void)
{
    uint32_t flags = 0;
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++)
        flags |= rows[i].flag;
    return flags;
}

/* --- Texts -------------------------------------------------------------------- */

#define PREFIX     "options."
#define PREFIX_LEN (sizeof PREFIX - 1)

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* The option that `text` names at this offset, with the length of the name; NULL: none. */
static const deja_option *named(const char *text, size_t at, size_t *len)
{
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
    size_t n = PREFIX_LEN;
    if (!begins || strncmp(text + at, PREFIX, PREFIX_LEN) != 0)
        return NULL;
    while (is_name_char(text[at + n]))
        n++;
    *len = n;
    return find(text + at + PREFIX_LEN, n - PREFIX_LEN);
}

void deja_option_translate(const char *text, const char *(*word)(const deja_option *o), char *out,
                           size_t cap)
{
    size_t used = 0, len;
    for (size_t at = 0; text[at] && used + 1 < cap;) {
        const deja_option *o = named(text, at, &len);
        if (!o) {
            out[used++] = text[at++];
            continue;
        }
        const int n = snprintf(out + used, cap - used, "%s", word(o));
        used += n < 0 ? 0 : (size_t)n < cap - used ? (size_t)n : cap - used - 1;
        at += len;
    }
    if (cap)
        out[used] = '\0';
}
