/* dedup_sieve.c - deja dedup --sieve DIR; see dedup_sieve.h.
 *
 * Each key of a batch is judged new, seen or pending.  New lines are printed at once.  Pending lines
 * are in the sieve's spool, from which they come back when they are settled; they are then printed
 * if their keys turn out to be new (with -D, if they do not).
 *
 * Output before state, as with --state: keys are committed only after their lines have been written
 * and, if the output is a file, synced.
 *
 * The spool has lines without their terminators, so that a run with -z can print those of a run
 * without.  A line with several keys (--format hosts) is pending if one of its keys is and none is
 * new.  Its pending keys share a token, the number of the line; they are settled one after another,
 * and the line is printed once.  Lines that were printed because of another key are in `printed`. */
#include "cli/commands/dedup_sieve.h"
#include "cli/session/sieves.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include "tools/base/sys.h"
#include <inttypes.h>
#include <stdlib.h>

/* Answers of a batch: a line with several keys gets the bits of all of them. */
enum {
    SEEN = 0,
    NEW = 1,
    PENDING = 4 /* not 2: BATCH_KEYLESS */
};

#define SETTLED 1024      /* keys that are taken at once */
#define COMMIT  (1 << 15) /* new keys after which they are committed */

/* --late */
struct limit {
    uint64_t seconds, lines, bytes; /* 0: no limit */
};

/* A settled line with several keys, while these arrive. */
struct group {
    uint64_t token; /* 0: none */
    bool is_new;
    struct buffer line;
};

struct job {
    const struct call *call;
    const struct dedup_options *o;
    deja_sieve *sieve;
    struct session session;
    struct limit limit;
    bool sync_output; /* a regular file, which must be synced */
    double synced;    /* time of the last sync of the sieve, in seconds of the session */
    bool unsynced;    /* it has changed since then */
    bool unprinted;   /* keys were judged or settled whose lines have not been printed */

    uint64_t *token; /* for each key of a batch */
    deja_slice *line;
    size_t token_cap, line_cap;
    uint64_t *printed; /* tokens of lines that have pending keys and were printed */
    size_t n_printed, at_printed, printed_cap;
    struct group group;

    uint64_t uncommitted;               /* new keys since the last commit */
    uint64_t lines;                     /* judged so far */
    uint64_t waiting, waiting_bytes;    /* lines that are pending */
    double since;                       /* when the first of them arrived */
    uint64_t kept, dropped, late, left; /* left: lines of an earlier run that were settled */
    deja_sieve_report before;
};

/* --- Options ---------------------------------------------------------------- */

static int parse_late(const char *text, struct limit *limit, deja_error *err)
{
    const size_t len = text ? strlen(text) : 0;
    *limit = (struct limit){0};
    if (!text)
        return DEJA_OK;
    deja_error why;
    int rc;
    if (len && strchr("smhdw", text[len - 1]))
        rc = num_parse_duration(text, &limit->seconds, &why);
    else if (strpbrk(text, "GTPB"))
        rc = num_parse_size(text, &limit->bytes, &why);
    else
        rc = num_parse_count(text, &limit->lines, &why);
    if (rc < 0 || !(limit->seconds || limit->bytes || limit->lines))
        return fail(err, OPT_USAGE,
                    "--late takes a time (30s, 15m), a number of lines (1M) or bytes (2G, 500MB), "
                    "not '%.40s'",
                    text);
    return DEJA_OK;
}

static struct conflict conflict_of(const struct dedup_options *o)
{
    const struct shared_options *c = &o->shared;
    const char *texts = "lines wait, not texts";
    return o->state     ? (struct conflict){"--state", "a sieve is a state"}
           : c->redis.n ? (struct conflict){"--redis", "a sieve is a local directory"}
           : o->append  ? (struct conflict){"--append", "the sieve remembers the lines; append "
                                                         "the output with >> FILE"}
           : o->again_after ? (struct conflict){"--again-after", "a sieve does not store dates"}
           : o->counts      ? (struct conflict){"--counts", "a sieve does not count lines"}
           : o->unique      ? (struct conflict){"-u", "a sieve does not count lines"}
           : o->keep        ? (struct conflict){"--keep", "a sieve does not count lines"}
           : o->audit       ? (struct conflict){"--audit", "a sieve loses no line"}
           : c->filter.kind ? (struct conflict){"-k", "a sieve has its own filter"}
           : c->mode
               ? (struct conflict){"--mode", "a sieve is readable only by its owner; use chmod"}
           : c->paragraphs ? (struct conflict){"--paragraphs", texts}
           : c->jsonl_text ? (struct conflict){"--jsonl-text", texts}
           : c->ngrams     ? (struct conflict){"--ngrams", texts}
                           : (struct conflict){NULL, NULL};
}

