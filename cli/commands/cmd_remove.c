/* cmd_remove.c - deja remove: remove the keys of lines from a filter file. */
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

static const struct opt options[] = {
    OPT_PART(shared_input),
    OPT_PART(shared_url),
    OPT_PART(shared_file_key),
    OPT_PART(shared_general),
    OPT_END,
};

struct job {
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
    struct session_report r;
    if (deja_filter_stats(j->filter, 0, &s, NULL) < 0 || !session_report_begin(&r, &j->session))
        return;
    json_string(&r.json, "file", j->session.call->operands[0]);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "removed", j->removed);
    json_uint(&r.json, "refused", refused(j));
    json_uint(&r.json, "keys", s.keys);
    session_report_end(&r, &j->session);
}

static void tell_all(const struct job *j)
{
    console_note(j->session.call->console, "%s%s read, %s removed from %s, %s refused; %s",
                 j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                 num_count(j->removed).s, fail_path(j->session.call->operands[0]).text,
                 num_count(refused(j)).s, num_duration(progress_seconds(&j->session.progress)).s);
}

static void report(const struct job *j)
{
    struct closing c = session_closing(&j->session);
    session_warn_missing(&j->session);
    closing_count(&c, j->removed, "removed");
    closing_count(&c, refused(j), "refused");
    if (j->session.shared->json)
        report_json(j);
    else if (j->session.shared->verbose)
        tell_all(j);
    else
        session_print_closing(&j->session, &c);
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {0};
    int rc = session_start(&j.session, call, URLKEYS_STORE, DEJA_OPEN_WRITE, DEJA_CAN_REMOVE,
                           &j.filter, err);
    if (rc == DEJA_OK)
        rc = session_each_synced(&j.session, j.filter, remove_batch, &j, err);
    if (rc == DEJA_OK)
        report(&j);
    session_close(&j.session);
    deja_filter_free(j.filter);
    return rc;
}

const struct command cmd_remove = {
    .name = "remove",
    .summary = "remove lines from a filter file of kind spectral or paired",
    .operands = "F.deja [FILE]...",
    .no_sieve = "it cannot remove keys; keep them in a filter that can: deja build -k spectral "
                "OUT.deja LIST",
    .options = options,
    .options_size = sizeof(struct shared_options),
    .description =
        "Removes each line of the files, or of standard input if none are given, from the filter "
        "in F.deja. The changes are on disk when the command ends, even after Ctrl-C. Only kinds "
        "spectral (without --minimal-increase) and paired can remove lines. An absent line is "
        "refused and counted.\n\n"
        "In a spectral filter, a removal undoes one add: a line that was added twice must be "
        "removed twice. Remove only lines that were added. The filter cannot tell a false "
        "positive from a line that was added: removing it decrements the counters of other lines, "
        "which may then be missed.\n\n"
        "A line whose counters are all at their maximum (15 with 4 bits) is refused too: the "
        "filter no longer knows its count, so the line stays. Use wider counters "
        "(--counter-bits) for such lines.\n\n"
        "In a paired filter, a removed line is GONE FOR GOOD: adding it again has no effect. "
        "Removing also forgets other lines: a share of the lines that were added and not removed, "
        "which grows to -p at --deletions removals, is NO LONGER FOUND (`deja info` shows how "
        "many).",
    .notes = {SESSION_KEY_TEXT " Each host counts as a line.",
              SESSION_URL_TEXT "removed unchanged; with gsb, they are skipped."},
    .examples = {{"build a filter that can remove lines",
                  "deja build -k spectral counted.deja urls.txt"},
                 {"remove one line", "head -n 1 urls.txt | deja remove counted.deja"},
                 {"remove all lines of a list", "deja remove counted.deja today.txt"}},
    .run = run,
};
