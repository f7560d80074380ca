/* dedup_counts.c - deja dedup --counts and -u; see dedup_counts.h.
 *
 * The number of a line is known only at the end of the input, but lines are printed in the order
 * of the input.  So the input is read twice: the first reading counts the keys in a table
 * (tally.h), the second prints each key once, at its first occurrence.  Only hashes
 * are kept in memory, never lines.
 *
 * If a file changes between the two readings, its counts are wrong.  So the number of lines, and
 * the sum of all hashes, must be the same both times. */
#include "cli/commands/dedup_counts.h"
#include "cli/session/linecounts.h"
#include "cli/session/session.h"
#include "cli/session/tally.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <inttypes.h>

#define HEADER "  count " /* before a CSV or CDX header */

struct reading {
    uint64_t lines, sum;
};

struct job {
    const struct call *call;
    const struct dedup_options *o;
    deja_filter *hasher; /* hashes for the pipeline; holds no keys */
    struct session session;
    struct tally tally;
    struct linecounts counts; /* of the current batch */
    struct reading first, second;
    uint64_t printed;
};

/* --- Options ---------------------------------------------------------------- */

bool dedup_counts_wanted(const struct dedup_options *o)
{
    return o->counts || o->unique;
}

/* An option that was given and that makes no sense with counts, or NULL. */
static const char *other_option(const struct dedup_options *o)
{
    return o->shared.redis.n      ? "--redis"
           : o->again_after       ? "--again-after" /* which needs --state */
           : o->state             ? "--state"
           : o->append            ? "--append"
           : o->keep              ? "--keep"
           : o->audit             ? "--audit"
           : o->shared.mode       ? "--mode"
           : o->shared.jsonl_text ? "--jsonl-text"
           : o->shared.ngrams     ? "--ngrams"
                                  : NULL;
}

int dedup_counts_check(const struct dedup_options *o, deja_error *err)
{
    const char *mode = o->counts ? "--counts" : "-u", *other = other_option(o);
    if (other)
        return fail(err, OPT_USAGE,
                    "%s and %s cannot be combined: %s counts whole lines, in one run, and prints "
                    "the first one only after it has read the last",
                    mode, other, mode);
    if (o->unique && o->repeated)
        return fail(err, OPT_USAGE,
                    "-u and -D cannot be combined: a line that occurs once is not repeated");
    if (o->counts && o->count)
        return fail(err, OPT_USAGE,
                    "--counts and -c cannot be combined: --counts prints lines, -c only a number");
    if (o->shared.filter.kind)
        return fail(err, OPT_USAGE,
                    "%s and -k cannot be combined: exact counts are kept in a table, not in a "
                    "filter; omit -k (`deja build -k spectral` makes a filter that counts)",
                    mode);
    return DEJA_OK;
}

static int make_hasher(struct job *j, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options given, opt = DEJA_OPTIONS_INIT;
    const int rc = session_begin(&j->session, &j->o->shared, URLKEYS_COMPARE, key, &given, err);
    if (rc < 0)
        return rc;
    opt.kind = DEJA_EXACT;
    opt.capacity = 1;
    opt.key = given.key;
    opt.seed = given.seed;
    char ignored[200];
    opt_list_given(shared_sizing, &j->o->shared, ignored, sizeof ignored);
    if (ignored[0])
        console_note(j->call->console, "the counts are in a table that grows; ignored: %s",
                     ignored);
    return deja_filter_new(&opt, &j->hasher, err);
}

/* --- The first reading -------------------------------------------------------- */

static void note(struct reading *r, const struct batch *b)
{
    r->lines += b->block.n;
    for (size_t i = 0; i < b->keyed; i++)
        r->sum += b->hash[i];
}

static int count_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    note(&j->first, b);
    return tally_add(&j->tally, b->hash, b->keyed, 1, err);
}

/* --- The second reading ------------------------------------------------------- */

static bool is_wanted(const struct dedup_options *o, uint64_t count)
{
    return o->unique ? count == 1 : o->repeated ? count > 1 : count > 0;
}

/* Looks up the counts.  A key has none after its first occurrence; a keyless line occurs once. */
static int look_up(struct job *j, struct batch *b, deja_error *err)
{
    const int rc = linecounts_reserve(&j->counts, b, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < b->keyed; i++) {
        const uint32_t count = tally_take(&j->tally, b->hash[i]);
        j->counts.count[i] = count == TALLY_UNKNOWN ? 0 : count; /* the sums will differ */
        b->answer[i] = is_wanted(j->o, j->counts.count[i]);
    }
    linecounts_spread(&j->counts, b, 1);
    linecounts_fold(&j->counts, b);
    session_fold(&j->session, b, is_wanted(j->o, 1));
    return DEJA_OK;
}

