/* peer.h - the part that all programs in C share: reads the keys, times the calls, prints a line.
 *
 * A program includes this header, defines the peer_ functions declared here, and calls peer_main.
 * README.md has the arguments and the output. */
#ifndef BENCH_PEERS_PEER_H
#define BENCH_PEERS_PEER_H
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEER_REPEATS 3

struct peer_key {
    const char *data;
    size_t len;
};
struct peer_keys {
    struct peer_key *key;
    size_t n;
    char *bytes;
};

static void peer_open(uint64_t n, double p);
static void peer_close(void);
static uint64_t peer_bits(void);
/* Test and add; returns how many keys were new. */
static uint64_t peer_add(const struct peer_keys *k);
static uint64_t peer_contains(const struct peer_keys *k); /* returns how many were found */

static inline void peer_fail(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    exit(2);
}

static inline struct peer_keys peer_read(const char *path)
{
    struct peer_keys k = {0};
    FILE *file = fopen(path, "re");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        peer_fail(path);
    const long len = ftell(file);
    k.bytes = len > 0 ? malloc((size_t)len) : NULL;
    rewind(file);
    if (!k.bytes || fread(k.bytes, 1, (size_t)len, file) != (size_t)len)
        peer_fail(path);
    (void)fclose(file);
    for (long i = 0; i < len; i++)
        k.n += k.bytes[i] == '\n';
    k.key = calloc(k.n ? k.n : 1, sizeof *k.key);
    if (!k.key)
        peer_fail("out of memory");
    const char *at = k.bytes;
    for (size_t i = 0; i < k.n; i++) {
        k.key[i].data = at;
        k.key[i].len = strcspn(at, "\n");
        at += k.key[i].len + 1;
    }
    return k;
}

/* The result of the call, and its time per key in *least if that is less. */
static inline uint64_t peer_time(uint64_t (*call)(const struct peer_keys *),
                                 const struct peer_keys *k, double *least)
{
    struct timespec begin, end;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    const uint64_t result = call(k);
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double ns =
        (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    if (!(*least > 0) || ns / (double)k->n < *least)
        *least = ns / (double)k->n;
    return result;
}

static inline int peer_main(int argc, char **argv)
{
    if (argc < 5)
        peer_fail("usage: PROGRAM MEMBERS ABSENT MIXED P");
    const struct peer_keys members = peer_read(argv[1]), absent = peer_read(argv[2]);
    const struct peer_keys mixed = peer_read(argv[3]);
    const double p = strtod(argv[4], NULL);
    uint64_t bits = 0, found = 0, hits = 0, fresh = 0;
    double add_ns = 0, absent_ns = 0, present_ns = 0, mixed_ns = 0;
    for (int i = 0; i < PEER_REPEATS; i++) {
        peer_open(members.n, p);
        bits = peer_bits();
        (void)peer_time(peer_add, &members, &add_ns);
        hits = peer_time(peer_contains, &absent, &absent_ns);
        found = peer_time(peer_contains, &members, &present_ns);
        peer_close();
        peer_open(members.n, p);
        fresh = peer_time(peer_add, &mixed, &mixed_ns);
        peer_close();
    }
    (void)printf("%zu\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                 "\t%.1f\t%.1f\t%.1f\t%.1f\n",
                 members.n, bits, found, hits, fresh, add_ns, absent_ns, present_ns, mixed_ns);
    return 0;
}

#endif
