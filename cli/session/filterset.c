/* filterset.c - looks up keys in several filter files at once; see filterset.h.
 *
 * The pipeline hashes keys for the first filter.  For the others, the caller's thread does. */
#include "cli/session/filterset.h"
#include "cli/session/existing.h"
#include "tools/base/ascii.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include <stdlib.h>

/* --- Opening --------------------------------------------------------------------- */

size_t filterset_leading(const struct call *call)
{
    size_t n = call->n_operands > 0;
    while (n < call->n_operands && existing_is_state(call->operands[n]))
        n++;
    return n;
}

static int open_foreign(struct filterset_one *one, const struct session *s,
                        const struct call *call, bool alone, deja_error *err)
{
    const int rc = foreign_file_read(&one->foreign, one->path, shared_foreign(s->shared->foreign),
                                     s->shared->filter_column, call->stop, err);
    if (rc < 0)
        return rc;
    const struct foreign *f = &one->foreign.filter;
    if (s->shared->key_file && alone)
        return fail(err, OPT_USAGE, "%s: %s has no secret key; omit --key",
                    fail_path(one->path).text, f->format->title);
    one->hash = (struct pipeline_hash){f->format->words, f->format->hash, f};
    return DEJA_OK;
}

/* The first filter may choose the rules for URLs; the others must have the same. */
static int open_file(struct filterset_one *one, struct session *s, bool first,
                     const deja_options *expect, deja_error *err)
{
    deja_options same = *expect;
    same.url = s->urls.rules;
    return first ? session_open_file(s, one->path, 0, expect, &one->filter, err)
                 : deja_filter_open(one->path, 0, &same, &one->filter, err);
}

/* With several filters, one that contains its key needs no other. */
static int open_own(struct filterset_one *one, struct session *s, bool first, bool alone,
                    const deja_options *expect, deja_error *err)
{
    deja_options without_key = *expect;
    without_key.key = NULL;
    without_key.flags &= ~DEJA_KEY_APART;
    int rc = DEJA_EMISMATCH;
    if (!alone && expect->key)
        rc = open_file(one, s, first, &without_key, err);
    if (rc == DEJA_EMISMATCH)
        rc = open_file(one, s, first, expect, err);
    if (rc == DEJA_OK)
        one->hash = pipeline_hash_of(one->filter);
    return rc;
}

static const struct filterset_one *first_of_deja(const struct filterset *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->one[i].filter)
            return &set->one[i];
    return NULL;
}

/* If the first filter holds bytes, the library does not compare the others with it. */
static int check_rules(const struct filterset *set, const struct session *s, deja_error *err)
{
    const struct filterset_one *first = first_of_deja(set);
    if (!first)
        return shared_check_url(s->shared, err); /* the files have no profile */
    for (size_t i = 0; i < set->n && deja_filter_profile(first->filter) == 0; i++) {
        const struct filterset_one *one = &set->one[i];
        const uint32_t profile = one->filter ? deja_filter_profile(one->filter) : 0;
        if (profile)
            return fail(err, DEJA_EMISMATCH,
                        "%s holds bytes as given, and %s URLs of profile %s; check them "
                        "separately",
                        fail_path(first->path).text, fail_path(one->path).text,
                        deja_profile_name(profile) ? deja_profile_name(profile) : "unknown");
    }
    return DEJA_OK;
}

/* --filter-column is for the files that have columns. */
static int check_column(const struct filterset *set, const struct session *s, deja_error *err)
{
    bool used = !s->shared->filter_column;
    for (size_t i = 0; i < set->n; i++)
        used |= !set->one[i].filter && set->one[i].foreign.filter.format->columns;
    return used ? DEJA_OK : fail(err, OPT_USAGE, "--filter-column needs a .parquet file");
}

int filterset_open(struct filterset *set, struct session *s, const struct call *call, size_t n,
                   const deja_options *expect, deja_error *err)
{
    if (n > FILTERSET_MOST)
        return fail(err, OPT_USAGE, "%zu filters, but one command checks at most %d", n,
                    FILTERSET_MOST);
    set->one = calloc(n, sizeof *set->one);
    if (!set->one)
        return fail(err, DEJA_ENOMEM, "out of memory");
    int rc = DEJA_OK;
    for (set->n = 0; set->n < n && rc == DEJA_OK; set->n++) {
        struct filterset_one *one = &set->one[set->n];
        one->path = call->operands[set->n];
        if (s->shared->foreign || foreign_file_is(one->path))
            rc = open_foreign(one, s, call, n == 1, err);
        else
            rc = open_own(one, s, !first_of_deja(set), n == 1, expect, err);
    }
    s->hash = set->one[0].hash;
    if (rc == DEJA_OK)
        rc = check_column(set, s, err);
    return rc == DEJA_OK ? check_rules(set, s, err) : rc;
}

void filterset_free(struct filterset *set)
{
    for (size_t i = 0; i < set->n; i++) {
        deja_filter_free(set->one[i].filter);
        foreign_file_free(&set->one[i].foreign);
    }
    free(set->one);
    free(set->held);
    free(set->hash);
    free(set->keys);
    free(set->answer);
}

