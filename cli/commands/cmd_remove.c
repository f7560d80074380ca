/* cmd_remove.c - take the keys of lines out of a filter file whose kind can. */
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

struct remove_options {
    struct shared_options shared;
};

static const struct opt options[] = {
    OPT_GROUP(struct remove_options, shared, shared_input),
    OPT_GROUP(struct remove_options, shared, shared_url),
    OPT_GROUP(struct remove_options, shared, shared_file_key),
    OPT_GROUP(struct remove_options, shared, shared_general),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct shared_options *shared;
    deja_filter *filter;
    struct session session;
    uint64_t removed;
};

static int remove_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const int rc = deja_filter_remove_hashed(j->filter, b->hash, b->keyed, b->answer, NULL, err);
    if (rc < 0)
        return rc;
    session_spread(b, false);
    j->removed += session_count(b);
    return DEJA_OK;
}

static uint64_t refused(const struct job *j)
{
    return j->session.records - j->session.keyless - j->removed;
}

static void report_json(const struct job *j)
{
    deja_stats s = DEJA_STATS_INIT;
    struct json json;
    if (deja_filter_stats(j->filter, 0, &s, NULL) < 0)
        return;
    json_begin(&json, j->call->out);
    json_object(&json, NULL);
    json_string(&json, "file", j->call->operands[0]);
    json_uint(&json, "read", j->session.records);
    json_uint(&json, "removed", j->removed);
    json_uint(&json, "refused", refused(j));
    json_uint(&json, "keys", s.keys);
    session_json_end(&j->session, &json);
}

static void report(const struct job *j)
{
    const double seconds = progress_seconds(&j->session.progress);
    session_warn_missing(&j->session);
    if (j->shared->json)
        report_json(j);
    else
        console_note(j->call->console, "%s%s read, %s removed from %s, %s refused; %s",
                     j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                     num_count(j->removed).s, fail_path(j->call->operands[0]).text,
                     num_count(refused(j)).s, num_duration(seconds).s);
}

static int work(struct job *j, deja_error *err)
{
    int rc = session_open(&j->session, j->call, j->shared, 1, j->filter, NULL, err);
    if (rc == DEJA_OK)
        rc = session_each_synced(&j->session, j->filter, remove_batch, j, err);
    deja_error late = {0};
    const int synced = deja_filter_sync(j->filter, &late); /* what was removed stays so */
    if (rc == DEJA_OK && synced < 0)
        return fail(err, synced, "%s", late.text);
    if (synced < 0 && strcmp(late.text, err->text) != 0)
        console_error(j->call->console, "%s", late.text);
    if (rc == DEJA_OK)
        report(j);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct remove_options *o = call->options;
    struct job j = {.call = call, .shared = &o->shared};
    int rc = session_begin_file(&j.session, &o->shared, URLKEYS_STORE, call->operands[0],
                                DEJA_OPEN_WRITE, &j.filter, err);
    if (rc == DEJA_OK)
        rc = deja_filter_require(j.filter, DEJA_CAN_REMOVE, err);
    if (rc == DEJA_OK)
        rc = work(&j, err);
    session_close(&j.session);
    deja_filter_free(j.filter);
    return rc;
}

const struct command cmd_remove = {
    .name = "remove",
    .summary = "take lines out of a filter file of kind spectral or paired",
    .operands = "F.deja [FILE]...",
    .options = options,
    .options_size = sizeof(struct remove_options),
    .description =
        "Takes each line of the files (standard input without any) out of the filter in "
        "F.deja. What was removed is on disk when the command ends, also after Ctrl-C. Only "
        "kinds spectral, without --minimal-increase, and paired can. A line that is not there "
        "is refused and counted.\n\n"
        "In a spectral filter it takes one add back: a line that was added twice is gone when "
        "it was removed twice. Remove only what was added. A line that was never added and is "
        "found all the same, a false positive, cannot be told from one that was: removing it "
        "takes counts away from other lines, which may then be missed.\n\n"
        "A line that was added so often that all its counters are at their maximum (15 with "
        "4 bits) is refused too: they have lost count, and it stays for good. Wider counters "
        "(--counter-bits) reach further.\n\n"
        "In a paired filter a line is gone at once, and FOR GOOD: one that is added again "
        "later is never found again. And removing forgets more than it was told: of the lines "
        "that were added and not removed, a share that grows to -p with --deletions removals "
        "is NO LONGER FOUND (`deja info` tells how many).",
    .notes = {SESSION_KEY_TEXT " Every host counts as a line.",
              SESSION_URL_TEXT "removed unchanged; with gsb, they are skipped."},
    .examples = {{"a filter that can forget, and one line less in it",
                  "deja build -k spectral -p 1e-3 counted.deja docs/examples/sample-urls.txt\n"
                  "head -n 1 docs/examples/sample-urls.txt | deja remove counted.deja"}},
    .run = run,
};
