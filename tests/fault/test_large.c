/* test_large.c - very large files: every counter has more than 32 bits, only the bytes needed are
 * read, and nothing is in memory twice. */
#include "core/hash/hash.h"
#include "doubles.h"
#include "rng.h"
#include "storing.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define HEADER_LEN 4096u
#define RECORD_A   3072u
#define MB         ((uint64_t)1 << 20)
#define GB         ((uint64_t)1 << 30)

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Repairs record A, the only one of a file that was synced once, after a change. */
static void fix_record(uint8_t *page)
{
    dj_store64(page + RECORD_A + 296, dj_load64(page + 2560));
    dj_store64(page + RECORD_A + 504, dj_checksum(page + RECORD_A, 504));
}

/* A valid empty file of that many bytes, nearly all of them holes: a small file with a different size
 * in its header, sealed with a checksum that only verify would reject. */
static const char *make_sparse(const char *name, uint32_t kind, uint64_t body_len)
{
    deja_options opt = small();
    opt.kind = kind;
    opt.cache_lines = kind == DEJA_BLOCKED; /* of several, only the first begins at the hash */
    const char *path = make_file(name, &opt, 0);
    struct bytes b = read_file(path);
    /* More keys than 32 bits count; a table has a slot for each of its keys. */
    const uint64_t capacity = kind == DEJA_EXACT ? body_len / 16 : UINT64_C(1) << 33;
    dj_store64(b.data + 32, capacity);
    dj_store_double(b.data + 40, 0.9); /* so the rate is high */
    dj_store64(b.data + 120, HEADER_LEN + body_len);
    dj_store64(b.data + 512, 8 * body_len);
    dj_store64(b.data + 512 + 16, capacity);
    dj_store64(b.data + 512 + 40, body_len);
    dj_store64(b.data + 2560, dj_checksum(b.data, 2560));
    fix_record(b.data);
    write_file(path, b.data, HEADER_LEN);
    free(b.data);
    if (truncate(path, (off_t)(HEADER_LEN + body_len)) < 0) {
        print_message("no file of %.1f GB here: %s\n", (double)body_len / 1e9, strerror(errno));
        unlink(path);
        skip();
    }
    return path;
}

/* Numbers that belong to both ends of a body (blocked, exact), nine for each: one more than fits
 * into a line of exact, so that the last ones wrap around to the first line. */
static size_t ends(uint64_t hash[18])
{
    for (uint64_t i = 0; i < 9; i++) {
        hash[i] = (i + 1) << 20;
        hash[9 + i] = UINT64_MAX - (i << 20);
    }
    return 18;
}

static void keys_at_both_ends_are_found_again_in(uint32_t kind)
{
    uint64_t hash[18 + 500];
    uint8_t answer[18 + 500];
    struct rng rng = rng_seeded(7);
    const char *path = make_sparse("large", kind, 5 * GB);
    const size_t n_ends = ends(hash), n = n_ends + 500;
    rng_fill(&rng, hash + n_ends, 500);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    size_t done = 0;
    assert_int_equal(deja_filter_add_hashed(f, hash, n, answer, &done, NULL), DEJA_OK);
    assert_int_equal(done, n);
    deja_filter_free(f);
    f = open_file(path, 0);
    deja_filter_contains_hashed(f, hash, n, answer);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(answer[i], 1);
    rng_fill(&rng, hash, n); /* keys never added */
    deja_filter_contains_hashed(f, hash, n, answer);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(answer[i], 0);
    deja_filter_free(f);
    /* Bytes changed beyond 4 GiB, and at the very end. */
    if (kind != DEJA_CLASSIC) {
        uint8_t line[64] = {0}, none[64] = {0};
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        MUST(pread(fd, line, 64, (off_t)(HEADER_LEN + 5 * GB - 64)) == 64);
        assert_memory_not_equal(line, none, 64);
        close(fd);
    }
    unlink(path);
}

static void files_beyond_4_gb_hold_keys_at_both_ends(void **state)
{
    keys_at_both_ends_are_found_again_in(DEJA_BLOCKED);
    keys_at_both_ends_are_found_again_in(DEJA_EXACT);
    keys_at_both_ends_are_found_again_in(DEJA_SPECTRAL);
    keys_at_both_ends_are_found_again_in(DEJA_CLASSIC);
}

static void counts_beyond_32_bits_are_kept(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("counts", &opt, 10);
    const uint64_t many = (UINT64_C(1) << 33) + 7;
    struct bytes b = read_file(path);
    deja_stats s = DEJA_STATS_INIT;
    dj_store64(b.data + RECORD_A + 16, many);
    dj_store64(b.data + RECORD_A + 40, many);
    fix_record(b.data);
    write_file(path, b.data, b.len);
    free(b.data);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    add_keys(f, 10, 20);
    sync_file(f);
    deja_filter_free(f);
    f = open_file(path, 0);
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    assert_int_equal(s.offered, many + 10);
    assert_in_range(s.keys, many + 8, many + 10);
    deja_filter_free(f);
    unlink(path);
}