struct front {
    char text[32];
};

/* A count in seven columns, like that of uniq -c. */
static struct front front_of(uint64_t count)
{
    struct front f;
    char number[24];
    (void)snprintf(number, sizeof number, "%" PRIu64 "%s", count, count == TALLY_MAX ? "+" : "");
    (void)snprintf(f.text, sizeof f.text, "%7s ", number);
    return f;
}

static void print(struct job *j, const struct batch *b)
{
    const bool counts = j->o->counts;
    session_print_header(&j->session, counts ? HEADER : "");
    for (size_t i = 0; i < b->block.n; i++)
        if (b->answer[i])
            session_print_record(&j->session, &b->block, i,
                                 counts ? front_of(j->counts.count[i]).text : "");
}

static int print_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    note(&j->second, b);
    const int rc = look_up(j, b, err);
    if (rc < 0)
        return rc;
    j->printed += session_count(b);
    if (!j->o->count)
        print(j, b);
    return out_flush(j->session.out, err);
}

static int compare(const struct job *j, deja_error *err)
{
    if (j->first.lines == j->second.lines && j->first.sum == j->second.sum)
        return DEJA_OK;
    return fail(err, DEJA_EIO,
                "the input changed between two readings (%s, then %s), so the counts are wrong; "
                "run the command again",
                num_lines(j->first.lines).s, num_lines(j->second.lines).s);
}

/* --- The account ---------------------------------------------------------------- */

static void report_json(const struct job *j, const struct tally_sums *t)
{
    struct session_report r;
    if (!session_report_begin(&r, &j->session))
        return;
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "printed", j->printed);
    json_uint(&r.json, "distinct", t->distinct);
    json_uint(&r.json, "once", t->once);
    json_uint(&r.json, "saturated", t->saturated);
    json_uint(&r.json, "table_bytes", t->bytes);
    session_report_end(&r, &j->session);
}

static void report(const struct job *j)
{
    const struct tally_sums t = tally_sums(&j->tally);
    struct closing c = session_closing(&j->session);
    session_warn_missing(&j->session);
    closing_count(&c, t.distinct, "distinct");
    closing_count(&c, t.once, "once");
    if (t.saturated)
        closing_remark(&c, "%s above the maximum", num_of(t.saturated, "count").s);
    if (j->o->shared.verbose)
        closing_remark(&c, "%s printed, table %s", num_count(j->printed).s, num_bytes(t.bytes).s);
    if (j->o->shared.json)
        report_json(j, &t);
    else
        session_print_closing(&j->session, &c);
}

static int print_all(struct job *j, deja_error *err)
{
    int rc = session_rewind(&j->session, err);
    if (rc == DEJA_OK)
        rc = session_each(&j->session, print_batch, j, err);
    if (rc < 0)
        return rc;
    if (j->o->count)
        out_printf(j->session.out, "%" PRIu64 "\n", j->printed);
    else
        session_print_header(&j->session, j->o->counts ? HEADER : "");
    rc = out_flush(j->session.out, err);
    return rc == DEJA_OK && !j->session.stopped ? compare(j, err) : rc;
}

static int read_twice(struct job *j, deja_error *err)
{
    int rc = session_each(&j->session, count_batch, j, err);
    if (rc == DEJA_OK && !j->session.stopped)
        rc = print_all(j, err);
    else if (rc == DEJA_OK)
        console_note(j->call->console, "stopped: nothing is printed before all lines are counted");
    if (rc == DEJA_OK)
        report(j);
    return rc;
}

int dedup_counts_run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options, .session.twice = true};
    int rc = shared_check_url(&j.o->shared, err);
    if (rc == DEJA_OK)
        rc = session_output(&j.session, call, &j.o->shared, 0, err);
    if (rc == DEJA_OK)
        rc = make_hasher(&j, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->shared, 0, j.hasher, err);
    if (rc == DEJA_OK)
        rc = read_twice(&j, err);
    rc = session_finish(&j.session, rc, err);
    deja_filter_free(j.hasher);
    tally_fini(&j.tally);
    linecounts_fini(&j.counts);
    return rc;
}
