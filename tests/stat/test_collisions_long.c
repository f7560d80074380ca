/* test_collisions_long.c - how often chosen pairs collide, for every length class of XXH3.
 *
 * The test confirms the figures in docs/security.md.  DEJA_SECRETS=31 counts over 2^31 secrets (a
 * processor hour); the default is 2^26. */
#include "binom.h"
#include "colliding.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>

/* One pair of a class: bytes from .. to - 1 complemented. */
struct measured {
    size_t len, from, to;
    double most; /* rate that docs/security.md admits; 0: the pair never collides */
};

static const struct measured classes[] = {
    {3, 0, 3, 0},          {8, 0, 8, 0},           {12, 0, 12, 0},       {16, 0, 8, 0},
    {16, 0, 16, 0},        {17, 0, 17, 0},         {20, 0, 4, 0},        {23, 0, 7, 0},
    {23, 16, 23, 0},       {24, 0, 8, 1.5e-8},     {24, 16, 24, 1.5e-8}, {31, 0, 8, 1.5e-8},
    {31, 23, 31, 1.5e-8},  {32, 0, 8, 1.5e-8},     {32, 0, 16, 1.5e-8},  {64, 16, 32, 1.5e-8},
    {128, 48, 64, 1.5e-8}, {200, 96, 112, 1.5e-8},
};

static uint64_t secrets(void)
{
    const char *text = getenv("DEJA_SECRETS");
    const long log2 = text ? strtol(text, NULL, 10) : 26;
    return UINT64_C(1) << (log2 > 0 && log2 < 40 ? log2 : 26);
}

static void collides_at_most(uint32_t rules, const struct colliding *p, double most,
                             const char *name)
{
    const uint64_t n = secrets();
    const struct collisions c = colliding_count(rules, p, n, 7);
    printf("rules %u, %s: %llu of %.3g secrets\n", rules, name, (unsigned long long)c.all,
           (double)n);
    fflush(stdout);
    if (c.all > 0 && poisson_at_least((double)c.all, most * (double)n) < normal_tail(5))
        fail_msg("%s: more than the %.2g that docs/security.md states", name, most);
}

static void each_class_collides_at_most_as_documented(void **state)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        const struct measured *m = &classes[i];
        const struct colliding p = colliding_masked(m->len, m->from, m->to, 0xff);
        char name[64];
        snprintf(name, sizeof name, "%zu bytes, %zu .. %zu complemented", m->len, m->from,
                 m->to - 1);
        collides_at_most(DJ_RULES_0_2, &p, m->most, name);
    }
}

static void the_reported_pair_collides_only_with_rules_0(void **state)
{
    const struct colliding p = colliding_reported();
    collides_at_most(DJ_RULES_0_2, &p, 0, "the reported pair");
    collides_at_most(DJ_RULES_0_1, &p, 4e-7, "the reported pair");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reported_pair_collides_only_with_rules_0),
        cmocka_unit_test(each_class_collides_at_most_as_documented),
    };
    return cmocka_run_group_tests_name("stat.collisions_long", tests, NULL, NULL);
}
