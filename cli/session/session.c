/* session.c - shared by the commands that read keys; see session.h. */
#include "cli/session/session.h"
#include "cli/options/keyfile.h"
#include "cli/session/foldcase.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include "tools/base/signals.h"
#include "tools/input/paragraphs.h"
#include <errno.h>
#include <fcntl.h>
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

/* If the file was made with an older version of its profile, use that version. */
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

/* A time window whose newest generation starts in the future. */
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

static uint64_t filter_bytes(const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    return f && deja_filter_stats(f, 0, &o, NULL) == DEJA_OK ? o.bytes : 0;
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
    s->bytes = filter_bytes(filter);
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
    progress_show(&s->progress, &(struct progress_now){.items = s->records,
                                                       .done = in.raw,
                                                       .total = in.total,
                                                       .fill = s->stats.fill,
                                                       .lost = s->stats.lost});
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
    if (rc == 0) /* the end, or the reader saw the signal first */
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
    double at;  /* seconds */
    bool dirty; /* keys may have been added since then */
};

static int sync_if_due(struct synced *s, deja_error *err)
{
    const double now = progress_seconds(&s->session->progress);
    if (now - s->at <= SESSION_SYNC)
        return DEJA_OK;
    s->at = now;
    s->dirty = false;
    return deja_filter_sync(s->filter, err);
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
    struct synced synced = {s, f, fn, job, 0, false};
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

/* Gives the keyless records of a batch this answer. */
static void settle(struct batch *b, uint8_t keyless)
{
    for (size_t i = 0; b->block.keyless && i < b->block.n; i++)
        if (b->answer[i] == BATCH_KEYLESS)
            b->answer[i] = keyless;
}

void session_spread(struct batch *b, uint8_t keyless)
{
    batch_spread(b, b->answer);
    settle(b, keyless);
}

/* Combines two records of one line; a record with a key wins over a keyless one. */
static uint8_t either(struct session *s, uint8_t a, uint8_t b)
{
    if (a != BATCH_KEYLESS && b != BATCH_KEYLESS)
        return a | b;
    s->keyless--;
    return a == BATCH_KEYLESS ? b : a;
}

void session_fold(struct session *s, struct batch *b, uint8_t keyless)
{
    struct block *block = &b->block;
    size_t lines = 0;
    batch_spread(b, b->answer);
    for (size_t i = 0; block->shared && i < block->n; i++) {
        if (lines && block->ends[i] == block->ends[lines - 1]) {
            const uint8_t so_far = b->answer[lines - 1];
            b->answer[lines - 1] = either(s, so_far, b->answer[i]);
            if (b->answer[lines - 1] != so_far)
                block->keys[lines - 1] = block->keys[i];
            continue;
        }
        b->answer[lines] = b->answer[i];
        block->keys[lines] = block->keys[i];
        block->ends[lines++] = block->ends[i];
    }
    if (block->shared) {
        s->records -= block->n - lines;
        block->n = lines;
        block->shared = false;
    }
    settle(b, keyless);
}

bool session_can_dedup(uint32_t kind)
{
    const bool forgets =
        deja_kind_can(kind, DEJA_CAN_FORGET) && !deja_kind_can(kind, DEJA_CAN_EXPIRE);
    return !kind || (deja_kind_can(kind, DEJA_CAN_ADD) && !forgets);
}

uint64_t session_too_many(const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    if (deja_filter_stats(f, 0, &o, NULL) < 0 || !o.excess)
        return 0;
    return deja_kind_can(o.kind, DEJA_CAN_EXPIRE) ? o.capacity + o.excess : o.entries;
}

void session_watch(struct session *s, const char *what)
{
    deja_stats stats = DEJA_STATS_INIT;
    const uint64_t keys = s->warned || !s->filter ? 0 : session_too_many(s->filter);
    if (!keys || deja_filter_stats(s->filter, DEJA_STATS_BODY, &stats, NULL) < 0)
        return;
    s->warned = true;
    console_warn(
        s->call->console,
        "%s was sized for %s and now holds %s: its rate is %s and rises with every key, so "
        "more new lines are lost; use a larger -n%s",
        what, num_of(stats.capacity, "key").s, num_count(keys).s, num_rate(stats.fp_now).s,
        s->shared->fixed ? ", or omit --fixed" : "");
}

uint64_t session_count(const struct batch *b)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b->block.n; i++)
        n += b->answer[i];
    return n;
}

/* A paragraph at the end of a file may lack the blank line that separates it from the next.  It is
 * printed when there is a next one. */
