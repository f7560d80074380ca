/* cmd_count.c - how often each line was added to a filter file whose kind counts. */
#include "cli/session/session.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <inttypes.h>
#include <stdlib.h>

struct count_options {
    struct shared_options shared;
};

static const struct opt options[] = {
    OPT_GROUP(struct count_options, shared, shared_output),
    OPT_GROUP(struct count_options, shared, shared_canonical),
    OPT_GROUP(struct count_options, shared, shared_input),
    OPT_GROUP(struct count_options, shared, shared_url),
    OPT_GROUP(struct count_options, shared, shared_file_key),
    OPT_GROUP(struct count_options, shared, shared_general),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct shared_options *shared;
    deja_filter *filter;
    struct session session;
    struct out own, *out;
    bool header_printed;
    uint64_t *counts; /* of the batch at hand */
    size_t cap;
    uint64_t found; /* lines with a count */
    uint64_t total; /* and their counts added up */
};

static int look_up(struct job *j, const struct batch *b, deja_error *err)
{
    void *room = array_grow(j->counts, &j->cap, b->block.n + 1, sizeof *j->counts);
    if (!room)
        return fail(err, DEJA_ENOMEM, "out of memory");
    j->counts = room;
    const int rc = deja_filter_count_hashed(j->filter, b->hash, b->keyed, j->counts, err);
    size_t from = b->keyed; /* keyless lines were never added: 0 in their places */
    for (size_t i = b->block.n; i > from; i--)
        j->counts[i - 1] = b->block.keys[i - 1].data ? j->counts[--from] : 0;
    return rc;
}

/* A line with several keys counts as often as the most frequent of them. */
static void fold(struct job *j, struct batch *b)
{
    size_t lines = 0;
    for (size_t i = 0; i < b->block.n; i++) {
        const bool same = b->block.shared && lines && b->block.ends[i] == b->block.ends[i - 1];
        lines += !same;
        if (!same || j->counts[i] > j->counts[lines - 1])
            j->counts[lines - 1] = j->counts[i];
    }
    memset(b->answer, 0, b->block.n);
    session_fold(&j->session, b, false);
}

static void print_header(struct job *j)
{
    deja_slice header;
    if (j->header_printed || j->session.urls.forms || !input_header(j->session.in, &header))
        return;
    out_text(j->out, "count\t");
    session_print_header(&j->session, j->out, &j->header_printed);
}

static void print(struct job *j, const struct batch *b)
{
    const struct block *block = &b->block;
    print_header(j);
    for (size_t i = 0; i < block->n; i++) {
        const size_t begin = i ? block->ends[i - 1] : 0;
        out_printf(j->out, "%" PRIu64 "\t", j->counts[i]);
        if (j->session.urls.forms) {
            out_write(j->out, block->forms[i].data, block->forms[i].len);
            out_write(j->out, block->data + block->ends[i] - 1, 1);
        } else {
            out_write(j->out, block->data + begin, block->ends[i] - begin);
        }
        j->found += j->counts[i] != 0;
        j->total += j->counts[i];
    }
}

static int count_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const int rc = look_up(j, b, err);
    if (rc < 0)
        return rc;
    fold(j, b);
    print(j, b);
    return out_flush(j->out, err);
}

static void report_json(const struct job *j)
{
    struct session_report r;
    if (!session_report_begin(&r))
        return;
    json_string(&r.json, "file", j->call->operands[0]);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "in", j->found);
    json_uint(&r.json, "total", j->total);
    session_report_end(&r, &j->session);
}

static void report(const struct job *j)
{
    const double seconds = progress_seconds(&j->session.progress);
    session_warn_missing(&j->session);
    if (j->shared->json && !j->shared->quiet)
        report_json(j);
    else
        console_note(j->call->console, "%s%s read, %s in %s, added %s; %s",
                     j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                     num_count(j->found).s, fail_path(j->call->operands[0]).text,
                     num_of(j->total, "time").s, num_duration(seconds).s);
}

static int finish(struct job *j, int rc, deja_error *err)
{
    if (rc < 0)
        return rc;
    print_header(j);
    rc = out_flush(j->out, err);
    if (rc == DEJA_OK)
        report(j);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct count_options *o = call->options;
    struct job j = {.call = call, .shared = &o->shared, .own = OUT_NONE};
    int rc = session_begin_file(&j.session, &o->shared, URLKEYS_LOOK_UP, call->operands[0], 0,
                                &j.filter, err);
    if (rc == DEJA_OK)
        rc = deja_filter_require(j.filter, DEJA_CAN_COUNT, err);
    if (rc == DEJA_OK)
        rc = session_output(call, &o->shared, &j.own, &j.out, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &o->shared, 1, j.filter, j.out, err);
    if (rc == DEJA_OK)
        rc = finish(&j, session_each(&j.session, count_batch, &j, err), err);
    session_close(&j.session);
    deja_filter_free(j.filter);
    free(j.counts);
    return out_finish(&j.own, rc, err);
}

const struct command cmd_count = {
    .name = "count",
    .summary = "print how often each line was added to a filter file of kind spectral",
    .operands = "F.deja [FILE]...",
    .options = options,
    .options_size = sizeof(struct count_options),
    .description =
        "Prints each line of the files (standard input without any) with a number and a tab "
        "in front: how often it was added to the filter and not removed. Only kind spectral "
        "counts.\n\n"
        "A count is never too small, but for what --counter-bits allows: 15 with 4 bits means "
        "15 or more. It is too large for as many lines as the filter's false-positive rate "
        "says (`deja info` tells it). --json reports the sums on standard error.",
    .notes = {SESSION_KEY_TEXT " Of a line with several hosts, the largest count is printed.",
              SESSION_URL_TEXT "looked up unchanged; with gsb, their count is 0."},
    .examples = {{"the ten most frequent requests of a log",
                  "deja build -q -k spectral --counter-bits 16 -p 1e-3 --format log "
                  "hits.deja access.log\n"
                  "deja count -q --format log hits.deja access.log | sort -rn | uniq | head"}},
    .run = run,
};
