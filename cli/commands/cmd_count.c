/* cmd_count.c - deja count: how many times each line was added to a filter file. */
#include "cli/session/linecounts.h"
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <inttypes.h>

static const struct opt options[] = {
    OPT_PART(shared_output),
    OPT_PART(shared_canonical),
    OPT_PART(shared_input),
    OPT_PART(shared_url),
    OPT_PART(shared_file_key),
    OPT_PART(shared_general),
    OPT_END,
};

#define HEADER "count\t" /* printed before a CSV or CDX header */

struct job {
    deja_filter *filter;
    struct session session;
    struct linecounts counts; /* of the current batch */
    uint64_t found;           /* lines with a count */
    uint64_t total;           /* the sum of their counts */
};

/* A line with several keys gets the largest of their counts. */
static int look_up(struct job *j, struct batch *b, deja_error *err)
{
    int rc = linecounts_reserve(&j->counts, b, err);
    if (rc == DEJA_OK)
        rc = deja_filter_count_hashed(j->filter, b->hash, b->keyed, j->counts.count, err);
    if (rc < 0)
        return rc;
    linecounts_spread(&j->counts, b, 0); /* keyless lines were never added */
    linecounts_fold(&j->counts, b);
    memset(b->answer, 0, b->block.n);
    session_fold(&j->session, b, false);
    return DEJA_OK;
}

static void print(struct job *j, const struct batch *b)
{
    session_print_header(&j->session, HEADER);
    for (size_t i = 0; i < b->block.n; i++) {
        const uint64_t n = j->counts.count[i];
        char count[24];
        (void)snprintf(count, sizeof count, "%" PRIu64 "\t", n);
        session_print_record(&j->session, &b->block, i, count);
        j->found += n != 0;
        j->total += n;
    }
}

static int count_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const int rc = look_up(j, b, err);
    if (rc < 0)
        return rc;
    print(j, b);
    return out_flush(j->session.out, err);
}

static void report_json(const struct job *j)
{
    struct session_report r;
    if (!session_report_begin(&r, &j->session))
        return;
    json_string(&r.json, "file", j->session.call->operands[0]);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "in", j->found);
    json_uint(&r.json, "total", j->total);
    session_report_end(&r, &j->session);
}

static void tell_all(const struct job *j)
{
    console_note(j->session.call->console, "%s%s read, %s in %s, added %s; %s",
                 j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                 num_count(j->found).s, fail_path(j->session.call->operands[0]).text,
                 num_of(j->total, "time").s,
                 num_duration(progress_seconds(&j->session.progress)).s);
}

static void report(const struct job *j)
{
    struct closing c = session_closing(&j->session);
    session_warn_missing(&j->session);
    closing_count(&c, j->total, j->total == 1 ? "add" : "adds");
    closing_count_in(&c, j->found, "in", j->session.call->operands[0]);
    if (j->session.shared->json)
        report_json(j);
    else if (j->session.shared->verbose)
        tell_all(j);
    else
        session_print_closing(&j->session, &c);
}

static int finish(struct job *j, int rc, deja_error *err)
{
    if (rc < 0)
        return rc;
    session_print_header(&j->session, HEADER);
    rc = out_flush(j->session.out, err);
    if (rc == DEJA_OK)
        report(j);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {0};
    int rc = session_start(&j.session, call, URLKEYS_LOOK_UP, 0, DEJA_CAN_COUNT, &j.filter, err);
    if (rc == DEJA_OK)
        rc = finish(&j, session_each(&j.session, count_batch, &j, err), err);
    rc = session_finish(&j.session, rc, err);
    deja_filter_free(j.filter);
    linecounts_fini(&j.counts);
    return rc;
}

const struct command cmd_count = {
    .name = "count",
    .summary = "print how many times each line was added to a filter of kind spectral",
    .operands = "F.deja [FILE]...",
    .no_sieve = "it stores each key once and does not count; use a filter of kind spectral, or "
                "deja dedup --counts",
    .options = options,
    .options_size = sizeof(struct shared_options),
    .description =
        "Prints each line of the files, or of standard input if none are given, after a number "
        "and a tab: how many times the line was added to the filter and not removed. Only kind "
        "spectral counts.\n\n"
        "A count is never too small, except that counters saturate: with --counter-bits 4, 15 "
        "means 15 or more. It is too large for a share of lines given by the filter's "
        "false-positive rate (`deja info` shows it). --json reports the sums, on standard error unless -o is given.",
    .notes = {SESSION_KEY_TEXT " For a line with several hosts, the largest count is printed.",
              SESSION_URL_TEXT "looked up unchanged; with gsb, their count is 0."},
    .examples = {{"a filter that counts", "deja build -k spectral counts.deja urls.txt"},
                 {"how many times was each line added?", "deja count counts.deja today.txt"},
                 {"the most frequent lines", "deja count counts.deja urls.txt | sort -rn | uniq"},
                 {"the ten most frequent requests in a log",
                  "deja build -q -k spectral --counter-bits 16 -p 1e-3 --format log "
                  "hits.deja access.log\n"
                  "deja count -q --format log hits.deja access.log | sort -rn | uniq | head"}},
    .run = run,
};
