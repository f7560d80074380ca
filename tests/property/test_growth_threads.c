/* test_growth_threads.c - several threads add to one filter that grows.
 *
 * No part gets more keys than it was sized for: beyond that, its rate rises steeply.  Each thread
 * adds keys of its own in batches longer than the first part, so all of them claim the same room. */
#include "unit.h"

#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include <pthread.h>

enum {
    THREADS = 4,
    ROUNDS = 40,
    EACH = 4000, /* keys of a thread */
    FIRST = 500  /* capacity of the first part */
};

struct adder {
    deja_filter *f;
    uint64_t first;
    pthread_barrier_t *start;
    size_t done;
};

static void *add_mine(void *adder)
{
    struct adder *a = adder;
    static _Thread_local uint64_t number[EACH];
    static _Thread_local deja_slice keys[EACH];
    for (size_t i = 0; i < EACH; i++) {
        number[i] = DJ_LE64(a->first + i);
        keys[i] = (deja_slice){&number[i], sizeof number[i]};
    }
    (void)pthread_barrier_wait(a->start);
    assert_int_equal(deja_filter_add_batch(a->f, keys, EACH, NULL, &a->done, NULL), DEJA_OK);
    return NULL;
}

static void add_at_once(deja_filter *f)
{
    pthread_t thread[THREADS];
    struct adder adder[THREADS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (uint64_t i = 0; i < THREADS; i++) {
        adder[i] = (struct adder){f, i * EACH, &start, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, add_mine, &adder[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(adder[i].done, EACH);
    }
    pthread_barrier_destroy(&start);
}

static void no_part_is_overfilled(void **state)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    for (int round = 0; round < ROUNDS; round++) {
        const deja_options opt = FIELDS(.kind = DEJA_SCALABLE, .capacity = FIRST,
                                        .part_kind = kinds[round % 3], .seed = 1);
        deja_filter *f;
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        add_at_once(f);
        assert_int_equal(atomic_load(&f->claimed), 0);
        for (uint32_t i = 0; i < f->n_parts; i++)
            assert_true(dj_part_keys(f->part[i]) <= f->part[i]->capacity);
        /* As few parts as if one thread had added the keys: 500 + 1000 + ... + 16000. */
        assert_int_equal(f->n_parts, 6);
        deja_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_part_is_overfilled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
