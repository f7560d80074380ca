/* options.h - options in one line: FIELDS in a table, OPTIONS as an argument.
 *
 * A test defines what all its options have in common first: #define EVERY .seed = 7, */
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
