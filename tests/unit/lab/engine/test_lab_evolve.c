/* test_lab_evolve.c - evolution is reproducible, never loses its best program, and finds a hash
 * that fits; collisions follow the theory of random functions, and bad functions do not. */
#include "lab/engine/lab_evolve.h"
#include "rng.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS       1000u
#define BUCKETS    (UINT64_C(2) * KEYS)
#define POPULATION 40u

static char url[KEYS][48];
static deja_slice keys[KEYS];

/* Numbered pages, as of one site. */
static struct lab_gp_keys pages(void)
{
    struct lab_gp_keys k;
    for (unsigned i = 0; i < KEYS; i++) {
        const int len =
            snprintf(url[i], sizeof url[i], "https://a.example/news/%u.html", 5000 + i);
        keys[i] = (deja_slice){url[i], (size_t)len};
    }
    assert_int_equal(lab_gp_keys_init(&k, keys, KEYS, NULL), DEJA_OK);
    return k;
}

/* --- Theory ---------------------------------------------------------------------- */

/* 4,000 random functions: their mean and scatter within 5 standard errors. */
static void random_functions_collide_as_theory_says(void **state)
{
    const struct lab_random_function theory = lab_random_function(KEYS, BUCKETS);
    struct rng rng = rng_seeded(1);
    double sum = 0, squares = 0;
    const double trials = 4000;
    for (unsigned t = 0; t < 4000; t++) {
        uint32_t hash[KEYS];
        uint8_t taken[BUCKETS] = {0};
        for (unsigned i = 0; i < KEYS; i++)
            hash[i] = (uint32_t)rng_next(&rng);
        const double off = lab_collisions(hash, KEYS, BUCKETS, taken) - theory.collisions;
        sum += off;
        squares += off * off;
    }
    assert_true(fabs(sum / trials) < 5 * theory.sigma / sqrt(trials));
    const double scatter = squares / trials / (theory.sigma * theory.sigma);
    assert_true(fabs(scatter - 1) < 5 * sqrt(2 / trials));
    assert_true(fabs(theory.collisions - (1000 - 2000 * (1 - pow(1 - 1 / 2000.0, 1000)))) < 1e-6);
}

/* The expected minimum of 1,000 normal variables is 3.241 sigma below their mean. */
static void the_best_of_many_random_functions_is_known(void **state)
{
    const struct lab_random_function f = {1000, 10};
    assert_true(fabs(lab_best_random(&f, 1000) - (1000 - 32.41)) < 0.5);
    assert_true(lab_best_random(&f, 1) == 1000);
    assert_true(lab_best_random(&(struct lab_random_function){1, 10}, 1000) == 0);
}

static double sigmas(const struct lab_gp *p)
{
    static const uint32_t table[LAB_GP_TABLE];
    const struct lab_random_function theory = lab_random_function(KEYS, BUCKETS);
    struct lab_gp_keys k = pages();
    uint32_t hash[KEYS + LAB_GP_LANES];
    uint8_t taken[BUCKETS] = {0};
    lab_gp_hash(p, table, &k, hash);
    const double collisions = lab_collisions(hash, KEYS, BUCKETS, taken);
    lab_gp_keys_fini(&k);
    return (collisions - theory.collisions) / theory.sigma;
}

/* MurmurHash3's steps are as good as random; the sum of the words is not. */
static void a_bad_hash_collides_more(void **state)
{
    const struct lab_gp sum = {.n = {1, 0},
                               .step = {{{LAB_GP_ADD, LAB_GP_A, LAB_GP_W, 0}}, {{0, 0, 0, 0}}}};
    const struct lab_gp murmur3 = {
        .n = {7, 6},
        .step = {{{LAB_GP_MULTIPLY, LAB_GP_W, LAB_GP_CONSTANT, 0xcc9e2d51},
                  {LAB_GP_ROTATE, LAB_GP_W, 0, 14},
                  {LAB_GP_MULTIPLY, LAB_GP_W, LAB_GP_CONSTANT, 0x1b873593},
                  {LAB_GP_XOR, LAB_GP_A, LAB_GP_W, 0},
                  {LAB_GP_ROTATE, LAB_GP_A, 0, 12},
                  {LAB_GP_MULTIPLY, LAB_GP_A, LAB_GP_CONSTANT, 5},
                  {LAB_GP_ADD, LAB_GP_A, LAB_GP_CONSTANT, 0xe6546b64}},
                 {{LAB_GP_XOR, LAB_GP_A, LAB_GP_W, 0},
                  {LAB_GP_SHIFT, LAB_GP_A, 0, 15},
                  {LAB_GP_MULTIPLY, LAB_GP_A, LAB_GP_CONSTANT, 0x85ebca6b},
                  {LAB_GP_SHIFT, LAB_GP_A, 0, 12},
                  {LAB_GP_MULTIPLY, LAB_GP_A, LAB_GP_CONSTANT, 0xc2b2ae35},
                  {LAB_GP_SHIFT, LAB_GP_A, 0, 15}}}};
    assert_true(sigmas(&sum) > 20);
    assert_true(fabs(sigmas(&murmur3)) < 5);
}