static void separate(struct session *s, const struct block *b, size_t end)
{
    if (s->separator)
        out_text(s->out, s->separator);
    const bool is_last = b->unseparated && end == b->len;
    const bool crlf = is_last && end > 1 && b->data[end - 2] == '\r';
    s->separator = !is_last ? NULL : crlf ? "\r\n" : "\n";
}

void session_print_record(struct session *s, const struct block *b, size_t i, const char *front)
{
    size_t begin = i ? b->ends[i - 1] : 0;
    const size_t end = b->ends[i];
    if (s->shared->paragraphs)
        begin += paragraph_margin((deja_slice){b->data + begin, end - begin});
    separate(s, b, end);
    out_text(s->out, front);
    if (s->urls.forms) {
        out_write(s->out, b->forms[i].data, b->forms[i].len);
        begin = end - 1;
    }
    out_write(s->out, b->data + begin, end - begin);
}

void session_print_between(struct session *s, const struct block *b, size_t i, deja_slice front,
                           deja_slice back)
{
    const size_t begin = i ? b->ends[i - 1] : 0;
    size_t stop = b->ends[i] - 1; /* the terminator, and the carriage return before it */
    if (b->data[stop] == '\n' && stop > begin && b->data[stop - 1] == '\r')
        stop--;
    const deja_slice line = {b->data + begin, stop - begin};
    const deja_slice text = s->urls.forms ? b->forms[i] : line;
    out_write(s->out, front.data, front.len);
    out_write(s->out, text.data, text.len);
    out_write(s->out, back.data, back.len);
    out_write(s->out, b->data + stop, b->ends[i] - stop);
}

struct printing {
    struct session *s;
    const struct block *b;
};

static void print_piece(void *printing, const void *data, size_t len)
{
    const struct printing *p = printing;
    if (!p->s->urls.forms)
        separate(p->s, p->b, (size_t)((const char *)data - p->b->data) + len);
    out_write(p->s->out, data, len);
}

static void put_forms(const struct batch *b, uint8_t want, session_put_fn *put, void *to)
{
    const struct block *block = &b->block;
    for (size_t i = 0; i < block->n; i++) {
        if (b->answer[i] != want)
            continue;
        put(to, block->forms[i].data, block->forms[i].len);
        put(to, block->data + block->ends[i] - 1, 1);
    }
}

/* Adjacent lines are one piece: a block of only new lines is one write. */
void session_pieces(const struct session *s, const struct batch *b, uint8_t want,
                    session_put_fn *put, void *to)
{
    const struct block *block = &b->block;
    if (s->urls.forms) {
        put_forms(b, want, put, to);
        return;
    }
    size_t i = 0;
    while (i < block->n) {
        while (i < block->n && b->answer[i] != want)
            i++;
        const size_t from = i;
        while (i < block->n && b->answer[i] == want)
            i++;
        if (i > from) {
            const size_t begin = from ? block->ends[from - 1] : 0;
            put(to, block->data + begin, block->ends[i - 1] - begin);
        }
    }
}

void session_print(struct session *s, const struct batch *b, uint8_t want)
{
    struct printing p = {s, &b->block};
    session_print_header(s, "");
    session_pieces(s, b, want, print_piece, &p);
}

bool session_header(const struct session *s, deja_slice *header)
{
    return !s->urls.forms && input_header(s->in, header);
}

void session_print_header(struct session *s, const char *front)
{
    deja_slice header;
    if (s->header_printed || !session_header(s, &header))
        return;
    out_text(s->out, front);
    out_write(s->out, header.data, header.len);
    s->header_printed = true;
}

