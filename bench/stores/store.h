/* store.h - the part that all programs in C share: reads lines, puts each if it is absent.
 *
 * A program includes this header, defines the store_ functions declared here, and calls store_main.
 * README.md has the arguments and the output.
 *
 * The key of a line is its XXH3 hash of 128 bits: the smallest key that a careful user would choose,
 * and short enough for every store. */
#ifndef BENCH_STORES_STORE_H
#define BENCH_STORES_STORE_H
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define STORE_KEY    16
#define STORE_COMMIT 100000 /* lines between two commits */

/* A new, empty store in this directory that uses about so much memory, in bytes. */
static void store_open(const char *folder, uint64_t memory);
/* Puts a key; returns whether it was absent. */
static bool store_put(const uint8_t key[STORE_KEY]);
static void store_commit(void);
static void store_close(void);

static inline void store_fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why ? why : "failed");
    exit(2);
}

static inline double store_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline int store_main(int argc, char **argv)
{
    if (argc < 4)
        store_fail("usage", "PROGRAM FOLDER MEMORY SECONDS <LINES");
    const double begin = store_now(), limit = strtod(argv[3], NULL);
    char *line = NULL;
    size_t cap = 0;
    uint64_t lines = 0, fresh = 0;
    ssize_t len;
    store_open(argv[1], strtoull(argv[2], NULL, 10));
    while ((len = getline(&line, &cap, stdin)) > 0) {
        XXH128_canonical_t key;
        XXH128_canonicalFromHash(&key, XXH3_128bits(line, (size_t)len - (line[len - 1] == '\n')));
        if (store_put(key.digest)) {
            fresh++;
            (void)fwrite(line, 1, (size_t)len, stdout);
        }
        if (++lines % STORE_COMMIT == 0) {
            store_commit();
            if (store_now() - begin > limit)
                break;
        }
    }
    store_commit();
    store_close();
    free(line);
    (void)fprintf(stderr, "%" PRIu64 "\t%" PRIu64 "\t%.1f\n", lines, fresh, store_now() - begin);
    return fflush(stdout) == 0 ? 0 : 2;
}

#endif
