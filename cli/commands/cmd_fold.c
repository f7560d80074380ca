/* cmd_fold.c - deja fold: halve a filter file. */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

struct fold_options {
    struct shared_options shared;
    uint32_t times;
};

static int check_options(const void *target, deja_error *err)
{
    const struct fold_options *o = target;
    if (!o->shared.output && (o->shared.force || o->shared.mode))
        return fail(err, OPT_USAGE, "--force and --mode need -o OUT.deja");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_COUNT32(0, "times", "N", struct fold_options, times, 1, 64,
                "halve the filter N times (default 1)"),
    OPT_STRING('o', "output", "OUT.deja", struct fold_options, shared.output,
               "write the result to OUT.deja and leave F.deja unchanged"),
    OPT_GROUP(struct fold_options, shared, shared_force),
    OPT_GROUP(struct fold_options, shared, shared_mode),
    OPT_GROUP(struct fold_options, shared, shared_change),
    OPT_CHECK(check_options),
    OPT_END,
};

static int open_result(const char *path, const char *output, const struct shared_options *c,
                       const deja_options *expect, deja_filter **f, deja_error *err)
{
    if (!output)
        return deja_filter_open(path, DEJA_OPEN_WRITE, expect, f, err);
    const int rc = existing_check(output, false, c->force, err);
    return rc < 0 ? rc : call_copy_filter(path, expect, output, shared_create_flags(c), f, err);
}

static void report(const struct call *call, const char *path, const deja_stats *before,
                   const deja_stats *s)
{
    const struct fold_options *o = call->options;
    struct json json;
    if (!o->shared.json) {
        const bool all = o->shared.verbose;
        console_note(call->console, "%s%s%s, was %s; rate now %s, was %s",
                     all ? fail_path(path).text : "", all ? ": " : "", num_bytes(s->bytes).s,
                     num_bytes(before->bytes).s, num_rate(s->fp_now).s,
                     num_rate(before->fp_now).s);
        return;
    }
    json_begin(&json, call->out);
    json_object(&json, NULL);
    json_string(&json, "file", path);
    json_uint(&json, "folds", s->folds);
    json_uint(&json, "filter_bytes", s->bytes);
    json_uint(&json, "filter_bytes_before", before->bytes);
    json_real(&json, "fp_now", s->fp_now);
    json_real(&json, "fp_before", before->fp_now);
    json_end(&json);
}

static int fold(const struct call *call, const deja_options *expect, deja_error *err)
{
    const struct fold_options *o = call->options;
    const char *path = call->operands[0];
    const bool in_place = !o->shared.output || existing_same(o->shared.output, path);
    const char *output = in_place ? NULL : o->shared.output;
    deja_stats before = DEJA_STATS_INIT, after = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    int rc = open_result(path, output, &o->shared, expect, &f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &before, err);
    if (rc == DEJA_OK)
        rc = call_name_file(deja_filter_fold(f, o->times ? o->times : 1, err), path, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, err);
    if (rc < 0 && output)
        rc = existing_explain(rc, output, NULL, o->shared.force, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &after, err);
    if (rc == DEJA_OK)
        report(call, in_place ? path : output, &before, &after);
    deja_filter_free(f);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct fold_options *o = call->options;
    return keyfile_with(&o->shared, fold, call, err);
}

const struct command cmd_fold = {
    .name = "fold",
    .summary = "halve a filter file",
    .operands = "F.deja",
    .no_sieve = "its size is its memory (-m); for a small filter of its keys, run: deja build "
                "--from-sieve DIR OUT.deja",
    .options = options,
    .options_size = sizeof(struct fold_options),
    .description =
        "Makes a classic or blocked filter half as large or, with --times, a quarter, an eighth "
        "and so on. A filter that has grown to several parts cannot be folded. The result has "
        "exactly the bits that the same keys would set in a filter of that size: every key is "
        "still found, at a higher false-positive rate. Fold a filter that was made far too large, "
        "to store or send it. Filters of different sizes can be merged if the larger one folds to "
        "the size of the smaller (`deja merge` does this itself).\n\n"
        "The file is replaced when the new one is complete: a crash or a full disk leaves the old "
        "one. With -o, F.deja stays unchanged, and a filter in OUT.deja is replaced only with "
        "--force. The file records how many times the filter was folded; `deja info` shows "
        "it.\n\n"
        "Not every size can be halved. A size given with -m that is a large power of two, such as "
        "64M, can be halved many times. A size computed from -n and -p has a factor of 2 only by "
        "chance; fold reports how many there are.",
    .examples = {{"a filter that can be folded", "deja build -q -m 64KiB -n 10k f.deja urls.txt"},
                 {"half the size", "deja fold f.deja"},
                 {"a small copy for another machine", "deja fold --times 3 -o small.deja f.deja"}},
    .run = run,
};
