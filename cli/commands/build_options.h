/* build_options.h - the options of deja build, for the files that implement parts of it. */
#ifndef CLI_COMMANDS_BUILD_OPTIONS_H
#define CLI_COMMANDS_BUILD_OPTIONS_H
#include "cli/options/shared_options.h"

struct build_options {
    struct shared_options shared;
    const char *like;
    const char *except;
    bool sieve; /* make a sieve, not a file */
    const char *from_sieve;
};

#endif