int dedup_sieve_check(const struct dedup_options *o, deja_error *err)
{
    struct limit unused;
    if (!o->sieve)
        return fail(err, OPT_USAGE,
                    "--late limits how long lines of a sieve wait: give --sieve DIR");
    const int rc = sieves_refuse("--sieve", conflict_of(o), err);
    return rc < 0 ? rc : parse_late(o->late, &unused, err);
}

static int open_sieve(struct job *j, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options given;
    int rc = session_begin(&j->session, &j->o->shared, URLKEYS_COMPARE, key, &given, err);
    if (rc == DEJA_OK)
        rc = sieves_open(&j->session, j->o->sieve, DEJA_OPEN_CREATE, &given, &j->sieve, err);
    sys_wipe(key, sizeof key);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(j->sieve, &j->before, err);
    if (rc == DEJA_OK)
        sieves_note_ignored(j->call->console, &j->o->shared);
    return rc;
}

/* --- Delivery ----------------------------------------------------------------- */

/* Delivers the lines printed so far; then their keys count as seen. */
static int commit(struct job *j, deja_error *err)
{
    const int rc = call_hand_over(j->session.out, j->sync_output, err);
    j->unsynced = true;
    if (rc < 0)
        return rc;
    j->uncommitted = 0;
    return deja_sieve_commit(j->sieve, err);
}

static int sync_sieve(struct job *j, deja_error *err)
{
    int rc = commit(j, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_sync(j->sieve, err);
    j->synced = progress_seconds(&j->session.progress);
    j->unsynced = false;
    return rc;
}

/* --- Settling --------------------------------------------------------------- */

/* Prints a line that has waited, or counts it. */
static void deliver(struct job *j, deja_slice line, bool is_new)
{
    const char terminator = j->o->shared.null ? '\0' : '\n';
    j->kept += is_new;
    j->late += is_new;
    j->dropped += !is_new;
    if (j->waiting)
        j->waiting--;
    else
        j->left++;
    if (j->o->count || is_new == j->o->repeated)
        return;
    session_print_header(&j->session, "");
    out_write(j->session.out, line.data, line.len);
    out_write(j->session.out, &terminator, 1);
}

/* Was the line with this token printed because of another key?  Tokens arrive in order. */
static bool was_printed(struct job *j, uint64_t token)
{
    while (j->at_printed < j->n_printed && j->printed[j->at_printed] < token)
        j->at_printed++;
    return j->at_printed < j->n_printed && j->printed[j->at_printed] == token;
}

static void end_group(struct job *j)
{
    struct group *g = &j->group;
    if (g->token && !was_printed(j, g->token))
        deliver(j, buffer_slice(&g->line), g->is_new);
    g->token = 0;
}

/* Takes a settled key. */
static int take(struct job *j, const deja_settled *s, deja_error *err)
{
    struct group *g = &j->group;
    const bool is_new = s->verdict == DEJA_SIEVE_NEW;
    j->uncommitted += is_new;
    if (s->token != g->token)
        end_group(j);
    if (s->token == DEJA_SIEVE_NO_RECORD) /* an interrupted `deja add` left this key */
        return DEJA_OK;
    if (!s->token) {
        deliver(j, s->record, is_new);
        return DEJA_OK;
    }
    if (g->token) {
        g->is_new |= is_new;
        return DEJA_OK;
    }
    g->token = s->token;
    g->is_new = is_new;
    g->line.len = 0;
    if (!buffer_add(&g->line, s->record.data, s->record.len))
        return fail(err, DEJA_ENOMEM, "out of memory for a line of %zu bytes", s->record.len);
    return DEJA_OK;
}

/* Prints the lines that have been settled.  While a line with several keys is in the group, it has
 * not been printed, and nothing can be committed. */
static int take_settled(struct job *j, deja_error *err)
{
    deja_settled settled[SETTLED];
    size_t n = 1;
    int rc = DEJA_OK;
    while (n > 0 && rc == DEJA_OK) {
        rc = deja_sieve_settled(j->sieve, settled, SETTLED, &n, err);
        for (size_t i = 0; rc == DEJA_OK && i < n; i++)
            rc = take(j, &settled[i], err);
        if (rc == DEJA_OK && !j->group.token && j->uncommitted >= COMMIT)
            rc = commit(j, err);
    }
    if (rc == DEJA_OK)
        end_group(j);
    return rc;
}

static uint64_t pending(const struct job *j)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    return deja_sieve_stats(j->sieve, &r, NULL) == DEJA_OK ? r.pending : 0;
}

