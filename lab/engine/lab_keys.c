/* lab_keys.c - the URLs of the lab; see lab_keys.h.
 *
 * All URLs are in one buffer, back to back, in the order in which they are used.  All threads
 * share it; no thread writes to it. */
#include "lab/engine/lab_keys.h"
#include "gen/urlgen.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/base/number.h"
#include "tools/input/distinct.h"
#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX 65536 /* longer lines are not URLs: skipped */

/* Move the list's buffer to the keys. */
static int take_over(struct lab_keys *k, struct distinct *d, deja_error *err)
{
    k->added = distinct_slices(d, err);
    if (!k->added)
        return DEJA_ENOMEM;
    k->n = d->n / 2;
    k->asked = k->added + k->n;
    k->mean_len = (double)d->end[2 * k->n - 1] / (double)(2 * k->n);
    k->id = mix_fnv1a(MIX_FNV1A, d->bytes, d->used) ^ d->n; /* not a secret */
    k->duplicates = d->duplicates;
    k->bytes = d->bytes;
    d->bytes = NULL;
    return DEJA_OK;
}

int lab_keys_make(struct lab_keys *k, uint64_t n, uint64_t seed, deja_error *err)
{
    struct urlgen *gen = malloc(sizeof *gen);
    struct distinct d = {0};
    int rc = gen ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for the URLs");
    *k = (struct lab_keys){0};
    if (gen)
        urlgen_init(gen, seed);
    for (uint64_t i = 0; rc == DEJA_OK && i < 2 * n; i++) {
        char url[URLGEN_MAX];
        rc = distinct_append(&d, (deja_slice){url, urlgen_url(gen, i, url)}, err);
    }
    if (rc == DEJA_OK)
        rc = take_over(k, &d, err);
    (void)snprintf(k->source, sizeof k->source, "deja gen -n %llu --seed %llu",
                   (unsigned long long)(2 * n), (unsigned long long)seed);
    distinct_fini(&d);
    free(gen);
    return rc;
}

int lab_keys_read(struct lab_keys *k, uint64_t n, const char *path,
                  const struct pick_options *pick, const atomic_bool *stop, deja_error *err)
{
    struct input_options in = INPUT_OPTIONS_INIT;
    struct distinct d = {0};
    *k = (struct lab_keys){0};
    in.paths = &path;
    in.n_paths = 1;
    in.pick = *pick;
    in.stop = stop;
    int rc = distinct_read(&d, &in, n < SIZE_MAX / 2 ? (size_t)(2 * n) : SIZE_MAX, LINE_MAX, err);
    if (rc == DEJA_OK && stop && atomic_load(stop))
        rc = LAB_STOPPED;
    if (rc == DEJA_OK && d.n < LAB_KEYS_MIN)
        rc = fail(err, DEJA_EINVAL,
                  "%s has %s different lines; the lab needs %d, and 2 million for the papers' n",
                  fail_path(path).text, num_count(d.n).s, LAB_KEYS_MIN);
    if (rc == DEJA_OK)
        rc = take_over(k, &d, err);
    (void)snprintf(k->source, sizeof k->source, "%s", fail_path(path).text);
    distinct_fini(&d);
    return rc;
}

void lab_keys_fini(struct lab_keys *k)
{
    free(k->added);
    free(k->bytes);
    *k = (struct lab_keys){0};
}
