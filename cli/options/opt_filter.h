/* opt_filter.h - the options of a filter, from the library's table, in the words of the command line. */
#ifndef CLI_OPTIONS_OPT_FILTER_H
#define CLI_OPTIONS_OPT_FILTER_H
#include "cli/options/opt.h"

/* Tables for OPT_MADE; their fields are those of a deja_options. */
const struct opt *opt_filter_amounts(void); /* -n -p -m */
const struct opt *opt_filter_kind(void);    /* -k */
const struct opt *opt_filter_seed(void);    /* --seed */
const struct opt *opt_filter_rest(void);    /* -k and all the others */
const struct opt *opt_filter_next(void);    /* -n -p -m --deletions of the next visit */

/* The option as the user types it, "-n" or "--hashes"; the name of the field if it has none. */
const char *opt_filter_word(const deja_option *row);
/* A text of the library in these words; it replaces err->text, which is returned. */
const char *opt_filter_translate(deja_error *err);
/* The option back to "not given". */
void opt_filter_clear(const deja_option *row, deja_options *opt);

#endif