/* Decides all pending lines, and delivers them. */
static int settle(struct job *j, deja_error *err)
{
    int rc = commit(j, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_settle(j->sieve, err);
    if (rc < 0)
        return rc;
    j->unprinted = true;
    rc = take_settled(j, err);
    if (rc < 0)
        return rc;
    j->unprinted = false;
    j->n_printed = j->at_printed = 0;
    j->waiting = j->waiting_bytes = 0;
    return commit(j, err);
}

static bool is_overdue(const struct job *j)
{
    const struct limit *l = &j->limit;
    return j->waiting &&
           ((l->lines && j->waiting >= l->lines) || (l->bytes && j->waiting_bytes >= l->bytes) ||
            (l->seconds &&
             progress_seconds(&j->session.progress) - j->since >= (double)l->seconds));
}

/* --- The lines ------------------------------------------------------------ */

static bool make_room(struct job *j, size_t n)
{
    if (n > j->token_cap)
        j->token = array_renew(j->token, &j->token_cap, n, sizeof *j->token);
    if (n > j->line_cap)
        j->line = array_renew(j->line, &j->line_cap, n, sizeof *j->line);
    return j->token && j->line;
}

/* Lists the line of each key, without its terminator, and its token. */
static void list_lines(struct job *j, const struct batch *b)
{
    const struct block *block = &b->block;
    size_t begin = 0, key = 0;
    uint64_t number = j->lines;
    for (size_t i = 0; i < block->n; i++) {
        if (i == 0 || block->ends[i] != block->ends[i - 1]) {
            begin = i ? block->ends[i - 1] : 0;
            number++;
        }
        if (!block->keys[i].data)
            continue;
        j->token[key] = block->shared ? number : 0;
        j->line[key++] = j->session.urls.forms
                             ? block->forms[i]
                             : (deja_slice){block->data + begin, block->ends[i] - 1 - begin};
    }
}

/* Judges keys.  If there is no room, commits earlier keys, then settles the pending ones; but only
 * before the first key of a batch, when all earlier lines have been printed. */
static int judge_some(struct job *j, const struct batch *b, size_t from, size_t n, deja_error *err)
{
    const deja_fingerprint *fp = sieves_fingerprints(b) + from;
    int rc = DEJA_EFULL;
    for (int attempt = 0; rc == DEJA_EFULL && attempt < (from ? 1 : 3); attempt++) {
        rc = attempt == 0 ? DEJA_OK : attempt == 1 ? commit(j, err) : settle(j, err);
        if (rc == DEJA_OK)
            rc = deja_sieve_judge(j->sieve, fp, n, j->token + from, j->line + from,
                                  b->answer + from, err);
    }
    return rc;
}

/* Judges the keys of a batch, nearly always in one call. */
static int judge(struct job *j, const struct batch *b, deja_error *err)
{
    int rc = DEJA_OK;
    if (!make_room(j, b->block.n))
        return fail(err, DEJA_ENOMEM, "out of memory for a block of %zu lines", b->block.n);
    list_lines(j, b);
    for (size_t from = 0; from < b->keyed && rc == DEJA_OK; from += DEJA_SIEVE_BATCH) {
        const size_t rest = b->keyed - from;
        rc = judge_some(j, b, from, rest < DEJA_SIEVE_BATCH ? rest : DEJA_SIEVE_BATCH, err);
    }
    for (size_t i = 0; i < b->keyed && rc == DEJA_OK; i++) {
        j->uncommitted += b->answer[i] == DEJA_SIEVE_NEW;
        if (b->answer[i] == DEJA_SIEVE_PENDING)
            b->answer[i] = PENDING;
    }
    return rc;
}

static int add_printed(struct job *j, uint64_t token, deja_error *err)
{
    uint64_t *room = array_grow(j->printed, &j->printed_cap, j->n_printed + 1, sizeof *j->printed);
    if (!room)
        return fail(err, DEJA_ENOMEM, "out of memory for lines that wait");
    j->printed = room;
    j->printed[j->n_printed++] = token;
    return DEJA_OK;
}

static void wait_for(struct job *j, const struct block *b, size_t i)
{
    if (!j->waiting)
        j->since = progress_seconds(&j->session.progress);
    j->waiting++;
    j->waiting_bytes += b->ends[i] - (i ? b->ends[i - 1] : 0);
}

/* Gives each line one answer, and counts them. */
static int count_lines(struct job *j, struct batch *b, deja_error *err)
{
    int rc = DEJA_OK;
    session_fold(&j->session, b, NEW); /* keyless lines are never repeats */
    for (size_t i = 0; i < b->block.n && rc == DEJA_OK; i++) {
        const uint8_t answer = b->answer[i];
        if (answer == (NEW | PENDING))
            rc = add_printed(j, j->lines + i + 1, err);
        if (answer == PENDING)
            wait_for(j, &b->block, i);
        if (answer & NEW)
            b->answer[i] = NEW;
        j->kept += b->answer[i] == NEW;
        j->dropped += b->answer[i] == SEEN;
    }
    j->lines += b->block.n;
    return rc;
}

static int after_batch(struct job *j, deja_error *err)
{
    if (is_overdue(j))
        return settle(j, err);
    if (progress_seconds(&j->session.progress) - j->synced > SESSION_SYNC)
        return sync_sieve(j, err);
    if (j->sync_output && j->uncommitted < COMMIT)
        return out_flush(j->session.out, err); /* the next commit syncs it */
    return commit(j, err);
}

static int process(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    int rc = judge(j, b, err);
    if (rc < 0)
        return rc;
    j->unprinted = true;
    rc = count_lines(j, b, err);
    if (rc < 0)
        return rc;
    if (!j->o->count)
        session_print(&j->session, b, !j->o->repeated);
    j->unprinted = false;
    return after_batch(j, err);
}

/* Commits while the input pauses, and settles lines that have waited long enough. */
static int on_pause(void *job, deja_error *err)
{
    struct job *j = job;
    int rc = is_overdue(j) ? settle(j, err) : commit(j, err);
    if (rc == DEJA_OK && progress_seconds(&j->session.progress) - j->synced > SESSION_SYNC)
        rc = sync_sieve(j, err);
    return rc < 0 ? rc : j->unsynced || (j->waiting && j->limit.seconds);
}

/* --- The account ---------------------------------------------------------- */

static void describe(void *job, char *text, size_t cap)
{
    const struct job *j = job;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    if (deja_sieve_stats(j->sieve, &r, NULL) < 0)
        return;
    printable_append(text, cap, "  %s pending  %s settled  %s late", num_short(r.pending).s,
                     num_short(r.settled - j->before.settled).s, num_short(j->late).s);
    if (r.merges > j->before.merges || r.merging)
        printable_append(text, cap, "  %s merges%s", num_count(r.merges - j->before.merges).s,
                         r.merging ? "+" : "");
}

static void report_json(const struct job *j, const deja_sieve_report *s)
{
    struct session_report r;
    struct input_progress in;
    input_progress(j->session.in, &in);
    if (!session_report_begin(&r, &j->session))
        return;
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "kept", j->kept);
    json_uint(&r.json, "dropped", j->dropped);
    json_uint(&r.json, "late", j->late);
    json_uint(&r.json, "from_earlier_run", j->left);
    json_uint(&r.json, "lost", 0);
    json_real(&r.json, "wrong", s->wrong);
    json_uint(&r.json, "bytes", in.decoded);
    json_uint(&r.json, "settled", s->settled - j->before.settled);
    json_uint(&r.json, "passes", s->passes - j->before.passes);
    json_uint(&r.json, "merges", s->merges - j->before.merges);
    json_uint(&r.json, "keys", s->keys);
    json_uint(&r.json, "runs", s->runs);
    json_uint(&r.json, "disk_bytes", s->disk);
    json_uint(&r.json, "memory_bytes", s->memory);
    json_uint(&r.json, "memory_used", s->memory_used);
    json_real(&r.json, "wait_rate", s->wait_rate);
    session_report_end(&r, &j->session);
}

