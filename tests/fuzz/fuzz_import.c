/* fuzz_import.c - a filter that arrives in chunks from an untrusted source, as BF.LOADCHUNK gets
 * them.
 *
 * The first byte says how much help the rest gets to pass the outer checks (helped.h), and in its
 * high bit whether the checksum of the bodies is repaired; the second says how the bytes are cut
 * into chunks.  Between chunks, the received bytes are read back, and finishing too early is
 * tried.
 *
 * Beyond not crashing: memory is allocated for bytes that have arrived, not for those that a
 * header claims; and export gives back exactly the bytes that were accepted. */
#include "deja.h"
#include "helped.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEN   ((size_t)1 << 20)
#define HELP_BODY 128u
#define MUCH      ((size_t)64 << 10) /* limit for a filter without bodies */

/* An allocator that tracks how much is allocated. */
struct meter {
    size_t now, most;
};

static void *meter_alloc(void *ctx, size_t size, size_t align)
{
    struct meter *m = ctx;
    void *p = NULL;
    if (posix_memalign(&p, align < sizeof p ? sizeof p : align, size ? size : 1))
        return NULL;
    m->now += size;
    m->most = m->now > m->most ? m->now : m->most;
    return p;
}

static void meter_free(void *ctx, void *p, size_t size)
{
    struct meter *m = ctx;
    m->now -= size;
    free(p);
}

static void read_back(const deja_import *im, const uint8_t *bytes, size_t have)
{
    uint8_t some[300];
    const size_t at = have > 200 ? have - 200 : 0;
    const size_t got = deja_import_read(im, at, some, sizeof some);
    check(got == have - at && memcmp(some, bytes + at, got) == 0);
    check(deja_import_read(im, have, some, 1) == 0);
}

static void take(deja_import *im, const uint8_t *bytes, size_t len, unsigned cut)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    uint8_t *again;
    int rc = DEJA_OK;
    for (size_t at = 0, n; at < len && rc == DEJA_OK; at += n) {
        n = 1 + (at * 2654435761u + cut) % (cut < 128 ? 97 : 5000);
        n = n < len - at ? n : len - at;
        rc = deja_import_write(im, bytes + at, n, &err);
        if (rc == DEJA_OK)
            read_back(im, bytes, at + n);
        if (at + n < len && deja_import_len(im) > len) /* too early */
            check(deja_import_finish(im, &f, NULL) == DEJA_EFORMAT);
    }
    if (rc == DEJA_OK)
        rc = deja_import_finish(im, &f, &err);
    if (rc < 0) {
        check(err.text[0] && !f);
        return;
    }
    const size_t bodies = (size_t)deja_filter_export_len(f) - HEADER_LEN;
    again = malloc(len);
    check(again && deja_filter_export(f, HEADER_LEN, again, len) == bodies);
    check(bodies <= len - HEADER_LEN && memcmp(again, bytes + HEADER_LEN, bodies) == 0);
    free(again);
    deja_filter_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct meter meter = {0, 0};
    const deja_allocator alloc = {meter_alloc, meter_free, &meter};
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_import *im = NULL;
    if (size < 2 || size > MAX_LEN)
        return 0;
    const unsigned how = data[0], cut = data[1];
    const size_t len = size - 2;
    uint8_t *bytes = malloc(len ? len : 1);
    check(bytes);
    memcpy(bytes, data + 2, len);
    if (len >= HEADER_LEN) {
        if (how & HELP_BODY)
            dj_store64(bytes + 3072 + 24, dj_checksum(bytes + HEADER_LEN, len - HEADER_LEN));
        help(bytes, how);
    }
    expect.alloc = &alloc;
    check(deja_import_new(0, &expect, &im, NULL) == DEJA_OK);
    const size_t own = meter.most;
    take(im, bytes, len, cut);
    check(meter.most <= own + MUCH + 3 * len + ((size_t)1 << 20));
    deja_import_free(im);
    check(meter.now == 0);
    free(bytes);
    return 0;
}
