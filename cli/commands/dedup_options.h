/* dedup_options.h - the options of deja dedup, for the files that implement parts of it. */
#ifndef CLI_COMMANDS_DEDUP_OPTIONS_H
#define CLI_COMMANDS_DEDUP_OPTIONS_H
#include "cli/options/shared_options.h"

struct dedup_options {
    struct shared_options shared;
    const char *state;
    const char *sieve;
    const char *late;
    const char *append;
    bool repeated;
    bool count;
    bool counts;          /* print how many times each line occurs */
    bool unique;          /* print only lines that occur once */
    uint32_t again_after; /* days */
    uint32_t keep;
    uint64_t audit; /* dropped lines to check */
};

#endif
