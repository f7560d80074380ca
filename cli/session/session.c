/* session.c - opens filters, input and output, and reads batches of keys; see session.h. */
#include "cli/session/session.h"
#include "cli/options/keyfile.h"
#include "cli/session/foldcase.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/signals.h"
#include <unistd.h>

int session_begin(struct session *s, const struct shared_options *c, enum urlkeys_use use,
                  uint8_t key[DEJA_KEY_LEN], deja_options *opt, deja_error *err)
{
    *opt = shared_filter_options(c);
    s->shared = c;
    const int rc = urlkeys_init(&s->urls, c, use, err);
    opt->url = s->urls.rules;
    if (rc < 0 || !c->key_file)
        return rc;
    opt->key = key;
    opt->flags |= DEJA_KEY_APART;
    return keyfile_read(c, key, err);
}

/* Opens the file, with an older version of the profile if it was made with that. */
static int open_by_its_rules(struct session *s, const char *path, unsigned flags,
                             const deja_options *expect, deja_filter **out, deja_error *err)
{
    const int rc = deja_filter_open(path, flags, expect, out, err);
    deja_options older = *expect;
    older.url = expect->url ? deja_url_rules_older(expect->url) : NULL;
    if (rc != DEJA_EMISMATCH || !older.url || deja_filter_open(path, flags, &older, out, NULL) < 0)
        return rc;
    s->urls.rules = older.url;
    return DEJA_OK;
}

int session_take_profile(struct session *s, const char *name, uint32_t profile, uint64_t rules,
                         deja_error *err)
{
    struct shared_options c = *s->shared;
    if (!c.url && !profile && shared_needs_profile(&c))
        return fail(err, OPT_USAGE, "%s holds bytes as given, not URLs: omit %s",
                    fail_path(name).text, shared_needs_profile(&c));
    if (c.url || !profile)
        return shared_check_url(&c, err);
    if (!deja_profile_name(profile))
        return fail(
            err, DEJA_EMISMATCH,
            "%s holds URLs of profile number %u, which this version does not know; update deja",
            fail_path(name).text, (unsigned)profile);
    if (shared_text_option(&c))
        return fail(err, OPT_USAGE, "%s holds URLs of profile %s, which are not texts: omit %s",
                    fail_path(name).text, deja_profile_name(profile), shared_text_option(&c));
    c.url = profile;
    int rc = shared_check_url(&c, err);
    if (rc == DEJA_OK)
        rc = urlkeys_init(&s->urls, &c, s->urls.use, err);
    return rc == DEJA_OK ? urlkeys_use_version(&s->urls, name, rules, err) : rc;
}

