/* test_guard_threads.c - a file is truncated while many threads query it.  The signal handler of
 * one thread maps zeros in place of missing pages; other threads that read them also get the
 * error.
 *
 * The tests run in child processes, because the guard is permanent and cmocka catches SIGBUS
 * itself. */
#include "child.h"
#include "deja.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    KEYS = 20000,
    THREADS = 4,
    BATCH = 64,
    ROUNDS = 20
};

static atomic_int ready;
static atomic_int wrong;

struct task {
    const deja_filter *f;
    uint32_t first;
};

/* Queries keys that were added until the filter is lost; "new" is never the answer. */
static void *ask(void *arg)
{
    const struct task *t = arg;
    uint32_t number[BATCH];
    deja_slice key[BATCH];
    uint8_t found[BATCH];
    uint32_t next = t->first;
    atomic_fetch_add(&ready, 1);
    while (deja_filter_check_file(t->f, NULL) == DEJA_OK) {
        for (int i = 0; i < BATCH; i++) {
            number[i] = next = (next + 7919) % KEYS;
            key[i] = (deja_slice){&number[i], sizeof number[i]};
        }
        deja_filter_contains_batch(t->f, key, BATCH, found);
        for (int i = 0; i < BATCH; i++)
            if (!found[i])
                atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

static deja_filter *make_file(const char *path, uint32_t kind)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    opt.kind = kind;
    opt.capacity = KEYS;
    opt.seed = 1;
    MUST(deja_filter_create(path, DEJA_CREATE_REPLACE, &opt, &f, NULL) == DEJA_OK);
    for (uint32_t i = 0; i < KEYS; i++)
        MUST(deja_filter_add(f, (deja_slice){&i, sizeof i}, NULL, NULL) == DEJA_OK);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    return f;
}

static int cut_under_threads(const char *path, int in, int out)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT, DEJA_SCALABLE};
    pthread_t thread[THREADS];
    struct task task[THREADS];
    (void)in, (void)out;
    CHECK(deja_files_guard(NULL) == DEJA_OK);
    for (int round = 0; round < ROUNDS; round++) {
        deja_filter *f = make_file(path, kinds[round % 4]);
        atomic_store(&ready, 0);
        for (uint32_t i = 0; i < THREADS; i++) {
            task[i] = (struct task){f, i * 1000};
            CHECK(pthread_create(&thread[i], NULL, ask, &task[i]) == 0);
        }
        while (atomic_load(&ready) < THREADS)
            sched_yield();
        CHECK(truncate(path, round % 2 ? 4096 : 8192) == 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_join(thread[i], NULL) == 0);
        deja_filter_free(f);
        CHECK(atomic_load(&wrong) == 0);
    }
    return CHILD_FINE;
}

static void no_thread_mistakes_the_zeros_for_answers(void **state)
{
    (void)state;
    in_child(cut_under_threads, scratch_path("cut"));
}

/* Makes and removes mappings while other threads do the same, and during signals. */
static void *open_and_close(void *arg)
{
    for (int i = 0; i < 200; i++) {
        deja_filter *f = NULL;
        if (deja_filter_open(arg, 0, NULL, &f, NULL) < 0)
            atomic_fetch_add(&wrong, 1);
        deja_filter_free(f);
    }
    return NULL;
}

static int open_beside_signals(const char *path, int in, int out)
{
    pthread_t thread[THREADS];
    char whole[600];
    (void)in, (void)out;
    snprintf(whole, sizeof whole, "%s.whole", path);
    CHECK(deja_files_guard(NULL) == DEJA_OK);
    deja_filter_free(make_file(whole, DEJA_BLOCKED));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, open_and_close, whole) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        deja_filter *f = make_file(path, DEJA_BLOCKED);
        const uint32_t key = 1;
        CHECK(truncate(path, 0) == 0);
        CHECK(deja_filter_contains(f, (deja_slice){&key, sizeof key}));
        CHECK(deja_filter_check_file(f, NULL) == DEJA_EIO);
        deja_filter_free(f);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(atomic_load(&wrong) == 0);
    return CHILD_FINE;
}

static void files_can_be_opened_and_closed_during_signals(void **state)
{
    (void)state;
    in_child(open_beside_signals, scratch_path("beside"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_thread_mistakes_the_zeros_for_answers),
        cmocka_unit_test(files_can_be_opened_and_closed_during_signals),
    };
    return cmocka_run_group_tests_name("fault.guard_threads", tests, scratch_open, scratch_close);
}
