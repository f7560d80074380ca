/* fuzz_file.c - any bytes as a .deja file: opened, asked, added to, removed from, synced,
 * verified.
 *
 * The first byte says how much help the rest gets to pass the outer checks, so that these do not
 * shield what is behind them:
 *
 *   1  magic, version and header length are made right
 *   2  key check and header checksum
 *   4  checksums of the records, and the header they belong to
 *   8  the file gets the length that the header tells, up to a megabyte
 *
 * Beyond not crashing: what opens for writing holds what was added, and a sync makes it whole. */
#include "core/base/bytes.h"
#include "core/hash/hash.h"
#include "deja.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER_LEN 4096u
#define MAX_LEN    ((size_t)1 << 20)

enum help { HELP_FRAME = 1, HELP_HEADER = 2, HELP_RECORDS = 4, HELP_LENGTH = 8 };

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void fix_record(uint8_t *page, size_t at)
{
    dj_store64(page + at + 296, dj_load64(page + 2560));
    dj_store64(page + at + 504, dj_checksum(page + at, 504));
}

static void help(uint8_t *page, unsigned how)
{
    static const uint8_t frame[16] = {'D',  'E', 'J', 'A', '\r', '\n', 0x1a,
                                      '\n', 1,   0,   0,   0,    0,    16};
    static const uint8_t none[512];
    if (how & HELP_FRAME)
        memcpy(page, frame, sizeof frame);
    if (how & HELP_HEADER) {
        dj_store64(page + 80, dj_key_derive(page + 88, DJ_STREAM_CHECK, 0));
        dj_store64(page + 2560, dj_checksum(page, 2560));
    }
    if (how & HELP_RECORDS) {
        fix_record(page, 3072);
        if (memcmp(page + 3584, none, sizeof none) != 0)
            fix_record(page, 3584);
    }
}

/* The bytes as a file in memory, under a name. */
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
    enum { N = 100 };
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
    check(deja_filter_stats(f, &s) == DEJA_OK);
    check(s.bits_set <= 8 * s.bytes && s.parts >= 1);
    uint32_t counts[N];
    if (deja_filter_count_batch(f, keys, N, counts) == DEJA_OK)
        for (uint32_t i = 0; i < N; i++)
            check((counts[i] > 0) == found[i]);
    double common = 0, sigma = 0;
    if (deja_filter_common(f, f, &common, &sigma, NULL) == DEJA_OK)
        check(common >= 0 && sigma >= 0);
}

/* False: a kind that takes no keys. */
static bool add(deja_filter *f)
{
    for (uint32_t i = 0; i < 20; i++) {
        const int rc = deja_filter_add(f, key_of(&i), NULL);
        if (rc == DEJA_ENOTSUP)
            return false;
        if (rc < 0) { /* full, or no place to grow */
            check(rc == DEJA_EFULL || rc == DEJA_EIO);
            break;
        }
        check(deja_filter_contains(f, key_of(&i)));
    }
    return true;
}

/* Keys that were just added can be taken back, unless their counters have lost count. */
static void take_back(deja_filter *f)
{
    for (uint32_t i = 0; i < 10; i++) {
        uint64_t before, after;
        bool removed;
        if (deja_filter_count(f, key_of(&i), &before) < 0 ||
            deja_filter_remove(f, key_of(&i), &removed) < 0)
            return; /* another kind, or minimal increase */
        check(deja_filter_count(f, key_of(&i), &after) == DEJA_OK);
        check(after <= before && (removed || after == before));
        check(!removed || before > 0);
    }
}

/* Whatever the header and the counts say, the next visit is sized; there is no folder to put its
 * file into. */
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
        check(rc == DEJA_OK || !changed); /* what was not touched may have been damaged before */
    } else {
        refused_in_words(rc, &err);
    }
    close(fd);
    return 0;
}
