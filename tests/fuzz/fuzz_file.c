/* fuzz_file.c - any bytes as a .deja file: opened, queried, added to, removed from, synced,
 * verified, and imported.
 *
 * The first byte says how much help the rest gets to pass the outer checks (helped.h).
 *
 * Beyond not crashing: a filter that opens for writing holds the added keys (a paired filter may
 * say "new" and hide one), lacks the removed ones, and a sync makes it valid, unless it leaves
 * damaged pieces as they are. */
#include "core/base/bytes.h"
#include "core/hash/hash.h"
#include "deja.h"
#include "helped.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_LEN ((size_t)1 << 20)

/* Makes a file in memory from the bytes, and gives it a name. */
static int make_file(const uint8_t *data, size_t len, unsigned how, uint8_t key[DEJA_KEY_LEN],
                     char path[64])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    check(write(fd, data, len) == (ssize_t)len);
    if (len < HEADER_LEN)
        return fd;
    uint8_t page[HEADER_LEN];
    memcpy(page, data, sizeof page);
    help(page, how);
    memcpy(key, page + 88, DEJA_KEY_LEN);
    check(pwrite(fd, page, sizeof page, 0) == (ssize_t)sizeof page);
    const uint64_t told = dj_load64(page + 120);
    if (how & HELP_LENGTH && told <= MAX_LEN)
        check(ftruncate(fd, (off_t)told) == 0);
    return fd;
}

static deja_slice key_of(const uint32_t *i)
{
    return (deja_slice){i, sizeof *i};
}

static void ask(const deja_filter *f)
{
    enum {
        N = 100
    };
    uint32_t number[N];
    deja_slice keys[N];
    uint8_t found[N];
    deja_stats s = DEJA_STATS_INIT;
    for (uint32_t i = 0; i < N; i++) {
        number[i] = i;
        keys[i] = key_of(&number[i]);
    }
    deja_filter_contains_batch(f, keys, N, found);
    for (uint32_t i = 0; i < N; i += 9)
        check(deja_filter_contains(f, keys[i]) == found[i]);
    check(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) == DEJA_OK);
    check(s.bits_set <= 8 * s.bytes && s.parts >= 1);
    uint64_t counts[N];
    if (deja_filter_count_batch(f, keys, N, counts, NULL) == DEJA_OK)
        for (uint32_t i = 0; i < N; i++)
            check((counts[i] > 0) == found[i]);
    double common = 0, sigma = 0;
    if (deja_filter_overlap(f, f, &common, &sigma, NULL) == DEJA_OK)
        check(common >= 0 && sigma >= 0);
}

static bool forgets(const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    check(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) == DEJA_OK);
    return s.kind == DEJA_PAIRED;
}

static void take_out(deja_filter *f, uint32_t i)
{
    const bool before = deja_filter_contains(f, key_of(&i));
    bool removed = false;
    if (deja_filter_remove(f, key_of(&i), &removed, NULL) == DEJA_OK && forgets(f))
        check(removed == before && !deja_filter_contains(f, key_of(&i)));
}

/* Returns false if the kind accepts no keys. */
static bool add(deja_filter *f)
{
    const bool may_hide = forgets(f);
    for (uint32_t i = 0; i < 20; i++) {
        bool is_new = false;
        const int rc = deja_filter_add(f, key_of(&i), &is_new, NULL);
        if (rc == DEJA_ENOTSUP)
            return false;
        if (rc < 0) { /* full, or no room to grow */
            check(rc == DEJA_EFULL || rc == DEJA_EIO || rc == DEJA_ENOMEM);
            break;
        }
        check(deja_filter_contains(f, key_of(&i)) || (may_hide && is_new));
        if (i % 5 == 4)
            take_out(f, i);
    }
    return true;
}

