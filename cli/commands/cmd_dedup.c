/* cmd_dedup.c - deja dedup: print each line the first time it is seen.
 *
 * Without --state the filter is in memory, and a line is judged and added in one step.
 *
 * With --state it is a mapped file that survives if this process is killed, so the order matters:
 * a key is added only after its line has been delivered.  Keys wait in the stream engine
 * (deja_dedup) until their lines are written to the pipe or terminal.  If the output is a file, it
 * must also be synced, because the kernel may write the filter's pages to disk before those of the
 * output. */
#include "cli/commands/dedup_append.h"
#include "cli/commands/dedup_audit.h"
#include "cli/commands/dedup_counts.h"
#include "cli/commands/dedup_sieve.h"
#include "cli/commands/dedup_text.h"
#include "cli/server/remote.h"
#include "cli/session/losses.h"
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <errno.h>
#include <unistd.h>

#define PENDING_MAX (UINT64_C(1) << 18) /* keys whose lines are written but not synced */
#define APPEND_MAX  ((size_t)8 << 20)   /* bytes of lines that wait to be appended */
#define STATE_FIRST 1000000             /* keys; the first run may be smaller than later ones */

/* An option that was given and cannot be combined with --append, or NULL. */
static const char *not_appended(const struct dedup_options *o)
{
    return o->shared.redis.n      ? "--redis"
           : o->repeated          ? "-D"
           : o->again_after       ? "--again-after"
           : o->shared.paragraphs ? "--paragraphs"
           : o->shared.jsonl_text ? "--jsonl-text"
           : o->shared.ngrams     ? "--ngrams"
                                  : NULL;
}

static int check_append(const struct dedup_options *o, deja_error *err)
{
    if (!not_appended(o))
        return DEJA_OK;
    return fail(err, OPT_USAGE, "--append and %s cannot be combined: %s", not_appended(o),
                o->shared.redis.n ? "FILE says which lines are known, not the server"
                : o->repeated     ? "new lines are appended, and -D prints the others"
                : o->again_after  ? "a line that is printed again would be in FILE twice"
                                  : "lines are appended, not texts");
}

