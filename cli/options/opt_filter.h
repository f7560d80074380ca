/* opt_filter.h - the options of a filter, made from the library's table. */
#ifndef CLI_OPTIONS_OPT_FILTER_H
#define CLI_OPTIONS_OPT_FILTER_H
#include "cli/options/opt.h"

/* Tables for OPT_MADE; they fill a deja_options. */
const struct opt *opt_filter_amounts(void); /* -n -p -m */
const struct opt *opt_filter_kind(void);    /* -k */
const struct opt *opt_filter_seed(void);    /* --seed */
const struct opt *opt_filter_rest(void);    /* -k and all the others */
const struct opt *opt_filter_next(void);    /* -n -p -m --deletions of the next visit */

/* The option as the user types it, "-n" or "--hashes"; the field's name if the command has no such
 * option. */
const char *opt_filter_word(const deja_option *row);
/* Replaces field names in err->text with options; returns err->text. */
const char *opt_filter_translate(deja_error *err);
/* Resets the option to "not given". */
void opt_filter_clear(const deja_option *row, deja_options *opt);

#endif
