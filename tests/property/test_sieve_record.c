/* test_sieve_record.c - keys that are recorded without being judged: each is in the sieve once, and a
 * pending key that is the same turns out to be seen. */
#define SIEVING_NO_SYNC
#include "sieving.h"
#include "unit.h"
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    JUDGED = 3000,
    FROM = 2500,
    TO = 3200 /* lines FROM to TO are recorded */
};

static struct sieving w;

/* The call at which writing to files or allocating memory fails; 0: none. */
static int fail_at;

static bool fails(void)
{
    return fail_at > 0 && --fail_at == 0;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    errno = ENOSPC;
    return fails() ? -1 : syscall(SYS_pwrite64, fd, data, len, at);
}

static void *alloc(void *ctx, size_t size, size_t align)
{
    void *p = NULL;
    (void)ctx;
    return fails() || posix_memalign(&p, align < 8 ? 8 : align, size ? size : 1) ? NULL : p;
}

static void release(void *ctx, void *p, size_t size)
{
    (void)ctx, (void)size;
    free(p);
}

static const deja_allocator fallible = {alloc, release, NULL};

static int begin(void **state)
{
    (void)state;
    deja_error err = {0};
    sieving_begin(&w, scratch_path("sieve"), 6000, DEJA_SIEVE_NO_THREAD);
    w.opt.alloc = &fallible;
    sieving_open(&w);
    for (uint64_t i = 0; i < JUDGED; i++)
        if (sieving_judge(&w, &i, 1, &err) < 0 || sieving_commit(&w, &err) < 0)
            WRONG(&w, "line %llu: %s", (unsigned long long)i, err.text);
    assert_string_equal(w.wrong, "");
    assert_true(w.pending_now > 50); /* or nothing is tested */
    return 0;
}

static int end(void **state)
{
    (void)state;
    sieving_end(&w);
    scratch_clear(NULL);
    return 0;
}

static void record(uint64_t from, uint64_t to)
{
    deja_fingerprint *fp = calloc((size_t)(to - from), sizeof *fp);
    deja_error err = {0};
    MUST(fp);
    for (uint64_t i = from; i < to; i++)
        sieving_print(w.s, i, &fp[i - from]);
    assert_int_equal(deja_sieve_record(w.s, fp, (size_t)(to - from), &err), DEJA_OK);
    free(fp);
}

static uint64_t keys(void)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    assert_int_equal(deja_sieve_stats(w.s, &r, NULL), DEJA_OK);
    return r.keys;
}

static bool has(uint64_t line)
{
    deja_fingerprint fp;
    uint8_t found = 0;
    sieving_print(w.s, line, &fp);
    assert_int_equal(deja_sieve_contains(w.s, &fp, 1, &found, NULL), DEJA_OK);
    return found;
}

/* Settles all pending lines; those that were recorded must be seen, the others new. */
static void settle(void)
{
    deja_settled s[16];
    size_t n = 1;
    assert_int_equal(deja_sieve_settle(w.s, NULL), DEJA_OK);
    while (n > 0) {
        assert_int_equal(deja_sieve_settled(w.s, s, 16, &n, NULL), DEJA_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(s[i].verdict, s[i].token >= FROM ? DEJA_SIEVE_SEEN : DEJA_SIEVE_NEW);
    }
    assert_int_equal(deja_sieve_commit(w.s, NULL), DEJA_OK);
}

static void each_key_is_recorded_once(void **state)
{
    (void)state;
    uint64_t before = keys(), absent = 0;
    for (uint64_t i = FROM; i < TO; i++)
        absent += !has(i);
    record(FROM, TO);
    assert_int_equal(keys(), before + absent);
    record(FROM, TO);
    assert_int_equal(keys(), before + absent);
    settle();
    assert_int_equal(keys(), TO);
    deja_sieve_free(w.s);
    sieving_open(&w);
    for (uint64_t i = 0; i < TO; i++)
        assert_true(has(i));
    assert_int_equal(deja_sieve_verify(w.path, NULL), DEJA_OK);
}

static void the_same_key_twice_in_one_call_is_one(void **state)
{
    (void)state;
    deja_fingerprint fp[3];
    const uint64_t before = keys();
    for (size_t i = 0; i < 3; i++)
        sieving_print(w.s, 5000 + i / 2, &fp[i]);
    assert_int_equal(deja_sieve_record(w.s, fp, 3, NULL), DEJA_OK);
    assert_int_equal(keys(), before + 2);
}

static void it_is_refused_before_a_commit(void **state)
{
    (void)state;
    deja_fingerprint fp;
    deja_error err = {0};
    uint8_t verdict = 0;
    deja_settled s;
    size_t n;
    for (uint64_t i = 3500; verdict != DEJA_SIEVE_NEW; i++) {
        assert_true(i < 5000);
        sieving_print(w.s, i, &fp);
        assert_int_equal(deja_sieve_judge(w.s, &fp, 1, NULL, NULL, &verdict, NULL), DEJA_OK);
    }
    assert_int_equal(deja_sieve_record(w.s, &fp, 1, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "record after a commit"));
    assert_int_equal(deja_sieve_commit(w.s, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_settle(w.s, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_settled(w.s, &s, 1, &n, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_record(w.s, &fp, 1, NULL), DEJA_EINVAL);
}

static void it_is_refused_by_readers(void **state)
{
    (void)state;
    deja_sieve *reader = NULL;
    deja_error err = {0};
    deja_fingerprint fp;
    sieving_print(w.s, 1, &fp);
    assert_int_equal(deja_sieve_open(w.path, 0, &w.opt, &reader, &err), DEJA_OK);
    assert_int_equal(deja_sieve_record(reader, &fp, 1, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "for reading only"));
    deja_sieve_free(reader);
}

/* Also when the keys do not fit into the table and some are recorded already. */
static void a_call_that_failed_can_be_repeated(void **state)
{
    enum {
        MANY = 600
    };
    static deja_fingerprint fp[MANY];
    int failures = 0;
    for (int at = 1; failures == at - 1; at++) {
        const uint64_t before = keys();
        deja_error err = {0};
        for (uint64_t i = 0; i < MANY; i++)
            sieving_print(w.s, 10000 + (uint64_t)at * MANY + i, &fp[i]);
        fail_at = at;
        const int rc = deja_sieve_record(w.s, fp, MANY, &err);
        fail_at = 0;
        if (rc < 0) {
            failures++;
            assert_true(rc == DEJA_ENOMEM || rc == DEJA_EIO);
            assert_true(err.text[0]);
            assert_int_equal(deja_sieve_record(w.s, fp, MANY, &err), DEJA_OK);
        }
        assert_int_equal(keys(), before + MANY);
    }
    assert_true(failures > 5);
    assert_int_equal(deja_sieve_verify(w.path, NULL), DEJA_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_key_is_recorded_once),          CASE(the_same_key_twice_in_one_call_is_one),
        CASE(it_is_refused_before_a_commit),      CASE(it_is_refused_by_readers),
        CASE(a_call_that_failed_can_be_repeated),
    };
    return cmocka_run_group_tests_name("property.sieve_record", tests, scratch_open,
                                       scratch_close);
}
