/* make_golden.c - wrote the golden files, once.
 *
 * It documents how they were made.  No build runs it, and it refuses to overwrite: golden files
 * are valuable because an older deja wrote them.  From the top of the tree, with a library in
 * $BUILD:
 *
 *   cc -std=c11 -D_GNU_SOURCE -Iinclude -Itests/format tests/format/make_golden.c \
 *      $BUILD/libdeja.a -lidn2 -lunistring -lpthread -lm -o /tmp/make_golden
 *   /tmp/make_golden 2 tests/format/golden/v2
 *
 * (deja 0.1 made those of v1.)  It writes NAME.deja for each row of golden.h; members.txt, with
 * the keys in the order of their adds (each file has the first ones, as many as its row says); and
 * strangers.txt, with keys that no file has seen; one key per line.  Keys are added one at a time,
 * so that the growth of a scalable filter does not depend on batches. */
#include "golden.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRANGERS      120
#define FIRST_STRANGER 1000000
#define KEY_CAP        2048

static void need(int holds, const char *what, const char *detail)
{
    if (holds)
        return;
    fprintf(stderr, "make_golden: %s: %s\n", what, detail);
    exit(1);
}

/* Key i: URLs of usual length, preceded by keys of the lengths at which hashing changes. */
static deja_slice make_key(unsigned i, char buf[KEY_CAP])
{
    static const size_t lengths[] = {20,  0,   1,   2,   3,   4,   5,   7,    8,    9,   11,  12,
                                     13,  15,  16,  17,  23,  24,  31,  32,   33,   47,  48,  55,
                                     56,  63,  64,  65,  96,  127, 128, 129,  159,  160, 191, 192,
                                     239, 240, 241, 255, 256, 257, 512, 1023, 1024, 1025};
    const size_t n_lengths = sizeof lengths / sizeof lengths[0];
    const unsigned turn = i % FIRST_STRANGER;
    if (i == 0)
        return (deja_slice){"https://example.com/", 20};
    size_t len =
        (size_t)snprintf(buf, KEY_CAP, "https://www.example.org/%x/%u", i * 2654435761u, i);
    if (turn < n_lengths) {
        for (size_t at = len; at < KEY_CAP; at++)
            buf[at] = (char)('a' + (at * 7 + i) % 26);
        /* Short keys lose their tail, which makes them unique, so they start with it. */
        if (lengths[turn] < len)
            memmove(buf, buf + len - lengths[turn], lengths[turn]);
        len = lengths[turn];
    }
    return (deja_slice){buf, len};
}

static void put_line(FILE *out, deja_slice key)
{
    need(fwrite(key.data, 1, key.len, out) == key.len && fputc('\n', out) != EOF, "keys", "write");
}

static FILE *list_of(const char *folder, const char *which)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.txt", folder, which);
    FILE *out = fopen(path, "wx");
    need(out != NULL, path, "cannot create");
    return out;
}

static void add_keys(deja_filter *f, unsigned from, unsigned to)
{
    char buf[KEY_CAP];
    for (unsigned i = from; i < to; i++)
        need(deja_filter_add(f, make_key(i, buf), NULL, NULL) == DEJA_OK, "add", "failed");
}

static void remove_keys(deja_filter *f, unsigned from, unsigned to)
{
    char buf[KEY_CAP];
    for (unsigned i = from; i < to; i++)
        need(deja_filter_remove(f, make_key(i, buf), NULL, NULL) == DEJA_OK, "remove", "failed");
}

static deja_filter *build(const deja_options *opt, const char *path, unsigned n,
                          unsigned exceptions)
{
    char buf[KEY_CAP];
    deja_error err = {0};
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    need(deja_builder_new(opt, &b, &err) == DEJA_OK, path, err.text);
    for (unsigned i = 0; i < n; i++) {
        const deja_slice key = make_key(i, buf);
        need(deja_builder_add_batch(b, &key, 1, NULL) == DEJA_OK, path, "out of memory");
    }
    for (unsigned i = 0; i < exceptions; i++) {
        char text[64];
        const deja_slice key = golden_exception(i, text);
        need(deja_builder_except_batch(b, &key, 1, 0, NULL) == DEJA_OK, path, "out of memory");
    }
    need(deja_builder_finish(b, path, 0, &f, &err) == DEJA_OK, path, err.text);
    deja_builder_free(b);
    return f;
}

