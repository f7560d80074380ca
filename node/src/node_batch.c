/* node_batch.c - canonicalizes keys, portion by portion, and applies a verb to them.
 *
 * Without URL rules a key is one slice.  A block list (profile gsb) is a set of expressions: adding
 * a URL adds its first one, a lookup tries all of them, and a key that is not a URL has none, so it
 * is never added and never found.  In every other profile such a key is compared unchanged. */
#include "node_batch.h"
#include <stdlib.h>
#include <string.h>

struct work {
    struct node_filter *nf;
    enum node_verb verb;
    deja_slice *form;       /* NODE_PORTION canonical forms ... */
    int8_t *status;         /* ... and their statuses */
    deja_slice *part;       /* block lists: the expressions ... */
    uint8_t *width;         /* ... how many of each key ... */
    union node_answers hit; /* ... and their answers */
    char *room;
    size_t len;
};

#define PARTS (NODE_PORTION + DEJA_URL_EXPRESSIONS)

static bool apply(const struct work *w, const deja_slice *keys, size_t n,
                  union node_answers answers, size_t *done, struct node_failure *failure)
{
    deja_filter *f = w->nf->f;
    int rc = DEJA_OK;
    *done = 0;
    if (n == 0)
        return true;
    switch (w->verb) {
    case NODE_ADD:
        rc = deja_filter_add_batch(f, keys, n, answers.byte, done, &failure->err);
        return node_error_ok(failure, rc);
    case NODE_REMOVE:
        rc = deja_filter_remove_batch(f, keys, n, answers.byte, done, &failure->err);
        return node_error_ok(failure, rc);
    case NODE_COUNT:
        rc = deja_filter_count_batch(f, keys, n, answers.count, &failure->err);
        break;
    case NODE_DAYS:
        rc = deja_filter_days_batch(f, keys, n, answers.days, &failure->err);
        break;
    case NODE_PREFIX:
        rc = deja_filter_prefix_batch(f, keys, n, answers.byte, &failure->err);
        break;
    case NODE_HAS:
        deja_filter_contains_batch(f, keys, n, answers.byte);
        rc = deja_filter_check_file(f, &failure->err);
    }
    *done = rc == DEJA_OK ? n : 0;
    return node_error_ok(failure, rc);
}

static union node_answers beyond(union node_answers a, enum node_verb verb, size_t n)
{
    if (verb == NODE_COUNT)
        return (union node_answers){.count = a.count + n};
    if (verb == NODE_DAYS)
        return (union node_answers){.days = a.days + n};
    return (union node_answers){.byte = a.byte ? a.byte + n : NULL};
}

/* The answer of a key is whether any of its expressions has one; a count and days are those of the
 * first. */
static void gather(const struct work *w, size_t n, union node_answers answers)
{
    for (size_t i = 0, at = 0; i < n; at += w->width[i++]) {
        const bool some = w->width[i] != 0;
        if (w->verb == NODE_COUNT)
            answers.count[i] = some ? w->hit.count[at] : 0;
        else if (w->verb == NODE_DAYS)
            answers.days[i] = some ? w->hit.days[at] : (deja_days){0, 0};
        else if (answers.byte)
            answers.byte[i] = some && memchr(w->hit.byte + at, 1, w->width[i]);
    }
}

/* How many of n keys are behind `parts` expressions that were finished. */
static size_t keys_of(const struct work *w, size_t n, size_t parts)
{
    size_t i = 0;
    for (size_t at = 0; i < n && (at += w->width[i]) <= parts;)
        i++;
    return i;
}

static bool apply_expressions(const struct work *w, size_t n, union node_answers answers,
                              size_t *done, struct node_failure *failure)
{
    const bool all = w->verb == NODE_HAS;
    size_t total = 0, finished = 0;
    for (size_t i = 0; i < n; i++) {
        size_t found = 0;
        if (w->status[i] == DEJA_OK)
            found = deja_url_expressions(w->form[i], w->part + total);
        w->width[i] = (uint8_t)(found && !all ? 1 : found);
        total += w->width[i];
    }
    const bool ok = apply(w, w->part, total, w->hit, &finished, failure);
    *done = ok ? n : keys_of(w, n, finished);
    gather(w, *done, answers);
    return ok;
}

static void note_others(const struct work *w, size_t n)
{
    uint64_t others = 0;
    for (size_t i = 0; i < n; i++)
        others += w->status[i] != DEJA_OK;
    if (others)
        atomic_fetch_add(&w->nf->not_urls, others);
}

/* Doubles the room if a URL does not fit. */
static bool grow(struct work *w, size_t url)
{
    const size_t len = 2 * DEJA_URL_ROOM(url);
    char *room = realloc(w->room, len);
    if (!room)
        return false;
    w->room = room;
    w->len = len;
    return true;
}

static bool apply_urls(struct work *w, const deja_slice *keys, size_t n,
                       union node_answers answers, struct node_failure *failure)
{
    const bool block_list = deja_url_rules_profile(w->nf->rules) == DEJA_URL_GSB;
    const size_t most = block_list ? NODE_PORTION / DEJA_URL_EXPRESSIONS : NODE_PORTION;
    for (size_t at = 0; at < n;) {
        size_t done = 0;
        const size_t want = n - at < most ? n - at : most;
        const size_t got = deja_url_canon_batch(w->nf->rules, keys + at, want, w->room, w->len,
                                                w->form, w->status);
        if (got == 0 && !grow(w, keys[at].len))
            return node_error_ok(failure, DEJA_ENOMEM);
        const union node_answers here = beyond(answers, w->verb, at);
        const bool ok = block_list ? apply_expressions(w, got, here, &done, failure)
                                   : apply(w, w->form, got, here, &done, failure);
        note_others(w, done);
        failure->done += done;
        if (!ok)
            return false;
        at += got;
    }
    return true;
}

static void free_work(struct work *w)
{
    free(w->form);
    free(w->status);
    free(w->part);
    free(w->width);
    free(w->hit.count);
    free(w->room);
}

static bool begin_urls(struct work *w)
{
    w->len = 256 * NODE_PORTION;
    w->form = malloc(NODE_PORTION * sizeof *w->form);
    w->status = malloc(NODE_PORTION);
    w->part = malloc(PARTS * sizeof *w->part);
    w->width = malloc(NODE_PORTION);
    w->hit.count = malloc(PARTS * sizeof *w->hit.count);
    w->room = malloc(w->len);
    return w->form && w->status && w->part && w->width && w->hit.count && w->room;
}

bool node_batch_run(struct node_filter *nf, enum node_verb verb, const deja_slice *keys, size_t n,
                    union node_answers answers, struct node_failure *failure)
{
    struct work w = {.nf = nf, .verb = verb};
    size_t done = 0;
    bool ok = true;
    if (!nf->rules) {
        ok = apply(&w, keys, n, answers, &done, failure);
        failure->done += done;
        return ok;
    }
    if (!begin_urls(&w))
        ok = node_error_ok(failure, DEJA_ENOMEM);
    ok = ok && apply_urls(&w, keys, n, answers, failure);
    free_work(&w);
    return ok;
}
