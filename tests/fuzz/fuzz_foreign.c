/* fuzz_foreign.c - any bytes as a filter file of another program, in each format: read, queried, added
 * to, written and read again.
 *
 * Beyond not crashing: queries change nothing, added keys are found, no filter has more set bits
 * than bits, and a file that was written is read as the same filter. */
#include "checking.h"
#include "cli/foreign/foreign_file.h"
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
        key[i] = (deja_slice){len ? data + from : (const uint8_t *)"", to - from};
    }
}

static uint64_t sum_of_bits(const struct foreign *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n_parts; i++) {
        const uint64_t set = foreign_bits_set(&f->part[i]);
        check(set <= f->part[i].bits && foreign_distinct(&f->part[i], set) >= 0);
        sum += set;
    }
    return sum;
}

static void ask_and_add(struct foreign *f, const uint8_t *data, size_t len)
{
    deja_slice key[KEYS];
    uint64_t hash[KEYS * FOREIGN_WORDS];
    uint8_t before[KEYS], is_new[KEYS], after[KEYS];
    size_t done;
    const uint64_t set = sum_of_bits(f), keys = f->keys;
    const double rate = foreign_rate(f);
    check(rate >= 0 && rate <= 1);
    draw_keys(data, len, key);
    f->format->hash(f, key, KEYS, hash);
    foreign_contains(f, hash, KEYS, before);
    check(sum_of_bits(f) == set && f->keys == keys);
    const int rc = foreign_add(f, hash, KEYS, is_new, &done, NULL);
    check(rc == DEJA_OK ? done == KEYS : done < KEYS);
    foreign_contains(f, hash, KEYS, after);
    for (size_t i = 0; i < done; i++)
        check(after[i] && !(before[i] && is_new[i]));
    check(sum_of_bits(f) >= set);
}

struct file {
    uint8_t *data;
    size_t len, cap;
};

static bool put(struct foreign_out *out, const void *data, uint64_t len)
{
    struct file *f = out->target;
    if (len > f->cap - f->len) {
        f->cap = 2 * f->cap + (size_t)len;
        f->data = realloc(f->data, f->cap);
        check(f->data);
    }
    if (len)
        memcpy(f->data + f->len, data, (size_t)len);
    f->len += (size_t)len;
    return true;
}

static void read_again(const struct foreign *f)
{
    struct file file = {0};
    struct foreign_out out = {put, &file};
    struct foreign again = {.format = f->format};
    check(f->format->write(f, &out));
    const deja_slice bytes = {file.data, file.len};
    struct foreign_in in = foreign_in_memory(&bytes);
    check(f->format->read(&again, &in, NULL) == DEJA_OK);
    check(again.n_parts == f->n_parts && again.variant == f->variant && again.seed == f->seed);
    check(!f->format->counts || again.keys == f->keys);
    for (size_t i = 0; i < f->n_parts; i++) {
        const struct foreign_part *a = &f->part[i], *b = &again.part[i];
        check(a->bits == b->bits && a->hashes == b->hashes && a->len == b->len &&
              memcmp(a->body, b->body, (size_t)a->len) == 0);
    }
    foreign_free(&again);
    free(file.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[64];
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, len) == (ssize_t)len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const struct foreign_format *detected = foreign_file_is(path);
    for (size_t i = 0; foreign_format_at(i); i++) {
        struct foreign_file f;
        deja_error err = {0};
        const int rc = foreign_file_read(&f, path, foreign_format_at(i), NULL, NULL, &err);
        check(rc == DEJA_OK || err.text[0]);
        if (rc == DEJA_OK) {
            check(!foreign_format_at(i)->is || detected || f.gzip);
            ask_and_add(&f.filter, data, len);
            if (f.filter.format->write)
                read_again(&f.filter);
        }
        foreign_file_free(&f);
    }
    close(fd);
    return 0;
}
