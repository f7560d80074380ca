/* cmd_rotate.c - deja rotate: start the next visit in a filter file. */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "cli/session/losses.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

static const struct opt options[] = {
    OPT_MADE(struct shared_options, filter, opt_filter_next),
    OPT_PART(shared_change),
    OPT_END,
};

static void tell_all(const struct call *call, const deja_stats *s)
{
    console_note(call->console, "%s: visit %llu, %s for %s; visit %llu saw about %s and lost %s",
                 fail_path(call->operands[0]).text, (unsigned long long)s->visit,
                 num_bytes(s->bytes).s, num_of(s->capacity, "key").s,
                 (unsigned long long)(s->visit - 1), num_count(s->last_distinct).s,
                 s->last_lost < LOSSES_LEAST ? "probably none" : num_estimate(s->last_lost).s);
}

static void tell(const struct call *call, const deja_stats *s)
{
    char lost[80] = "";
    if (s->last_lost >= LOSSES_LEAST)
        (void)snprintf(lost, sizeof lost, "; visit %llu lost about %s",
                       (unsigned long long)(s->visit - 1), num_estimate(s->last_lost).s);
    console_note(call->console, "visit %llu, %s for %s%s", (unsigned long long)s->visit,
                 num_bytes(s->bytes).s, num_of(s->capacity, "key").s, lost);
}

static void report_json(const struct call *call, const deja_stats *s)
{
    struct json json;
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
    const struct shared_options *o = call->options;
    const deja_options next = shared_filter_options(o);
    deja_stats s = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    int rc = deja_filter_open(call->operands[0], DEJA_OPEN_WRITE, expect, &f, err);
    if (rc < 0)
        return rc;
    rc = call_name_file(deja_filter_rotate(f, &next, err), call->operands[0], err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, o->json ? DEJA_STATS_BODY : 0, &s, err);
    if (rc == DEJA_OK)
        (o->json ? report_json : o->verbose ? tell_all : tell)(call, &s);
    deja_filter_free(f);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    return keyfile_with(call->options, rotate, call, err);
}

const struct command cmd_rotate = {
    .name = "rotate",
    .summary = "start the next visit: empty the filter and change its hash functions",
    .operands = "F.deja",
    .no_sieve = "it loses no page, so the next visit needs no other hash functions; to start "
                "again, give a new directory",
    .options = options,
    .options_size = sizeof(struct shared_options),
    .description =
        "For a crawler that visits the same pages again. Empties the filter in F.deja; the next "
        "visit uses different hash functions. A page lost in one visit turns up in the next "
        "unless it collides twice. `deja info` shows the visit and the chance that every visit so "
        "far missed a given page.\n\n"
        "The new filter is sized for as many keys as the last visit saw, plus an eighth. A filter "
        "made with --hashes and --multiplier keeps k and M (m = n k M); every other filter keeps "
        "its rate. -n, -p and -m override this. Kind, hash, number of filters, URL profile and "
        "secret key stay the same. A scalable filter starts again with one part.\n\n"
        "The file is replaced when the new one is complete: a crash or a full disk leaves the "
        "last visit. To keep the last visit, copy the file with cp or `deja fold -o` first.",
    .examples = {{"a crawl", "deja dedup --state crawl.deja urls.txt > first.txt"},
                 {"a week later, start the next visit", "deja rotate crawl.deja"},
                 {"the same crawl, with different false positives",
                  "deja dedup --state crawl.deja urls.txt > second.txt"}},
    .run = run,
};
