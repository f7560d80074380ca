/* cmd_info.c - deja info: describe filter files. */
#include "cli/foreign/foreign_file.h"
#include "cli/report/foreign_info.h"
#include "cli/report/info_report.h"
#include "cli/report/sieve_info.h"
#include "cli/server/cacheinfo.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"

struct info_options {
    struct shared_options shared;
    struct opt_strings redis;
    uint32_t foreign;
};

static const struct opt options[] = {
    OPT_CHOICE(0, "format", "FORMAT", struct info_options, foreign, shared_foreign_name,
               "read the files as filters of this format; do not detect it"),
    OPT_STRINGS(0, "redis", "URL", struct info_options, redis,
                "describe filters and caches on a server or cluster: redis://HOST:PORT, or "
                "HOST:PORT; give each of F servers"),
    OPT_GROUP(struct info_options, shared, shared_filter_column),
    OPT_GROUP(struct info_options, shared, shared_open),
    OPT_END,
};

static bool has_columns(const char *path)
{
    const struct foreign_format *format = foreign_file_is(path);
    return format && format->columns;
}

/* Describes one file.  If it cannot be examined, prints the error; the other files still
 * follow. */
static int inform(struct call *call, const char *path, const uint8_t *key, struct json *json)
{
    const struct info_options *o = call->options;
    struct info_report r = {.path = path};
    deja_error err = {0};
    if (o->shared.filter_column && !has_columns(path)) {
        console_error(call->console, "%s has no columns: omit --filter-column",
                      fail_path(path).text);
        return COMMAND_FAILED;
    }
    if (!o->foreign && deja_sieve_exists(path))
        return sieve_inform(call, path, key, path != call->operands[0], json);
    if (o->foreign || foreign_file_is(path))
        return foreign_inform(call, path, shared_foreign(o->foreign), o->shared.filter_column,
                              path != call->operands[0], json);
    int rc = info_report_make(&r, key, &err);
    (void)opt_filter_translate(&err);
    if (json)
        info_report_json(&r, json, rc < 0 ? &err : NULL);
    else if (rc == DEJA_OK)
        rc = info_report_text(&r, call->out, path != call->operands[0], &err);
    if (rc < 0) {
        console_error(call->console, "%s", err.text);
        return COMMAND_FAILED;
    }
    (void)out_flush(call->out, NULL); /* so that warnings come after it; main reports failures */
    info_report_warn(&r, call->console);
    return COMMAND_DONE;
}

/* The same for a filter or a cache on servers. */
static int inform_remote(struct call *call, const char *name, const uint8_t *key,
                         struct json *json)
{
    const struct info_options *o = call->options;
    struct cacheinfo c;
    deja_error err = {0};
    (void)key;
    const int rc = cacheinfo_ask(o->redis.at, o->redis.n, name, &c, &err);
    if (json)
        cacheinfo_json(&c, json, rc < 0 ? &err : NULL);
    else if (rc == DEJA_OK)
        cacheinfo_text(&c, call->out, name != call->operands[0]);
    if (rc < 0)
        console_error(call->console, "%s", err.text);
    return rc < 0 ? COMMAND_FAILED : COMMAND_DONE;
}

static int run(struct call *call, deja_error *err)
{
    const struct info_options *o = call->options;
    if (o->redis.n > MACHINES_MOST)
        return fail(err, OPT_USAGE, "--redis can be given at most %d times", MACHINES_MOST);
    if (o->redis.n && (o->foreign || o->shared.key_file))
        return fail(err, OPT_USAGE, "--format and --key are for files, not for --redis");
    if (o->redis.n)
        return call_each_file(call, &o->shared, inform_remote, err);
    return call_each_file(call, &o->shared, inform, err);
}

const struct command cmd_info = {
    .name = "info",
    .often = true,
    .summary = "show the contents, fill and error rate of filter files",
    .operands = "F.deja...",
    .options = options,
    .options_size = sizeof(struct info_options),
    .description =
        "Prints the kind, size, fill and history of each file, the false-positive rate at the "
        "current fill, how many keys were probably lost so far, and how many more fit. After "
        "`deja rotate` it also shows the last visit and the chance that every visit so far missed "
        "a given page. For a union, the number of keys is an estimate. --json prints an array with one "
        "object per file.\n\n"
        "It warns if a filter holds more keys than it was sized for. It also compares the bits "
        "that are set with those expected for the number of keys. Far more bits mean that someone "
        "who knows the secret key chose keys to fill the filter; info warns of that too.\n\n"
        "For a filter file of another program (deja-build(1), --format dcso and the following) it "
        "shows what the file records, and estimates from its bits.\n\n"
        "F can also be the directory of a sieve (deja-dedup(1), --sieve): info shows its keys and "
        "its size on disk, how many lines wait, and how many came late.\n\n"
        "With --redis, F is the name of a cache on servers (deja-dedup(1), --redis), or any key "
        "that is a filter. All shards are added up. With F servers, a key is mistaken for seen if "
        "all of them say so; those that do not answer are named.\n\n"
        "Paired is the only kind that forgets keys it was meant to keep: FORGETS is the share of keys that "
        "were added and not removed but are not found.",
    .examples = {{"how full is the state?", "deja info seen.deja"},
                 {"all filters in this directory", "deja info *.deja"},
                 {"how full is the cache on a server?",
                  "deja info --redis redis://10.0.0.1:6379 seen"},
                 {"the current rate of all filters, for a script",
                  "deja info --json *.deja | grep -E '\"(file|fp_now)\"'"}},
    .run = run,
};