int session_open_file(struct session *s, const char *path, unsigned flags,
                      const deja_options *expect, deja_filter **out, deja_error *err)
{
    deja_stats stats = DEJA_STATS_INIT;
    int rc = open_by_its_rules(s, path, flags, expect, out, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_stats(*out, 0, &stats, err);
    if (rc == DEJA_OK)
        rc = session_take_profile(s, path, stats.profile, stats.url_rules, err);
    if (rc < 0) {
        deja_filter_free(*out);
        *out = NULL;
    }
    return rc;
}

int session_start(struct session *s, const struct call *call, enum urlkeys_use use, unsigned flags,
                  uint32_t capability, deja_filter **out, deja_error *err)
{
    const struct shared_options *c = call->options;
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect;
    int rc = session_begin(s, c, use, key, &expect, err);
    if (rc == DEJA_OK)
        rc = session_open_file(s, call->operands[0], flags, &expect, out, err);
    if (rc == DEJA_OK)
        rc = deja_filter_require(*out, capability, err);
    if (rc == DEJA_OK && !(flags & DEJA_OPEN_WRITE))
        rc = session_output(s, call, c, 1, err);
    return rc == DEJA_OK ? session_open(s, call, c, 1, *out, err) : rc;
}

int session_output(struct session *s, const struct call *call, const struct shared_options *c,
                   size_t first, deja_error *err)
{
    int rc = call_output(call, c->output, &s->own, &s->out, err);
    if (rc == DEJA_OK)
        rc = out_refuse_inputs(s->out, call->operands + first, call->n_operands - first, err);
    if (rc == DEJA_OK && first)
        rc = out_refuse_inputs(s->out, call->operands, first, err);
    return rc;
}

struct input_options session_input_options(const struct call *call, const struct shared_options *c,
                                           size_t first)
{
    struct input_options in = INPUT_OPTIONS_INIT;
    struct textkeys text;
    in.paths = call->operands + first;
    in.n_paths = call->n_operands - first;
    in.terminator = c->null ? '\0' : '\n';
    in.pick = shared_pick_options(c);
    in.strict = c->strict;
    textkeys_init(&text, c);
    in.estimated = textkeys_estimated(&text);
    in.odd_most = leftout_most(c);
    in.stop = call->stop;
    return in;
}

#define WINDOW_FIRST                                                                              \
    1000000 /* keys: a small file says little about how many the window will hold */

int session_choose_size(const struct call *call, const struct shared_options *c, size_t first,
                        deja_options *opt, deja_error *err)
{
    const bool sized = c->filter.capacity || c->filter.memory || c->filter.multiplier != 0;
    if (!sized && deja_kind_can(opt->kind, DEJA_CAN_EXPIRE) && !opt->window_seconds)
        return fail(err, OPT_USAGE,
                    "how many keys should the window remember? give -n N, or --window-time TIME");
    if (!sized) {
        const struct input_options in = session_input_options(call, c, first);
        opt->capacity = input_estimate(&in);
    }
    if (!sized && deja_kind_can(opt->kind, DEJA_CAN_EXPIRE) && opt->capacity &&
        opt->capacity < WINDOW_FIRST)
        opt->capacity = WINDOW_FIRST;
    if (deja_kind_can(opt->kind, DEJA_CAN_BUILD)) /* the size is only a hint */
        return DEJA_OK;
    const bool grows = !c->fixed && deja_options_grow(opt);
    if (grows || sized || opt->capacity)
        return DEJA_OK;
    if (c->fixed)
        return fail(err, OPT_USAGE, "how many keys? --fixed needs -n N");
    return fail(err, OPT_USAGE,
                "how many keys? give -n N: kinds layered, spectral, paired and window, and "
                "filters with --hashes, --filters or one of the papers' --hash cannot grow");
}

static uint32_t thread_count(const struct shared_options *c)
{
    if (c->threads)
        return c->threads;
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (uint32_t)n : 1;
}

/* Warns about a time window whose newest generation starts in the future. */
static void warn_clock(struct console *c, const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    if (f && deja_filter_stats(f, 0, &o, NULL) == DEJA_OK && o.clock_behind)
        console_error(
            c,
            "the newest generation starts in %s: the clock was set back, or the file was altered. "
            "The next add restarts the window from now",
            num_duration((double)o.clock_behind).s);
}

/* A pipeline_step.  Case is folded after URLs, which may decode %41 to A, and before texts, whose
 * n-grams overlap.  After a failure, the records that are left get all steps. */
static int change_keys(void *session, struct block *b, deja_error *err)
{
    struct session *s = session;
    int rc = s->urls.rules ? urlkeys_run(&s->urls, b, err) : DEJA_OK;
    if (s->shared->ignore_case) {
        deja_error later;
        const int folded = foldcase_run(b, rc < 0 ? &later : err);
        rc = rc < 0 ? rc : folded;
    }
    if (rc == DEJA_OK && textkeys_active(&s->text))
        rc = textkeys_run(&s->text, b, err);
    return rc;
}

/* Starts reading the input. */
static int open_pipeline(struct session *s, deja_error *err)
{
    const struct pipeline_step step = {change_keys, s};
    const bool changes = s->urls.rules || s->shared->ignore_case || textkeys_active(&s->text);
    return pipeline_open(s->in, s->filter ? pipeline_hash_of(s->filter) : s->hash,
                         changes ? &step : NULL, thread_count(s->shared), &s->pipeline, err);
}

int session_open(struct session *s, const struct call *call, const struct shared_options *c,
                 size_t first, const deja_filter *filter, deja_error *err)
{
    struct input_options in = session_input_options(call, c, first);
    const deja_stats none = DEJA_STATS_INIT;
    textkeys_init(&s->text, c);
    s->shared = c;
    s->call = call;
    s->filter = filter;
    s->stats = none;
    in.block_records = s->batch_max;
    in.twice = s->twice;
    s->bytes = session_filter_bytes(filter);
    warn_clock(call->console, filter);
    int rc = input_open(&in, &s->in, err);
    leftout_init(&s->left_out, c, call->console, s->urls.rules ? NULL : s->in);
    s->typed = rc == DEJA_OK && input_is_terminal(s->in);
    if (rc == DEJA_OK)
        rc = open_pipeline(s, err);
    progress_begin(&s->progress, call->console, s->out, "lines");
    if (rc < 0)
        session_close(s);
    return rc;
}

int session_rewind(struct session *s, deja_error *err)
{
    pipeline_close(s->pipeline);
    s->pipeline = NULL;
    input_rewind(s->in);
    s->records = s->keyless = s->lookups = 0;
    s->urls.no_url = s->urls.no_idna = s->urls.left_out = 0;
    return open_pipeline(s, err);
}

static void show_progress(struct session *s)
{
    struct input_progress in;
    input_progress(s->in, &in);
    const double now = progress_seconds(&s->progress);
    if (s->filter && now >= s->stats_due &&
        deja_filter_stats(s->filter, DEJA_STATS_BODY, &s->stats, NULL) == DEJA_OK)
        s->stats_due = now + 50 * (progress_seconds(&s->progress) - now);
    char facts[128] = "";
    if (s->describe)
        s->describe(s->describe_job, facts, sizeof facts);
    progress_show(&s->progress, &(struct progress_now){.items = s->records,
                                                       .done = in.raw,
                                                       .total = in.total,
                                                       .fill = s->describe ? -1 : s->stats.fill,
                                                       .lost = s->describe ? -1 : s->stats.lost,
                                                       .facts = facts});
}

void session_describe(struct session *s, session_describe_fn *fn, void *job)
{
    s->describe = fn;
    s->describe_job = job;
}

void session_on_pause(struct session *s, session_idle_fn *fn, void *job)
{
    s->on_pause = fn;
    s->pause_job = job;
}

void session_note_terminal(struct console *c)
{
    if (c->tty) /* otherwise the user does not see it, and a report of --json may follow */
        console_note(c, "reading lines from the terminal; end with Ctrl-D");
}

/* Waits for the first line that the user types. */
static int next_typed(struct session *s, struct batch **out, deja_error *err)
{
    s->typed = false;
    const int rc = pipeline_next_within(s->pipeline, SESSION_TYPED, out, err);
    if (rc == PIPELINE_IDLE)
        session_note_terminal(s->call->console);
    return rc;
}

static int next_batch(struct session *s, struct batch **out, deja_error *err)
{
    const int typed = s->typed ? next_typed(s, out, err) : PIPELINE_IDLE;
    if (typed != PIPELINE_IDLE)
        return typed;
    int more = s->on_pause != NULL;
    while (more > 0) {
        const int rc = pipeline_next_within(s->pipeline, SESSION_PAUSE, out, err);
        if (rc != PIPELINE_IDLE)
            return rc;
        more = s->on_pause(s->pause_job, err);
    }
    return more < 0 ? more : pipeline_next(s->pipeline, out, err);
}

int session_next(struct session *s, struct batch **out, deja_error *err)
{
    if (progress_due(&s->progress))
        show_progress(s);
    int rc = signals_stopped(s->call->stop) ? 0 : next_batch(s, out, err);
    if (rc == 0) /* the end of the input, or the reader saw the signal first */
        s->stopped = signals_stopped(s->call->stop);
    if (rc > 0) {
        s->records += (*out)->block.n;
        s->keyless += (*out)->block.n - (*out)->keyed;
        s->lookups += (*out)->keyed;
        leftout_take(&s->left_out, &(*out)->block);
    }
    return rc;
}

int session_each(struct session *s, session_fn *fn, void *job, deja_error *err)
{
    struct batch *b;
    int rc;
    while ((rc = session_next(s, &b, err)) > 0) {
        rc = fn(job, b, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

struct synced {
    const struct session *session;
    deja_filter *filter;
    session_fn *fn;
    void *job;
    double next; /* when a sync is due, in seconds */
    bool dirty;  /* keys may have been added since the last one */
};

static int sync_if_due(struct synced *s, deja_error *err)
{
    const double now = progress_seconds(&s->session->progress);
    if (now <= s->next)
        return DEJA_OK;
    const int rc = deja_filter_sync(s->filter, err);
    s->next = session_next_sync(now, progress_seconds(&s->session->progress));
    s->dirty = false;
    return rc;
}

static int sync_in_pause(void *synced, deja_error *err)
{
    struct synced *s = synced;
    const int rc = s->dirty ? sync_if_due(s, err) : DEJA_OK;
    return rc < 0 ? rc : s->dirty;
}

static int do_and_sync(void *synced, struct batch *b, deja_error *err)
{
    struct synced *s = synced;
    const int rc = s->fn(s->job, b, err);
    s->dirty = true;
    return rc < 0 ? rc : sync_if_due(s, err);
}

int session_each_synced(struct session *s, deja_filter *f, session_fn *fn, void *job,
                        deja_error *err)
{
    struct synced synced = {s, f, fn, job, SESSION_SYNC, false};
    session_on_pause(s, sync_in_pause, &synced);
    const int rc = session_each(s, do_and_sync, &synced, err);
    session_on_pause(s, NULL, NULL);
    deja_error late = {0};
    const int last = deja_filter_sync(f, &late);
    if (last < 0 && rc == DEJA_OK)
        return fail(err, last, "%s", late.text);
    if (last < 0 && strcmp(late.text, err->text) != 0)
        console_error(s->call->console, "%s", late.text);
    return rc;
}

void session_close(struct session *s)
{
    if (s->call) { /* session_open was called */
        progress_end(&s->progress);
        pipeline_close(s->pipeline);
        input_close(s->in);
    }
    s->pipeline = NULL;
    s->in = NULL;
    urlkeys_fini(&s->urls); /* after the thread that uses them has ended */
}

int session_finish(struct session *s, int rc, deja_error *err)
{
    session_close(s);
    return out_finish(&s->own, rc, err);
}

bool session_can_dedup(uint32_t kind)
{
    const bool forgets =
        deja_kind_can(kind, DEJA_CAN_FORGET) && !deja_kind_can(kind, DEJA_CAN_EXPIRE);
    return !kind || (deja_kind_can(kind, DEJA_CAN_ADD) && !forgets);
}
