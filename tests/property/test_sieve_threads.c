/* test_sieve_threads.c - random lines through a sieve whose filter is far too small: every line comes out
 * exactly once, whatever the order of calls. */
#define SIEVING_NO_SYNC
#include "sieving.h"
#include "unit.h"

enum {
    LINES = 3000,
    CALLS = 1500
};

static void judge_some(struct sieving *w, struct rng *rng)
{
    uint64_t line[SIEVING_MOST];
    const size_t n = 1 + (size_t)rng_below(rng, SIEVING_MOST);
    /* Lines near a slowly moving point, so that there are recent repeats and old ones. */
    const uint64_t center = rng_below(rng, 3) ? w->new_now : rng_below(rng, LINES);
    deja_error err = {0};
    for (size_t i = 0; i < n; i++)
        line[i] = (center + rng_below(rng, 200)) % LINES;
    int rc = sieving_judge(w, line, n, &err);
    if (rc == DEJA_EFULL) {
        rc = sieving_settle(w, &err);
        if (rc == DEJA_OK)
            rc = sieving_judge(w, line, n, &err);
    }
    if (rc < 0)
        WRONG(w, "judge: %s", err.text);
}

/* Stores the status of one random call. */
static int call(struct sieving *w, struct rng *rng, deja_error *err)
{
    size_t n;
    switch (rng_below(rng, 24)) {
    case 0:
        return sieving_settle(w, err);
    case 1: /* only settles; the lines are returned later */
        return w->s->n_settled ? DEJA_OK : deja_sieve_settle(w->s, err);
    case 2:
    case 3:
        return sieving_return(w, (size_t)rng_below(rng, 40), &n, err);
    case 4:
        return deja_sieve_sync(w->s, err);
    case 5:
        return rng_below(rng, 4) ? DEJA_OK : deja_sieve_save(w->s, err);
    case 6:
        if (rng_below(rng, 2))
            return DEJA_OK;
        sieving_forget(w);
        sieving_open(w);
        return w->s ? DEJA_OK : DEJA_EIO;
    case 7:
    case 8:
    case 9:
    case 10:
        return sieving_commit(w, err);
    default:
        judge_some(w, rng);
        return DEJA_OK;
    }
}

static void random_calls(uint32_t flags, uint64_t seed)
{
    struct sieving w;
    struct rng rng = rng_seeded(seed);
    deja_error err = {0};
    sieving_begin(&w, scratch_path("sieve"), LINES, flags);
    sieving_open(&w);
    for (int i = 0; i < CALLS && !w.wrong[0]; i++)
        if (call(&w, &rng, &err) < 0)
            WRONG(&w, "call %d: %s", i, err.text);
    if (!w.wrong[0] && sieving_settle(&w, &err) < 0)
        WRONG(&w, "at the end: %s", err.text);
    if (!w.wrong[0])
        sieving_check(&w);
    assert_string_equal(w.wrong, "");
    assert_true(w.late > 100 && w.seen_late > 100 && w.new_now > 100);
    sieving_end(&w);
    assert_int_equal(deja_sieve_verify(w.path, &err), DEJA_OK);
    scratch_clear(NULL);
}

static void every_line_comes_out_once(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        random_calls(DEJA_SIEVE_NO_THREAD, seed);
}

static void every_line_comes_out_once_beside_a_merge(void **state)
{
    for (uint64_t seed = 101; seed <= 103; seed++)
        random_calls(0, seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_comes_out_once),
        cmocka_unit_test(every_line_comes_out_once_beside_a_merge),
    };
    return cmocka_run_group_tests_name("property.sieve_threads", tests, scratch_open,
                                       scratch_close);
}
