/* test_counts.c - how far the counts of a spectral filter are from the truth, on a Zipf stream.
 *
 * 100,000 distinct keys, the r-th most frequent with a probability proportional to 1/r, a
 * million arrivals: the first key arrives some 83,000 times, the last ones about once.
 *
 * Theory (docs/math.md).  A count is too large if other keys hit all k counters of its key: the
 * share of such keys is the false-positive rate.  It is too large by at least t if keys that
 * arrived t times or more hit all of them, so the mean error is at least rate(N_1) + rate(N_2) +
 * ..., where N_t keys arrived t times or more; it is larger because small counts add up in a
 * counter.  It is at most the rate times the mean of a counter that is hit. */
#include "unit.h"

#include "trial.h"

#define Z        5.0
#define DISTINCT 100000
#define ARRIVALS 1000000

static uint64_t key_hash[DISTINCT];
static uint32_t truth[DISTINCT];
static uint64_t stream[ARRIVALS];
static double n_came;

static int draw_stream(void **state)
{
    static double below[DISTINCT + 1];
    struct rng r = rng_seeded(4711);
    rng_fill(&r, key_hash, DISTINCT);
    for (size_t i = 0; i < DISTINCT; i++)
        below[i + 1] = below[i] + 1.0 / (double)(i + 1);
    for (size_t a = 0; a < ARRIVALS; a++) {
        const double x = (double)(rng_next(&r) >> 11) * 0x1p-53 * below[DISTINCT];
        size_t low = 0, high = DISTINCT;
        while (high - low > 1) {
            const size_t mid = low + (high - low) / 2;
            *(below[mid] <= x ? &low : &high) = mid;
        }
        truth[low]++;
        stream[a] = key_hash[low];
    }
    for (size_t i = 0; i < DISTINCT; i++)
        n_came += truth[i] > 0;
    return 0;
}

static deja_filter *fill(double p, uint32_t flags)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    opt.kind = DEJA_SPECTRAL;
    opt.counter_bits = 32; /* the first key arrives more often than 16 bits can count */
    opt.capacity = DISTINCT;
    opt.fp_rate = p;
    opt.flags = flags;
    opt.seed = 1;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    assert_int_equal(deja_filter_add_hashed(f, stream, ARRIVALS, NULL, NULL, NULL), DEJA_OK);
    return f;
}

struct errors {
    uint64_t wrong;
    double mean;
    double largest;
};

static struct errors measure(const deja_filter *f)
{
    static uint64_t count[DISTINCT];
    struct errors e = {0, 0, 0};
    assert_int_equal(deja_filter_count_hashed(f, key_hash, DISTINCT, count, NULL), DEJA_OK);
    for (size_t i = 0; i < DISTINCT; i++) {
        assert_true(count[i] >= truth[i]);
        const double error = (double)(count[i] - truth[i]);
        e.wrong += error > 0;
        e.mean += error / DISTINCT;
        e.largest = fmax(e.largest, error);
    }
    return e;
}

/* rate(N_1) + rate(N_2) + ... */
static double least_mean(const struct dj_shape *s)
{
    static uint32_t came[ARRIVALS + 1]; /* [t]: keys that arrived t times */
    double sum = 0.0, rate = 0.0;
    uint64_t n = 0; /* keys that arrived t times or more */
    memset(came, 0, sizeof came);
    for (size_t i = 0; i < DISTINCT; i++)
        came[truth[i]]++;
    for (size_t t = ARRIVALS; t > 0; t--) {
        n += came[t];
        if (came[t])
            rate = dj_shape_rate(s, (double)n);
        sum += rate;
    }
    return sum;
}

/* rate * mean of a counter that is hit */
static double most_mean(const struct dj_shape *s)
{
    const double hit = dj_shape_bits_set(s, n_came);
    return dj_shape_rate(s, n_came) * ARRIVALS * s->k / hit;
}

static void check_counts(double p, uint32_t flags)
{
    deja_filter *f = fill(p, flags);
    const struct dj_part *part = f->part[0];
    const struct errors e = measure(f);
    const struct forecast c = forecast_part(part, n_came);
    if (!binom_within_spread(e.wrong, DISTINCT, c.rate, c.sigma, Z))
        fail_msg("p %g: %zu counts are wrong, expected %.1f", p, (size_t)e.wrong,
                 c.rate * DISTINCT);
    const double least = least_mean(&part->shape), most = most_mean(&part->shape);
    print_message("p %g, k %u%s: %zu of %d counts too large (theory %.0f), by %.4f on average "
                  "(theory %.4f .. %.4f), by %.0f at most\n",
                  p, part->shape.k, flags ? ", spread" : "", (size_t)e.wrong, DISTINCT,
                  c.rate * DISTINCT, e.mean, least, most, e.largest);
    assert_true(e.mean > 0.8 * least && e.mean < fmin(1.6 * least, most));
    deja_filter_free(f);
}

static void the_number_and_size_of_count_errors_agree_with_theory(void **state)
{
    check_counts(0.1, 0);
    check_counts(0.01, 0);
    check_counts(0.1, DEJA_SPREAD);
    check_counts(0.01, DEJA_SPREAD);
}

static void minimal_increase_makes_smaller_errors(void **state)
{
    static const struct {
        double p;
        uint32_t flags;
    } rows[] = {{0.1, 0}, {0.01, 0}, {0.1, DEJA_SPREAD}, {0.01, DEJA_SPREAD}};
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        deja_filter *plain = fill(rows[i].p, rows[i].flags);
        deja_filter *minimal = fill(rows[i].p, rows[i].flags | DEJA_MINIMAL_INCREASE);
        const struct errors a = measure(plain), b = measure(minimal);
        print_message("p %g: mean error %.4f, with minimal increase %.4f; wrong %zu and %zu\n",
                      rows[i].p, a.mean, b.mean, (size_t)a.wrong, (size_t)b.wrong);
        assert_true(b.mean < 0.8 * a.mean);
        assert_true(b.wrong <= a.wrong);
        deja_filter_free(plain);
        deja_filter_free(minimal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_and_size_of_count_errors_agree_with_theory),
        cmocka_unit_test(minimal_increase_makes_smaller_errors),
    };
    return cmocka_run_group_tests_name("stat.counts", tests, draw_stream, NULL);
}