static void merge_second(deja_filter *f, const struct golden *g, unsigned format)
{
    const deja_options opt = golden_second(g, format);
    deja_filter *second = NULL;
    need(deja_filter_new(&opt, &second, NULL) == DEJA_OK, g->name, "second filter");
    add_keys(second, g->synced - g->merged, g->synced);
    need(deja_filter_merge(f, second, NULL) == DEJA_OK, g->name, "merge");
    deja_filter_free(second);
}

static deja_filter *make(const struct golden *g, unsigned format, const char *folder)
{
    char path[4096];
    deja_error err = {0};
    deja_filter *f = NULL;
    const deja_options opt = golden_options(g, format);
    deja_options expect = DEJA_OPTIONS_INIT;
    expect.key = opt.key;
    snprintf(path, sizeof path, "%s/%s.deja", folder, g->name);
    if (g->kind == DEJA_STATIC)
        f = build(&opt, path, g->synced, g->exceptions);
    else
        need(deja_filter_create(path, 0, &opt, &f, &err) == DEJA_OK, path, err.text);
    need(!g->clock || deja_filter_set_clock(f, g->clock, NULL) == DEJA_OK, path, "clock");
    if (g->before) {
        add_keys(f, 0, g->before);
        need(deja_filter_sync(f, &err) == DEJA_OK, path, err.text);
        const deja_options next = golden_next(g);
        need(deja_filter_rotate(f, &next, &err) == DEJA_OK, path, err.text);
    }
    if (g->kind != DEJA_STATIC)
        add_keys(f, 0, g->synced - g->merged);
    if (g->merged)
        merge_second(f, g, format);
    if (g->renewed) {
        need(deja_filter_set_clock(f, golden_later(g), NULL) == DEJA_OK, path, "clock");
        add_keys(f, 0, g->renewed);
    }
    remove_keys(f, g->synced - g->removed, g->synced);
    need(deja_filter_sync(f, &err) == DEJA_OK, path, err.text);
    need(!g->folds || deja_filter_fold(f, g->folds, &err) == DEJA_OK, path, err.text);
    if (g->late) {
        deja_filter_free(f);
        need(deja_filter_open(path, DEJA_OPEN_WRITE, &expect, &f, &err) == DEJA_OK, path,
             err.text);
        add_keys(f, g->synced, g->synced + g->late);
    }
    printf("%s\n", path);
    return f;
}

static int is_stranger(deja_filter *const f[N_GOLDEN], deja_slice key)
{
    for (size_t i = 0; i < N_GOLDEN; i++)
        if (f[i] && deja_filter_contains(f[i], key))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    char buf[KEY_CAP];
    deja_filter *f[N_GOLDEN] = {0};
    unsigned most = 0;
    need(argc == 3, "usage", "make_golden FORMAT FOLDER");
    const unsigned format = (unsigned)strtoul(argv[1], NULL, 10);
    FILE *members = list_of(argv[2], "members");
    FILE *strangers = list_of(argv[2], "strangers");
    for (size_t i = 0; i < N_GOLDEN; i++) {
        const unsigned n = goldens[i].synced + goldens[i].late;
        if (goldens[i].since > format)
            continue;
        f[i] = make(&goldens[i], format, argv[2]);
        most = n > most ? n : most;
    }
    for (unsigned i = 0; i < most; i++)
        put_line(members, make_key(i, buf));
    for (unsigned i = FIRST_STRANGER, found = 0; found < STRANGERS; i++) {
        const deja_slice key = make_key(i, buf);
        if (!is_stranger(f, key))
            continue;
        put_line(strangers, key);
        found++;
    }
    for (size_t i = 0; i < N_GOLDEN; i++)
        deja_filter_free(f[i]);
    need(fclose(members) == 0 && fclose(strangers) == 0, argv[2], "cannot write the keys");
    return 0;
}