/* Keys that were just added can be removed, unless their counters are saturated. */
static void take_back(deja_filter *f)
{
    for (uint32_t i = 0; i < 10; i++) {
        uint64_t before, after;
        bool removed;
        if (deja_filter_count(f, key_of(&i), &before, NULL) < 0 ||
            deja_filter_remove(f, key_of(&i), &removed, NULL) < 0)
            return; /* a different kind, or minimal increase */
        check(deja_filter_count(f, key_of(&i), &after, NULL) == DEJA_OK);
        check(after <= before && (removed || after == before));
        check(!removed || before > 0);
    }
}

/* The next visit is sized for any header and any counts; there is no folder for its file. */
static void fail_to_rotate(deja_filter *f)
{
    deja_error err = {0};
    check(deja_filter_rotate(f, NULL, &err) < 0 && err.text[0]);
    check(deja_filter_fold(f, 1, &err) < 0 && err.text[0]);
}

static void refused_in_words(int rc, const deja_error *err)
{
    check(rc < 0 && err->status == rc && err->text[0]);
    check(rc != DEJA_EINVAL && rc != DEJA_ENOMEM);
}

/* Imports the bytes without the file: verify accepts what import accepts, and export gives back
 * the same bodies. */
static void import(int fd, const deja_options *expect, bool verified)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    const size_t len = (size_t)end;
    uint8_t *bytes = malloc(2 * len + 1);
    deja_filter *f = NULL, *g = NULL;
    deja_import *im = NULL;
    deja_error err = {0};
    check(bytes && pread(fd, bytes, len, 0) == (ssize_t)len);
    const int rc = deja_filter_import(bytes, len, expect, &f, &err);
    check(deja_import_new(0, expect, &im, NULL) == DEJA_OK);
    const size_t half = len / 2;
    int pieces = deja_import_write(im, bytes, half, NULL);
    if (pieces == DEJA_OK)
        pieces = deja_import_write(im, bytes + half, len - half, NULL);
    if (pieces == DEJA_OK)
        pieces = deja_import_finish(im, &g, NULL);
    check((rc == DEJA_OK) == (pieces == DEJA_OK));
    if (rc == DEJA_OK) {
        check(verified);
        ask(f);
        const size_t out = deja_filter_export(f, 0, bytes + len, len + 1); /* no piece table */
        check(out == deja_filter_export_len(f) && out <= len);
        check(memcmp(bytes + HEADER_LEN, bytes + len + HEADER_LEN, out - HEADER_LEN) == 0);
        (void)add(g);
        ask(g);
    } else {
        refused_in_words(rc, &err);
    }
    deja_import_free(im);
    deja_filter_free(f);
    deja_filter_free(g);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t key[DEJA_KEY_LEN] = {0};
    char path[64];
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    if (size < 1 || size > MAX_LEN)
        return 0;
    const int fd = make_file(data + 1, size - 1, data[0], key, path);
    expect.key = key; /* for files that do not hold it */
    int rc = deja_file_verify(path, &err);
    if (rc < 0)
        refused_in_words(rc, &err);
    const bool pieces_damaged = rc < 0 && strstr(err.text, "pieces of 64 KiB");
    import(fd, &expect, rc == DEJA_OK);
    rc = deja_filter_open(path, DEJA_OPEN_REPAIR, &expect, &f, &err);
    if (rc == DEJA_OK) {
        ask(f);
        deja_filter_free(f);
    } else {
        refused_in_words(rc, &err);
    }
    rc = deja_filter_open(path, DEJA_OPEN_WRITE, &expect, &f, &err);
    if (rc == DEJA_OK) {
        fail_to_rotate(f);
        const bool changed = add(f);
        ask(f);
        take_back(f);
        ask(f);
        check(deja_filter_sync(f, &err) == DEJA_OK);
        deja_filter_free(f);
        rc = deja_file_verify(path, &err);
        /* A sync leaves damage where nothing has changed, so that it can still be found. */
        check(rc == DEJA_OK || !changed || pieces_damaged);
    } else {
        refused_in_words(rc, &err);
    }
    close(fd);
    return 0;
}
