/* cmd_merge.c - deja merge: unite filter files, or estimate how many keys two of them share.
 *
 * The result starts as a copy of the smallest file, because larger ones fold to its size, or, for
 * the exact kind, of the largest, which has the most room.  The others are merged into it one by
 * one, so there are never more than two filters in memory. */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include "cli/session/filterpair.h"
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>
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
    OPT_STRING('o', "output", "OUT.deja", struct merge_options, shared.output,
               "write the union to OUT.deja; it can be one of the files"),
    OPT_GROUP(struct merge_options, shared, shared_force),
    OPT_GROUP(struct merge_options, shared, shared_mode),
    OPT_FLAG(0, "common", struct merge_options, count_common,
             "only estimate how many keys two files share"),
    OPT_GROUP(struct merge_options, shared, shared_change),
    OPT_CHECK(check_options),
    OPT_END,
};

/* --- Union ---------------------------------------------------------------------- */

static uint64_t length_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0; /* opening it will fail */
}

static int is_table(const char *path, const deja_options *expect, bool *table, deja_error *err)
{
    deja_filter *f;
    deja_stats s = DEJA_STATS_INIT;
    int rc = deja_filter_open(path, 0, expect, &f, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_stats(f, 0, &s, err);
    *table = deja_kind_can(s.part_kind, DEJA_CAN_FILL);
    deja_filter_free(f);
    return rc;
}

/* The file that is copied to start the result. */
static size_t first_file(const struct call *call, bool table)
{
    size_t best = 0;
    for (size_t i = 1; i < call->n_operands; i++) {
        const uint64_t len = length_of(call->operands[i]), than = length_of(call->operands[best]);
        if (table ? len > than : len < than)
            best = i;
    }
    return best;
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

static int check_unchanged(const struct target *t, deja_error *err)
{
    struct stat now;
    if (!t->is_input || (stat(t->path, &now) == 0 && now.st_ino == t->as_read.st_ino &&
                         now.st_mtim.tv_sec == t->as_read.st_mtim.tv_sec &&
                         now.st_mtim.tv_nsec == t->as_read.st_mtim.tv_nsec))
        return DEJA_OK;
    return fail(err, DEJA_EBUSY, "%s changed while it was read; nothing was written, try again",
                fail_path(t->path).text);
}

static int take_in(deja_filter *into, const char *first, const char *path,
                   const deja_options *expect, deja_error *err)
{
    deja_filter *from;
    int rc = deja_filter_open(path, 0, expect, &from, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_merge(into, from, err);
    deja_filter_free(from);
    return rc < 0 ? filterpair_name(rc, first, path, err) : DEJA_OK;
}

static int take_all(const struct call *call, size_t first, const deja_options *expect,
                    deja_filter *into, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < call->n_operands && rc == DEJA_OK; i++) {
        if (atomic_load(call->stop))
            return fail(err, DEJA_EIO, "stopped: the union was not written");
        if (i != first)
            rc = take_in(into, call->operands[first], call->operands[i], expect, err);
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
        json_uint(&json, "capacity", s.capacity);
        json_real(&json, "fp_now", s.fp_now);
        json_real(&json, "lost", s.lost);
        json_uint(&json, "filter_bytes", s.bytes);
        json_end(&json);
    } else if (!o->shared.verbose) {
        struct closing c;
        closing_begin(&c, call->console, false);
        closing_count(&c, call->n_operands, call->n_operands == 1 ? "filter" : "filters");
        (deja_kind_can(s.part_kind, DEJA_CAN_FILL) ? closing_count : closing_about)(
            &c, s.keys, s.keys == 1 ? "key" : "keys");
        closing_remark(&c, "%s", num_bytes(s.bytes).s);
        closing_print(&c, -1);
    } else {
        console_note(call->console, "%s filter%s with %s%s; %s: %s, rate now %s",
                     num_count(call->n_operands).s, num_plural(call->n_operands),
                     deja_kind_can(s.part_kind, DEJA_CAN_FILL) ? "" : "about ",
                     num_of(s.keys, "key").s, fail_path(o->shared.output).text,
                     num_bytes(s.bytes).s, num_rate(s.fp_now).s);
    }
    if (session_too_many(f) && deja_kind_can(s.kind, DEJA_CAN_GROW))
        console_warn(call->console,
                     "parts of %s hold more keys than they were sized for, so its rate is %s, not "
                     "%s; rebuild it from the keys, or merge filters with a larger -n",
                     fail_path(o->shared.output).text, num_rate(s.fp_now).s,
                     num_rate(s.fp_rate).s);
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
    bool table = false;
    int rc = is_table(call->operands[0], expect, &table, err);
    const size_t first = first_file(call, table);
    const unsigned flags = shared_create_flags(c) | (target->is_input ? DEJA_CREATE_REPLACE : 0);
    if (rc == DEJA_OK)
        rc = call_copy_filter(call->operands[first], expect, c->output, flags, &f, err);
    if (rc == DEJA_OK)
        rc = take_all(call, first, expect, f, err);
    if (rc == DEJA_OK)
        rc = check_unchanged(target, err);
    if (rc == DEJA_OK)
        rc = existing_explain(deja_filter_sync(f, err), c->output, false, c->force, err);
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
    int rc = o->count_common ? DEJA_OK : check_name(call, &target, err);
    if (rc == DEJA_OK && o->shared.key_file) {
        rc = keyfile_read(&o->shared, key, err);
        expect.key = key;
    }
    if (rc == DEJA_OK)
        rc = o->count_common ? count_common(call, &expect, err)
                             : unite(call, &target, &expect, err);
    explicit_bzero(key, sizeof key);
    return rc;
}

const struct command cmd_merge = {
    .name = "merge",
    .often = true,
    .summary = "unite filter files, or estimate how many keys two of them share",
    .operands = "F.deja...",
    .options = options,
    .options_size = sizeof(struct merge_options),
    .description =
        "Writes a filter file that holds every key of every input file, with exactly the bits "
        "that `deja build` would set for all the lists. The input files stay unchanged. OUT.deja "
        "appears when it is complete. It can be one of the inputs; any other filter of that name "
        "is replaced only with --force. At most two filters are in memory at a time.\n\n"
        "The filters must have the same kind (classic, blocked or exact), hash, number of hashes "
        "and filters, URL profile, visit and secret key. By default every filter gets its own "
        "key, so build filters that you want to merge with the same --key FILE, or with the same "
        "--seed if secrecy does not matter.\n\n"
        "Their sizes may differ by a factor of 2, 4, 8 and so on: larger filters are folded to "
        "the smallest size, as `deja fold` does. Mind the rate: the union holds all keys in the "
        "bits of one filter. Exact filters of any size are merged into a copy of the largest if "
        "there is room. A filter that can grow counts as one of its parts' kind. Once it has "
        "grown, it can be merged with filters that have grown in the same steps (same -n and -p), "
        "part by part; exact ones can always be merged.\n\n"
        "The number of keys in a union of Bloom filters is estimated from its bits, because a key "
        "in several filters counts once.\n\n"
        "--common estimates how many keys two filters share from the bits that are set: n(A) + "
        "n(B) - n(A or B). A filter that has grown must be exact. It writes no file and names no "
        "key; to list common keys, run `deja check A.deja` on the list that B was built from. A "
        "note reports the standard error of the estimate.",
    .examples = {{"two lists, with the same key and the same size",
                  "deja build -q --seed 1 -n 20k a.deja urls.txt"},
                 {"the other one", "deja build -q --seed 1 -n 20k b.deja today.txt"},
                 {"the union of both", "deja merge -o all.deja a.deja b.deja"},
                 {"how many keys are in both?", "deja merge --common a.deja b.deja"}},
    .run = run,
};
