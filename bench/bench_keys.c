/* bench_keys.c - distinct URLs by number; see bench_keys.h.
 *
 * A generated URL ends in a segment with its number, so no two are equal; everything else is drawn
 * from a hash of the number.  Lengths vary as in a crawl, and with them the code path of the hash
 * function: equal lengths would make it look faster than it is. */
#include "bench/bench_keys.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/input/distinct.h"
#include <stdlib.h>
#include <string.h>

#define MADE_UP_MAX 160
#define LINE_MAX    2048              /* longer lines of a list are skipped */
#define LINES_MAX   ((size_t)1 << 22) /* at most this many lines are read */
#define SUFFIX_MAX  24

/* --- Generated -------------------------------------------------------------- */

static const char *const hosts[8] = {"www.", "", "www.", "news.", "www.", "shop.", "blog.", ""};
static const char *const names[8] = {"example",   "acme-store", "dailynews", "wiki",
                                     "recipes24", "openforum",  "travel",    "photos"};
static const char *const domains[8] = {".com", ".org",   ".net", ".de",
                                       ".com", ".co.uk", ".fr",  ".com"};
static const char *const words[16] = {
    "articles",     "product", "2023/11", "index", "archive",  "user",    "en-us",       "forum",
    "item-details", "gallery", "topics",  "news",  "category", "details", "top-stories", "view"};
static const char *const ends[8] = {"", ".html", "", "/", "", ".htm", "?page=2", ".php?lang=en"};

static char *put(char *at, const char *text)
{
    return mempcpy(at, text, strlen(text));
}

static char *put_number(char *at, uint64_t x)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    do
        *at++ = digits[x & 31];
    while ((x >>= 5) != 0);
    return at;
}

/* The next few bits of a draw. */
static unsigned take(uint64_t *draw, unsigned bits)
{
    const unsigned taken = (unsigned)(*draw & ((1u << bits) - 1));
    *draw >>= bits;
    return taken;
}

static char *make_up(char *at, uint64_t number)
{
    uint64_t draw = mix_nth(number + 1);
    at = put(at, "https://");
    at = put(at, hosts[take(&draw, 3)]);
    at = put(at, names[take(&draw, 3)]);
    at = put_number(at, take(&draw, 12));
    at = put(at, domains[take(&draw, 3)]);
    for (unsigned segments = 2 + take(&draw, 1); segments > 0; segments--) {
        *at++ = '/';
        at = put(at, words[take(&draw, 4)]);
    }
    *at++ = '/';
    at = put(at, words[take(&draw, 4)]);
    *at++ = '-';
    at = put_number(at, number);
    return put(at, ends[take(&draw, 3)]);
}

/* --- From a list ------------------------------------------------------------ */

static char *from_list(const struct bench_keys *k, char *at, uint64_t number)
{
    const deja_slice *line = &k->line[number % k->n_lines];
    memcpy(at, line->data, line->len);
    at += line->len;
    if (number < k->n_lines)
        return at;
    *at++ = '#';
    return put_number(at, number / k->n_lines);
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

/* --- Both ------------------------------------------------------------------- */

int bench_keys_init(struct bench_keys *k, size_t cap, const char *path, deja_error *err)
{
    *k = (struct bench_keys){.cap = cap, .key_max = MADE_UP_MAX};
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
        char *end = k->line ? from_list(k, at, number[i]) : make_up(at, number[i]);
        k->slice[i] = (deja_slice){at, (size_t)(end - at)};
        at = end;
    }
    k->n = n;
}

double bench_keys_mean_len(const struct bench_keys *k)
{
    size_t sum = 0;
    for (size_t i = 0; i < k->n; i++)
        sum += k->slice[i].len;
    return k->n > 0 ? (double)sum / (double)k->n : 0;
}
