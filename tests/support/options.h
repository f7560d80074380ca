/* options.h - options in one line: FIELDS where a table has them, OPTIONS as an argument.
 *
 * What all options of a test have in common, it says before: #define EVERY .seed = 7, */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H
#include "deja.h"

#ifndef EVERY
#define EVERY
#endif
#define FIELDS(...)                                                                               \
    {                                                                                             \
        .size = sizeof(deja_options), EVERY __VA_ARGS__                                           \
    }
#define OPTIONS(...) ((deja_options)FIELDS(__VA_ARGS__))

#endif