deja_slice filterset_name(const struct filterset_one *one)
{
    const char *slash = strrchr(one->path, '/');
    const char *name = slash && slash[1] ? slash + 1 : one->path;
    const size_t len = strlen(name), end = strlen(".deja");
    const bool cut = len > end && strcmp(name + len - end, ".deja") == 0;
    return (deja_slice){name, cut ? len - end : len};
}

/* --- Looking up ---------------------------------------------------------------------- */

static int make_room(struct filterset *set, const struct batch *b, deja_error *err)
{
    const size_t n = b->block.n;
    size_t words = 1;
    for (size_t i = 1; i < set->n; i++)
        words = set->one[i].hash.words > words ? set->one[i].hash.words : words;
    if (n * words > set->hash_cap)
        set->hash = array_renew(set->hash, &set->hash_cap, n * words, sizeof *set->hash);
    if (n > set->held_cap)
        set->held = array_renew(set->held, &set->held_cap, n, sizeof *set->held);
    if (n > set->keys_cap)
        set->keys = array_renew(set->keys, &set->keys_cap, n, sizeof *set->keys);
    if (n > set->answer_cap)
        set->answer = array_renew(set->answer, &set->answer_cap, n, 1);
    if (set->hash && set->held && set->keys && set->answer)
        return DEJA_OK;
    return fail(err, DEJA_ENOMEM, "out of memory for a block of %zu lines", n);
}

/* The keys of a batch, without the keyless records. */
static const deja_slice *keys_of(struct filterset *set, const struct batch *b)
{
    if (!b->block.keyless)
        return b->block.keys;
    for (size_t i = 0, to = 0; i < b->block.n; i++)
        if (b->block.keys[i].data)
            set->keys[to++] = b->block.keys[i];
    return set->keys;
}

/* An absent key has the day 0 and is not old. */
static int query_old(const deja_filter *f, uint32_t older_than, const uint64_t *hash, size_t n,
                     uint8_t *found, deja_error *err)
{
    enum {
        LOT = 512
    };
    deja_days days[LOT];
    const uint32_t today = deja_filter_today(f);
    for (size_t at = 0; at < n; at += LOT) {
        const size_t some = n - at < LOT ? n - at : LOT;
        const int rc = deja_filter_days_hashed(f, hash + at, some, days, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < some; i++)
            found[at + i] = days[i].last && days[i].last + older_than <= today;
    }
    return DEJA_OK;
}

static int query(const struct filterset *set, const struct filterset_one *one,
                 const deja_slice *keys, const uint64_t *hash, size_t n, uint8_t *found,
                 deja_error *err)
{
    int rc = DEJA_OK;
    if (!one->filter)
        foreign_contains(&one->foreign.filter, hash, n, found);
    else if (set->older_than)
        rc = query_old(one->filter, set->older_than, hash, n, found, err);
    else if (set->prefix)
        rc = deja_filter_prefix_batch(one->filter, keys, n, found, err);
    else
        deja_filter_contains_hashed(one->filter, hash, n, found);
    return rc == DEJA_OK && one->filter ? deja_filter_check_file(one->filter, err) : rc;
}

/* Looks up the keys in the filters after the first. */
static int query_others(struct filterset *set, const struct batch *b, const deja_slice *keys,
                        deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t j = 0; j < b->keyed; j++)
        set->held[j] = b->answer[j];
    for (size_t i = 1; i < set->n && rc == DEJA_OK; i++) {
        const struct filterset_one *one = &set->one[i];
        if (!set->prefix)
            one->hash.run(one->hash.context, keys, b->keyed, set->hash);
        rc = query(set, one, keys, set->hash, b->keyed, set->answer, err);
        for (size_t j = 0; j < b->keyed && rc == DEJA_OK; j++)
            set->held[j] |= (uint64_t)set->answer[j] << i;
    }
    for (size_t j = 0; j < b->keyed; j++)
        b->answer[j] = set->held[j] != 0;
    return rc;
}

/* Turns `held` from one mask per key into one per line, and counts the lines of each filter. */
static void hold_lines(struct filterset *set, const struct batch *b)
{
    const struct block *block = &b->block;
    size_t from = b->keyed, lines = 0;
    for (size_t i = block->n; i > from; i--)
        set->held[i - 1] = block->keys[i - 1].data ? set->held[--from] : 0;
    for (size_t i = 0; i < block->n; i++) {
        const uint64_t held = set->held[i];
        if (block->shared && lines && block->ends[i] == block->ends[i - 1])
            set->held[lines - 1] |= held;
        else
            set->held[lines++] = held;
    }
    for (size_t i = 0; i < set->n; i++)
        for (size_t j = 0; j < lines; j++)
            set->one[i].lines += set->held[j] >> i & 1;
}

int filterset_look_up(struct filterset *set, struct session *s, struct batch *b, deja_error *err)
{
    const bool several = set->n > 1;
    const bool by_key = several || set->prefix;
    int rc = by_key ? make_room(set, b, err) : DEJA_OK;
    if (rc < 0)
        return rc;
    const deja_slice *keys = by_key ? keys_of(set, b) : NULL;
    rc = query(set, &set->one[0], keys, b->hash, b->keyed, b->answer, err);
    if (rc == DEJA_OK && several)
        rc = query_others(set, b, keys, err);
    if (rc == DEJA_OK && several)
        hold_lines(set, b);
    if (rc == DEJA_OK)
        session_fold(s, b, false);
    return rc;
}