static int check_options(const void *target, deja_error *err)
{
    const struct dedup_options *o = target;
    if (o->sieve || o->late)
        return dedup_sieve_check(o, err);
    if (dedup_counts_wanted(o))
        return dedup_counts_check(o, err);
    if (o->audit && dedup_audit_check(o, err) < 0)
        return OPT_USAGE;
    if (o->append && check_append(o, err) < 0)
        return OPT_USAGE;
    if (o->keep && o->shared.ngrams)
        return fail(err, OPT_USAGE,
                    "--keep and --ngrams cannot be combined: texts that share n-grams have no "
                    "common key to count");
    if (o->keep && o->shared.redis.n)
        return fail(err, OPT_USAGE,
                    "--keep and --redis cannot be combined: the server does not count copies; use "
                    "--state FILE without --redis");
    if (o->keep && o->again_after)
        return fail(err, OPT_USAGE,
                    "--keep and --again-after cannot be combined: each copy of a line would have "
                    "its own date");
    if (o->shared.mode && (!o->state || o->shared.redis.n))
        return fail(err, OPT_USAGE, "--mode sets the permissions of the state: give --state FILE");
    if (o->again_after && o->shared.redis.n)
        return fail(err, OPT_USAGE, "--again-after needs a state in a file, not --redis");
    if (o->again_after && !o->state)
        return fail(err, OPT_USAGE,
                    "--again-after compares with earlier runs: give --state FILE to keep them");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_STRING(0, "state", "FILE", struct dedup_options, state,
               "keep the filter in FILE between runs; create FILE if it is missing", OPT_USED(1)),
    OPT_STRING(0, "sieve", "DIR", struct dedup_options, sieve,
               "lose no line: keep all keys in DIR, on disk; use the memory -m", OPT_USED(2)),
    OPT_NAME("late", "LIMIT", struct dedup_options, late, "a limit",
             "with --sieve: let lines wait at most this long (30s), this many (1M), or this much "
             "(2G)"),
    OPT_STRING(0, "append", "FILE", struct dedup_options, append,
               "also append new lines to FILE, whose lines count as seen", OPT_USED(3)),
    OPT_GROUP(struct dedup_options, shared, shared_mode),
    OPT_FLAG('D', "repeated", struct dedup_options, repeated, "print the repeated lines instead",
             OPT_USED(1)),
    OPT_FLAG('c', "count", struct dedup_options, count,
             "print the number of lines instead of the lines", OPT_USED(1)),
    OPT_DAYS(0, "again-after", "DAYS", struct dedup_options, again_after,
             "print a line again if it was last printed at least DAYS ago (30d, 4w, 6mo, 1y)"),
    OPT_FLAG(0, "counts", struct dedup_options, counts,
             "print each line once, with the number of its occurrences", OPT_USED(3)),
    OPT_FLAG('u', "unique", struct dedup_options, unique,
             "print only lines that occur exactly once", OPT_USED(3)),
    OPT_COUNT32(0, "keep", "N", struct dedup_options, keep, 1, JUDGE_KEEP_MOST,
                "print the first N lines with the same key (default 1)", OPT_USED(3)),
    OPT_COUNT(0, "audit", "N", struct dedup_options, audit, 1, DEDUP_AUDIT_MOST,
              "check a sample of N dropped lines, and report how many lines were lost"),
    OPT_GROUP(struct dedup_options, shared, shared_output),
    OPT_GROUP(struct dedup_options, shared, shared_canonical),
    OPT_GROUP(struct dedup_options, shared, shared_sizing),
    OPT_GROUP(struct dedup_options, shared, shared_text),
    OPT_GROUP(struct dedup_options, shared, shared_input),
    OPT_GROUP(struct dedup_options, shared, shared_url),
    OPT_GROUP(struct dedup_options, shared, shared_secret),
    OPT_GROUP(struct dedup_options, shared, shared_redis),
    OPT_GROUP(struct dedup_options, shared, shared_general),
    OPT_CHECK(check_options),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct dedup_options *o;
    deja_filter *filter;
    deja_dedup *pending; /* with --state only */
    struct judge judge;
    struct session session;
    bool sync_output; /* a regular file, which must be synced */
    double next_sync; /* when to sync the state again, in seconds of the session */
    bool unsynced;    /* it has changed since the last sync */
    struct dedup_append append;
    bool unprinted; /* keys were judged whose lines have not been printed */
    uint64_t kept, dropped;
    struct dedup_text text; /* --paragraphs, --jsonl-text, --ngrams */
    uint64_t committed;     /* lines of `kept` whose keys are in the state */
    struct losses losses;   /* with --state */
    struct dedup_audit audit;
};

/* --- The filter ----------------------------------------------------------- */

/* Dedup promises that no repeat is printed, so the kind must add keys one by one and find them
 * later.  state is the file of that kind, or NULL if -k gives it. */
static int check_kind(uint32_t kind, const char *state, deja_error *err)
{
    if (session_can_dedup(kind))
        return DEJA_OK;
    return fail(err, DEJA_ENOTSUP, "%s%s cannot dedup: %s", state ? "" : "-k ",
                state ? fail_path(state).text : deja_kind_name(kind),
                deja_kind_can(kind, DEJA_CAN_ADD)
                    ? "a paired filter never finds a removed line again and would print it every "
                      "time; use kind spectral to remove lines"
                    : "nothing can be added to a static filter; use blocked, classic, exact or "
                      "scalable (`deja build -k static` makes a list to check against)");
}

