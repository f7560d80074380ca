/* cmd_merge.c - deja merge: merge filter files, or estimate how many keys two of them share.
 *
 * The result starts as a copy of one file, and the others are merged into it one by one, so there
 * are never more than two filters in memory.  A filter that grows is preferred, because it can take
 * any other, and one with a secret key, because a file that others may read must not get one.  Of
 * these, it is the smallest, because larger ones fold to its size, or, for the exact kind, the
 * largest, which has the most room. */
#include "cli/commands/merge_sieve.h"
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include "cli/session/filterpair.h"
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/sys.h"
#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct merge_options {
    struct shared_options shared;
    bool count_common;
};

static int check_options(const void *target, deja_error *err)
{
    const struct merge_options *o = target;
    if (o->count_common && o->shared.output)
        return fail(err, OPT_USAGE, "--common makes no filter; omit -o");
    if (o->count_common && (o->shared.force || o->shared.mode))
        return fail(err, OPT_USAGE, "--force and --mode need -o OUT.deja");
    if (!o->count_common && !o->shared.output)
        return fail(err, OPT_USAGE, "no output file for the union; give -o OUT.deja");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_STRING(
        'o', "output", "OUT.deja", struct merge_options, shared.output,
        "write the union to OUT.deja, or to the sieve OUT.deja; it can be one of the inputs"),
    OPT_GROUP(struct merge_options, shared, shared_force),
    OPT_GROUP(struct merge_options, shared, shared_mode),
    OPT_FLAG(0, "common", struct merge_options, count_common,
             "only estimate how many keys two files share"),
    OPT_GROUP(struct merge_options, shared, shared_change),
    OPT_CHECK(check_options),
    OPT_END,
};

/* --- Union ---------------------------------------------------------------------- */

/* How well a file is suited to start the result. */
struct start {
    int rank;
    bool table;
    uint64_t bytes;
};

