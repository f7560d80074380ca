/* bench_keys.c - distinct URLs by number; see bench_keys.h.
 *
 * A generated URL ends in a segment with its number, so no two are equal; everything else is drawn
 * from a hash of the number.  Lengths vary as in a crawl, and with them the code path of the hash
 * function: equal lengths would make it look faster than it is. */
#include "bench/bench_keys.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include "tools/input/input.h"
#include <errno.h>
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

struct loading {
    struct bench_keys *k;
    deja_filter *seen;
    size_t used, cap;    /* bytes of the list */
    size_t *begin, room; /* where its lines start, and how many fit */
};

static int make_room(struct loading *l, size_t bytes, deja_error *err)
{
    void *list = array_grow(l->k->list, &l->cap, l->used + bytes + 1, 1);
    l->k->list = list ? list : l->k->list;
    /* One more start than there are lines. */
    void *begin = array_grow(l->begin, &l->room, l->k->n_lines + 2, sizeof *l->begin);
    l->begin = begin ? begin : l->begin;
    return list && begin ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for the list of URLs");
}

static int take_line(struct loading *l, deja_slice line, deja_error *err)
{
    bool is_new;
    if (line.len == 0 || line.len > LINE_MAX)
        return DEJA_OK;
    int rc = deja_filter_add(l->seen, line, &is_new, err);
    if (rc < 0)
        return rc;
    if (!is_new)
        return DEJA_OK;
    rc = make_room(l, line.len, err);
    if (rc < 0)
        return rc;
    memcpy(l->k->list + l->used, line.data, line.len);
    l->begin[l->k->n_lines++] = l->used;
    l->used += line.len;
    l->begin[l->k->n_lines] = l->used;
    if (line.len + SUFFIX_MAX > l->k->key_max)
        l->k->key_max = line.len + SUFFIX_MAX;
    return DEJA_OK;
}

static int take_lines(struct loading *l, struct input *in, struct block *b, deja_error *err)
{
    int rc;
    while (l->k->n_lines < LINES_MAX && (rc = input_next(in, b, err)) != 0) {
        for (size_t i = 0; rc >= 0 && i < b->n && l->k->n_lines < LINES_MAX; i++)
            rc = take_line(l, b->keys[i], err);
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

static int make_slices(struct loading *l, const char *path, deja_error *err)
{
    struct bench_keys *k = l->k;
    if (k->n_lines == 0)
        return fail(err, DEJA_EINVAL, "%s has no line of 1 to %d bytes", fail_path(path).text,
                    LINE_MAX);
    k->line = malloc(k->n_lines * sizeof *k->line);
    if (!k->line)
        return fail(err, DEJA_ENOMEM, "no memory for the list of URLs");
    for (size_t i = 0; i < k->n_lines; i++)
        k->line[i] = (deja_slice){k->list + l->begin[i], l->begin[i + 1] - l->begin[i]};
    return DEJA_OK;
}

static int load(struct bench_keys *k, const char *path, deja_error *err)
{
    struct input_options in_opt = INPUT_OPTIONS_INIT;
    deja_options opt = DEJA_OPTIONS_INIT;
    struct loading l = {.k = k};
    struct input *in = NULL;
    struct block b;
    block_init(&b);
    in_opt.paths = &path;
    in_opt.n_paths = 1;
    opt.kind = DEJA_EXACT;
    opt.capacity = LINES_MAX;
    int rc = deja_filter_new(&opt, &l.seen, err);
    if (rc == DEJA_OK)
        rc = input_open(&in_opt, &in, err);
    if (rc == DEJA_OK)
        rc = take_lines(&l, in, &b, err);
    if (rc == DEJA_OK)
        rc = make_slices(&l, path, err);
    block_fini(&b);
    input_close(in);
    deja_filter_free(l.seen);
    free(l.begin);
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
        return fail(err, DEJA_ENOMEM, "no memory for the keys");
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
