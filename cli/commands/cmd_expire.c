/* cmd_expire.c - deja expire: drop the keys that have not been seen for some time. */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

struct expire_options {
    struct shared_options shared;
    uint32_t older_than; /* days */
    bool dry_run;
};

static int check_options(const void *target, deja_error *err)
{
    const struct expire_options *o = target;
    return o->older_than
               ? DEJA_OK
               : fail(err, OPT_USAGE, "how old are the keys to remove? give --older-than DAYS");
}

static const struct opt options[] = {
    OPT_DAYS(0, "older-than", "DAYS", struct expire_options, older_than,
             "remove the keys that were last seen at least DAYS ago (30d, 4w, 6mo, 1y)",
             OPT_USED(1)),
    OPT_FLAG('n', "dry-run", struct expire_options, dry_run,
             "count these keys and leave the file unchanged", OPT_USED(1)),
    OPT_GROUP(struct expire_options, shared, shared_change),
    OPT_CHECK(check_options),
    OPT_END,
};

struct result {
    uint32_t before; /* the first day that is not too old */
    uint64_t removed, left;
    uint64_t bytes, bytes_before;
};

static void tell(const struct call *call, const struct result *r)
{
    const struct expire_options *o = call->options;
    char size[120] = "";
    if (r->bytes != r->bytes_before)
        (void)snprintf(size, sizeof size, "; %s, was %s", num_bytes(r->bytes).s,
                       num_bytes(r->bytes_before).s);
    console_note(call->console, "%s %slast seen before %s, %s left%s", num_of(r->removed, "key").s,
                 o->dry_run ? "would be removed, " : "removed, ", num_day(r->before).s,
                 num_count(r->left).s, size);
}

static void report_json(const struct call *call, const struct result *r)
{
    const struct expire_options *o = call->options;
    struct json json;
    json_begin(&json, call->out);
    json_object(&json, NULL);
    json_string(&json, "file", call->operands[0]);
    json_string(&json, "before", num_day(r->before).s);
    json_bool(&json, "dry_run", o->dry_run);
    json_uint(&json, "removed", r->removed);
    json_uint(&json, "left", r->left);
    json_uint(&json, "filter_bytes", r->bytes);
    json_uint(&json, "filter_bytes_before", r->bytes_before);
    json_end(&json);
}

/* The first day that is less than --older-than days ago. */
static uint32_t first_day_kept(const deja_filter *f, uint32_t older_than)
{
    const uint32_t tomorrow = deja_filter_today(f) + 1;
    return tomorrow > older_than ? tomorrow - older_than : 0;
}

static int remove_old(deja_filter *f, const struct expire_options *o, struct result *r,
                      deja_error *err)
{
    deja_stats before = DEJA_STATS_INIT, after = DEJA_STATS_INIT;
    r->before = first_day_kept(f, o->older_than);
    int rc = deja_filter_stats(f, 0, &before, err);
    if (rc == DEJA_OK)
        rc = o->dry_run ? deja_filter_older(f, r->before, &r->removed, err)
                        : deja_filter_expire(f, r->before, &r->removed, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, 0, &after, err);
    r->left = after.keys - (o->dry_run ? r->removed : 0);
    r->bytes = after.bytes;
    r->bytes_before = before.bytes;
    return rc;
}

static int expire(const struct call *call, const deja_options *expect, deja_error *err)
{
    const struct expire_options *o = call->options;
    const char *path = call->operands[0];
    struct result r = {0};
    deja_filter *f = NULL;
    int rc = deja_filter_open(path, o->dry_run ? 0 : DEJA_OPEN_WRITE, expect, &f, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_require(f, DEJA_CAN_DATE, err);
    if (rc == DEJA_OK)
        rc = call_name_file(remove_old(f, o, &r, err), path, err);
    if (rc == DEJA_OK)
        (o->shared.json ? report_json : tell)(call, &r);
    deja_filter_free(f);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct expire_options *o = call->options;
    return keyfile_with(&o->shared, expire, call, err);
}

const struct command cmd_expire = {
    .name = "expire",
    .summary = "remove keys that have not been seen for some time",
    .operands = "F.deja",
    .no_sieve = "it does not store dates; use deja dedup --state F.deja --again-after DAYS",
    .options = options,
    .options_size = sizeof(struct expire_options),
    .description =
        "Removes the keys that were last seen at least DAYS ago from a filter with dates, that is "
        "one made with `deja build -k exact --dates` or `deja dedup --again-after`. The other keys "
        "keep their dates. Units are d, w, mo (30 days) and y (365 days). Days begin at midnight "
        "UTC.\n\n"
        "A filter that has grown to several parts becomes one part with room for the remaining "
        "keys and an eighth more, at least as large as its first part. Any other filter keeps its "
        "size.\n\n"
        "The file is replaced when the new one is complete: a crash or a full disk leaves the old "
        "file in place. If no key is old enough, the file stays unchanged.",
    .examples = {{"a state with dates",
                  "deja dedup --state pages.deja --again-after 30d urls.txt > due.txt"},
                 {"how many keys have not been seen for a year?",
                  "deja expire -n --older-than 1y pages.deja"},
                 {"remove them", "deja expire --older-than 1y pages.deja"}},
    .run = run,
};