static int rate_file(const char *path, const deja_options *expect, struct start *out,
                     deja_error *err)
{
    deja_filter *f;
    deja_stats s = DEJA_STATS_INIT;
    int rc = deja_filter_open(path, 0, expect, &f, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_stats(f, 0, &s, err);
    *out = (struct start){.rank = (deja_kind_can(s.kind, DEJA_CAN_GROW) ? 2 : 0) + (s.keyed != 0),
                          .table = deja_kind_can(s.part_kind, DEJA_CAN_FILL),
                          .bytes = s.bytes};
    deja_filter_free(f);
    return rc;
}

static bool is_better(const struct start *a, const struct start *b)
{
    if (a->rank != b->rank)
        return a->rank > b->rank;
    return b->table ? a->bytes > b->bytes : a->bytes < b->bytes;
}

/* The file that is copied to start the result. */
static int first_file(const struct call *call, const deja_options *expect, size_t *best,
                      deja_error *err)
{
    struct start first = {0};
    *best = 0;
    for (size_t i = 0; i < call->n_operands; i++) {
        struct start one;
        const int rc = rate_file(call->operands[i], expect, &one, err);
        if (rc < 0)
            return rc;
        if (i == 0 || is_better(&one, &first)) {
            first = one;
            *best = i;
        }
    }
    return DEJA_OK;
}

/* Prints every reason why `from` was refused; true if a filter like the first could be merged. */
static bool list_reasons(const struct call *call, const deja_filter *into, const deja_filter *from,
                         const char *a, const char *b, const deja_error *why)
{
    const struct fail_path one = fail_path(a), other = fail_path(b);
    bool like_helps = true;
    deja_error line;
    size_t n = 0;
    for (; why->status == DEJA_EMISMATCH && deja_filter_difference(into, from, n, &line); n++) {
        console_error(call->console, "%s and %s differ in %s", one.text, other.text, line.text);
        like_helps &= strncmp(line.text, "visit", 5) != 0; /* a new filter begins with visit 1 */
    }
    if (n == 0)
        console_error(call->console, "%s and %s: %s", one.text, other.text, why->text);
    return n > 0 && like_helps;
}

/* Names the reasons and the command that helps. */
static int explain(const struct call *call, const deja_filter *into, const deja_filter *from,
                   const char *first, const char *path, int rc, deja_error *err)
{
    deja_error why = *err;
    const struct fail_path one = fail_path(first), other = fail_path(path);
    opt_filter_translate(&why);
    if (list_reasons(call, into, from, first, path, &why))
        return fail(
            err, rc,
            "nothing was written; rebuild one of them from its list, and merge again: deja "
            "build --force --like %.70s %.70s LIST",
            one.text, other.text);
    return fail(err, rc,
                "nothing was written; build one filter from both lists instead: deja build --like "
                "%.90s OUT.deja LIST1 LIST2",
                one.text);
}

/* The file that the union replaces. */
struct target {
    const char *path;
    bool is_input;       /* one of the inputs: replacing it loses no key ... */
    struct stat as_read; /* ... unless it has changed since it was read */
};

static int check_name(const struct call *call, struct target *t, deja_error *err)
{
    const struct shared_options *c = &((const struct merge_options *)call->options)->shared;
    *t = (struct target){.path = c->output};
    for (size_t i = 0; i < call->n_operands; i++)
        t->is_input |= existing_same(c->output, call->operands[i]);
    if (!t->is_input)
        return existing_check(c->output, false, c->force, err);
    return stat(c->output, &t->as_read) == 0
               ? DEJA_OK
               : fail_errno(err, "%s: cannot replace it", fail_path(c->output).text);
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static int check_unchanged(const struct target *t, deja_error *err)
{
    struct stat now;
    if (!t->is_input || (stat(t->path, &now) == 0 && now.st_ino == t->as_read.st_ino &&
                         same_time(sys_modified(&now), sys_modified(&t->as_read))))
        return DEJA_OK;
    return fail(err, DEJA_EBUSY, "%s changed while it was read; nothing was written, try again",
                fail_path(t->path).text);
}

static int take_in(const struct call *call, deja_filter *into, const char *first, const char *path,
                   const deja_options *expect, deja_error *err)
{
    deja_filter *from;
    int rc = deja_filter_open(path, 0, expect, &from, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_merge(into, from, err);
    if (rc < 0 && rc != DEJA_EIO && rc != DEJA_ENOMEM)
        rc = explain(call, into, from, first, path, rc, err);
    else if (rc < 0)
        rc = filterpair_name(rc, first, path, err);
    deja_filter_free(from);
    return rc;
}

static int take_all(const struct call *call, size_t first, const deja_options *expect,
                    deja_filter *into, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < call->n_operands && rc == DEJA_OK; i++) {
        if (atomic_load(call->stop))
            return fail(err, DEJA_EIO, "stopped: the union was not written");
        if (i != first)
            rc = take_in(call, into, call->operands[first], call->operands[i], expect, err);
    }
    return rc;
}

static void report(const struct call *call, const deja_filter *f)
{
    const struct merge_options *o = call->options;
    deja_stats s = DEJA_STATS_INIT;
    struct json json;
    if (deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    if (o->shared.json) {
        json_begin(&json, call->out);
        json_object(&json, NULL);
        json_string(&json, "file", o->shared.output);
        json_uint(&json, "filters", call->n_operands);
        json_string(&json, "kind", deja_kind_name(s.kind));
        json_uint(&json, "keys", s.keys);
        json_uint(&json, "parts", s.parts);
        json_uint(&json, "merged_parts", s.merged_parts);
        json_uint(&json, "other_keys", s.other_keys);
        json_uint(&json, "capacity", s.capacity);
        json_real(&json, "fp_now", s.fp_now);
        json_real(&json, "lost", s.lost);
        json_uint(&json, "filter_bytes", s.bytes);
        json_end(&json);
    } else if (!o->shared.verbose) {
        struct closing c;
        closing_begin(&c, call->console, false);
        closing_count(&c, call->n_operands, call->n_operands == 1 ? "filter" : "filters");
        if (s.other_keys)
            closing_remark(&c, "at most %s", num_of(s.keys, "key").s);
        else
            (deja_kind_can(s.part_kind, DEJA_CAN_FILL) ? closing_count : closing_about)(
                &c, s.keys, s.keys == 1 ? "key" : "keys");
        closing_remark(&c, "%s", num_bytes(s.bytes).s);
        closing_print(&c, -1);
    } else {
        console_note(call->console, "%s filter%s with %s%s; %s: %s, rate now %s",
                     num_count(call->n_operands).s, num_plural(call->n_operands),
                     s.other_keys                                ? "at most "
                     : deja_kind_can(s.part_kind, DEJA_CAN_FILL) ? ""
                                                                 : "about ",
                     num_of(s.keys, "key").s, fail_path(o->shared.output).text,
                     num_bytes(s.bytes).s, num_rate(s.fp_now).s);
    }
    if (session_too_many(f) && deja_kind_can(s.kind, DEJA_CAN_GROW))
        console_warn(call->console,
                     "parts of %s hold more keys than they were sized for, so its rate is %s, not "
                     "%s; rebuild it from the keys, or merge filters with a larger -n",
                     fail_path(o->shared.output).text, num_rate(s.fp_now).s,
                     num_rate(s.fp_rate + s.merged_rate).s);
    else if (session_too_many(f))
        console_warn(call->console, "%s was sized for %s and holds %s; build larger filters",
                     fail_path(o->shared.output).text, num_of(s.capacity, "key").s,
                     num_count(s.keys).s);
}

static int unite(const struct call *call, const struct target *target, const deja_options *expect,
                 deja_error *err)
{
    const struct shared_options *c = &((const struct merge_options *)call->options)->shared;
    deja_filter *f = NULL;
    size_t first;
    int rc = first_file(call, expect, &first, err);
    const unsigned flags = shared_create_flags(c) | (target->is_input ? DEJA_CREATE_REPLACE : 0);
    if (rc == DEJA_OK)
        rc = call_copy_filter(call->operands[first], expect, c->output, flags, &f, err);
    if (rc == DEJA_OK)
        rc = take_all(call, first, expect, f, err);
    if (rc == DEJA_OK)
        rc = check_unchanged(target, err);
    if (rc == DEJA_OK)
        rc = existing_explain(deja_filter_sync(f, err), c->output, NULL, c->force, err);
    if (rc == DEJA_OK)
        report(call, f);
    deja_filter_free(f);
    return rc;
}

/* --- Common keys ------------------------------------------------------------------ */

static int count_common(const struct call *call, const deja_options *expect, deja_error *err)
{
    const struct merge_options *o = call->options;
    struct filterpair pair;
    struct json json;
    if (call->n_operands != 2)
        return fail(err, OPT_USAGE, "--common needs two files, not %zu", call->n_operands);
    const int rc = filterpair_compare(call->operands[0], call->operands[1], expect, &pair, err);
    if (rc < 0)
        return rc;
    if (o->shared.json) {
        json_begin(&json, call->out);
        json_object(&json, NULL);
        json_real(&json, "common", pair.common);
        json_real(&json, "sigma", pair.sigma);
        json_end(&json);
        return DEJA_OK;
    }
    out_printf(call->out, "%.0f\n", pair.common);
    if (pair.sigma > 0)
        console_note(call->console,
                     "an estimate from the bits that are set, with a standard error of %s",
                     num_estimate(ceil(pair.sigma)).s);
    return DEJA_OK;
}

static int run(struct call *call, deja_error *err)
{
    const struct merge_options *o = call->options;
    deja_options expect = DEJA_OPTIONS_INIT;
    uint8_t key[DEJA_KEY_LEN];
    struct target target;
    const bool sieves = merge_sieve_wanted(call);
    if (sieves && o->count_common)
        return fail(err, OPT_USAGE,
                    "--common needs filter files; to count the lines of a list that are in a "
                    "sieve, run: deja check -c DIR LIST");
    int rc = o->count_common || sieves ? DEJA_OK : check_name(call, &target, err);
    if (rc == DEJA_OK && o->shared.key_file) {
        rc = keyfile_read(&o->shared, key, err);
        expect.key = key;
    }
    if (rc == DEJA_OK && sieves)
        rc = merge_sieve_run(call, &o->shared, expect.key, err);
    else if (rc == DEJA_OK)
        rc = o->count_common ? count_common(call, &expect, err)
                             : unite(call, &target, &expect, err);
    sys_wipe(key, sizeof key);
    return rc;
}

const struct command cmd_merge = {
    .name = "merge",
    .often = true,
    .summary = "merge filter files, or estimate how many keys two of them share",
    .operands = "F.deja...",
    .options = options,
    .options_size = sizeof(struct merge_options),
    .description =
        "Writes a filter file that holds every key of every input file. The input files stay "
        "unchanged. OUT.deja appears when it is complete. It can be one of the inputs; any other "
        "filter of that name is replaced only with --force. At most two filters are in memory at "
        "a time.\n\n"
        "Filters that can grow, such as the states of `deja dedup` and what `deja build` makes "
        "without --fixed, can be merged if their parts have the same kind, hash and URL profile. "
        "Every filter has its own secret key, so the union keeps the parts and secret keys of "
        "all: their false-positive rates add up, and a lookup computes a hash for each secret "
        "key. A union has at most 8 secret keys and 32 parts. Filters built with --like, or with "
        "the same --key and sizes, are combined bit by bit instead, which takes no more space "
        "than one of them.\n\n"
        "Fixed filters must have the same kind, hash, number of hashes and filters, URL profile, "
        "visit and secret key: build one with --like the other. Sizes of classic and blocked ones "
        "may differ by a factor of 2, 4, 8 and so on: larger filters are folded to the smallest "
        "size, as `deja fold` does. Mind the rate: the union holds all keys in the bits of one "
        "filter. Exact filters of any size are merged into a copy of the largest if there is "
        "room. Spectral counters are added. Generations of windows are merged by age or, in time "
        "windows, by the time when they began. The layers of layered filters must have grown in "
        "the same steps.\n\n"
        "Sieves (deja-dedup(1), --sieve) with the same secret key and URL profile are united "
        "exactly, whatever their sizes: build one with `deja build --sieve --like` the other. OUT "
        "is a new sieve, or one of the inputs, which then gets the keys of the others. A sieve and "
        "a filter file cannot be merged; make a filter of the sieve first, with `deja build "
        "--from-sieve`.\n\n"
        "If filters cannot be merged, deja lists every difference and the command that helps.\n\n"
        "The number of keys in a union of Bloom filters is estimated from its bits, because a key "
        "in several filters counts once. With different secret keys, keys cannot be compared, so "
        "the numbers are added up, and the report says \"at most\".\n\n"
        "--common estimates how many keys two filters share from the bits that are set: n(A) + "
        "n(B) - n(A or B). A filter that has grown must be exact. It writes no file and names no "
        "key; to list common keys, run `deja check A.deja` on the list that B was built from. A "
        "note reports the standard error of the estimate.",
    .examples = {{"a filter of one list", "deja build -q -n 20k --fixed a.deja urls.txt"},
                 {"a filter of another list, with the same size and secret key",
                  "deja build -q --like a.deja b.deja today.txt"},
                 {"the union of both", "deja merge -o all.deja a.deja b.deja"},
                 {"how many keys are in both?", "deja merge --common a.deja b.deja"},
                 {"a sieve of one list", "deja build -q --sieve first urls.txt"},
                 {"a sieve of another list, with the same secret key",
                  "deja build -q --sieve --like first second today.txt"},
                 {"the exact union of both", "deja merge -o union first second"}},
    .run = run,
};
