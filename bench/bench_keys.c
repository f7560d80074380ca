/* bench_keys.c - distinct URLs by number; see bench_keys.h. */
#include "bench/bench_keys.h"
#include "tools/base/fail.h"
#include "tools/input/distinct.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX   2048              /* longer lines of a list are skipped */
#define LINES_MAX  ((size_t)1 << 22) /* at most this many lines are read */
#define SUFFIX_MAX 24
#define SEED       1
#define STRIDE     32 /* at most a cache line */

/* Returns the length of the key that it writes. */
static size_t from_list(const struct bench_keys *k, char *at, uint64_t number)
{
    const deja_slice *line = &k->line[number % k->n_lines];
    memcpy(at, line->data, line->len);
    if (number < k->n_lines)
        return line->len;
    return line->len +
           (size_t)snprintf(at + line->len, SUFFIX_MAX, "#%" PRIu64, number / k->n_lines);
}

static int load(struct bench_keys *k, const char *path, deja_error *err)
{
    struct input_options in = INPUT_OPTIONS_INIT;
    struct distinct d = {0};
    in.paths = &path;
    in.n_paths = 1;
    int rc = distinct_read(&d, &in, LINES_MAX, LINE_MAX, err);
    if (rc == DEJA_OK && d.n == 0)
        rc = fail(err, DEJA_EINVAL, "%s has no line of 1 to %d bytes", fail_path(path).text,
                  LINE_MAX);
    if (rc == DEJA_OK) {
        k->line = distinct_slices(&d, err);
        rc = k->line ? DEJA_OK : DEJA_ENOMEM;
        k->n_lines = d.n;
        k->list = d.bytes;
        d.bytes = NULL;
    }
    for (size_t i = 0; rc == DEJA_OK && i < k->n_lines; i++)
        if (k->line[i].len + SUFFIX_MAX > k->key_max)
            k->key_max = k->line[i].len + SUFFIX_MAX;
    distinct_fini(&d);
    return rc;
}

int bench_keys_init(struct bench_keys *k, size_t cap, const char *path, deja_error *err)
{
    *k = (struct bench_keys){.cap = cap, .key_max = URLGEN_MAX};
    urlgen_init(&k->gen, SEED);
    if (path) {
        const int rc = load(k, path, err);
        if (rc < 0)
            return rc;
    }
    k->slice = calloc(cap, sizeof *k->slice);
    k->bytes = calloc(cap, k->key_max);
    if (!k->slice || !k->bytes)
        return fail(err, DEJA_ENOMEM, "out of memory for the keys");
    return DEJA_OK;
}

void bench_keys_fini(struct bench_keys *k)
{
    free(k->slice);
    free(k->bytes);
    free(k->list);
    free(k->line);
    *k = (struct bench_keys){0};
}

void bench_keys_make(struct bench_keys *k, const uint64_t *number, size_t n)
{
    char *at = k->bytes;
    for (size_t i = 0; i < n; i++) {
        const uint64_t place = number[i] << 1 | number[i] >> 63; /* BENCH_KEYS_ABSENT */
        const size_t len = k->line ? from_list(k, at, place) : urlgen_url(&k->gen, place, at);
        k->slice[i] = (deja_slice){at, len};
        at += len;
    }
    k->n = n;
}

uint64_t bench_keys_read(const deja_slice *keys, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bytes = keys[i].data;
        for (size_t at = 0; at < keys[i].len; at += STRIDE)
            sum += bytes[at];
    }
    return sum;
}

double bench_keys_mean_len(const struct bench_keys *k)
{
    size_t sum = 0;
    for (size_t i = 0; i < k->n; i++)
        sum += k->slice[i].len;
    return k->n > 0 ? (double)sum / (double)k->n : 0;
}
