/* bench_libbloom.c - libbloom as a benchmark subject, if it is installed.
 *
 * It is loaded at run time, so nothing else depends on it.  The declarations match version 1
 * (Debian: libbloom1), which the soname guarantees. */
#include "bench/bench_subject.h"
#include "tools/base/fail.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

struct bloom {
    int entries;
    double error;
    int bits, bytes, hashes;
    double bits_per_entry;
    unsigned char *bf;
    int ready;
    char spare[64]; /* in case a later 1.x has more fields */
};

static struct {
    int (*init)(struct bloom *, int entries, double error);
    int (*check)(struct bloom *, const void *key, int len);
    int (*add)(struct bloom *, const void *key, int len);
    void (*release)(struct bloom *);
} lib;

static uint64_t bloom_estimate(uint32_t kind, uint64_t n, double p, double key_len)
{
    (void)kind;
    return bench_filter.estimate(DEJA_CLASSIC, n, p, key_len);
}

static void *bloom_open(uint32_t kind, uint64_t n, double p, deja_error *err)
{
    struct bloom *b = calloc(1, sizeof *b);
    /* libbloom counts bits in an int. */
    if (b && bloom_estimate(kind, n, p, 0) <= INT_MAX / 8 && lib.init(b, (int)n, p) == 0)
        return b;
    free(b);
    (void)fail(err, DEJA_ENOMEM, "libbloom cannot create a filter for this many keys");
    return NULL;
}

static void bloom_close(void *self)
{
    if (self)
        lib.release(self);
    free(self);
}

static uint64_t bloom_bytes(void *self)
{
    return (uint64_t)((struct bloom *)self)->bytes;
}

static int bloom_contains(void *self, const deja_slice *keys, size_t n, uint8_t *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = lib.check(self, keys[i].data, (int)keys[i].len) == 1;
    return DEJA_OK;
}

static int bloom_add(void *self, const deja_slice *keys, size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++)
        is_new[i] = lib.add(self, keys[i].data, (int)keys[i].len) == 0;
    return DEJA_OK;
}

static const struct bench_subject subject = {
    .name = "libbloom",
    .open = bloom_open,
    .close = bloom_close,
    .estimate = bloom_estimate,
    .bytes = bloom_bytes,
    .rate = bench_rate_unknown,
    .contains_one = bloom_contains,
    .add_one = bloom_add,
};

/* POSIX requires this conversion of dlsym's object pointer to a function pointer. */
static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    *(void **)function = found;
    return found;
}

const struct bench_subject *bench_libbloom(void)
{
    void *handle = dlopen("libbloom.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return NULL;
    const bool all =
        find(handle, "bloom_init", &lib.init) && find(handle, "bloom_check", &lib.check) &&
        find(handle, "bloom_add", &lib.add) && find(handle, "bloom_free", &lib.release);
    return all ? &subject : NULL; /* never unloaded */
}
