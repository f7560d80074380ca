/* dedup_append.c - deja dedup --append; see dedup_append.h.
 *
 * FILE is read with the same options as the input, so that its lines have the same keys, but it is
 * a second session: its lines are neither printed nor counted.  It gets what the output gets, a
 * CSV or CDX header included if it is empty. */
#include "cli/commands/dedup_append.h"
#include "cli/session/losses.h"
#include "tools/base/fail.h"

int dedup_append_open(struct dedup_append *a, const char *path, const struct call *call,
                      const struct shared_options *c, const struct session *s, deja_error *err)
{
    int rc = append_open(&a->file, path, c->null ? '\0' : '\n', err);
    if (rc == DEJA_OK)
        rc = out_refuse_inputs(s->out, &path, 1, err);
    return rc < 0 ? rc : append_refuse_inputs(&a->file, call->operands, call->n_operands, err);
}

struct dedup_append_call dedup_append_call(const struct dedup_append *a, const struct call *call)
{
    struct dedup_append_call both = {.call = *call};
    if (a->file.fd < 0 || call->n_operands == 0) /* the length of a pipe is unknown anyway */
        return both;
    both.operands = calloc(call->n_operands + 1, sizeof *both.operands);
    if (!both.operands)
        return both; /* the filter grows if it is too small */
    both.operands[0] = a->file.path;
    memcpy(both.operands + 1, call->operands, call->n_operands * sizeof *both.operands);
    both.call.operands = both.operands;
    both.call.n_operands = call->n_operands + 1;
    return both;
}

/* The lines were delivered by an earlier run, so their keys can be committed at once. */
static int learn(void *judge, struct batch *b, deja_error *err)
{
    struct judge *j = judge;
    const int rc = judge_batch(j, b, err);
    return rc == DEJA_OK && j->pending ? deja_dedup_commit(j->pending, err) : rc;
}

/* Reads all lines of a session with one input. */
static int read_lines(struct dedup_append *a, struct session *s, struct judge *judge,
                      deja_error *err)
{
    deja_slice header;
    const int rc = session_each(s, learn, judge, err);
    a->known = s->records;
    if (rc == DEJA_OK && session_header(s, &header) &&
        !buffer_add(&a->header, header.data, header.len))
        return fail(err, DEJA_ENOMEM, "out of memory for a header of %zu bytes", header.len);
    return rc;
}

/* Reading a line would set its date. */
static int refuse_dates(const struct dedup_append *a, const deja_stats *stats, deja_error *err)
{
    if (!(stats->flags & DEJA_DATES))
        return DEJA_OK;
    return fail(err, DEJA_ENOTSUP,
                "--append needs a filter without dates: every run would set the date of all lines "
                "in %s to today",
                fail_path(a->file.path).text);
}

int dedup_append_learn(struct dedup_append *a, const struct call *call,
                       const struct shared_options *c, struct judge *judge, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options unused;
    deja_stats stats = DEJA_STATS_INIT;
    struct session s = {0};
    struct call one = *call;
    if (a->file.fd < 0)
        return DEJA_OK;
    int rc = deja_filter_stats(judge->filter, 0, &stats, err);
    if (rc == DEJA_OK)
        rc = refuse_dates(a, &stats, err);
    if (rc < 0 || a->file.empty)
        return rc;
    one.operands = &a->file.path;
    one.n_operands = 1;
    rc = append_flush(&a->file, judge->pending, err); /* a state must not learn unsynced lines */
    if (rc == DEJA_OK)
        rc = session_begin(&s, c, URLKEYS_COMPARE, key, &unused, err);
    if (rc == DEJA_OK) /* a state may have the profile */
        rc = session_take_profile(&s, "the filter", stats.profile, stats.url_rules, err);
    if (rc == DEJA_OK)
        rc = session_open(&s, &one, c, 0, judge->filter, err);
    if (rc == DEJA_OK)
        rc = read_lines(a, &s, judge, err);
    if (rc == DEJA_OK && !judge->pending)
        a->lost = losses_in_memory(judge->filter, a->known);
    session_close(&s);
    return rc;
}

/* --- New lines ------------------------------------------------------------------ */

static deja_slice without_end(deja_slice header)
{
    const char *text = header.data;
    while (header.len && (text[header.len - 1] == '\n' || text[header.len - 1] == '\r'))
        header.len--;
    return header;
}

/* An empty file gets the header of the first lines; any other must have the same one. */
static int begin(struct dedup_append *a, const struct session *s, deja_error *err)
{
    deja_slice header;
    a->begun = true;
    if (!session_header(s, &header))
        return DEJA_OK;
    if (a->file.empty)
        append_put(&a->file, header.data, header.len);
    else if (a->header.len &&
             ascii_compare(without_end(buffer_slice(&a->header)), without_end(header)) != 0)
        return fail(err, DEJA_EINVAL,
                    "--append: %s has a different header, so its columns would not match; use "
                    "another file",
                    fail_path(a->file.path).text);
    return DEJA_OK;
}

static void put(void *append, const void *data, size_t len)
{
    append_put(append, data, len);
}

int dedup_append_take(struct dedup_append *a, const struct session *s, const struct batch *b,
                      deja_error *err)
{
    if (a->file.fd < 0)
        return DEJA_OK;
    const uint64_t n = session_count(b);
    const int rc = a->begun ? DEJA_OK : begin(a, s, err);
    if (rc < 0)
        return rc;
    session_pieces(s, b, 1, put, &a->file);
    a->lines += n;
    return DEJA_OK;
}

void dedup_append_close(struct dedup_append *a, int rc)
{
    append_close(&a->file, rc);
    buffer_fini(&a->header);
}
