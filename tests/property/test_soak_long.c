/* test_soak_long.c - a billion operations, and no resource leaks.
 *
 * In each round a filter file is created or opened, filled, queried, synced, folded, rotated,
 * copied and closed, with a different kind each time.  At the end of a round the process has as
 * many descriptors and mappings as after the first rounds of all kinds, and its resident memory
 * stays within a twentieth and 2 MiB of the largest value of the first tenth.  Every key that was
 * added is found.
 *
 * Set DEJA_SOAK_OPERATIONS in the environment to make it shorter or longer. */
#include "deja.h"
#include "rng.h"
#include "scratch.h"
#include "unit.h"
#include <inttypes.h>

#define OPERATIONS UINT64_C(1000000000)

enum {
    BATCH = 1000,
    ADDS = 100,
    LOOKUPS = 200,
    CAPACITY = BATCH * ADDS
};

static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_SCALABLE, DEJA_CLASSIC, DEJA_EXACT,
                                 DEJA_SPECTRAL};
enum {
    N_KINDS = sizeof kinds / sizeof kinds[0]
};

static uint64_t operations;

/* --- Resources that must not grow ----------------------------------------------- */

struct sample {
    int mappings, files, descriptors;
    long resident; /* pages */
};

static int count_lines(const char *path)
{
    FILE *in = fopen(path, "re");
    int n = 0;
    MUST(in);
    for (int c; (c = getc(in)) != EOF;)
        n += c == '\n';
    fclose(in);
    return n;
}

static struct sample take_sample(void)
{
    struct sample s = {0};
    FILE *in = fopen("/proc/self/statm", "re");
    MUST(in && fscanf(in, "%*d %ld", &s.resident) == 1);
    fclose(in);
    s.mappings = count_lines("/proc/self/maps");
    s.files = scratch_count(scratch_folder);
    for (int fd = 0; fd < 1024; fd++)
        s.descriptors += fcntl(fd, F_GETFD) >= 0;
    return s;
}

/* --- A round ------------------------------------------------------------------- */

struct batch {
    uint64_t number[BATCH];
    deja_slice key[BATCH];
    uint8_t answer[BATCH];
};

static void fill(struct batch *b, struct rng *r)
{
    rng_fill(r, b->number, BATCH);
    for (int i = 0; i < BATCH; i++)
        b->key[i] = (deja_slice){&b->number[i], sizeof b->number[i]};
}

static void must_hold(int rc, const deja_error *err)
{
    if (rc < 0)
        fail_msg("%d %s", rc, err->text);
}

static deja_filter *open_or_create(const char *path, uint32_t kind)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    opt.kind = kind;
    opt.capacity = kind == DEJA_SCALABLE ? CAPACITY / 10 : 2 * CAPACITY;
    if (access(path, F_OK) == 0)
        must_hold(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err), &err);
    else
        must_hold(deja_filter_create(path, 0, &opt, &f, &err), &err);
    return f;
}

static void add_and_ask(deja_filter *f, uint64_t seed)
{
    struct batch b;
    struct rng r = rng_seeded(seed);
    deja_error err = {0};
    for (int i = 0; i < ADDS; i++) {
        fill(&b, &r);
        assert_int_equal(deja_filter_add_batch(f, b.key, BATCH, b.answer, NULL, NULL), DEJA_OK);
        if (i % 40 == 39)
            must_hold(deja_filter_sync(f, &err), &err);
    }
    for (int i = 0; i < LOOKUPS; i++) {
        if (i % ADDS == 0)
            r = rng_seeded(seed);
        fill(&b, &r);
        deja_filter_contains_batch(f, b.key, BATCH, b.answer);
        for (int j = 0; j < BATCH; j++)
            assert_true(b.answer[j]);
    }
    operations += (uint64_t)(ADDS + LOOKUPS) * BATCH;
}

/* Makes a copy, and runs the operations that need two filters. */
static void copy_and_unite(deja_filter *f, uint32_t kind)
{
    const char *path = scratch_path("copy.deja");
    deja_filter *copy = NULL;
    deja_error err = {0};
    double common;
    must_hold(deja_filter_copy(f, path, DEJA_CREATE_REPLACE, &copy, &err), &err);
    if (kind == DEJA_BLOCKED || kind == DEJA_CLASSIC || kind == DEJA_EXACT) {
        must_hold(deja_filter_merge(copy, f, &err), &err);
        must_hold(deja_filter_overlap(copy, f, &common, NULL, &err), &err);
    }
    must_hold(deja_filter_sync(copy, &err), &err);
    deja_filter_free(copy);
    must_hold(deja_file_verify(path, &err), &err);
}

static void run_round(uint64_t number)
{
    const uint32_t kind = kinds[number % N_KINDS];
    deja_options next = DEJA_OPTIONS_INIT;
    deja_error err = {0};
    deja_stats s = DEJA_STATS_INIT;
    char name[32];
    snprintf(name, sizeof name, "%" PRIu32 ".deja", kind);
    deja_filter *f = open_or_create(scratch_path(name), kind);
    add_and_ask(f, number + 1);
    copy_and_unite(f, kind);
    must_hold(deja_filter_sync(f, &err), &err);
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    next.capacity = kind == DEJA_SCALABLE ? CAPACITY / 10 : 2 * CAPACITY;
    must_hold(deja_filter_rotate(f, &next, &err), &err); /* or it would fill up */
    deja_filter_free(f);
}

/* --- The test ------------------------------------------------------------------- */

static uint64_t wanted(void)
{
    const char *text = getenv("DEJA_SOAK_OPERATIONS");
    return text ? strtoull(text, NULL, 10) : OPERATIONS;
}

static void no_resource_grows(void **state)
{
    (void)state;
    const uint64_t end = wanted();
    struct sample first = {0}, most = {0};
    for (uint64_t round = 0; operations < end; round++) {
        run_round(round);
        const struct sample now = take_sample();
        if (round < N_KINDS || operations <= end / 10) { /* every kind has run once */
            first = now;
            most.resident = now.resident > most.resident ? now.resident : most.resident;
        }
        if (round % 200 == 0 || operations >= end)
            fprintf(stderr, "%12" PRIu64 " operations: %ld KiB, %d descriptors, %d mappings\n",
                    operations, now.resident * (sysconf(_SC_PAGESIZE) / 1024), now.descriptors,
                    now.mappings);
        assert_int_equal(now.descriptors, first.descriptors);
        assert_in_range(now.mappings, 1, first.mappings + 4); /* the heap's own mapping may be
                                                               * split */
        assert_in_range(now.files, 1, N_KINDS + 1);
        assert_in_range(now.resident, 1, most.resident + most.resident / 20 + 512);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_resource_grows)};
    return cmocka_run_group_tests_name("property.soak_long", tests, scratch_open, scratch_close);
}
