/* lab_evolve.c - evolution of hash programs; see lab_evolve.h. */
#include "lab/engine/lab_evolve.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT       2u   /* of each generation: its best programs */
#define TOURNAMENT 3u   /* programs that compete to be a parent */
#define PENALTY    0.05 /* collisions that a step is worth */
#define CROSSED    70u  /* percent of the children with two parents */
#define MUTATIONS  3u   /* the most of a child */

/* --- Collisions ------------------------------------------------------------- */

uint32_t lab_collisions(const uint32_t *hash, uint32_t n, uint64_t buckets, uint8_t *taken)
{
    uint32_t collisions = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *bucket = &taken[hash[i] * buckets >> 32];
        collisions += *bucket;
        *bucket = 1;
    }
    return collisions;
}

struct lab_random_function lab_random_function(double n, double buckets)
{
    const double one = n * log1p(-1 / buckets), two = n * log1p(-2 / buckets);
    const double variance =
        buckets * exp(one) + buckets * (buckets - 1) * exp(two) - buckets * buckets * exp(2 * one);
    return (struct lab_random_function){n + buckets * expm1(one), sqrt(fmax(variance, 0))};
}

/* Source: Cramer, "Mathematical Methods of Statistics", 1946, 28.6 (extremes of a sample). */
double lab_best_random(const struct lab_random_function *f, double functions)
{
    const double pi = acos(-1), euler = 0.5772156649;
    if (functions < 2)
        return f->collisions;
    const double top = sqrt(2 * log(functions));
    const double off = top - (log(log(functions)) + log(4 * pi)) / (2 * top) + euler / top;
    return fmax(f->collisions - off * f->sigma, 0);
}

/* --- Generations ------------------------------------------------------------ */

static void judge(struct lab_evolution *e, struct lab_individual *x)
{
    memset(e->taken, 0, (size_t)e->buckets);
    lab_gp_hash(&x->program, e->table, e->keys, e->hash);
    x->collisions = lab_collisions(e->hash, e->keys->n, e->buckets, e->taken);
    x->fitness = x->collisions + PENALTY * lab_gp_length(&x->program);
    e->tried++;
}

/* A total order, so that the result does not depend on the sort function: programs of equal
 * fitness are compared by content.  Unused steps are not zero, so they are compared as numbers. */
static int better(const void *a, const void *b)
{
    const struct lab_individual *x = a, *y = b;
    double p[LAB_GP_NUMBERS], q[LAB_GP_NUMBERS];
    if (x->fitness != y->fitness)
        return x->fitness < y->fitness ? -1 : 1;
    lab_gp_pack(&x->program, p);
    lab_gp_pack(&y->program, q);
    for (size_t i = 0; i < LAB_GP_NUMBERS; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static void sort(struct lab_evolution *e)
{
    qsort(e->now, e->population, sizeof *e->now, better);
}

/* The population is sorted, so the winner has the lowest number. */
static const struct lab_gp *parent(struct lab_evolution *e)
{
    uint64_t winner = e->population;
    for (unsigned i = 0; i < TOURNAMENT; i++) {
        const uint64_t other = mix_below(mix_next(&e->dice), e->population);
        winner = other < winner ? other : winner;
    }
    return &e->now[winner].program;
}

static struct lab_gp child(struct lab_evolution *e)
{
    struct lab_gp p = *parent(e);
    if (mix_below(mix_next(&e->dice), 100) < CROSSED)
        p = lab_gp_cross(&p, parent(e), &e->dice);
    for (uint64_t n = 1 + mix_below(mix_next(&e->dice), MUTATIONS); n > 0; n--)
        lab_gp_mutate(&p, &e->dice);
    return p;
}

void lab_evolution_next(struct lab_evolution *e)
{
    struct lab_individual *old = e->now;
    memcpy(e->next, old, KEPT * sizeof *old);
    for (uint32_t i = KEPT; i < e->population; i++) {
        e->next[i].program = child(e);
        judge(e, &e->next[i]);
    }
    e->now = e->next;
    e->next = old;
    sort(e);
}

/* --- Beginning and end ------------------------------------------------------ */

static bool make_room(struct lab_evolution *e)
{
    e->now = calloc(e->population, sizeof *e->now);
    e->next = calloc(e->population, sizeof *e->next);
    e->hash = calloc(lab_gp_room(e->keys->n), sizeof *e->hash);
    e->taken = calloc((size_t)e->buckets, 1);
    return e->now && e->next && e->hash && e->taken;
}

int lab_evolution_init(struct lab_evolution *e, const struct lab_gp_keys *keys, uint64_t buckets,
                       uint32_t population, uint64_t seed, deja_error *err)
{
    *e = (struct lab_evolution){
        .keys = keys, .buckets = buckets, .population = population, .dice = seed};
    if (population < LAB_EVOLVE_LEAST || buckets == 0 || buckets > UINT32_MAX)
        return fail(err, DEJA_EINVAL, "cannot evolve %u programs for %llu buckets", population,
                    (unsigned long long)buckets);
    if (!make_room(e))
        return fail(err, DEJA_ENOMEM, "out of memory for %u programs", population);
    for (uint32_t i = 0; i < LAB_GP_TABLE; i++)
        e->table[i] = (uint32_t)mix_next(&e->dice);
    for (uint32_t i = 0; i < population; i++) {
        e->now[i].program = lab_gp_random(&e->dice);
        judge(e, &e->now[i]);
    }
    sort(e);
    return DEJA_OK;
}

void lab_evolution_fini(struct lab_evolution *e)
{
    free(e->now);
    free(e->next);
    free(e->hash);
    free(e->taken);
    *e = (struct lab_evolution){0};
}
