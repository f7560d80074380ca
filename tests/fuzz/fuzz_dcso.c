/* fuzz_dcso.c - any bytes as a DCSO bloom file, plain or gzip: read, queried, added to.
 *
 * Beyond not crashing: the header of a file that can be read is the same when it is written
 * again, it has no more set bits than bits, queries change nothing, and added keys are found. */
#include "checking.h"
#include "cli/dcso/dcso_file.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEYS 8

/* Pieces of the input itself, the last of them empty. */
static void draw_keys(const uint8_t *data, size_t len, deja_slice key[KEYS])
{
    for (size_t i = 0; i < KEYS; i++) {
        const size_t from = len * i / KEYS, to = i + 1 < KEYS ? len * (i + 1) / KEYS : from;
        key[i] = (deja_slice){data + from, to - from};
    }
}

static void ask_and_add(struct dcso *d, const uint8_t *data, size_t len)
{
    deja_slice key[KEYS];
    uint64_t hash[KEYS];
    uint8_t before[KEYS], is_new[KEYS], after[KEYS];
    const uint64_t set = dcso_bits_set(d), keys = d->keys;
    check(set <= d->bits && dcso_rate(d, set) <= 1 && dcso_distinct(d, set) >= 0);
    draw_keys(data, len, key);
    dcso_hash(NULL, key, KEYS, hash);
    dcso_contains(d, hash, KEYS, before);
    check(dcso_bits_set(d) == set && d->keys == keys);
    dcso_add(d, hash, KEYS, is_new);
    dcso_contains(d, hash, KEYS, after);
    for (size_t i = 0; i < KEYS; i++)
        check(after[i] && !(before[i] && is_new[i]));
    check(dcso_bits_set(d) >= set);
}

static void header_says_the_same(const struct dcso *d)
{
    uint8_t header[DCSO_HEADER_LEN];
    struct dcso again;
    dcso_encode(d, header);
    check(dcso_decode(header, &again, NULL) == DEJA_OK);
    check(again.capacity == d->capacity && again.bits == d->bits && again.keys == d->keys &&
          again.hashes == d->hashes && memcmp(&again.fp_rate, &d->fp_rate, 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct dcso_file f;
    deja_error err = {0};
    char path[64];
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, len) == (ssize_t)len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int rc = dcso_file_read(&f, path, NULL, &err);
    check(rc == DEJA_OK || err.text[0]);
    if (rc == DEJA_OK) {
        check(dcso_file_is(path));
        header_says_the_same(&f.filter);
        ask_and_add(&f.filter, data, len);
    }
    dcso_file_free(&f);
    close(fd);
    return 0;
}