/* --- Evolution --------------------------------------------------------------------- */

static struct lab_evolution started(const struct lab_gp_keys *k, uint64_t seed)
{
    struct lab_evolution e;
    deja_error err;
    assert_int_equal(lab_evolution_init(&e, k, BUCKETS, POPULATION, seed, &err), DEJA_OK);
    return e;
}

static void the_same_seed_gives_the_same_programs(void **state)
{
    struct lab_gp_keys k = pages();
    struct lab_evolution a = started(&k, 9), b = started(&k, 9), c = started(&k, 10);
    for (unsigned i = 0; i < 15; i++) {
        lab_evolution_next(&a);
        lab_evolution_next(&b);
        lab_evolution_next(&c);
    }
    assert_int_equal(a.tried, POPULATION + 15 * (POPULATION - 2));
    for (uint32_t i = 0; i < POPULATION; i++) {
        double p[LAB_GP_NUMBERS], q[LAB_GP_NUMBERS];
        lab_gp_pack(&a.now[i].program, p);
        lab_gp_pack(&b.now[i].program, q);
        assert_memory_equal(p, q, sizeof p);
    }
    assert_memory_not_equal(a.table, c.table, sizeof a.table);
    lab_evolution_fini(&a);
    lab_evolution_fini(&b);
    lab_evolution_fini(&c);
    lab_gp_keys_fini(&k);
}

static void the_best_program_never_gets_worse_and_fits_numbered_pages(void **state)
{
    struct lab_gp_keys k = pages();
    struct lab_evolution e = started(&k, 3);
    const struct lab_random_function theory = lab_random_function(KEYS, BUCKETS);
    for (unsigned i = 0; i < 60; i++) {
        const double before = e.now[0].fitness;
        lab_evolution_next(&e);
        assert_true(e.now[0].fitness <= before);
        for (uint32_t j = 1; j < POPULATION; j++)
            assert_true(e.now[j - 1].fitness <= e.now[j].fitness);
    }
    assert_true(e.now[0].collisions < theory.collisions - 10 * theory.sigma);
    lab_evolution_fini(&e);
    lab_gp_keys_fini(&k);
}

/* Independent of the engine's own count: the collisions of its best program, counted again. */
static void the_fitness_is_the_number_of_collisions(void **state)
{
    struct lab_gp_keys k = pages();
    struct lab_evolution e = started(&k, 4);
    lab_evolution_next(&e);
    for (uint32_t i = 0; i < POPULATION; i++) {
        bool taken[BUCKETS] = {false};
        unsigned used = 0;
        lab_gp_hash(&e.now[i].program, e.table, &k, e.hash);
        for (uint32_t j = 0; j < KEYS; j++)
            taken[(uint64_t)((double)e.hash[j] / 4294967296.0 * (double)BUCKETS)] = true;
        for (uint64_t j = 0; j < BUCKETS; j++)
            used += taken[j];
        assert_int_equal(e.now[i].collisions, KEYS - used);
        assert_true(fabs(e.now[i].fitness - e.now[i].collisions -
                         0.05 * lab_gp_length(&e.now[i].program)) < 1e-9);
    }
    lab_evolution_fini(&e);
    lab_gp_keys_fini(&k);
}

static void impossible_sizes_are_refused(void **state)
{
    struct lab_gp_keys k = pages();
    struct lab_evolution e;
    deja_error err;
    assert_int_equal(lab_evolution_init(&e, &k, BUCKETS, LAB_EVOLVE_LEAST - 1, 1, &err),
                     DEJA_EINVAL);
    lab_evolution_fini(&e);
    assert_int_equal(lab_evolution_init(&e, &k, 0, POPULATION, 1, &err), DEJA_EINVAL);
    lab_evolution_fini(&e);
    lab_gp_keys_fini(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_functions_collide_as_theory_says),
        cmocka_unit_test(the_best_of_many_random_functions_is_known),
        cmocka_unit_test(a_bad_hash_collides_more),
        cmocka_unit_test(the_same_seed_gives_the_same_programs),
        cmocka_unit_test(the_best_program_never_gets_worse_and_fits_numbered_pages),
        cmocka_unit_test(the_fitness_is_the_number_of_collisions),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests_name("unit.lab_evolve", tests, NULL, NULL);
}
