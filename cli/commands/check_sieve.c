/* check_sieve.c - looks up lines in a sieve; see check_sieve.h. */
#include "cli/commands/check_sieve.h"
#include "cli/session/sieves.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"

#define LEAST_ROOM ((uint64_t)1 << 20)
#define MOST_KEYS  ((size_t)1 << 30) /* in one pass */

/* A copy of a batch, because the pipeline needs the original for the next one. */
struct held {
    struct held *next;
    struct batch b;      /* data, keys, ends, forms and answers are its own */
    struct buffer forms; /* the text of the forms */
};

static void held_free(struct held *h)
{
    free(h->b.block.data);
    free(h->b.block.keys);
    free(h->b.block.ends);
    free(h->b.block.forms);
    free(h->b.answer);
    buffer_fini(&h->forms);
    free(h);
}

/* malloc that returns a pointer even for 0 bytes. */
static void *copy_of(const void *data, size_t len)
{
    void *copy = malloc(len + 1);
    if (copy && len)
        memcpy(copy, data, len);
    return copy;
}

/* With --canonical, forms are printed instead of lines. */
static bool hold_forms(struct held *h, const struct block *from)
{
    size_t len = 0;
    for (size_t i = 0; i < from->n; i++)
        len += from->forms[i].len;
    h->b.block.forms = malloc((from->n + 1) * sizeof(deja_slice));
    if (!h->b.block.forms || !buffer_reserve(&h->forms, len + 1))
        return false;
    for (size_t i = 0; i < from->n; i++) { /* there is room: the text does not move */
        h->b.block.forms[i] = (deja_slice){h->forms.data + h->forms.len, from->forms[i].len};
        (void)buffer_add(&h->forms, from->forms[i].data, from->forms[i].len);
    }
    return true;
}

/* Copies what answers and output need.  Of the keys, only which ones are missing counts. */
static struct held *hold(const struct batch *b, bool forms)
{
    const struct block *from = &b->block;
    struct held *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    struct block *to = &h->b.block;
    h->b.keyed = b->keyed;
    h->b.answer = malloc(from->n + 1);
    to->data = copy_of(from->data, from->len);
    to->keys = copy_of(from->keys, from->n * sizeof *from->keys);
    to->ends = copy_of(from->ends, from->n * sizeof *from->ends);
    to->len = from->len;
    to->n = from->n;
    to->shared = from->shared;
    to->keyless = from->keyless;
    to->unseparated = from->unseparated;
    if (h->b.answer && to->data && to->keys && to->ends && (!forms || hold_forms(h, from)))
        return h;
    held_free(h);
    return NULL;
}

static uint64_t bytes_of(const struct held *h)
{
    const struct block *b = &h->b.block;
    const uint64_t line = sizeof *b->keys + sizeof *b->ends + (b->forms ? sizeof *b->forms : 0);
    return sizeof *h + b->len + h->forms.cap + b->n * (line + 1) +
           h->b.keyed * (2 * sizeof(deja_fingerprint) + 1); /* and the copy that is sorted */
}

static bool add_prints(struct check_sieve *c, const struct batch *b)
{
    if (!b->keyed)
        return true;
    deja_fingerprint *print =
        array_grow(c->print, &c->print_cap, c->n + b->keyed, sizeof *c->print);
    if (!print)
        return false;
    c->print = print;
    memcpy(c->print + c->n, sieves_fingerprints(b), b->keyed * sizeof *c->print);
    c->n += b->keyed;
    return true;
}

int check_sieve_take(void *check_sieve, struct batch *b, deja_error *err)
{
    struct check_sieve *c = check_sieve;
    struct held *h = hold(b, c->session->urls.forms);
    if (!h || !add_prints(c, b)) {
        if (h)
            held_free(h);
        return fail(err, DEJA_ENOMEM, "out of memory for lines; use a smaller -m");
    }
    *c->last = h;
    c->last = &h->next;
    c->used += bytes_of(h);
    return c->used < c->room && c->n < MOST_KEYS ? DEJA_OK : check_sieve_flush(c, err);
}

/* Finds the keys of all lines. */
static int look_up(struct check_sieve *c, deja_error *err)
{
    if (!c->n)
        return DEJA_OK;
    if (c->n > c->found_cap)
        c->found = array_renew(c->found, &c->found_cap, c->n, 1);
    if (!c->found)
        return fail(err, DEJA_ENOMEM, "out of memory for answers; use a smaller -m");
    c->passes++;
    return deja_sieve_contains(c->sieve, c->print, c->n, c->found, err);
}

int check_sieve_flush(struct check_sieve *c, deja_error *err)
{
    int rc = look_up(c, err);
    const uint8_t *found = c->found;
    while (c->first) {
        struct held *h = c->first;
        if (rc == DEJA_OK && h->b.keyed)
            memcpy(h->b.answer, found, h->b.keyed);
        found += h->b.keyed;
        if (rc == DEJA_OK) {
            session_fold(c->session, &h->b, false);
            rc = c->answered(c->job, &h->b, err);
        }
        c->first = h->next;
        held_free(h);
    }
    c->last = &c->first;
    c->n = 0;
    c->used = 0;
    return rc;
}

/* Somebody may be waiting for the answers. */
static int on_pause(void *check_sieve, deja_error *err)
{
    return check_sieve_flush(check_sieve, err);
}

int check_sieve_open(struct check_sieve *c, struct session *s, const char *path,
                     const deja_options *given, deja_error *err)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    c->session = s;
    c->last = &c->first;
    int rc = sieves_open(s, path, 0, given, &c->sieve, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(c->sieve, &r, err);
    c->room = r.memory > r.memory_used + LEAST_ROOM ? r.memory - r.memory_used : LEAST_ROOM;
    session_on_pause(s, on_pause, c);
    return rc;
}

void check_sieve_free(struct check_sieve *c)
{
    while (c->first) {
        struct held *h = c->first;
        c->first = h->next;
        held_free(h);
    }
    free(c->print);
    free(c->found);
    deja_sieve_free(c->sieve);
}