/* Capacity, reservation and checksum at more than 4 GiB, without tricks. */
static void a_file_beyond_4_gb_is_created_and_synced(void **state)
{
    struct statvfs fs;
    MUST(statvfs(scratch_folder, &fs) == 0);
    if (SANITIZED || (uint64_t)fs.f_bavail * fs.f_frsize < 12 * GB) {
        print_message("needs 12 GB of disk and an unsanitized build\n");
        skip();
    }
    const char *path = scratch_path("huge");
    deja_options opt = small();
    opt.capacity = UINT64_C(6000000000);
    opt.memory = 4 * GB + 64 * MB;
    deja_filter *f = create_file(path, 0, &opt);
    struct stat st;
    add_keys(f, 0, 1000);
    sync_file(f);
    deja_filter_free(f);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_size, HEADER_LEN + opt.memory + opt.memory / 65536 * 16);
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1000), 0);
    deja_filter_free(f);
    unlink(path);
}

static size_t resident_pages(const char *path, uint64_t len)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)len / page;
    size_t n = 0;
    unsigned char *in_core = malloc(pages);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    MUST(fd >= 0 && in_core);
    void *map = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);
    MUST(map != MAP_FAILED && mincore(map, (size_t)len, in_core) == 0);
    for (size_t i = 0; i < pages; i++)
        n += in_core[i] & 1;
    munmap(map, (size_t)len);
    close(fd);
    free(in_core);
    return n;
}

static void opening_a_gigabyte_does_not_read_it(void **state)
{
    const char *path = make_sparse("gigabyte", DEJA_BLOCKED, GB);
    const size_t before = resident_pages(path, HEADER_LEN + GB);
    deja_filter *f = open_file(path, 0);
    const size_t opened = resident_pages(path, HEADER_LEN + GB);
    assert_int_equal(missing(f, 0, 100), 100);
    const size_t asked = resident_pages(path, HEADER_LEN + GB);
    deja_filter_free(f);
    assert_true(before <= 64 && opened <= before + 64); /* of 262,145: the header, read ahead */
    assert_true(asked <= opened + 200);
    unlink(path);
}

static uint64_t rss(void)
{
    char line[256];
    unsigned long kb = 0;
    FILE *in = fopen("/proc/self/smaps_rollup", "r");
    while (in && fgets(line, sizeof line, in) && sscanf(line, "Rss: %lu kB", &kb) != 1)
        continue;
    if (in)
        fclose(in);
    return (uint64_t)kb << 10;
}

static int use_all_of_it(const char *path, int in, int out)
{
    (void)in, (void)out;
    const uint64_t body = 256 * MB, slack = 24 * MB, before = rss();
    deja_stats s = DEJA_STATS_INIT;
    deja_options opt = small();
    deja_filter *f = NULL;
    if (SANITIZED || !before)
        return CHILD_SKIPS;
    opt.memory = body;
    opt.capacity = 50000000;
    CHECK(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    CHECK(take(f, 0, 1000) == DEJA_OK);
    CHECK(deja_filter_sync(f, NULL) == DEJA_OK);                       /* reads every byte */
    CHECK(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) == DEJA_OK); /* again */
    const uint64_t writing = rss() - before;
    CHECK(writing > body - slack && writing < body + slack);
    deja_filter_free(f);
    CHECK(rss() < before + slack);
    CHECK(deja_filter_open(path, 0, NULL, &f, NULL) == DEJA_OK);
    CHECK(rss() < before + slack);
    CHECK(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) == DEJA_OK);
    const uint64_t reading = rss() - before;
    CHECK(reading > body - slack && reading < body + slack);
    deja_filter_free(f);
    return CHILD_FINE;
}

static void a_filter_is_in_memory_only_once(void **state)
{
    const char *path = scratch_path("once");
    const int status = end_of(start(use_all_of_it, path));
    unlink(path);
    if (status == CHILD_SKIPS)
        skip();
    assert_int_equal(status, CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_beyond_4_gb_hold_keys_at_both_ends), TEST(counts_beyond_32_bits_are_kept),
        TEST(a_file_beyond_4_gb_is_created_and_synced), TEST(opening_a_gigabyte_does_not_read_it),
        TEST(a_filter_is_in_memory_only_once),
    };
    return cmocka_run_group_tests_name("fault.large", tests, scratch_open, scratch_close);
}
