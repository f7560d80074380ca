/* test_lab_footprint.c - a child process measures what a structure takes, and nothing else. */
#include "lab/engine/lab_footprint.h"
#include "unit.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024.0 * 1024.0)

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define EXACT false /* a sanitizer's own memory is counted as well */
#else
#define EXACT true
#endif

static atomic_bool stop;
static deja_error err;

static struct lab_task a_task(struct lab *lab)
{
    *lab = (struct lab){.keys = {.n = 1000}, .stop = &stop};
    err = (deja_error){0};
    atomic_store(&stop, false);
    return (struct lab_task){.lab = lab, .seed = 1, .err = &err};
}

/* Memory that is kept, as a structure keeps it. */
static double fill(struct lab_task *t, const void *ctx)
{
    const size_t bytes = *(const size_t *)ctx;
    char *kept = malloc(bytes);
    assert_non_null(kept);
    memset(kept, 1, bytes);
    __asm__ volatile("" : : "r"(kept) : "memory");
    return (double)bytes;
}

static void written_pages_are_counted(void **state)
{
    const size_t bytes[2] = {8 << 20, 3 << 20};
    struct lab lab;
    struct lab_task t = a_task(&lab);
    struct lab_footprint f[2];
    lab_footprint(&t, &(struct lab_footprints){fill, bytes, sizeof *bytes, 2, true}, f);
    assert_int_equal(t.rc, DEJA_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(f[i].asked == (double)bytes[i]);
        if (isnan(f[i].resident)) /* this system does not tell */
            skip();
        assert_true(f[i].resident > f[i].asked - 0.2 * MIB || !EXACT);
        assert_true(f[i].resident < f[i].asked + 0.2 * MIB || !EXACT);
        assert_true(isnan(f[i].allocated) || !EXACT ||
                    fabs(f[i].allocated - f[i].asked) < 0.2 * MIB);
    }
}

/* Pages that the lab has written and freed are not free of charge. */
static void reused_memory_is_counted(void **state)
{
    const size_t bytes = 4 << 20, piece = 1000;
    char *freed[5000];
    struct lab lab;
    struct lab_task t = a_task(&lab);
    struct lab_footprint f;
    for (size_t i = 0; i < 5000; i++) {
        freed[i] = malloc(piece);
        assert_non_null(freed[i]);
        memset(freed[i], 1, piece);
    }
    char *last = malloc(piece); /* keeps the heap from shrinking */
    for (size_t i = 0; i < 5000; i++)
        free(freed[i]);
    lab_footprint(&t, &(struct lab_footprints){fill, &bytes, 0, 1, true}, &f);
    free(last);
    assert_int_equal(t.rc, DEJA_OK);
    assert_true(isnan(f.resident) || !EXACT || fabs(f.resident - f.asked) < 0.2 * MIB);
}

static double fail_to_build(struct lab_task *t, const void *ctx)
{
    lab_failed(t, DEJA_EFULL, "no room for %s", (const char *)ctx);
    return 0;
}

static double die(struct lab_task *t, const void *ctx)
{
    _Exit(1);
}

static void failures_of_the_child_are_reported(void **state)
{
    struct lab lab;
    struct lab_task t = a_task(&lab);
    struct lab_footprint f;
    lab_footprint(&t, &(struct lab_footprints){fail_to_build, "URLs", 0, 1, true}, &f);
    assert_int_equal(t.rc, DEJA_EFULL);
    assert_string_equal(err.text, "no room for URLs");
    assert_true(isnan(f.resident));
    t = a_task(&lab);
    lab_footprint(&t, &(struct lab_footprints){die, NULL, 0, 1, true}, &f);
    assert_int_equal(t.rc, DEJA_ENOMEM);
    assert_non_null(strstr(err.text, "lower -n"));
}

static double wait_forever(struct lab_task *t, const void *ctx)
{
    for (;;)
        (void)lab_going(t);
    return 0;
}

static void *stop_soon(void *ctx)
{
    atomic_store(&stop, true);
    return NULL;
}

/* The child never ends by itself; it is killed. */
static void a_stop_ends_the_child(void **state)
{
    struct lab lab;
    struct lab_task t = a_task(&lab);
    struct lab_footprint f;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
    lab_footprint(&t, &(struct lab_footprints){wait_forever, NULL, 0, 1, true}, &f);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(t.rc, LAB_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_pages_are_counted),
        cmocka_unit_test(reused_memory_is_counted),
        cmocka_unit_test(failures_of_the_child_are_reported),
        cmocka_unit_test(a_stop_ends_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
