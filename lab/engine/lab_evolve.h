/* lab_evolve.h - evolution of hash programs (lab_gp.h) for a set of keys.
 *
 * The fitness of a program is the number of keys that collide in a table of `buckets` buckets,
 * plus a little for each step: of two equal programs, the shorter one is better.  Each generation
 * keeps the best programs; the others are children of parents that won a tournament, by crossover
 * and mutation.  Everything follows from the seed. */
#ifndef LAB_ENGINE_LAB_EVOLVE_H
#define LAB_ENGINE_LAB_EVOLVE_H
#include "lab/engine/lab_gp.h"

struct lab_individual {
    struct lab_gp program;
    uint32_t collisions;
    double fitness; /* smaller is better */
};

struct lab_evolution {
    const struct lab_gp_keys *keys;
    uint64_t buckets;
    uint32_t population;
    uint64_t dice;
    uint64_t tried; /* programs judged */
    uint32_t table[LAB_GP_TABLE];
    struct lab_individual *now, *next; /* now[0] is the best */
    uint32_t *hash;                    /* room for the keys' hashes */
    uint8_t *taken;                    /* a flag for each bucket */
};

#define LAB_EVOLVE_LEAST 8u /* programs of a population */

/* The first generation: random programs, sorted.  The keys must outlive it. */
int lab_evolution_init(struct lab_evolution *e, const struct lab_gp_keys *keys, uint64_t buckets,
                       uint32_t population, uint64_t seed, deja_error *err);
void lab_evolution_next(struct lab_evolution *e); /* the next generation */
void lab_evolution_fini(struct lab_evolution *e);

/* Hashes whose bucket is already taken.  The bucket is the hash's share of 2^32 times the number
 * of buckets.  `taken` has a flag for each bucket, and this sets them: call it again with the
 * hashes of other keys to count how many of these find their bucket taken. */
uint32_t lab_collisions(const uint32_t *hash, uint32_t n, uint64_t buckets, uint8_t *taken);

/* The expected number for a random function, n - m (1 - (1 - 1/m)^n), and its standard deviation.
 * Source: Kolchin, Sevastyanov, Chistyakov, "Random Allocations", 1978. */
struct lab_random_function {
    double collisions, sigma;
};
struct lab_random_function lab_random_function(double n, double buckets);
/* The same for the best of `functions` random functions: the expected minimum of normal
 * variables. */
double lab_best_random(const struct lab_random_function *f, double functions);

#endif
