/* make_golden_sieve.c - wrote the golden sieve, once.
 *
 * It documents how it was made; no build runs it.  From the top of the tree, with a library in
 * $BUILD:
 *
 *   cc -std=c11 -D_GNU_SOURCE -Iinclude -Isrc tests/format/make_golden_sieve.c \
 *      $BUILD/libdeja.a -lidn2 -lunistring -lpthread -lm -o /tmp/make_golden_sieve
 *   /tmp/make_golden_sieve tests/format/golden/sieve
 *
 * Keys are "https://example.com/I" for I = 0 .. 399, with the seed 1.  The last 40 lines, repeats of
 * the first ones, stay pending, with tokens 1000 + I and the key as the record. */
#include "sieve/sieve.h"
#include <stdio.h>
#include <stdlib.h>

static void need(int rc, const deja_error *err)
{
    if (rc < 0) {
        fprintf(stderr, "make_golden_sieve: %s\n", err->text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const struct dj_shares share = {
        .filter = 4096, .recent = 13 * 256, .pending = 16 * 4096, .buffer = DJ_RUN_BUFFER};
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve *s = NULL;
    deja_error err = {0};
    uint8_t verdict;
    size_t n = 1;
    opt.seed = 1;
    opt.flags = DEJA_SIEVE_NO_THREAD;
    if (argc != 2 || deja_sieve_exists(argv[1]))
        return 2;
    need(dj_sieve_open(argv[1], DEJA_OPEN_CREATE, &opt, &share, &s, &err), &err);
    for (unsigned i = 0; i < 440; i++) {
        char text[40];
        deja_fingerprint fp;
        const uint64_t token = 1000 + i % 400;
        const deja_slice key = {
            text, (size_t)snprintf(text, sizeof text, "https://example.com/%u", i % 400)};
        deja_settled out;
        deja_sieve_hash_batch(s, &key, 1, &fp);
        need(deja_sieve_judge(s, &fp, 1, &token, &key, &verdict, &err), &err);
        need(deja_sieve_commit(s, &err), &err);
        if (i != 399)
            continue;
        need(deja_sieve_settle(s, &err), &err);
        for (n = 1; n;) {
            need(deja_sieve_settled(s, &out, 1, &n, &err), &err);
            need(deja_sieve_commit(s, &err), &err);
        }
    }
    need(deja_sieve_sync(s, &err), &err);
    deja_sieve_free(s);
    return 0;
}
