/* cmd_rotate.c - begin the next visit in a filter file. */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

struct rotate_options {
    struct shared_options shared;
};

static const struct opt options[] = {
    OPT_MADE(struct rotate_options, shared.filter, opt_filter_next),
    OPT_STRING(0, "key", "FILE", struct rotate_options, shared.key_file,
               "the secret key of a filter that was made with --key"),
    OPT_GROUP(struct rotate_options, shared, shared_insecure_key),
    OPT_GROUP(struct rotate_options, shared, shared_json),
    OPT_GROUP(struct rotate_options, shared, shared_quiet),
    OPT_END,
};

static void report(const struct call *call, const deja_stats *s)
{
    const struct rotate_options *o = call->options;
    struct json json;
    if (!o->shared.json) {
        console_note(call->console,
                     "%s: visit %llu, %s for %s; visit %llu saw about %s and lost %s",
                     fail_path(call->operands[0]).text, (unsigned long long)s->visit,
                     num_bytes(s->bytes).s, num_of(s->capacity, "key").s,
                     (unsigned long long)(s->visit - 1), num_count(s->last_distinct).s,
                     s->last_lost < 0.05 ? "probably none" : num_estimate(s->last_lost).s);
        return;
    }
    json_begin(&json, call->out);
    json_object(&json, NULL);
    json_string(&json, "file", call->operands[0]);
    json_uint(&json, "visit", s->visit);
    json_uint(&json, "capacity", s->capacity);
    json_real(&json, "fp_rate", s->fp_rate);
    json_uint(&json, "filter_bytes", s->bytes);
    json_uint(&json, "last_distinct", s->last_distinct);
    json_real(&json, "last_lost", s->last_lost);
    json_real(&json, "missed", s->missed);
    json_end(&json);
}

static int rotate(const struct call *call, const deja_options *expect, deja_error *err)
{
    const struct rotate_options *o = call->options;
    const deja_options next = shared_filter_options(&o->shared);
    deja_stats s = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    deja_error why = {0};
    int rc = deja_filter_open(call->operands[0], DEJA_OPEN_WRITE, expect, &f, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_rotate(f, &next, &why);
    if (rc == DEJA_EIO)
        *err = why; /* names the file itself */
    else if (rc < 0)
        rc = fail(err, rc, "%s: %s", fail_path(call->operands[0]).text, why.text);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, o->shared.json ? DEJA_STATS_BODY : 0, &s, err);
    if (rc == DEJA_OK)
        report(call, &s);
    deja_filter_free(f);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct rotate_options *o = call->options;
    return keyfile_with(&o->shared, rotate, call, err);
}

const struct command cmd_rotate = {
    .name = "rotate",
    .summary = "begin the next visit: an empty filter with other hashes",
    .operands = "F.deja",
    .options = options,
    .options_size = sizeof(struct rotate_options),
    .description =
        "For a crawler that visits the same pages again. The filter in F.deja is emptied, and "
        "the next visit uses different hash functions. A page lost in one visit turns up in "
        "the next unless it collides twice. `deja info` shows the visit, and the chance that "
        "a page was missed by every one so far.\n\n"
        "The new filter is sized for as many keys as the last visit saw, with an eighth to "
        "spare. A filter made with --hashes and --multiplier keeps k and M (m = n k M); every "
        "other one keeps its rate. -n, -p and -m override this. Kind, hash, number of "
        "filters, "
        "URL profile and secret key stay. A scalable filter begins again with one part.\n\n"
        "The file is replaced when the new one is complete: a crash or a full disk leaves the "
        "last visit. It forgets what that one saw; `deja fold -o` or cp keeps a copy.",
    .examples = {{"a crawl", "deja dedup --state crawl.deja urls.txt > first.txt"},
                 {"and the same crawl a week later", "deja rotate crawl.deja"},
                 {"with other false positives",
                  "deja dedup --state crawl.deja urls.txt > second.txt"}},
    .run = run,
};
