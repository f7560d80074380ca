/* lab_keys.c - the URLs of the lab; see lab_keys.h.
 *
 * All URLs are in one buffer, back to back, in the order in which they are used.  All threads
 * share it; nobody writes to it.
 *
 * An exact filter (64-bit fingerprints) removes duplicate lines of a file: the probability that
 * two of 2 million different lines collide is 1e-7, which would cost one URL. */
#include "lab/engine/lab_keys.h"
#include "gen/urlgen.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/base/number.h"
#include "tools/input/input.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX 65536 /* longer lines are not URLs: skipped */

/* A growing buffer of keys; slices are made once it no longer moves. */
struct store {
    char *bytes;
    size_t *end; /* of each key */
    size_t n, used, cap, room;
};

static int reserve(struct store *s, size_t bytes, deja_error *err)
{
    void *text = array_grow(s->bytes, &s->cap, s->used + bytes + 1, 1);
    s->bytes = text ? text : s->bytes;
    void *end = array_grow(s->end, &s->room, s->n + 1, sizeof *s->end);
    s->end = end ? end : s->end;
    return text && end ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for the URLs");
}

static void store_fini(struct store *s)
{
    free(s->bytes);
    free(s->end);
}

static uint64_t fingerprint(const struct store *s)
{
    /* Not a secret; it only identifies the keys. */
    return mix_fnv1a(MIX_FNV1A, s->bytes, s->used) ^ s->n;
}

/* Move the store's buffer to the keys. */
static int take_over(struct lab_keys *k, struct store *s, deja_error *err)
{
    k->n = s->n / 2;
    k->added = malloc(2 * k->n * sizeof *k->added);
    if (!k->added)
        return fail(err, DEJA_ENOMEM, "no memory for the URLs");
    size_t begin = 0;
    for (size_t i = 0; i < 2 * k->n; i++) {
        k->added[i] = (deja_slice){s->bytes + begin, s->end[i] - begin};
        begin = s->end[i];
    }
    k->asked = k->added + k->n;
    k->mean_len = (double)begin / (double)(2 * k->n);
    k->id = fingerprint(s);
    k->bytes = s->bytes;
    s->bytes = NULL;
    return DEJA_OK;
}

int lab_keys_make(struct lab_keys *k, uint64_t n, uint64_t seed, deja_error *err)
{
    struct urlgen *gen = malloc(sizeof *gen);
    struct store s = {0};
    int rc = gen ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for the URLs");
    *k = (struct lab_keys){0};
    if (gen)
        urlgen_init(gen, seed);
    for (uint64_t i = 0; rc == DEJA_OK && i < 2 * n; i++) {
        rc = reserve(&s, URLGEN_MAX, err);
        if (rc < 0)
            break;
        s.used += urlgen_url(gen, i, s.bytes + s.used);
        s.end[s.n++] = s.used; /* NOLINT(clang-analyzer-core.NullDereference): is reserved */
    }
    if (rc == DEJA_OK)
        rc = take_over(k, &s, err);
    (void)snprintf(k->source, sizeof k->source, "deja gen -n %llu --seed %llu",
                   (unsigned long long)(2 * n), (unsigned long long)seed);
    store_fini(&s);
    free(gen);
    return rc;
}

struct reading {
    struct lab_keys *k;
    struct store s;
    deja_filter *seen;
    uint64_t want; /* different lines */
};

static int take_line(struct reading *r, deja_slice line, deja_error *err)
{
    bool is_new;
    if (line.len == 0 || line.len > LINE_MAX)
        return DEJA_OK;
    int rc = deja_filter_add(r->seen, line, &is_new, err);
    if (rc < 0)
        return rc;
    if (!is_new) {
        r->k->duplicates++;
        return DEJA_OK;
    }
    rc = reserve(&r->s, line.len, err);
    if (rc < 0)
        return rc;
    memcpy(r->s.bytes + r->s.used, line.data, line.len);
    r->s.used += line.len;
    r->s.end[r->s.n++] = r->s.used;
    return DEJA_OK;
}

static int take_lines(struct reading *r, struct input *in, struct block *b, deja_error *err)
{
    int rc = 1;
    while (r->s.n < r->want && (rc = input_next(in, b, err)) > 0)
        for (size_t i = 0; rc >= 0 && i < b->n && r->s.n < r->want; i++)
            rc = take_line(r, b->keys[i], err);
    return rc < 0 ? rc : DEJA_OK;
}

static int read_all(struct reading *r, const char *path, const struct pick_options *pick,
                    const atomic_bool *stop, deja_error *err)
{
    struct input_options in_opt = INPUT_OPTIONS_INIT;
    struct input *in = NULL;
    struct block b;
    in_opt.paths = &path;
    in_opt.n_paths = 1;
    in_opt.pick = *pick;
    in_opt.stop = stop;
    block_init(&b);
    int rc = input_open(&in_opt, &in, err);
    if (rc == DEJA_OK)
        rc = take_lines(r, in, &b, err);
    block_fini(&b);
    input_close(in);
    return rc;
}

int lab_keys_read(struct lab_keys *k, uint64_t n, const char *path,
                  const struct pick_options *pick, const atomic_bool *stop, deja_error *err)
{
    struct reading r = {.k = k, .want = 2 * n};
    deja_options opt = DEJA_OPTIONS_INIT;
    *k = (struct lab_keys){0};
    opt.kind = DEJA_EXACT;
    opt.capacity = 2 * n;
    opt.seed = 1;
    int rc = deja_filter_new(&opt, &r.seen, err);
    if (rc == DEJA_OK)
        rc = read_all(&r, path, pick, stop, err);
    if (rc == DEJA_OK && stop && atomic_load(stop))
        rc = LAB_STOPPED;
    if (rc == DEJA_OK && r.s.n < LAB_KEYS_MIN)
        rc = fail(err, DEJA_EINVAL,
                  "%s has %s different lines; the lab needs %d, and 2 million for the papers' n",
                  fail_path(path).text, num_count(r.s.n).s, LAB_KEYS_MIN);
    if (rc == DEJA_OK)
        rc = take_over(k, &r.s, err);
    (void)snprintf(k->source, sizeof k->source, "%s", fail_path(path).text);
    deja_filter_free(r.seen);
    store_fini(&r.s);
    return rc;
}

void lab_keys_fini(struct lab_keys *k)
{
    free(k->added);
    free(k->bytes);
    *k = (struct lab_keys){0};
}