static void tell(const struct job *j, const deja_sieve_report *s)
{
    struct console *console = j->call->console;
    struct closing c = session_closing_new(&j->session, j->kept, j->dropped);
    if (!j->late)
        closing_remark(&c, "0 lost, %s", sieves_certainty(s->wrong).s);
    session_print_closing(&j->session, &c);
    if (j->late) {
        console_note(console, "%s came late (a filter alone would have lost %s)",
                     num_count(j->late).s, j->late == 1 ? "it" : "them");
        console_note(console, "0 lost, %s", sieves_certainty(s->wrong).s);
    }
    if (j->left)
        console_note(console, "%s had waited since an earlier run", num_lines(j->left).s);
    if (j->o->shared.verbose)
        sieves_tell_costs(console, j->o->sieve, &j->before, s);
}

static void account(const struct job *j)
{
    deja_sieve_report s = DEJA_SIEVE_REPORT_INIT;
    if (deja_sieve_stats(j->sieve, &s, NULL) < 0)
        return;
    session_warn_missing(&j->session);
    if (j->o->shared.json)
        report_json(j, &s);
    else
        tell(j, &s);
    sieves_warn_merges(j->call->console, j->o->sieve, &s);
}

/* --- The whole run ---------------------------------------------------------- */

/* Settles the last lines, and saves the filter. */
static int end(struct job *j, deja_error *err)
{
    const uint64_t n = pending(j);
    int rc = DEJA_OK;
    if (n && j->session.stopped)
        console_note(j->call->console, "settling %s; Ctrl-C again leaves them for the next run",
                     num_lines(n).s);
    if (n)
        rc = settle(j, err);
    if (rc == DEJA_OK && !j->o->count)
        session_print_header(&j->session, "");
    if (rc == DEJA_OK && j->o->count)
        out_printf(j->session.out, "%" PRIu64 "\n", j->o->repeated ? j->dropped : j->kept);
    if (rc == DEJA_OK)
        rc = commit(j, err);
    return rc < 0 ? rc : sieves_save(j->sieve, err);
}