/* Names the options that the existing state ignores. */
static void note_ignored(const struct job *j, const deja_stats *stats)
{
    const struct shared_options *c = &j->o->shared;
    const struct shared_ignored ignored = shared_ignored(c, j->filter, stats);
    if (ignored.text[0])
        console_note(j->call->console, "%s keeps its size, %s at rate %s; ignored: %s",
                     fail_path(j->o->state).text, num_of(stats->capacity, "key").s,
                     num_rate(stats->fp_rate).s, ignored.text);
    if (c->mode)
        console_note(j->call->console, "%s keeps its permissions; use chmod to change them",
                     fail_path(j->o->state).text);
}

static int open_state(struct job *j, const deja_options *opt, deja_error *err)
{
    deja_options expect = *opt;
    deja_stats stats = DEJA_STATS_INIT;
    for (size_t i = 0; deja_option_at(i); i++)
        if (!deja_option_at(i)->compared)
            opt_filter_clear(deja_option_at(i), &expect);
    int rc =
        session_open_file(&j->session, j->o->state, DEJA_OPEN_WRITE, &expect, &j->filter, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(j->filter, 0, &stats, err);
    if (rc == DEJA_OK)
        rc = check_kind(stats.kind, j->o->state, err);
    if (rc == DEJA_OK)
        note_ignored(j, &stats);
    return rc;
}

static int create_state(struct job *j, deja_options *opt, deja_error *err)
{
    if (deja_kind_can(opt->kind, DEJA_CAN_GROW) && !j->o->shared.filter.capacity) {
        opt->tightening = 0; /* it will probably grow */
        opt->capacity = opt->capacity < STATE_FIRST ? STATE_FIRST : opt->capacity;
    }
    const int rc =
        deja_filter_create(j->o->state, shared_create_flags(&j->o->shared), opt, &j->filter, err);
    /* Name the file now, so that no other process creates one. */
    return rc < 0 ? rc : deja_filter_sync(j->filter, err);
}

static bool has_state(const struct job *j)
{
    return j->o->state && access(j->o->state, F_OK) == 0;
}

/* Only a filter with dates knows when a line was printed.  (The library would complain about
 * --dates, which the user did not give.) */
static int choose_dates(const struct dedup_options *o, deja_options *opt, deja_error *err)
{
    if (!o->again_after)
        return DEJA_OK;
    if (opt->kind && opt->kind != DEJA_EXACT)
        return fail(err, OPT_USAGE,
                    "--again-after needs the dates of lines, which a filter of kind %s does not "
                    "store; use -k exact or omit -k",
                    deja_kind_name(opt->kind));
    opt->flags |= DEJA_DATES;
    return DEJA_OK;
}

static int start_pending(struct job *j, deja_error *err)
{
    const int rc = deja_dedup_new(j->filter, &j->pending, err);
    if (rc < 0 || !j->o->again_after)
        return rc;
    return deja_dedup_again_after(j->pending, j->o->again_after, err);
}

/* The lines of --append count, too. */
static int choose_size(const struct job *j, deja_options *opt, deja_error *err)
{
    struct dedup_append_call both = dedup_append_call(&j->append, j->call);
    const int rc = session_choose_size(&both.call, &j->o->shared, 0, opt, err);
    free(both.operands);
    return rc;
}

static int make_filter(struct job *j, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options opt;
    const bool exists = has_state(j);
    int rc = session_begin(&j->session, &j->o->shared, URLKEYS_COMPARE, key, &opt, err);
    if (rc == DEJA_OK && exists)
        rc = open_state(j, &opt, err);
    if (rc == DEJA_OK && !exists)
        rc = check_kind(opt.kind, NULL, err);
    if (rc == DEJA_OK && !exists)
        rc = choose_dates(j->o, &opt, err);
    if (rc == DEJA_OK && !exists)
        rc = choose_size(j, &opt, err);
    if (rc < 0)
        return rc;
    if (!j->o->state) {
        opt.flags &= ~DEJA_KEY_APART;
        return deja_filter_new(&opt, &j->filter, err);
    }
    if (!exists)
        rc = create_state(j, &opt, err);
    return rc < 0 ? rc : start_pending(j, err);
}

/* --- The lines ------------------------------------------------------------ */

/* New lines with a key. */
static uint64_t new_keys(const struct job *j)
{
    return j->kept > j->session.keyless ? j->kept - j->session.keyless : 0;
}

/* Delivers the lines judged so far; then they count as seen: they are appended, and added to the
 * state. */
static int commit(struct job *j, deja_error *err)
{
    int rc = call_hand_over(j->session.out, j->sync_output, err);
    if (rc == DEJA_OK && j->o->append)
        rc = append_flush(&j->append.file, j->pending, err);
    if (rc < 0 || !j->pending)
        return rc;
    if (!j->o->shared.quiet && new_keys(j) > j->committed)
        losses_add(&j->losses, j->filter, new_keys(j) - j->committed);
    j->committed = new_keys(j);
    rc = deja_dedup_commit(j->pending, err);
    if (rc < 0)
        return rc;
    session_watch(&j->session, fail_path(j->o->state).text);
    return DEJA_OK;
}

static int sync_state(struct job *j, deja_error *err)
{
    const double began = progress_seconds(&j->session.progress);
    int rc = commit(j, err);
    if (rc == DEJA_OK && j->pending)
        rc = deja_filter_sync(j->filter, err);
    j->next_sync = session_next_sync(began, progress_seconds(&j->session.progress));
    j->unsynced = false;
    return rc;
}

/* Have lines been judged since the last commit? */
static bool is_waiting(const struct job *j)
{
    return j->append.file.text.len > 0 || (j->pending && deja_dedup_pending(j->pending) > 0);
}

/* Commits while the input pauses, so that other processes find the lines in the state. */
static int on_pause(void *job, deja_error *err)
{
    struct job *j = job;
    int rc = DEJA_OK;
    if (progress_seconds(&j->session.progress) > j->next_sync)
        rc = j->unsynced ? sync_state(j, err) : DEJA_OK;
    else if (is_waiting(j))
        rc = commit(j, err);
    return rc < 0 ? rc : j->unsynced;
}

static int after_batch(struct job *j, deja_error *err)
{
    const bool many = j->append.file.text.len > APPEND_MAX ||
                      (j->pending && deja_dedup_pending(j->pending) > PENDING_MAX);
    if (!j->pending)
        session_watch(&j->session, "the filter");
    if (!j->pending && !j->o->append)
        return out_flush(j->session.out, err);
    j->unsynced = true;
    if (progress_seconds(&j->session.progress) > j->next_sync)
        return sync_state(j, err);
    if (j->sync_output && !many)
        return out_flush(j->session.out, err); /* the next commit syncs it */
    return commit(j, err);
}

static int print_texts(struct job *j, struct batch *b, deja_error *err)
{
    const int rc = dedup_text_batch(&j->text, b, err);
    j->kept = j->text.units - j->text.removed;
    j->dropped = j->text.removed;
    return rc;
}

static int print_lines(struct job *j, struct batch *b, deja_error *err)
{
    int rc = judge_batch(&j->judge, b, err);
    if (rc == DEJA_OK)
        rc = dedup_audit_take(&j->audit, b, err);
    if (rc < 0)
        return rc;
    session_fold(&j->session, b, true); /* keyless lines are never repeats */
    const uint64_t is_new = session_count(b);
    j->kept += is_new;
    j->dropped += b->block.n - is_new;
    if (!j->o->count)
        session_print(&j->session, b, !j->o->repeated);
    return dedup_append_take(&j->append, &j->session, b, err);
}

static int process(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    j->unprinted = true;
    const int rc =
        dedup_text_wanted(&j->o->shared) ? print_texts(j, b, err) : print_lines(j, b, err);
    if (rc < 0)
        return rc;
    j->unprinted = false;
    return after_batch(j, err);
}

/* --- The account ---------------------------------------------------------- */

/* s: the statistics with the body, or NULL. */
static double lost_in_run(const struct job *j, const deja_stats *s)
{
    if (dedup_text_wanted(&j->o->shared))
        return s ? dedup_text_lost(&j->text, s) : 0;
    if (j->pending)
        return losses_of_run(&j->losses, j->filter);
    const double lost = s ? s->lost : losses_in_memory(j->filter, new_keys(j));
    return lost > j->append.lost ? lost - j->append.lost : 0;
}

static void report_json(const struct job *j, const deja_stats *s)
{
    struct session_report r;
    struct input_progress in;
    input_progress(j->session.in, &in);
    if (!session_report_begin(&r, &j->session))
        return;
    json_uint(&r.json, "read", j->kept + j->dropped);
    json_uint(&r.json, "kept", j->kept);
    json_uint(&r.json, "dropped", j->dropped);
    json_uint(&r.json, "bytes", in.decoded);
    const bool text = dedup_text_wanted(&j->o->shared);
    if (text)
        dedup_text_json(&j->text, &r.json);
    if (j->o->append) {
        json_uint(&r.json, "known", j->append.known);
        json_uint(&r.json, "appended", j->append.lines);
    }
    json_real(&r.json, "lost", text ? lost_in_run(j, s) : s->lost);
    json_real(&r.json, "lost_in_run", lost_in_run(j, s));
    json_real(&r.json, "fp_rate", s->fp_rate + s->merged_rate);
    json_real(&r.json, "fp_now", s->fp_now);
    json_string(&r.json, "kind", deja_kind_name(s->kind));
    json_uint(&r.json, "filter_bytes", s->bytes);
    json_bool(&r.json, "grew", session_grew(&j->session));
    json_real(&r.json, "fill", s->fill);
    json_bool(&r.json, "over_capacity", session_too_many(j->filter) != 0);
    dedup_audit_json(&j->audit, &r.json, lost_in_run(j, s));
    session_report_end(&r, &j->session);
}

static void tell_all(const struct job *j, const deja_stats *s)
{
    const double seconds = progress_seconds(&j->session.progress);
    const double lost = lost_in_run(j, s);
    char losses[80] = "probably none of them lost", before[80] = "";
    if (lost >= LOSSES_LEAST)
        (void)snprintf(losses, sizeof losses, "about %s of them lost", num_estimate(lost).s);
    if (j->pending && s->lost >= LOSSES_LEAST)
        (void)snprintf(before, sizeof before, "; about %s lost in all runs so far",
                       num_estimate(s->lost).s);
    console_note(j->call->console,
                 "%s%s read, %s new, %s seen before, %s (rate %s)%s; filter %s; %s, %s",
                 j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                 num_count(j->kept).s, num_count(j->dropped).s, losses,
                 num_rate(s->fp_rate + s->merged_rate).s, before, num_bytes(s->bytes).s,
                 num_duration(seconds).s,
                 num_speed(seconds > 0 ? (double)j->session.records / seconds : 0).s);
    if (j->o->append)
        console_note(j->call->console, "%s had %s, and got %s more", fail_path(j->o->append).text,
                     num_lines(j->append.known).s, num_count(j->append.lines).s);
}

static void tell_text(const struct job *j, const deja_stats *s)
{
    const double lost = lost_in_run(j, s), seconds = progress_seconds(&j->session.progress);
    char losses[80] = "";
    if (lost >= LOSSES_LEAST)
        (void)snprintf(losses, sizeof losses, ", about %s lost", num_estimate(lost).s);
    console_note(j->call->console, "%s%s%s; %s", j->session.stopped ? "stopped: " : "",
                 dedup_text_account(&j->text).text, losses, num_took(seconds).s);
}

static void tell(const struct job *j)
{
    const double lost = lost_in_run(j, NULL);
    struct closing c = session_closing_new(&j->session, j->kept, j->dropped);
    if (lost >= LOSSES_LEAST)
        closing_remark(&c, "about %s lost", num_estimate(lost).s);
    session_print_closing(&j->session, &c);
}

static void account(const struct job *j)
{
    const struct shared_options *c = &j->o->shared;
    const uint64_t too_many = session_too_many(j->filter);
    const bool text = dedup_text_wanted(c);
    const bool all = c->json || c->verbose || text || j->o->audit || (too_many && !c->quiet);
    deja_stats s = DEJA_STATS_INIT;
    if (deja_filter_stats(j->filter, all ? DEJA_STATS_BODY : 0, &s, NULL) < 0)
        return;
    session_warn_missing(&j->session);
    if (c->json)
        report_json(j, &s);
    else if (text)
        tell_text(j, &s);
    else if (c->verbose)
        tell_all(j, &s);
    else if (!c->quiet)
        tell(j);
    if (!c->json)
        dedup_audit_tell(&j->audit, j->call->console, lost_in_run(j, &s));
    if (too_many)
        console_note(
            j->call->console,
            "the filter was sized for %s and holds %s; its rate is now %s: use a larger -n "
            "next time",
            num_of(s.capacity, "key").s, num_count(too_many).s, num_rate(s.fp_now).s);
}

/* Even after a failure, lines that were delivered stay recorded.  If it happened between judging
 * and printing a batch, the pending keys are not recorded, and the next run repeats some lines. */
static int finish(struct job *j, int rc, deja_error *err)
{
    deja_error late = {0};
    if (rc == DEJA_OK && !j->o->count)
        session_print_header(&j->session, "");
    if (rc == DEJA_OK && j->o->count)
        out_printf(j->session.out, "%llu\n",
                   (unsigned long long)(j->o->repeated ? j->dropped : j->kept));
    if (rc == DEJA_OK)
        rc = sync_state(j, err);
    else if ((j->pending || j->o->append) && !j->unprinted)
        (void)sync_state(j, &late); /* the output may be intact, as after damaged input */
    if (rc < 0 && j->pending && deja_filter_sync(j->filter, &late) < 0 &&
        strcmp(late.text, err->text) != 0)
        console_error(j->call->console, "%s", late.text);
    if (rc == DEJA_OK)
        rc = dedup_audit_run(&j->audit, &j->session, err);
    if (rc == DEJA_OK)
        account(j);
    return rc;
}

static int run_remote(struct call *call, deja_error *err)
{
    const struct dedup_options *o = call->options;
    const struct remote_job what = {REMOTE_DEDUP, &o->shared, o->state, 0, o->repeated, o->count};
    return o->state ? remote_run(call, &what, err)
                    : fail(err, OPT_USAGE, "--redis needs --state NAME, the name of the cache");
}

static int run(struct call *call, deja_error *err)
{
    const struct dedup_options *o = call->options;
    if (o->state && !o->shared.redis.n && deja_sieve_exists(o->state))
        return fail(err, OPT_USAGE, "%s is a sieve: use --sieve instead of --state",
                    fail_path(o->state).text);
    if (o->sieve)
        return dedup_sieve_run(call, err);
    if (dedup_counts_wanted(o))
        return dedup_counts_run(call, err);
    if (o->shared.redis.n)
        return run_remote(call, err);
    struct job j = {.call = call, .o = o, .next_sync = SESSION_SYNC};
    j.append.file.fd = -1;
    int rc = has_state(&j) ? DEJA_OK : shared_check_url(&j.o->shared, err);
    if (rc == DEJA_OK)
        rc = session_output(&j.session, call, &j.o->shared, 0, err);
    if (rc == DEJA_OK && j.o->state)
        rc = out_refuse_inputs(j.session.out, &j.o->state, 1, err);
    if (rc == DEJA_OK && j.o->append)
        rc = dedup_append_open(&j.append, j.o->append, call, &j.o->shared, &j.session, err);
    if (rc == DEJA_OK)
        rc = make_filter(&j, err);
    j.judge = (struct judge){.filter = j.filter, .pending = j.pending, .keep = j.o->keep};
    if (rc == DEJA_OK)
        rc = dedup_append_learn(&j.append, call, &j.o->shared, &j.judge, err);
    if (rc == DEJA_OK)
        rc = dedup_audit_begin(&j.audit, j.o, j.filter, &j.session, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->shared, 0, j.filter, err);
    if (rc == DEJA_OK) {
        j.text = (struct dedup_text){.session = &j.session,
                                     .judge = &j.judge,
                                     .repeated = j.o->repeated,
                                     .count = j.o->count};
        j.sync_output = (j.pending || j.o->append) && call_is_file(j.session.out);
        if (j.pending || j.o->append)
            session_on_pause(&j.session, on_pause, &j);
        rc = finish(&j, session_each(&j.session, process, &j, err), err);
    }
    rc = session_finish(&j.session, rc, err);
    dedup_append_close(&j.append, rc);
    dedup_text_fini(&j.text);
    judge_fini(&j.judge);
    dedup_audit_fini(&j.audit);
    deja_dedup_free(j.pending);
    deja_filter_free(j.filter);
    return rc;
}

const struct command cmd_dedup = {
    .name = "dedup",
    .often = true,
    .summary = "print each line the first time it is seen",
    .operands = "[FILE]...",
    .options = options,
    .options_size = sizeof(struct dedup_options),
    .description =
        "Prints the lines of the files, or of standard input if none are given, that were not "
        "seen before, unchanged and in order. Two lines are equal if all their bytes are or, with "
        "-f, --csv, --format or --json-key, if that part of them is. A carriage return at the end "
        "of a line is ignored. Input may be plain or compressed with gzip, zstd, xz or bzip2.\n\n"
        "The filter is small but not exact: it mistakes a new line for a repeat, and loses it, at "
        "the rate -p (one in a million by default); the summary reports losses of 0.01 lines or "
        "more. No repeat is ever printed, except after a crash (see below).\n\n"
        "Without -n, deja sizes the filter from the length of the files. This is only the initial "
        "size: the filter grows while its rate stays the same. With --fixed, and with options "
        "that determine the body (-m, --hashes, --filters), it does not grow; deja warns if it "
        "holds more keys than it was sized for.\n\n"
        "With --state FILE the filter is kept between runs, so the next run prints only new "
        "lines. A line counts as seen only after it has been written: after a crash, the next run "
        "may repeat lines, but none are lost. If the input pauses, the lines read so far are in "
        "the state within a second, and `deja check` in another terminal finds them. One process "
        "can write a state; others can read it at the same time.\n\n"
        "With --paragraphs, a record is a run of lines that are not blank, printed with the blank "
        "line after it. With --jsonl-text NAME, each line is a JSON object, and the string NAME is "
        "its text: every line of the text that was seen before, in any document, is removed from "
        "it. Lines are compared without surrounding white space, the rest of the object is "
        "unchanged, and a document without any text left is dropped. With --ngrams N, a text "
        "(paragraph or line) is removed if at least the share --threshold of its runs of N words "
        "was seen in texts that were kept; a text of fewer words counts as one run. -D prints what "
        "is removed.\n\n"
        "With -k window the filter forgets: a line that did not occur among the last N lines "
        "(-n), or within TIME (--window-time), is printed again. Each occurrence renews a line.\n\n"
        "With --again-after DAYS, a line is also printed if it was last printed at least DAYS ago, "
        "for a list of pages to visit again. Nothing is forgotten, and lines that are not printed "
        "leave the date unchanged: a line that arrives every day is printed every DAYS. The state "
        "must have dates; a new one gets them (-k exact --dates). Units are d, w, mo (30 days) and y "
        "(365 days). Days begin at midnight UTC. A run without --again-after sets the date of every "
        "line that it reads.\n\n"
        "With --append FILE new lines are also appended to FILE, and the lines that FILE has count "
        "as seen, as with anew. FILE is a list of lines like the input, read with the same options; "
        "it is created if it is missing, and gets a header if it is empty. deja appends a line only "
        "after it has printed it: if it is interrupted, the next run may repeat lines, but none "
        "are lost. One process at a time can append. With -c the number is printed instead of the "
        "lines. A false positive costs a line (-p); -k exact avoids that.\n\n"
        "With --keep N the first N lines with the same key are printed. A key then takes up to N "
        "entries of the filter, so -n counts entries, and a repeat costs N lookups. A false "
        "positive skips an entry, so fewer than N lines may be printed, but never more. A state "
        "does not record N: after a run with --keep 2, a run with --keep 3 prints each line that "
        "was printed twice once more.\n\n"
        "--counts prints each line once, at its first occurrence, after the number of "
        "its occurrences in seven columns; with -D only lines that occur more than once, with -u "
        "only those that occur once. -u alone prints the lines without numbers. Both read the "
        "input twice: deja counts all lines, then prints them. It opens files twice, and copies a "
        "pipe to an unnamed file in $TMPDIR, or /tmp. If a file changes in between, the command "
        "fails. The counts are exact: they are in a table of 16 to 32 bytes per distinct line, "
        "instead of a filter, so the options of size and kind do not apply. A number with a + has "
        "reached the maximum, 2147483647.",
    .notes = {DEDUP_SIEVE_TEXT, DEDUP_AUDIT_TEXT, SESSION_KEY_TEXT, SESSION_LINES_TEXT "new.",
              SESSION_URL_TEXT "compared unchanged.",
              REMOTE_TEXT
              " --state is then the name of the cache, and -n the number of keys in all of its "
              "filters. A line is looked up, written, and only then added: a failover, or two "
              "processes that read the same line at the same moment, may repeat a line but never "
              "lose one. With -k window, deja queries the server about every line."},
    .examples = {{"the distinct lines of a list",
                  "deja dedup docs/examples/sample-urls.txt > unique.txt"},
                 {"only lines that earlier runs have not printed",
                  "deja dedup --state seen.deja docs/examples/sample-urls.txt > new.txt"},
                 {"the same without any loss, for more lines than fit in memory",
                  "deja dedup --sieve seen docs/examples/sample-urls.txt > new.txt"},
                 {"lines that did not occur within the last day",
                  "deja dedup -k window --window-time 1d -n 1M --state day.deja urls.txt"},
                 {"pages to fetch today: new ones, and those fetched 30 days ago or earlier",
                  "deja dedup --state pages.deja --again-after 30d urls.txt > due.txt"},
                 {"new lines only; known.txt remembers them",
                  "deja dedup --append known.txt docs/examples/sample-urls.txt > new.txt"},
                 {"the ten most frequent lines of a log",
                  "deja dedup --counts crawl.log | sort -rn | head"},
                 {"three URLs of each page template",
                  "deja dedup --url=shape --keep 3 docs/examples/sample-urls.txt > samples.txt"},
                 {"lines with a new third field, between blanks", "deja dedup -f 3 crawl.log"},
                 {"the same in a tab-separated log", "deja dedup -f 3 -d '\\t' crawl.log"},
                 {"lines of JSON with a new string link",
                  "deja dedup --json-key link pages.jsonl"},
                 {"JSON documents without paragraphs that earlier ones contain",
                  "deja dedup --jsonl-text text pages.jsonl > clean.jsonl"},
                 {"each URL once, in any spelling and with any tracking parameters",
                  "deja dedup --url=crawl docs/examples/sample-urls.txt > pages.txt"},
                 {"the requests in a web server's log",
                  "deja dedup --url --format log --base https://example.org access.log"},
                 {"one cache on a cluster for many crawlers",
                  "deja dedup --redis redis://127.0.0.1:6379 --state seen urls.txt"}},
    .run = run,
};
