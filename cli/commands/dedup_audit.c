/* dedup_audit.c - deja dedup --audit N; see dedup_audit.h and audit.h.
 *
 * The input is read twice, as for --counts.  The second reading takes place after all lines have
 * been delivered and recorded, so whatever happens to it, no line is lost.  Its hash function is
 * not that of the filter: a key of the papers' functions has many hashes, and one is enough. */
#include "cli/commands/dedup_audit.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

/* An option that was given and cannot be combined with --audit, or NULL. */
static const char *not_audited(const struct dedup_options *o)
{
    return o->shared.redis.n      ? "--redis"
           : o->append            ? "--append"
           : o->again_after       ? "--again-after"
           : o->shared.paragraphs ? "--paragraphs"
           : o->shared.jsonl_text ? "--jsonl-text"
           : o->shared.ngrams     ? "--ngrams"
                                  : NULL;
}

static int refuse_window(deja_error *err)
{
    return fail(err, OPT_USAGE,
                "--audit needs a filter that remembers all lines: whether a window should have "
                "found a line depends on when the line was last seen");
}

int dedup_audit_check(const struct dedup_options *o, deja_error *err)
{
    const char *other = not_audited(o);
    if (other)
        return fail(err, OPT_USAGE, "--audit and %s cannot be combined: %s", other,
                    o->shared.redis.n ? "the server's lines cannot be read again"
                    : o->append       ? "the lines of FILE cannot be checked; give FILE as input"
                    : o->again_after  ? "a line that is printed again is not lost"
                                      : "lines are checked, not texts");
    return deja_kind_can(o->shared.filter.kind, DEJA_CAN_EXPIRE) ? refuse_window(err) : DEJA_OK;
}

/* Keys of earlier runs are not in the input, so they would look lost. */
static int check_filter(const char *state, const deja_filter *filter, deja_error *err)
{
    deja_stats stats = DEJA_STATS_INIT;
    const int rc = deja_filter_stats(filter, 0, &stats, err);
    if (rc < 0)
        return rc;
    if (deja_filter_can(filter, DEJA_CAN_EXPIRE))
        return refuse_window(err);
    if (!stats.entries)
        return DEJA_OK;
    return fail(err, OPT_USAGE,
                "%s has keys of earlier runs, which --audit cannot check: it reads the lines of "
                "this run only; use a new state, with the lines of all runs as input",
                fail_path(state).text);
}

int dedup_audit_begin(struct dedup_audit *a, const struct dedup_options *o,
                      const deja_filter *filter, struct session *s, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    uint64_t seed;
    if (!o->audit)
        return DEJA_OK;
    int rc = check_filter(o->state, filter, err);
    opt.kind = DEJA_EXACT;
    opt.capacity = 1;
    opt.seed = o->shared.filter.seed;
    if (rc == DEJA_OK)
        rc = deja_filter_new(&opt, &a->hasher, err);
    if (rc < 0)
        return rc;
    /* Random like its key, or repeatable with --seed. */
    deja_filter_hash_batch(a->hasher, &(deja_slice){"sample", 6}, 1, &seed);
    audit_init(&a->sample, (size_t)o->audit, seed);
    a->keep = o->keep ? o->keep : 1;
    a->wanted = true;
    s->twice = true;
    return DEJA_OK;
}

int dedup_audit_take(struct dedup_audit *a, const struct batch *b, deja_error *err)
{
    return a->wanted ? audit_take(&a->sample, b, err) : DEJA_OK;
}

static int check_batch(void *audit, struct batch *b, deja_error *err)
{
    struct dedup_audit *a = audit;
    return audit_check(&a->sample, b, a->keep, err);
}

static int read_again(struct dedup_audit *a, struct session *s, deja_error *err)
{
    int rc = session_rewind(s, err);
    if (rc == DEJA_OK)
        rc = session_each(s, check_batch, a, err);
    if (rc < 0 || s->stopped)
        return rc;
    rc = audit_end_check(&a->sample, err);
    a->done = rc == DEJA_OK;
    return rc;
}

int dedup_audit_run(struct dedup_audit *a, struct session *s, deja_error *err)
{
    if (!a->wanted || s->stopped)
        return DEJA_OK;
    const deja_filter *filter = s->filter;
    const uint64_t records = s->records, keyless = s->keyless, lookups = s->lookups;
    int rc = audit_begin_check(&a->sample, a->hasher, err);
    if (rc < 0)
        return rc;
    s->filter = NULL;
    s->hash = pipeline_hash_of(a->hasher);
    session_on_pause(s, NULL, NULL);
    rc = read_again(a, s, err);
    s->filter = filter;
    s->records = records; /* session_fold counted the lines of the first reading */
    s->keyless = keyless;
    s->lookups = lookups;
    return rc;
}

void dedup_audit_tell(const struct dedup_audit *a, struct console *console, double expected)
{
    const struct audit_loss loss = audit_loss(&a->sample);
    const uint64_t n = a->sample.n, found = a->sample.found;
    if (a->wanted && !a->done)
        console_note(console, "audit: stopped before the dropped lines were checked");
    if (!a->done)
        return;
    if (n == found) {
        console_note(console, "audit: %s lost, %s expected; all %s dropped lines were checked",
                     num_count(a->sample.lost).s, num_estimate(expected).s, num_count(found).s);
        return;
    }
    console_note(console, "audit: %s of a sample of %s dropped lines %s new",
                 num_count(a->sample.lost).s, num_count(n).s,
                 a->sample.lost == 1 ? "was" : "were");
    console_note(console, "audit: %s lost (95%%: %s to %s), %s expected",
                 num_estimate(loss.lost).s, num_estimate(loss.low).s, num_estimate(loss.high).s,
                 num_estimate(expected).s);
}

void dedup_audit_json(const struct dedup_audit *a, struct json *j, double expected)
{
    const struct audit_loss loss = audit_loss(&a->sample);
    if (!a->wanted)
        return;
    if (!a->done) {
        json_null(j, "audit");
        return;
    }
    json_object(j, "audit");
    json_uint(j, "dropped", a->sample.found);
    json_uint(j, "checked", a->sample.n);
    json_uint(j, "lost_in_sample", a->sample.lost);
    json_real(j, "lost", loss.lost);
    json_real(j, "lost_low", loss.low);
    json_real(j, "lost_high", loss.high);
    json_real(j, "confidence", 0.95);
    json_real(j, "expected", expected);
    json_end(j);
}

void dedup_audit_fini(struct dedup_audit *a)
{
    audit_fini(&a->sample);
    deja_filter_free(a->hasher);
}