/* After a failure, lines that were delivered stay recorded, and those that wait stay in the
 * spool. */
static int finish(struct job *j, int rc, deja_error *err)
{
    deja_error late = {0};
    if (rc == DEJA_OK)
        rc = end(j, err);
    if (rc == DEJA_OK) {
        account(j);
        return rc;
    }
    int saved = j->unprinted ? DEJA_OK : commit(j, &late);
    if (saved == DEJA_OK)
        saved = deja_sieve_sync(j->sieve, &late);
    if (saved < 0 && saved != OUT_GONE && strcmp(late.text, err->text) != 0)
        console_error(j->call->console, "%s", late.text);
    const uint64_t n = rc == OUT_GONE ? 0 : pending(j);
    if (n)
        console_note(j->call->console, "%s %s in %s; the next run decides about them",
                     num_lines(n).s, n == 1 ? "waits" : "wait", fail_path(j->o->sieve).text);
    return rc;
}

/* Lines that an earlier run left in the spool come first. */
static int read_all(struct job *j, deja_error *err)
{
    j->sync_output = call_is_file(j->session.out);
    session_on_pause(&j->session, on_pause, j);
    session_describe(&j->session, describe, j);
    const int rc = j->before.pending ? settle(j, err) : DEJA_OK;
    return finish(j, rc < 0 ? rc : session_each(&j->session, process, j, err), err);
}

int dedup_sieve_run(struct call *call, deja_error *err)
{
    struct job j = {.call = call,
                    .o = call->options,
                    .before = DEJA_SIEVE_REPORT_INIT,
                    .session.batch_max = DEJA_SIEVE_BATCH / 2};
    int rc = parse_late(j.o->late, &j.limit, err);
    if (rc == DEJA_OK && !deja_sieve_exists(j.o->sieve))
        rc = shared_check_url(&j.o->shared, err);
    if (rc == DEJA_OK)
        rc = session_output(&j.session, call, &j.o->shared, 0, err);
    if (rc == DEJA_OK)
        rc = open_sieve(&j, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->shared, 0, NULL, err);
    if (rc == DEJA_OK)
        rc = read_all(&j, err);
    rc = session_finish(&j.session, rc, err);
    deja_sieve_free(j.sieve);
    buffer_fini(&j.group.line);
    free(j.token);
    free(j.line);
    free(j.printed);
    return rc;
}
