/* test_commands.c - after any sequence of commands on any filter that import accepts, the filter
 * can be loaded and gives the same answers.
 *
 * Tapes of random bytes choose the filter, the fields of its header to edit (checksums are
 * repaired), and the commands that follow: add, remove, fold, rotate, merge, passing time, copies
 * to files, syncs, export and import. commands.h checks after every command; a failure names the
 * tape, which is the seed. */
#include "commands.h"
#include "rng.h"
#include "unit.h"

enum {
    TAPE = 160
};

/* Returns how many of the tapes from .. to - 1 make a filter that is accepted. */
static unsigned accepted(uint64_t from, uint64_t to, bool edit)
{
    char path[64]; /* in memory if possible, because there are thousands of syncs */
    snprintf(path, sizeof path, "%s/deja-commands.%ld",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
    unsigned n = 0;
    for (uint64_t seed = from; seed < to; seed++) {
        struct rng rng = rng_seeded(seed);
        uint8_t bytes[TAPE];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)rng_next(&rng);
        bytes[0] = (uint8_t)seed; /* every kind in turn */
        struct tape t = {bytes, bytes + sizeof bytes, seed};
        n += commands_run(&t, path, edit);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    return n;
}

static void after_commands_on_valid_filters_the_filter_loads(void **state)
{
    assert_int_equal(accepted(0, 300, false), 300);
}

static void after_commands_on_edited_filters_the_filter_loads(void **state)
{
    const unsigned n = accepted(0, 1000, true);
    assert_in_range(n, 100, 999); /* some are accepted, some rejected */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_commands_on_valid_filters_the_filter_loads),
        cmocka_unit_test(after_commands_on_edited_filters_the_filter_loads),
    };
    return cmocka_run_group_tests_name("property.commands", tests, NULL, NULL);
}