static uint64_t counted(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

const char *session_no_urls(uint64_t n)
{
    return n == 1 ? "is not a URL" : "are not URLs";
}

static void warn_no_urls(const struct session *s)
{
    const uint64_t no_url = counted(&s->urls.no_url), no_idna = counted(&s->urls.no_idna);
    const char *rest =
        s->urls.use == URLKEYS_STORE && counted(&s->urls.left_out) ? ", skipped" : "";
    if (no_idna)
        console_note(s->call->console,
                     "%s with hosts that need IDNA%s%s; rebuild deja with libidn2 to support it",
                     num_lines(no_idna).s, rest,
                     leftout_names(&s->left_out, BLOCK_NO_IDNA, no_idna).text);
    if (no_url)
        console_note(s->call->console, "%s %s%s%s", num_lines(no_url).s, session_no_urls(no_url),
                     rest, leftout_names(&s->left_out, BLOCK_NO_URL, no_url).text);
}

static uint64_t any_skipped(const struct input_progress *in)
{
    uint64_t n = 0;
    for (size_t i = 0; i < BLOCKLIST_REASONS; i++)
        n += in->skipped[i];
    return n;
}

/* "5 rules without a key (3 cosmetic, 2 exception), skipped: rules.txt:3 "##.banner", ..." */
static void warn_skipped(const struct session *s, const struct input_progress *in,
                         const char *fate)
{
    char reasons[200] = "";
    for (size_t i = 0; i < BLOCKLIST_REASONS; i++)
        if (in->skipped[i])
            printable_append(reasons, sizeof reasons, "%s%s %s", *reasons ? ", " : "",
                             num_count(in->skipped[i]).s, blocklist_reason_name(i));
    console_note(s->call->console, "%s without a key (%s), %s%s",
                 num_of(any_skipped(in), "rule").s, reasons, fate,
                 leftout_names(&s->left_out, BLOCK_RULE, any_skipped(in)).text);
}

static void warn_keyless(const struct session *s)
{
    static const char *const fates[] = {
        [URLKEYS_COMPARE] = "passed through",
        [URLKEYS_STORE] = "skipped",
        [URLKEYS_LOOK_UP] = "not in the filter",
        [URLKEYS_PREFIX] = "not in the filter",
    };
    struct input_progress in;
    input_progress(s->in, &in);
    if (in.rules || any_skipped(&in))
        warn_skipped(s, &in, fates[s->urls.use]);
    /* warn_no_urls and warn_skipped report these: */
    const uint64_t reported = counted(&s->urls.left_out) + in.rules;
    const uint64_t n = s->keyless > reported ? s->keyless - reported : 0;
    if (n)
        console_note(s->call->console, "%s without %s, %s%s", num_lines(n).s,
                     s->urls.rules ? "a URL" : input_wanted(s->in).text, fates[s->urls.use],
                     leftout_names(&s->left_out, BLOCK_NO_KEY, n).text);
}

static void report_skipped(const struct session *s, struct json *j)
{
    struct input_progress in;
    input_progress(s->in, &in);
    json_object(j, "rules_skipped");
    json_uint(j, "cosmetic", in.skipped[BLOCKLIST_COSMETIC]);
    json_uint(j, "exception", in.skipped[BLOCKLIST_EXCEPTION]);
    json_uint(j, "limited", in.skipped[BLOCKLIST_LIMITED]);
    json_uint(j, "pattern", in.skipped[BLOCKLIST_PATTERN]);
    json_uint(j, "other", in.skipped[BLOCKLIST_OTHER]);
    json_end(j);
}

struct closing session_closing(const struct session *s)
{
    struct closing c;
    closing_begin(&c, s->call->console, s->stopped);
    closing_count(&c, s->records, "read");
    return c;
}

struct closing session_closing_new(const struct session *s, uint64_t is_new, uint64_t seen)
{
    struct closing c = session_closing(s);
    closing_count(&c, is_new, "new");
    closing_count(&c, seen, "seen before");
    return c;
}

bool session_grew(const struct session *s)
{
    return filter_bytes(s->filter) > s->bytes;
}

void session_print_closing(const struct session *s, struct closing *c)
{
    if (session_grew(s))
        closing_remark(c, "filter grew to %s", num_bytes(filter_bytes(s->filter)).s);
    closing_print(c, progress_seconds(&s->progress));
}

bool session_report_begin(struct session_report *r, const struct session *s)
{
    deja_error unused;
    r->own = OUT_NONE;
    r->out = s->call->out;
    if (s->out == s->call->out) {
        if (s->shared->quiet || out_init(&r->own, STDERR_FILENO, "standard error", &unused) < 0)
            return false;
        r->out = &r->own;
    }
    json_begin(&r->json, r->out);
    json_object(&r->json, NULL);
    return true;
}

void session_report_end(struct session_report *r, const struct session *s)
{
    struct json *j = &r->json;
    deja_error unused;
    json_uint(j, "keyless", s->keyless);
    if (pick_is_list(s->shared->format))
        report_skipped(s, j);
    json_real(j, "seconds", progress_seconds(&s->progress));
    json_bool(j, "stopped", s->stopped);
    leftout_json(&s->left_out, j);
    if (s->urls.rules) {
        json_string(j, "profile", deja_profile_name(deja_url_rules_profile(s->urls.rules)));
        json_uint(j, "no_urls", counted(&s->urls.no_url));
        json_uint(j, "no_idna", counted(&s->urls.no_idna));
    }
    json_end(j);
    (void)out_close(&r->own, &unused);
}

void session_warn_missing(const struct session *s)
{
    if (!s->in)
        return;
    if (!s->shared->json) { /* which contains the numbers */
        warn_no_urls(s);
        warn_keyless(s);
    }
    if (input_headers_differ(s->in))
        console_note(s->call->console, "the files have different headers; the first is printed");
}
