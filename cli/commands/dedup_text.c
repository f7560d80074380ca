/* dedup_text.c - deja dedup of texts; see dedup_text.h.
 *
 * Whole units are judged like lines: all keys of a batch at once, in order.  With --ngrams, a unit
 * is looked up first, all its n-grams together, and added only if it is kept.  So an n-gram counts
 * as seen if it is part of the output (or of an earlier one, with --state).  An n-gram that occurs
 * twice in a unit does not count as seen before for that reason.
 *
 * A false positive removes a unit only if exactly one more n-gram would have reached the threshold;
 * two at once are too rare to count.  at_risk adds up these n-grams, so at_risk times the mean
 * rate of the filter is the expected number of units lost. */
#include "cli/commands/dedup_text.h"
#include "cli/session/textdocs.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>

#define THRESHOLD 0.8

bool dedup_text_wanted(const struct shared_options *c)
{
    return c->paragraphs || c->jsonl_text || c->ngrams;
}

void dedup_text_fini(struct dedup_text *t)
{
    buffer_fini(&t->line);
}

/* --- Judging ---------------------------------------------------------------- */

static int look_up(struct dedup_text *t, const uint64_t *hash, size_t n, uint8_t *found,
                   deja_error *err)
{
    if (t->judge->pending)
        return deja_dedup_contains(t->judge->pending, hash, n, found, err);
    deja_filter_contains_hashed(t->judge->filter, hash, n, found);
    return DEJA_OK;
}

/* How many of n n-grams make a repeat.  A product such as 0.8 * 5 may be slightly above 4. */
static size_t needed(const struct shared_options *c, size_t n)
{
    const double share = c->threshold > 0 ? c->threshold : THRESHOLD;
    const double least = ceil(share * (double)n * (1 - 1e-12));
    return least < 1 ? 1 : (size_t)least;
}

/* Judges one unit of n n-grams.  room: for n answers. */
static int judge_unit(struct dedup_text *t, const uint64_t *hash, size_t n, uint8_t *room,
                      bool *is_new, deja_error *err)
{
    const size_t need = needed(t->session->shared, n);
    size_t seen = 0;
    int rc = look_up(t, hash, n, room, err);
    for (size_t i = 0; i < n; i++)
        seen += room[i];
    *is_new = seen < need;
    if (rc < 0 || !*is_new)
        return rc;
    if (seen + 1 == need)
        t->at_risk += n - seen;
    return judge_keys(t->judge, hash, n, room, err);
}

/* Judges the units of a batch and makes each of them a record, with its answer.  Unit i ends at key
 * i or later, so its answer overwrites only answers that were used. */
static int judge_ngrams(struct dedup_text *t, struct batch *b, deja_error *err)
{
    const size_t words = deja_filter_hash_words(t->judge->filter), keys = b->block.n;
    const uint64_t *hash = b->hash;
    size_t first = 0;
    int rc = DEJA_OK;
    for (size_t i = 0; i < b->block.n_units && rc == DEJA_OK; i++) {
        const struct block_unit *unit = &b->block.units[i];
        const size_t n = unit->end - first;
        bool is_new = true; /* a keyless line */
        if (unit->text.data) {
            rc = judge_unit(t, hash, n, b->answer + first, &is_new, err);
            hash += n * words;
        }
        b->answer[i] = is_new;
        first = unit->end;
    }
    block_join_units(&b->block);
    t->session->records -= keys - b->block.n;
    return rc;
}

static int judge_units(struct dedup_text *t, struct batch *b, deja_error *err)
{
    if (t->session->text.ngrams)
        return judge_ngrams(t, b, err);
    const int rc = judge_batch(t->judge, b, err);
    if (rc == DEJA_OK)
        session_spread(b, true);
    return rc;
}

/* --- Counting and printing --------------------------------------------------- */

static void add_up(struct dedup_text *t, const struct batch *b)
{
    for (size_t i = 0; i < b->block.n; i++) {
        const deja_slice text = b->block.keys[i];
        t->units += text.data != NULL;
        t->bytes += text.len;
        t->removed += !b->answer[i];
        t->removed_bytes += b->answer[i] ? 0 : text.len;
    }
}

/* Prints a document, its units being records `from` up to `to`. */
static int print_document(struct dedup_text *t, const struct block *b, const uint8_t *answer,
                          size_t from, size_t to, deja_error *err)
{
    const size_t begin = from ? b->ends[from - 1] : 0;
    const deja_slice line = {b->data + begin, b->ends[from] - begin};
    const uint8_t want = !t->repeated;
    size_t wanted = 0;
    for (size_t i = from; i < to; i++)
        wanted += answer[i] == want;
    if (b->keys[from].data) {
        t->documents++;
        t->emptied += wanted == (t->repeated ? to - from : 0);
    }
    if (t->count || wanted == 0)
        return DEJA_OK;
    if (wanted == to - from) {
        out_write(t->session->out, line.data, line.len);
        return DEJA_OK;
    }
    t->line.len = 0;
    if (!textdoc_write(&t->line, line, &t->session->text.path, answer + from, to - from, want))
        return fail(err, DEJA_ENOMEM, "%s: out of memory for a document of %zu bytes",
                    fail_path(b->path).text, line.len);
    out_write(t->session->out, t->line.data, t->line.len);
    return DEJA_OK;
}

static int print_documents(struct dedup_text *t, const struct batch *b, deja_error *err)
{
    const struct block *block = &b->block;
    int rc = DEJA_OK;
    for (size_t i = 0, next; i < block->n && rc == DEJA_OK; i = next) {
        for (next = i + 1; next < block->n && block->ends[next] == block->ends[i];)
            next++;
        rc = print_document(t, block, b->answer, i, next, err);
        t->session->records -= next - i - 1; /* the progress line counts lines */
    }
    return rc;
}

int dedup_text_batch(struct dedup_text *t, struct batch *b, deja_error *err)
{
    const int rc = judge_units(t, b, err);
    if (rc < 0)
        return rc;
    add_up(t, b);
    if (t->session->text.documents)
        return print_documents(t, b, err);
    if (!t->count)
        session_print(t->session, b, !t->repeated);
    return DEJA_OK;
}

/* --- The account --------------------------------------------------------------- */

double dedup_text_lost(const struct dedup_text *t, const deja_stats *s)
{
    const double offered = (double)s->keys + s->lost;
    if (!t->session->text.ngrams)
        return s->lost;
    return offered > 0 ? (double)t->at_risk * s->lost / offered : 0;
}

struct dedup_text_account dedup_text_account(const struct dedup_text *t)
{
    const struct shared_options *c = t->session->shared;
    const bool lines = !c->paragraphs && !c->jsonl_text;
    struct dedup_text_account a;
    int len = 0;
    if (c->jsonl_text)
        len = snprintf(a.text, sizeof a.text, "%s, ", num_of(t->documents, "document").s);
    (void)snprintf(a.text + len, sizeof a.text - (size_t)len, "%s of %s removed (%s of the text)",
                   num_count(t->removed).s, num_of(t->units, lines ? "line" : "paragraph").s,
                   num_share(t->bytes ? (double)t->removed_bytes / (double)t->bytes : 0).s);
    return a;
}

void dedup_text_json(const struct dedup_text *t, struct json *j)
{
    if (t->session->text.documents) {
        json_uint(j, "documents", t->documents);
        json_uint(j, "documents_dropped", t->emptied);
    }
    json_uint(j, "text_bytes", t->bytes);
    json_uint(j, "text_bytes_removed", t->removed_bytes);
}
